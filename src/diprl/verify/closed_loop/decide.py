"""Decides a claim about a closed loop: refuted by a replayed run, proved by a certificate that the checker accepts."""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from diprl.errors import DiprlError
from diprl.system.files import read_json, write_text
from diprl.verify.closed_loop.forms import FORMS
from diprl.verify.closed_loop.loop import Claim, Loop, reduced
from diprl.verify.closed_loop.search import Found, Search
from diprl.verify.closed_loop.simulate import Simulated, environment_states, holding, next_states, runs, simulate
from diprl.verify.context import Context
from diprl.verify.exact.linear import State
from diprl.verify.report import Answer, Witness, named_text

_LONGER = 10
"""How many times longer a run that does not arrive is followed, to see whether it ever does."""
_MOST_FOLLOWED = 20_000
LARGEST = 400_000_000
"""Bytes of a certificate that are read."""


def decide(loop: Loop, claim: Claim, context: Context) -> Answer:
    """Refuted, proved or unknown."""
    with np.errstate(all="ignore"):
        context.progress(0.0, "simulating")
        simulated = simulate(loop, claim, context.deadline)
        if simulated.violation is not None:
            return _replayed(loop, claim, simulated, context)
        return _proved(loop, claim, simulated, context)


def _proved(loop: Loop, claim: Claim, simulated: Simulated, context: Context) -> Answer:
    plant, tried = loop.plant, f"no violation among thousands of simulated starts in {simulated.steps} steps"
    if missing := _unprovable(loop):
        return Answer("unknown", f"plants with {missing} cannot be proved yet", (tried,))
    smaller, asked, kept = reduced(loop, claim)
    question = question_of(smaller, asked)
    certificate, told = _kept(context, question), "read from the folder of certificates, and checked again"
    if certificate is None:
        search = Search(smaller, asked, simulated.ranges[kept], context.deadline)
        found = search.proof(context.processes, context.progress)
        if found.nodes is None:
            return Answer("unknown", _how_far(found), (tried, f"{found.pieces} pieces of the start box were tried"))
        context.progress(1.0, "checking the proof")
        leaves = [index for index, node in enumerate(question["program"]["nodes"]) if "if" not in node]
        edges = [[source, leaves[leaf], target] for source, leaf, target in found.nodes["edges"]]
        certificate = question | {"nodes": found.nodes | {"edges": edges}}
        told = f"{found.pieces} pieces of the start box"
        if problem := _problem(certificate, context):
            return Answer("unknown", f"the checker does not accept the proof that was found: {problem}", (tried,))
        if context.certificates is not None:
            write_text(_path(context.certificates, question), json.dumps(certificate, allow_nan=False))
    covered = f"covered too: {loop.arithmetic} rounding of the program"
    covered += ", features rounded to float32" if plant.single else ""
    covered += "" if plant.solved else ", and rounding of the simulated plant"
    details = (f"{told}, {len(certificate['nodes']['time'])} sets", covered)
    left_out = [state for index, state in enumerate(plant.states) if index not in kept]
    details += (f"left out, as nothing reads them: {', '.join(left_out)}",) if left_out else ()
    return Answer("proved", claim.text(), details, certificate=certificate)


def _unprovable(loop: Loop) -> str:
    """What no proof can deal with, or nothing."""
    plant = loop.plant
    if plant.after or (plant.rates and plant.method == "rk4"):
        return "'after:' and 'method: rk4'"
    groups = (plant.rates, plant.following, plant.define, plant.features)
    used = {call for formulas in groups for formula in formulas.values() for call in formula.calls} - FORMS.keys()
    return f"'{min(used)}'" if used else ""


def question_of(loop: Loop, claim: Claim) -> dict[str, Any]:
    """What a certificate is about: all of it but its sets."""
    question = {
        "format": "diprl certificate 1",
        "program": json.loads(loop.program.to_json()),
        "arithmetic": loop.arithmetic,
        "plant": loop.plant.to_dict(),
        "noise": loop.noise,
        "claim": {
            "start": [claim.start.low, claim.start.high],
            "always": [one.tree() for one in claim.always],
            "goal": [one.tree() for one in claim.goal],
            "since": claim.since,
            "steps": claim.steps,
        },
    }
    return json.loads(json.dumps(question))


def _path(folder: Path, question: dict[str, Any]) -> Path:
    """Where the certificate of a question is kept: its name depends on the program, the plant and the claim."""
    return folder / f"{sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:24]}.json"


def _kept(context: Context, question: dict[str, Any]) -> dict[str, Any] | None:
    """A certificate of exactly this question that was kept before and that the checker accepts again."""
    if context.certificates is None or not (path := _path(context.certificates, question)).is_file():
        return None
    try:
        certificate = read_json(path, LARGEST)
    except (DiprlError, OSError):
        return None
    same = {key: one for key, one in certificate.items() if key != "nodes"} == question
    return certificate if same and not _problem(certificate, context) else None


def _problem(certificate: dict[str, Any], context: Context) -> str:
    """Why the checker refuses a certificate, or nothing."""
    from diprl.verify import checker  # here, so that it can be run as a program of its own

    return checker.problem_of(certificate, context.deadline.remaining())


def _how_far(found: Found) -> str:
    far = f"proved for {found.share:.1%} of the start box only" if found.share else "nothing is proved"
    if found.pieces == 1 and found.steps > 0:
        far = f"enclosed for the first {found.steps} steps only"
    return f"{far}: {found.stopped}"


def _replayed(loop: Loop, claim: Claim, simulated: Simulated, context: Context) -> Answer:
    """A start that went wrong among many counts once it goes wrong alone, and in the environment too."""
    assert simulated.violation is not None  # which is why it is replayed
    plant, (start, chance) = loop.plant, simulated.violation
    for step, (states, _, wrong) in enumerate(runs(loop, claim, np.array(start)[:, None], chance)):
        if not wrong[0]:
            continue
        state = tuple(states[:, 0].tolist())
        replays = [f"the program on the plant, after {step} steps: {_named(plant.states, state)}"]
        if plant.environment and not plant.unknowns and not any(loop.noise) and loop.arithmetic == "float64":
            real = environment_states(loop, start, step, context.deadline)[-1]
            if not np.allclose(real, state, rtol=1e-6, atol=1e-6):
                break
            replays.append(f"{plant.environment} after {step} steps: {_named(plant.states, real)}")
        broken = [one.text for one in claim.always if step >= claim.since and not holding(loop, [one], states)[0]]
        sentence = f"{' and '.join(one.text for one in claim.goal)} is not reached within {step} steps"
        sentence = f"{broken[0]} is false after {step} steps" if broken else sentence
        witness = Witness((("start", tuple(zip(plant.states, start, strict=True))),), tuple(replays))
        return Answer("refuted", sentence, _orbit(loop, claim, simulated, context) if claim.goal else (), witness)
    sentence = "a simulated start goes wrong, but it does not when it is replayed"
    return Answer("unknown", sentence, (f"start: {_named(plant.states, start)}",))


def _orbit(loop: Loop, claim: Claim, simulated: Simulated, context: Context) -> tuple[str, ...]:
    """Whether a run that does not arrive in time arrives later, or goes round forever."""
    assert simulated.violation is not None
    start, chance = simulated.violation
    states, met, steps = np.array(start)[:, None], dict[bytes, int](), _LONGER * (claim.steps or 1)
    repeatable = not loop.plant.unknowns and not any(loop.noise)
    for step in range(min(steps, _MOST_FOLLOWED)):
        if holding(loop, claim.goal, states)[0]:
            return (f"it arrives later, after {step} steps",)
        before = met.setdefault(np.round(states / simulated.ranges[:, None], 9).tobytes(), step)
        if repeatable and before < step:
            return (f"a persistent orbit: after {before} steps it repeats every {step - before} steps",)
        if context.deadline.used(1.0):
            return ()
        states = next_states(loop, states, chance.at(step))
    return (f"it has not arrived after {min(steps, _MOST_FOLLOWED)} steps either",)


def _named(names: Sequence[str], state: State) -> str:
    return named_text(tuple(zip(names, state, strict=True)))
