"""Ask thousands of random questions about random programs and hold the verdicts against exact sampling.

The states that are sampled lie where mistakes hide: on corners and thresholds, next to them, at zero and in between.
'proved' is false if one of them violates the property in exact arithmetic, 'refuted' if its witness does not show it.
Anything raised that is not a `DiprlError` counts as a traceback. The evaluator here is written apart from diprl's.
"""

import json
import math
import random
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from rows import record

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.verify import verify

PLAIN = (1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 0.1, -0.3, 0.0, 0.0)
NASTY = (1e16, -1e16, 1e-16, 1e300, -1e300, 5e-324, 1e-300, 1 / 3, -0.1, 1e8 + 1, 2.0**53, 1e308, -1e308)
ACTIONS = ("stop", "go", "turn")
NAMES = ("x", "y", "z")


class Case(NamedTuple):
    """A program as text and as numbers, and the box of its features."""

    text: str
    conditions: list[tuple[list[float], float]]
    leaves: list[Any]
    """An action's index, or weights and bias of one output."""
    box: list[tuple[float, float]]
    continuous: bool
    replayed: list[bool]
    """Empty, or holding something while the interpreter is asked instead of exact arithmetic."""


def number(dice: random.Random) -> float:
    return dice.choice(NASTY) if dice.random() < 0.15 else dice.choice(PLAIN)


def draw_case(dice: random.Random) -> Case:
    """A chain of up to four conditions over up to three features."""
    size, length, continuous = dice.randint(1, 3), dice.randint(0, 4), dice.random() < 0.25
    ends = ((-1.0, 1.0), (-2.0, 2.0), (0.0, 0.0), (0.0, 1.0), (-1e16, 1e16), (-1e308, 1e308), (-math.inf, math.inf))
    box = [dice.choice(ends) for _ in range(size)]
    forms = [([number(dice) for _ in range(size)], number(dice)) for _ in range(length)]
    leaves: list[Any] = [dice.randrange(3) for _ in range(length + 1)]
    if continuous:
        leaves = [([number(dice) for _ in range(size)], number(dice)) for _ in range(length + 1)]
    features = ", ".join(f"{n} in [{low!r}, {high!r}]" for n, (low, high) in zip(NAMES, box, strict=False))
    head = f"features: {features}\n" + ("outputs: u in [-1, 1]\n" if continuous else f"actions: {', '.join(ACTIONS)}\n")
    return Case(head + body(forms, leaves, continuous), forms, leaves, box, continuous, [])


def body(forms: list[Any], leaves: list[Any], continuous: bool) -> str:
    shown = [f"u = {linear(*leaf)}" if continuous else ACTIONS[leaf] for leaf in leaves]
    lines = [f"{'elif' if i else 'if'} {linear(*form)} > 0: {shown[i]}\n" for i, form in enumerate(forms)]
    return "".join(lines) + (f"else: {shown[-1]}\n" if forms else f"{shown[-1]}\n")


def linear(weights: list[float], bias: float) -> str:
    terms = [f"{weight!r}*{name}" for weight, name in zip(weights, NAMES, strict=False)]
    return " + ".join([*terms, repr(bias)]).replace("+ -", "- ")


def value(form: tuple[list[float], float], state: list[float]) -> Fraction:
    weights, bias = form
    return sum((Fraction(w) * Fraction(s) for w, s in zip(weights, state, strict=True)), Fraction(bias))


def branch(case: Case, state: list[float]) -> int:
    return next((i for i, form in enumerate(case.conditions) if value(form, state) > 0), len(case.conditions))


def on_way(case: Case, state: list[float]) -> bool:
    """Whether a state lies exactly on the threshold of a condition that it is asked for."""
    return any(any(form[0]) and value(form, state) == 0 for form in case.conditions[: branch(case, state) + 1])


def acts(case: Case, state: list[float]) -> Any:
    """The action's index, or the clipped output."""
    if case.replayed:
        found: Any = Program.from_text(case.text).act(state)
        return Fraction(float(found[0])) if case.continuous else found
    leaf = case.leaves[branch(case, state)]
    return max(Fraction(-1), min(Fraction(1), value(leaf, state))) if case.continuous else leaf


def states(case: Case, dice: random.Random, count: int = 150) -> list[list[float]]:
    """States of the box where mistakes hide."""
    spots = []
    for low, high in case.box:
        finite = [end for end in (low, high) if math.isfinite(end)]
        near = [math.nextafter(end, 0.0) for end in finite]
        spots.append([s for s in (*finite, *near, 0.0, 1e-9, -1e-9, 0.5, -0.5, 1.0, 3.0) if low <= s <= high])
    found = [list(corner) for corner in product(*(spot[:3] for spot in spots))]
    while len(found) < count:
        state = [
            dice.choice(spot) if dice.random() < 0.4 else inside(*ends, dice)
            for spot, ends in zip(spots, case.box, strict=True)
        ]
        found.append(on_threshold(case, state, dice) if dice.random() < 0.5 else state)
    return found


def inside(low: float, high: float, dice: random.Random) -> float:
    return min(high, max(low, dice.uniform(max(low, -10.0), min(high, 10.0)) * dice.choice((1.0, 1.0, 1e-3, 1e6))))


def on_threshold(case: Case, state: list[float], dice: random.Random) -> list[float]:
    """The state moved along one feature to where a condition changes, or right beside it."""
    if not case.conditions:
        return state
    weights, bias = dice.choice(case.conditions)
    moved = [i for i, weight in enumerate(weights) if weight]
    if not moved:
        return state
    i = dice.choice(moved)
    rest = value((weights, bias), [*state[:i], 0.0, *state[i + 1 :]])
    wanted = -rest / Fraction(weights[i])
    if abs(wanted) > Fraction(10) ** 300:
        return state
    spot = math.nextafter(float(wanted), dice.choice((-math.inf, math.inf))) if dice.random() < 0.6 else float(wanted)
    low, high = case.box[i]
    return [*state[:i], spot, *state[i + 1 :]] if low <= spot <= high else state


class Asked(NamedTuple):
    """A property, and what one or two sampled states that violate it look like."""

    entry: dict[str, Any]
    violated: Any
    """Tells whether a state, or a pair of states by label, violates it in exact arithmetic."""


def draw_property(case: Case, dice: random.Random, other: Case) -> Asked:
    size = len(case.box)
    kind = dice.choice(("never", "actions", "monotone", "symmetric", "equivalent", "robust", "branches"))
    if kind == "branches":
        return Asked({"kind": kind}, None)
    if kind == "equivalent":
        return Asked({"kind": kind, "to": "other.txt"}, lambda s, _: acts(case, s) != acts(other, s))
    if kind == "robust":
        origin = [inside(*ends, dice) for ends in case.box]
        radius = dice.choice((1e-9, 0.01, 0.5, 3.0, 1e6))
        entry = {"kind": kind, "at": dict(zip(NAMES, origin, strict=False)), "at_least": radius}
        home = branch(case, origin)

        def closer(state: list[float], _: Any) -> bool:
            far = max(abs(Fraction(a) - Fraction(b)) for a, b in zip(state, origin, strict=True))
            return far < Fraction(radius) and case.leaves[branch(case, state)] != case.leaves[home]

        return Asked(entry, closer)
    if kind == "symmetric":
        return symmetric(case, dice)
    if kind == "monotone":
        return monotone(case, dice, dice.randrange(size))
    return acting(case, dice, kind)


def acting(case: Case, dice: random.Random, kind: str) -> Asked:
    """`never` with conditions, and `actions` with those that are allowed."""
    if case.continuous:
        bound = dice.choice((-1.5, -1.0, 0.0, 0.5, 1.0))
        if kind == "actions":
            entry = {"kind": kind, "outputs": {"u": [-2.0, bound]}}
            return Asked(entry, lambda s, _: acts(case, s) > Fraction(bound))
        return Asked({"kind": kind, "action": f"u > {bound!r}"}, lambda s, _: acts(case, s) > Fraction(bound))
    if kind == "actions":
        allowed = dice.sample(range(3), dice.randint(1, 2))
        return Asked({"kind": kind, "only": [ACTIONS[a] for a in allowed]}, lambda s, _: acts(case, s) not in allowed)
    form, action = ([number(dice) for _ in case.box], number(dice)), dice.randrange(3)
    entry = {"kind": kind, "action": ACTIONS[action], "when": f"{linear(*form)} > 0"}
    return Asked(entry, lambda s, _: value(form, s) > 0 and acts(case, s) == action)


def symmetric(case: Case, dice: random.Random) -> Asked:
    negate = dice.sample(range(len(case.box)), dice.randint(1, len(case.box)))
    entry: dict[str, Any] = {"kind": "symmetric", "negate": [NAMES[i] for i in negate]}
    swap = {0: 0, 1: 2, 2: 1}
    if not case.continuous:
        entry["mirror"] = {"go": "turn", "turn": "go"}

    def violated(state: list[float], _: Any) -> bool:
        image = [-s if i in negate else s for i, s in enumerate(state)]
        if not all(low <= s <= high for s, (low, high) in zip(image, case.box, strict=True)):
            return False
        if any(on_way(case, spot) for spot in (state, image)):
            return False
        there = acts(case, image)
        return there != (-acts(case, state) if case.continuous else swap[acts(case, state)])

    return Asked(entry, violated)


def monotone(case: Case, dice: random.Random, feature: int) -> Asked:
    entry: dict[str, Any] = {"kind": "monotone", "feature": NAMES[feature]}
    if case.continuous:
        entry |= {"output": "u", "direction": "never falls"}
    else:
        before, after = dice.sample(range(3), 2)
        entry |= {"never_from": ACTIONS[before], "to": ACTIONS[after]}

    def violated(state: list[float], raised: list[float] | None) -> bool:
        if raised is None:
            low, high = max(case.box[feature][0], -1e6), min(case.box[feature][1], 1e6)
            spot = dice.choice((high, inside(low, high, dice)))
            raised = [*state[:feature], spot, *state[feature + 1 :]]
        if raised[feature] <= state[feature]:
            return False
        first, second = acts(case, state), acts(case, raised)
        return first > second if case.continuous else (first, second) == (before, after)

    return Asked(entry, violated)


def falsehoods(case: Case, asked: Asked, answer: Any, dice: random.Random) -> Iterator[str]:
    """What is wrong with a verdict."""
    if asked.violated is None:
        reached = {branch(case, state) for state in states(case, dice)}
        if answer.verdict == "refuted" and len(reached) == len(case.leaves):
            yield "refuted, although every branch is reached"
    elif answer.verdict == "proved":
        bad = [state for state in states(case, dice) if asked.violated(state, None)]
        if bad:
            yield f"proved, although {bad[0]} violates it"
    elif answer.verdict == "refuted":
        shown = [[number for _, number in named] for _, named in answer.witness.states]
        outside = [s for s in shown if not all(low <= v <= high for v, (low, high) in zip(s, case.box, strict=True))]
        moved = shown[1] if len(shown) > 1 else None
        first = moved if asked.entry["kind"] == "robust" else shown[0]
        held = asked.violated(first, moved) or close_call(case, shown)
        case.replayed.append(True)
        held = held or asked.violated(first, moved)
        case.replayed.clear()
        if outside or not held:
            yield f"refuted, although {shown} does not show it"


def close_call(case: Case, shown: list[list[float]]) -> bool:
    """Whether float64 and exact arithmetic part at a witness, which is replayed in the former."""
    program = Program.from_text(case.text)
    return any(program.branch_batch([state])[0] != branch(case, state) for state in shown)


def attack(count: int, seed: int) -> bool:
    verdicts: Counter[str] = Counter()
    false = broken = number_of = 0
    with tempfile.TemporaryDirectory() as place:
        path, other_path = Path(place) / "spec.yaml", Path(place) / "other.txt"
        while sum(verdicts.values()) < count:
            dice = random.Random(f"{seed}:{number_of}")
            number_of += 1
            case = draw_case(dice)
            changed = [dice.choice(case.leaves) if dice.random() < 0.3 else leaf for leaf in case.leaves]
            head = case.text[: case.text.index("\n", case.text.index("\n") + 1) + 1]
            other = case._replace(leaves=changed, text=head + body(case.conditions, changed, case.continuous))
            other_path.write_text(other.text)
            asked = [draw_property(case, dice, other) for _ in range(6)]
            path.write_text(json.dumps({"timeout": 2, "properties": [one.entry for one in asked]}))
            try:
                report = verify(Program.from_text(case.text), path)
                str(report), json.dumps(report.to_dict(), allow_nan=False)
            except DiprlError as error:
                verdicts.update(["refused"])
                if verdicts["refused"] < 4:
                    print("refused:", error)
                continue
            except Exception:
                broken += 1
                print(
                    f"TRACEBACK {number_of - 1}\n{case.text}\n{path.read_text()}\n{traceback.format_exc()}", flush=True
                )
                continue
            for one, finding in zip(asked, report.findings, strict=True):
                verdicts.update([finding.answer.verdict])
                for wrong in falsehoods(case, one, finding.answer, dice):
                    false += 1
                    print(f"FALSE {number_of - 1} {one.entry}: {wrong}\n{case.text}\n{finding.answer}", flush=True)
    note = ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
    total = f"{sum(verdicts.values()):,} verdicts"
    record("verdicts against exact sampling", total, f"{false} false", broken, f"{note}; {number_of:,} programs")
    return not false and not broken
