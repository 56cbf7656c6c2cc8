"""The checker accepts what is true, and refuses thousands of certificates that somebody has tampered with."""

import ast
import copy
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diprl.program import parse
from diprl.verify import checker, parse_spec, verify
from diprl.verify.checker import problem_of
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.closed_loop.simulate import Draws, runs, starts_of
from diprl.verify.plants.read import parse_plant
from diprl.verify.properties import LoopProperty

PLANT = """
states: [x, v]
actions: {push: {left: -1, right: 1}}
disturbances: {wind: [-0.05, 0.05]}
next: {x: x + 0.1*v, v: 0.9*v + 0.1*(push + wind) - 0.05*sin(x)}
start: {x: [-0.2, 0.3], v: [-0.1, 0.1]}
"""
PROGRAM = """
features: x, v
actions: left, right

if 2*x + v > 0: left
else: right
"""
CLAIMS = (
    "kind: always, hold: [x < 0.6, x > -0.6]",
    "kind: always, steps: 20, hold: x < 0.6",
    "kind: chattering, steps: 4, switches: 3",
)


@cache
def certificate(claim: str) -> str:
    program = parse(PROGRAM)
    spec = parse_spec(f"timeout: 120\nproperties: [{{{claim}}}]", program, plant=parse_plant(PLANT))
    answer = verify(program, spec).findings[0].answer
    assert answer.verdict == "proved", answer
    return json.dumps(answer.certificate)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_proof_is_accepted_again_after_a_journey_through_a_file(claim: str, tmp_path: Path) -> None:
    assert problem_of(json.loads(certificate(claim))) == ""
    path = tmp_path / "proof.json"
    path.write_text(certificate(claim))
    done = subprocess.run([sys.executable, "-m", "diprl.verify.checker", str(path)], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b""), done


def tampered(original: dict[str, Any], generator: np.random.Generator) -> dict[str, Any]:
    """One number of the sets, edges, start or claim changed for the worse."""
    changed = copy.deepcopy(original)
    nodes = changed["nodes"]
    node = int(generator.integers(len(nodes["time"])))
    row = int(generator.integers(len(nodes["low"][0])))
    width = nodes["high"][node][row] - nodes["low"][node][row]
    kind = generator.integers(6)
    if kind == 0:  # a smaller set
        nodes["high"][node][row] -= 0.02 * width + 1e-6
    elif kind == 1:
        nodes["low"][node][row] += 0.02 * width + 1e-6
    elif kind == 2:  # another shape
        nodes["rows"][node][row][int(generator.integers(len(nodes["low"][0])))] += 0.02
    elif kind == 3:  # a missing edge
        del nodes["edges"][int(generator.integers(len(nodes["edges"])))]
    elif kind == 4:  # an edge to elsewhere
        nodes["edges"][int(generator.integers(len(nodes["edges"])))][2] = -1
    else:  # a larger start
        side = int(generator.integers(2))
        changed["claim"]["start"][side][row] += (1e-3 if side else -1e-3) * (1 + width)
    return changed


@pytest.mark.parametrize("claim", CLAIMS)
def test_tampered_certificates_are_refused(claim: str) -> None:
    """A set may have a little room, so a few are still proofs of the same claim; a larger start never is."""
    original, generator = json.loads(certificate(claim)), np.random.default_rng(0)
    accepted = 0
    for _ in range(1000):
        changed = tampered(original, generator)
        fine = problem_of(changed) == ""
        accepted += fine
        assert not fine or changed["claim"] == original["claim"]
    assert accepted <= 100


def test_false_claims_are_refused_whatever_the_sets_are() -> None:
    """Runs reach x = 0.3 and beyond, and the program pushes back: claims and programs that say otherwise are false."""
    original, generator = json.loads(certificate(CLAIMS[0])), np.random.default_rng(2)
    for number in range(1000):
        changed = copy.deepcopy(original)
        if number % 2:
            changed["claim"]["always"] = [["<", "x", generator.uniform(-1.0, 0.299)]]
        else:
            condition = changed["program"]["nodes"][0]
            condition["then"], condition["else"] = condition["else"], condition["then"]
            condition["if"]["weights"] = {
                "x": float(generator.uniform(0.5, 3.0)),
                "v": float(generator.uniform(0.5, 3.0)),
            }
            nodes = changed["program"]["nodes"]
            nodes[1], nodes[2] = nodes[2], nodes[1]
            condition["then"], condition["else"] = 1, 2
        assert problem_of(changed) != ""


def test_garbage_in_any_place_gives_one_sentence_and_never_an_acceptance_of_more() -> None:
    original, generator = json.loads(certificate(CLAIMS[0])), np.random.default_rng(1)
    garbage = [None, "x", -1, 1e308, float("nan"), [], {}, True, "__import__('os')", [[[]]], 10**400]
    for _ in range(1000):
        changed = copy.deepcopy(original)
        place: Any = changed
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            key = keys[int(generator.integers(len(keys)))]
            if not isinstance(place[key], (dict, list)) or not place[key] or generator.random() < 0.15:
                place[key] = garbage[int(generator.integers(len(garbage)))]
                break
            place = place[key]
        assert "\n" not in problem_of(changed)


def test_the_checker_is_small_and_stands_alone() -> None:
    text = Path(checker.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    tree = ast.parse(text)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names == {"json", "sys", "time", "numpy", "pathlib"}


def test_the_prover_uses_nothing_of_the_checker_but_its_verdict() -> None:
    for path in Path(checker.__file__).parent.rglob("*.py"):
        used = re.findall(r"checker\.\w+", path.read_text(encoding="utf-8")) if path.name != "checker.py" else []
        assert set(used) <= {"checker.problem_of"}, path


def test_a_check_ends_when_its_time_is_up() -> None:
    assert problem_of(json.loads(certificate(CLAIMS[0])), seconds=0.0) == "there was not enough time to check it"


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
def test_numbers_that_float32_cannot_hold_are_refused(arithmetic: str) -> None:
    changed = json.loads(certificate(CLAIMS[0])) | {"arithmetic": arithmetic}
    changed["program"]["nodes"][0]["if"]["weights"] = {"x": 2e-40, "v": 1e-40}
    assert "do not fit" in problem_of(changed)


def test_simulated_runs_keep_what_is_proved() -> None:
    program = parse(PROGRAM)
    spec = parse_spec(f"properties: [{{{CLAIMS[0]}}}]", program, plant=parse_plant(PLANT))
    (wanted,) = spec.properties
    assert isinstance(wanted, LoopProperty)
    loop, starts = Loop(program, wanted.plant, wanted.noise), starts_of(wanted.claim.start, 500)
    for _, _, wrong in runs(loop, replace(wanted.claim, steps=300), starts, Draws(loop, 3, starts.shape[1])):
        assert not wrong.any()
