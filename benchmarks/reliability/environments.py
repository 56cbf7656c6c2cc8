"""Train on environments that misbehave, in this process, in worker processes and with a time limit.

A run passes if it says in one sentence what was wrong (exit code 2), or finishes with a valid result where the
environment only did something odd. It fails if it ends without a word, with a traceback, or not at all.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from misbehaving import CASES
from rows import record

MODES = {"sync": ["--backend", "sync"], "async": ["--backend", "async"], "time-out": ["--env-timeout", "2"]}
SMALL = "--num-envs 2 --num-steps 16 --minibatch-size 32 --total-timesteps 64 --episodes 2 --members 1 --raw"
PATIENCE = 240.0
"""Seconds after which a run counts as hanging; a case that hangs without a time limit is not tried."""


def tried(case: str, mode: str) -> bool:
    return mode == "time-out" or not case.startswith("hangs")


def outcome(case: str, mode: str, place: Path) -> tuple[str, str]:
    """How a run ends: told, survived, or what must not happen; and what it said."""
    out = place / "run"
    command = [sys.executable, "-m", "diprl", "train", "misbehaving:Misbehaving-v0", *SMALL.split(), *MODES[mode]]
    command += ["--env-kwargs", json.dumps({"case": case}), "--out", str(out), "--json"]
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": paths}, cwd=place
    )
    try:
        said, complaint = (text.decode("utf-8", "replace") for text in process.communicate(timeout=PATIENCE))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hanging", ""
    return judged(process.returncode, said, complaint, out), complaint[-2000:]


def judged(code: int, said: str, complaint: str, out: Path) -> str:
    lines = [line for line in complaint.splitlines() if line.startswith("diprl: ") and "warning" not in line]
    if code == 0:
        return "survived" if (out / "result.json").exists() and is_json(said) else "silent"
    if code == 2 and len(lines) == 1 and "Traceback" not in complaint:
        return "told"
    if code < 0 and not complaint and not said:
        return "killed"
    return "told by the interpreter" if "Fatal Python error" in complaint or "Timeout (" in complaint else "unclear"


def is_json(said: str) -> bool:
    try:
        json.loads(said.splitlines()[-1] if said else "")
    except ValueError:
        return False
    return True


def attack(count: int, seed: int) -> bool:
    """All cases, or the first so many in an order that the seed draws, in every mode."""
    import random

    cases = random.Random(seed).sample(CASES, min(count, len(CASES)))
    fates: Counter[str] = Counter()
    for case in cases:
        for mode in MODES:
            if not tried(case, mode):
                continue
            with tempfile.TemporaryDirectory() as place:
                fate, complaint = outcome(case, mode, Path(place))
            fates.update([fate])
            if fate not in ("told", "survived"):
                print(f"{fate.upper():10} {case} ({mode}): {complaint}", flush=True)
    note = ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
    unclear = sum(fates[fate] for fate in ("silent", "unclear", "hanging"))
    record("environments that misbehave", f"{len(cases)} × {', '.join(MODES)}", "–", unclear, note)
    return unclear == 0
