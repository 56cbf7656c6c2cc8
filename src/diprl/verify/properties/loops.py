"""What the closed loop of a program and a plant does: always, reaches, stays, chattering."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from diprl.program.formula import Comparison
from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.decide import decide
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.context import Context
from diprl.verify.exact.linear import Box
from diprl.verify.plants.plant import Plant
from diprl.verify.plants.read import read_comparisons, read_state_box
from diprl.verify.report import Answer
from diprl.verify.spec.asked import Asked, read_count, read_mapping, read_number, read_positive, read_text
from diprl.verify.spec.tree import Tree

_NO_PLANT = (
    "closed loops need a plant: name a file with 'plant:', or set 'task:' to CartPole-v1, MountainCar-v0, "
    "Pendulum-v1 or Acrobot-v1"
)


@dataclass(frozen=True)
class LoopProperty:
    """A claim about the closed loop, perhaps with sensor noise or with actions that come one step late."""

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
    return [*notes, "sin, cos and exp of the C library are right to 14 digits"]


def delayed(plant: Plant, delay: bool, first: Mapping[str, float]) -> Plant:
    return plant.delayed(first) if delay else plant


class Always(LoopProperty):
    """Conditions hold at every step, up to one or for ever."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Always":
        key = "always" if "always" in asked.entries else "hold"
        return _read(cls, name, asked, {key: "always", "since": "since", "steps": "steps"})


class Reaches(LoopProperty):
    """Every start reaches a set within some steps."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Reaches":
        found = _read(cls, name, asked, {"goal": "goal", "hold": "always", "steps": "steps"})
        if found.claim.steps is None:
            raise asked.error("'reaches' needs 'steps:', the number within which the goal is reached")
        return found


class Stays(LoopProperty):
    """Every start is in a set after some steps, and remains there."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Stays":
        return _read(cls, name, asked, {"hold": "always", "after": "since", "steps": "steps"})


class Chattering(LoopProperty):
    """The action changes at most so often."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Chattering":
        found = _read(cls, name, asked, {"switches": "switches", "steps": "steps"})
        if found.claim.steps is None:
            raise asked.error("'chattering' needs 'steps:', the number of steps in which switches are counted")
        return found


_OPTIONAL = {"steps", "since", "hold"}


def _read(cls: type, name: str, asked: Asked, keys: dict[str, str]) -> LoopProperty:
    """A property of some keys, each of which is a field of the claim."""
    plant = asked.plant
    if "within" in asked.entries:
        raise asked.error("closed loops have 'start:' instead of 'within:'")
    if plant is None:
        raise asked.error(_NO_PLANT)
    delay = asked.take("delay", _read_delay, False)
    names = (*plant.states, *(key for key, _ in plant.constants))

    def comparisons(tree: Tree) -> tuple[Comparison, ...]:
        return read_comparisons(tree, names)

    readers = {
        "always": comparisons,
        "goal": comparisons,
        "since": read_count,
        "steps": read_count,
        "switches": _read_switches,
    }
    needed = {key for key in keys if key not in _OPTIONAL or (key == "hold" and "goal" not in keys)}
    fields = {
        field: asked.take(key, readers[field], *([] if key in needed else [_default(field)]))
        for key, field in keys.items()
    }
    start = asked.take(
        "start", lambda tree: read_state_box(tree, plant.states, plant.start), *([plant.start] if plant.start else [])
    )
    first = asked.take("first", lambda tree: read_mapping(tree, lambda one: _input(one, plant), read_number), {})
    held = tuple((plant.inputs[index], value) for index, value in first.items())
    late = delayed(replace(plant, start=start), delay, dict(held)).start
    radii = asked.take("noise", lambda tree: read_mapping(tree, asked.feature, read_positive), {})
    noise = tuple(radii.get(index, 0.0) for index in range(len(asked.features))) if radii else ()
    return cls(name, asked.box, Claim(late, **fields), noise, delay, held)


def _default(field: str) -> object:
    return {"since": 0, "steps": None, "always": ()}[field]


def _read_delay(tree: Tree) -> bool:
    text = read_text(tree)
    if text not in ("0", "1"):
        raise tree.error(f"'delay:' is 0 or 1, the steps by which actions are late, not {text:.40}")
    return text == "1"


def _read_switches(tree: Tree) -> int:
    number = read_number(tree)
    if not 0 <= number <= 1_000_000 or number % 1:
        raise tree.error(f"expected a whole number of switches, found {number:g}")
    return int(number)


def _input(tree: Tree, plant: Plant) -> int:
    if read_text(tree) not in plant.inputs:
        raise tree.error(f"'{read_text(tree):.40}' is not an input of the plant: known: {', '.join(plant.inputs)}")
    return plant.inputs.index(read_text(tree))
