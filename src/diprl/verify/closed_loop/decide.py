"""Decides a claim about a closed loop: refuted by a replayed run, proved by a certificate that the checker accepts."""

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from diprl.errors import DiprlError
from diprl.system.files import read_json, write_json
from diprl.verify import checker
from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.closed_loop.reduce import reduced
from diprl.verify.closed_loop.search import Found, search
from diprl.verify.closed_loop.simulate import Simulated, environment_states, next_states, runs, simulate
from diprl.verify.context import Context
from diprl.verify.exact.linear import State
from diprl.verify.report import Answer, Witness, named_text

_COVERED = "covered too: float64 rounding of the program{single}{plant}"
_LONGER = 10
"""How many times longer a run that does not arrive is followed, to see whether it ever does."""
_MOST_FOLLOWED = 20_000
_LARGEST = 400_000_000
"""Bytes of a certificate that are read."""


def decide(loop: Loop, claim: Claim, context: Context) -> Answer:
    """Refuted, proved or unknown."""
    with np.errstate(all="ignore"):
        simulated = simulate(loop, claim, context.deadline)
        if simulated.start is not None:
            return _replayed(loop, claim, simulated, context)
        smaller, asked, kept = reduced(loop, claim)
        if smaller.plant.unprovable:
            sentence = f"no violation was found, and plants with {smaller.plant.unprovable} cannot be proved yet"
            return Answer("unknown", sentence, (f"thousands of starts were simulated for {simulated.steps} steps",))
        part = replace(simulated, ranges=simulated.ranges[kept], settled=simulated.settled[kept])
        question = question_of(smaller, asked)
        certificate = _kept(context.certificates, question)
        told = "read from the folder of certificates, and checked again" if certificate else ""
        if certificate is None:
            found = search(smaller, asked, part, context.deadline, context.progress)
            if found.nodes is None:
                return _unknown(found, simulated)
            certificate = question | {"nodes": found.nodes}
            problem = checker.problem_of(certificate)
            if problem:
                return Answer("unknown", f"the checker does not accept the proof that was found: {problem}")
            told = f"{found.pieces} pieces of the start box"
            if context.certificates is not None:
                write_json(_path(context.certificates, question), certificate)
    covered = _COVERED.format(
        single=", features rounded to float32" if loop.plant.single else "",
        plant=", and of the simulated plant" if loop.plant.simulated else "",
    )
    left_out = [state for state in loop.plant.states if state not in smaller.plant.states]
    details = (f"{told}, {len(certificate['nodes']['time'])} sets", covered)
    if left_out:
        details = (*details, f"left out, as nothing reads them: {', '.join(left_out)}")
    return Answer("proved", claim.text(), details, certificate=certificate)


def question_of(loop: Loop, claim: Claim) -> dict[str, Any]:
    """What a certificate is about: all of it but its sets."""
    return {
        "format": "diprl certificate 1",
        "program": json.loads(loop.program.to_json()),
        "plant": loop.plant.to_dict(),
        "noise": list(loop.noise),
        "claim": {
            "start": [list(claim.start.low), list(claim.start.high)],
            "always": [one.text for one in claim.always],
            "goal": [one.text for one in claim.goal],
            "since": claim.since,
            "steps": claim.steps,
            "switches": claim.switches,
        },
    }


def _path(folder: Path, question: dict[str, Any]) -> Path:
    """Where the certificate of a question is kept: its name depends on the program, the plant and the claim."""
    return folder / f"{sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:24]}.json"


def _kept(folder: Path | None, question: dict[str, Any]) -> dict[str, Any] | None:
    """A certificate of exactly this question that was kept before and that the checker accepts again."""
    if folder is None or not _path(folder, question).is_file():
        return None
    try:
        certificate = read_json(_path(folder, question), _LARGEST)
    except DiprlError:
        return None
    same = {key: one for key, one in certificate.items() if key != "nodes"} == json.loads(json.dumps(question))
    return certificate if same and not checker.problem_of(certificate) else None


def _unknown(found: Found, simulated: Simulated) -> Answer:
    tried = f"no violation among thousands of simulated starts in {simulated.steps} steps"
    far = f"proved for {found.share:.1%} of the start box only" if found.share else "nothing is proved"
    if found.pieces == 1 and found.steps > 0:
        far = f"enclosed for the first {found.steps} steps only"
    return Answer("unknown", f"{far}: {found.stopped}", (tried, f"{found.pieces} pieces of the start box were tried"))


def _replayed(loop: Loop, claim: Claim, simulated: Simulated, context: Context) -> Answer:
    """A start that went wrong among many counts once it goes wrong alone, and in the environment too."""
    assert simulated.start is not None
    assert simulated.chance is not None  # a violation has both
    plant, start = loop.plant, simulated.start
    column = np.array(start)[:, None]
    for step, (states, _, wrong, _) in enumerate(runs(loop, claim, column, simulated.chance, simulated.steps)):
        if not wrong[0]:
            continue
        state = tuple(states[:, 0].tolist())
        replays = [f"the program on the plant, after {step} steps: {_named(plant.states, state)}"]
        plain = plant.environment and not plant.unknowns and not any(loop.noise)
        if plain and not any(name.startswith("held_") for name in plant.states):
            real = environment_states(loop, start, step, context.deadline)[-1]
            if not np.allclose(real, state, rtol=1e-6, atol=1e-6):
                break
            replays.append(f"{plant.environment} after {step} steps: {_named(plant.states, real)}")
        details = _orbit(loop, claim, simulated, context) if claim.goal else ()
        witness = Witness((("start", tuple(zip(plant.states, start, strict=True))),), tuple(replays))
        return Answer("refuted", _sentence(loop, claim, state, step), details, witness)
    sentence = "a simulated start goes wrong, but it does not when it is replayed"
    return Answer("unknown", sentence, (f"start: {_named(plant.states, start)}",))


def _sentence(loop: Loop, claim: Claim, state: State, step: int) -> str:
    values = dict(loop.plant.constants) | dict(zip(loop.plant.states, state, strict=True))
    broken = [one.text for one in claim.always if not one(values)]
    if broken and step >= claim.since:
        return f"{broken[0]} is false after {step} steps"
    if claim.goal:
        return f"{' and '.join(one.text for one in claim.goal)} is not reached within {step} steps"
    return f"the action has changed more than {claim.switches} times after {step} steps"


def _orbit(loop: Loop, claim: Claim, simulated: Simulated, context: Context) -> tuple[str, ...]:
    """Whether a run that does not arrive in time arrives later, or goes round for ever."""
    assert simulated.start is not None
    assert simulated.chance is not None
    states, met = np.array(simulated.start)[:, None], dict[bytes, int]()
    for step in range(min(_LONGER * (claim.steps or 1), _MOST_FOLLOWED)):
        values = dict(loop.plant.constants) | dict(zip(loop.plant.states, states[:, 0], strict=True))
        if all(one(values) for one in claim.goal):
            return (f"it arrives later, after {step} steps",)
        if not loop.plant.unknowns and not any(loop.noise):
            before = met.setdefault(np.round(states / simulated.ranges[:, None], 9).tobytes(), step)
            if before < step:
                return (f"a persistent orbit: after {before} steps it repeats every {step - before} steps",)
        if context.deadline.used(1.0):
            return ()
        states, _ = next_states(loop, states, simulated.chance(step))
    return (f"it has not arrived after {_LONGER * (claim.steps or 1)} steps either",)


def _named(names: Sequence[str], state: State) -> str:
    return named_text(tuple(zip(names, state, strict=True)))
