"""What the closed loop of a program and a plant does: always, reaches, stays, chattering."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.decide import decide
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.context import Context
from diprl.verify.exact.linear import Box
from diprl.verify.plants.plant import Plant
from diprl.verify.plants.read import read_comparisons, read_state_box
from diprl.verify.report import Answer
from diprl.verify.spec.asked import Asked, read_count, read_index, read_mapping, read_number, read_positive
from diprl.verify.spec.tree import Tree

_NO_PLANT = (
    "closed loops need a plant: name a file with 'plant:', or set 'task:' to CartPole-v1, MountainCar-v0, "
    "Pendulum-v1 or Acrobot-v1"
)


@dataclass(frozen=True)
class LoopProperty:
    """A claim about the closed loop, perhaps with sensor noise or with actions that come one step late."""

    kind: str
    name: str
    box: Box
    """Of features; closed loops have a start box of states in their claim instead."""
    claim: Claim
    noise: tuple[float, ...] = ()
    """How far each feature may be off; empty where none is."""
    delay: bool = False
    first: tuple[tuple[str, float], ...] = ()
    """The inputs that act during the first step of a delayed plant; others are zero."""

    def check(self, context: Context) -> Answer:
        if context.plant is None:
            return Answer("unknown", _NO_PLANT)
        misfit = context.plant.misfit(context.program)
        if misfit:
            return Answer("unknown", f"the program does not fit the plant: {misfit}")
        plant = delayed(context.plant, self.delay, dict(self.first))
        claim = self.claim
        if claim.goal:  # an episode must not end before the goal is reached
            others = [end for end in plant.ends if end.text not in {one.text for one in claim.goal}]
            claim = replace(claim, always=(*claim.always, *(end.negated() for end in others)))
            plant = replace(plant, ends=tuple(end for end in plant.ends if end not in others))
        noise = self.noise or (0.0,) * len(plant.features)
        answer = decide(Loop(context.program, plant, noise), claim, context)
        notes = [f"starts: {self.claim.start.text(plant.states)}", *_loop_notes(plant)]
        if self.noise:
            pairs = zip(context.names, self.noise, strict=True)
            notes.append(f"sensor noise: {', '.join(f'{name} ±{size:g}' for name, size in pairs if size)}")
        if self.delay:
            notes.append("every action takes effect one step late")
        return replace(answer, assumptions=tuple(notes))


def _loop_notes(plant: Plant) -> list[str]:
    notes = [f"the plant is as its equations say ({plant.name}); its features are the program's, in this order: "]
    notes[0] += ", ".join(name for name, _ in plant.features)
    if plant.unknowns:
        sides = ", ".join(f"{one.name} in [{one.low:g}, {one.high:g}]" for one in plant.unknowns)
        notes.append(f"{sides}: any values, changing from step to step and held during one")
    if plant.ends:
        notes.append("steps after an episode's end do not count")
    return [*notes, "sin and cos of the C library are right to 14 digits"]


def delayed(plant: Plant, delay: bool, first: Mapping[str, float]) -> Plant:
    return plant.delayed(first) if delay else plant


@dataclass(frozen=True)
class LoopKind:
    """How properties of one kind are written: which keys stand for which fields of the claim."""

    name: str
    keys: Mapping[str, str]
    needed: frozenset[str]

    def read(self, name: str, asked: Asked) -> LoopProperty:
        plant = asked.plant
        if "within" in asked.entries:
            raise asked.error("closed loops have 'start:' instead of 'within:'")
        if plant is None:
            raise asked.error(_NO_PLANT)
        names = (*plant.states, *(key for key, _ in plant.constants))
        fields: dict[str, Any] = {}
        for key, field in self.keys.items():
            read = _READERS.get(field, lambda tree: read_comparisons(tree, names))
            fields[field] = asked.take(key, read, *([] if key in self.needed else [_DEFAULTS[field]]))
        delay = asked.take("delay", lambda tree: bool(_read_whole(tree, 1, "0 or 1")), False)
        first = asked.take("first", lambda tree: read_mapping(tree, lambda one: _input(one, plant), read_number), {})
        held = tuple((plant.inputs[index], value) for index, value in first.items())
        start = asked.take("start", lambda tree: read_state_box(tree, plant.states, plant.start), plant.start)
        late = delayed(replace(plant, start=start), delay, dict(held)).start
        if late is None:
            raise asked.error("'start:' must give an interval for every state")
        radii = asked.take("noise", lambda tree: read_mapping(tree, asked.feature, read_positive), {})
        noise = tuple(radii.get(index, 0.0) for index in range(len(asked.features))) if radii else ()
        return LoopProperty(self.name, name, asked.box, Claim(late, **fields), noise, delay, held)


def _read_whole(tree: Tree, most: int, what: str) -> int:
    number = read_number(tree)
    if not 0 <= number <= most or number % 1:
        raise tree.error(f"expected {what}, found {number:g}")
    return int(number)


def _input(tree: Tree, plant: Plant) -> int:
    return read_index(tree, plant.inputs, "an input of the plant")


_READERS: dict[str, Callable[[Tree], Any]] = {
    "since": read_count,
    "steps": read_count,
    "switches": lambda tree: _read_whole(tree, 1_000_000, "a whole number of switches"),
}
_DEFAULTS: dict[str, Any] = {"since": 0, "steps": None, "always": ()}
LOOP_KINDS = (
    LoopKind("safe", {"always": "always", "since": "since", "steps": "steps"}, frozenset({"always"})),
    LoopKind("always", {"hold": "always", "since": "since", "steps": "steps"}, frozenset({"hold"})),
    LoopKind("reaches", {"goal": "goal", "hold": "always", "steps": "steps"}, frozenset({"goal", "steps"})),
    LoopKind("stays", {"hold": "always", "after": "since", "steps": "steps"}, frozenset({"hold", "after"})),
    LoopKind("chattering", {"switches": "switches", "steps": "steps"}, frozenset({"switches", "steps"})),
)
"""Conditions hold at every step; a set is reached; a set is reached and kept; the action changes seldom.

`safe` is an older way to write `always`.
"""
