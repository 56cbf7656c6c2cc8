"""What the closed loop of a program and a plant does: always, reaches, stays, chattering."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from diprl.program.formula import read_comparison
from diprl.verify.closed_loop.decide import decide
from diprl.verify.closed_loop.loop import Claim, Loop
from diprl.verify.context import Context
from diprl.verify.exact.linear import Box
from diprl.verify.plants.plant import Plant
from diprl.verify.plants.read import BUILT_IN, read_start
from diprl.verify.report import Answer
from diprl.verify.spec import Asked, Tree

_INPUT = "an input of the plant"
_NO_PLANT = "closed loops need a plant: name a file with 'plant:', or set 'task:' to {}, {}, {} or {}".format(*BUILT_IN)


@dataclass(frozen=True)
class LoopProperty:
    """A claim about the closed loop, perhaps with sensor noise or with actions that come one step late."""

    kind: str
    name: str
    box: Box
    """Of features; closed loops have a start box of states in their claim instead."""
    plant: Plant
    """With what the claim needs: held actions, or a count of switches."""
    claim: Claim
    noise: tuple[float, ...]
    """How far each feature may be off."""
    late: bool = False
    """Whether every action takes effect one step late."""

    def check(self, context: Context) -> Answer:
        misfit = self.plant.misfit(context.program)
        if misfit:
            return Answer("unknown", f"the program does not fit the plant: {misfit}")
        plant, claim = self.plant, self.claim
        if claim.goal:  # an episode must not end before the goal is reached
            others = tuple(end for end in plant.ends if claim.goal != (end,))
            claim = replace(claim, always=(*claim.always, *(end.negated() for end in others)))
            plant = replace(plant, ends=tuple(end for end in plant.ends if end not in others))
        answer = decide(Loop(context.program, plant, self.noise, context.arithmetic), claim, context)
        return replace(answer, assumptions=tuple(self._notes(context)))

    def _notes(self, context: Context) -> list[str]:
        plant, names = self.plant, ", ".join(self.plant.features)
        notes = [f"starts: {self.claim.start.text(plant.states)}"]
        notes.append(f"the plant is as its equations say ({plant.name}); its features are the program's: {names}")
        if plant.unknowns:
            sides = ", ".join(f"{one.name} in [{one.low:g}, {one.high:g}]" for one in plant.unknowns)
            notes.append(f"{sides}: any values, changing from step to step and held during one")
        if plant.ends:
            notes.append("steps after an episode's end do not count")
        if any(self.noise):
            pairs = zip(context.names, self.noise, strict=True)
            notes.append(f"sensor noise: {', '.join(f'{name} ±{size:g}' for name, size in pairs if size)}")
        if self.late:
            notes.append("every action takes effect one step late")
        return [*notes, "sin and cos of the C library are right to 14 digits"]


@dataclass(frozen=True)
class LoopKind:
    """How properties of one kind are written: which keys stand for which fields of the claim."""

    name: str
    keys: Mapping[str, str]
    needed: frozenset[str]

    def read(self, name: str, asked: Asked) -> LoopProperty:
        if "within" in asked.entries:
            raise asked.error("closed loops have 'start:' instead of 'within:'")
        if asked.plant is None:
            raise asked.error(_NO_PLANT)
        plant, late = asked.plant, asked.take("delay", lambda tree: tree.whole(0, 1), 0) == 1
        start = asked.take("start", lambda tree: read_start(tree, plant.states, plant.start), plant.start)
        if start is None:
            raise asked.error("'start:' must give an interval for every state")
        names, known = (*plant.states, *plant.constants), partial(Tree.name, names=plant.inputs, kind=_INPUT)
        first = asked.take("first", lambda tree: tree.mapping(known, partial(Tree.number, finite=True)), {})
        plant = replace(plant, start=start)
        plant = plant.delayed(first) if late else plant
        fields: dict[str, Any] = {}
        for key, part in self.keys.items():
            read = _READERS.get(part, lambda tree: tree.comparisons(names))
            fields[part] = asked.take(key, read, *([] if key in self.needed else [_DEFAULTS[part]]))
        if "switches" in fields:
            if not plant.choices:
                raise asked.error("chattering is about programs that choose among actions")
            plant = plant.counting()
            few = f"switches < {fields.pop('switches') + 1}"  # not <=: sets are a little wider than points
            fields["always"] = (read_comparison(few, ["switches"]),)
        radii = asked.take("noise", lambda tree: tree.mapping(asked.feature, Tree.positive), {})
        noise = tuple(radii.get(index, 0.0) for index in range(len(asked.features)))
        assert plant.start is not None  # it was given above
        return LoopProperty(self.name, name, asked.box, plant, Claim(plant.start, **fields), noise, late)


_READERS: dict[str, Any] = {"since": Tree.count, "steps": Tree.count, "switches": partial(Tree.whole, least=0)}
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
