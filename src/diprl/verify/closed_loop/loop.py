"""The closed loop of a program and a plant: what is claimed about it, and where sets of states go in one step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diprl.program import Program
from diprl.program.ast import Act, Affine, Blend, Condition, If, Terminal, flatten, number_rows
from diprl.program.evaluate import linear, terminal_at
from diprl.program.formula import Comparison, Formula
from diprl.verify.closed_loop.forms import FORMS, Array, Form, clip, gathered
from diprl.verify.closed_loop.sets import Flags, Indices, Modes, Sets, modes_across
from diprl.verify.exact.cells import leaves_along
from diprl.verify.exact.linear import Box
from diprl.verify.exact.question import Deadline
from diprl.verify.plants.plant import Plant, Values, clipped

_UNITS = {"float64": 2.0**-53, "float32": 2.0**-24}
"""By how much an operation may be off, relative to its result."""
_STEP_ROUNDING = 2.0**-40
"""Relative to one plus a state's size: far more than a simulated step rounds."""
_MORE = 1.01
"""Margins are this much wider than the checker's."""
_REMAINDER, _ROUGH = 1e-3, 3
"""How much wider a solution's error is made than computed, and from how many rough boxes it is computed."""
_NEAR = 1e-6
"""Size of a set around a point that stands for it."""
_Part = tuple[Indices, Array, Array]
"""Which sets, and within which bounds of their symbols."""
_ZERO = Formula("0", (0.0,))


@dataclass(frozen=True)
class Claim:
    """From every start in the box: what holds, during which steps, and what is reached."""

    start: Box
    always: tuple[Comparison, ...] = ()
    """What holds from step `since` on, until `steps`, or until the goal where there is one."""
    since: int = 0
    steps: int | None = None
    """The last step that is examined; None is forever."""
    goal: tuple[Comparison, ...] = ()
    """What is reached by then, where something is to be reached."""

    def text(self) -> str:
        wanted = " and ".join(one.text for one in self.always)
        if self.goal:
            reached = " and ".join(one.text for one in self.goal)
            return f"{reached} within {self.steps} steps{f', and {wanted} until then' if wanted else ''}"
        if self.since:
            end = f"to step {self.steps}" if self.steps is not None else "on, forever"
            return f"{wanted} from step {self.since} {end}"
        return f"{wanted} {f'at each of the first {self.steps} steps' if self.steps is not None else 'forever'}"


@dataclass(frozen=True, eq=False)
class Images:
    """Where some sets go along the branches that they may take."""

    parents: Indices
    leaf: Indices
    states: Form
    """[state, image]"""
    safe: Flags
    """Whether what is claimed holds during the step as well."""


@dataclass(frozen=True)
class Loop:
    """A program that controls a plant."""

    program: Program
    plant: Plant
    noise: tuple[float, ...]
    """How far each feature may be off."""
    arithmetic: str = "float64"
    """In which the program runs."""

    def forms(self, centre: Array, generators: Array) -> Form:
        """The states of sets, in their symbols; the last symbol is the time within a step."""
        slopes = np.concatenate([generators, np.zeros((*centre.shape, 1))], axis=2)
        return Form(centre.T, np.swapaxes(slopes, 0, 1), np.zeros_like(centre.T))

    def certain(self, wanted: Sequence[Comparison], states: Form) -> Flags:
        """Which sets certainly satisfy all comparisons."""
        values, found = self.plant.values(list(states)), np.ones(states.centre.shape[1], bool)
        for one in wanted:
            difference: Any = one.difference(values, FORMS)
            low = difference.low - 1e-12 * difference.size if isinstance(difference, Form) else difference
            found &= low > 0.0 if one.strict else low >= 0.0
        return found

    def images(self, sets: Sets, claimed: Sequence[Comparison], deadline: Deadline) -> Images:
        """Where sets go, for each branch that some of them may take."""
        centre, generators = sets.centre, sets.generators
        features, found = self._features(self.forms(centre, generators)), list[Images]()

        def turn(part: _Part, condition: Condition, holds: bool) -> _Part | None:
            deadline.remaining()
            return _cut(self._linear(condition.weights, condition.bias, features), part, holds)

        everything = np.ones(centre.shape)
        whole = (np.arange(len(sets)), -everything, everything)
        for number, leaf, (parents, low, high) in leaves_along(self.program.root, whole, turn):
            middle, half = (low + high) / 2.0, (high - low) / 2.0
            moved = centre[parents] + np.einsum("snk,sk->sn", generators[parents], middle)
            states = self.forms(moved, generators[parents] * half[:, None, :])
            after, safe = self._step(states, leaf, claimed)
            found.append(Images(parents, np.full(len(parents), number), after, safe))
        columns = ([getattr(one, key) for one in found] for key in ("parents", "leaf", "safe"))
        parents, leaf, safe = map(np.concatenate, columns)
        return Images(parents, leaf, gathered([one.states for one in found], np.concatenate, 1), safe)

    def modes_across(self, centre: Array, generators: Array, scales: Array) -> Modes | None:
        """Rows for the images of a set that lies across a condition at which the action changes."""
        point = self.forms(centre[None], _NEAR * np.eye(len(centre))[None])  # whose slopes are derivatives
        features, met = self._features(point), list[tuple[float, Array, Terminal, Terminal]]()
        values, node = [form.centre[0] for form in features], self.program.root
        while isinstance(node, If):
            condition = self._linear(node.condition.weights, node.condition.bias, features)
            normal = condition.slopes[0, : len(centre)] / _NEAR
            taken, other = (node.then, node.orelse) if condition.centre[0] > 0.0 else (node.orelse, node.then)
            distance = abs(condition.centre[0]) / max(np.abs(normal @ generators).sum(), 1e-300)
            met.append((distance, normal, terminal_at(taken, values), terminal_at(other, values)))
            node = taken
        for _, normal, taken, other in sorted(met, key=lambda one: one[0])[:3]:
            if taken != other:
                here, there = (self._step(point, leaf, ())[0][:, 0] for leaf in (taken, other))
                matrix = here.slopes[:, : len(centre)] / _NEAR
                modes = modes_across(here.centre - there.centre, normal, matrix, scales)
                if modes is not None:
                    return modes
        return None

    def _features(self, states: Form) -> list[Form]:
        """What the program sees: with noise, and off by what its arithmetic may do to each product and sum."""
        rows = zip(_as_forms(self.plant.seen(list(states), FORMS), states), self.noise, strict=True)
        return [form.loosened(_MORE * (noise + self._rounding * (form.size + noise)) + 2e-43) for form, noise in rows]

    @property
    def _rounding(self) -> float:
        observed = _UNITS["float32"] if self.plant.single else 0.0
        return (4 * len(self.noise) + 8) * _UNITS[self.arithmetic] + observed + 2.0**-46

    def _linear(self, weights: Sequence[float], bias: float, features: list[Form]) -> Form:
        """A linear form of the features, with what rounding may take away."""
        found = linear(weights, 0.0, features)
        found = found if isinstance(found, Form) else features[0].between(0.0, 0.0)
        return (found + bias).loosened(_MORE * self._rounding * abs(bias) + 1e-40)

    def _inputs(self, leaf: Terminal, states: Form) -> list[Any]:
        if isinstance(leaf, Act):
            return list(self.plant.choices[leaf.action])
        assert isinstance(leaf, Affine)  # held by the plant's `misfit`
        features = self._features(states)
        sides = zip(leaf.weights, leaf.bias, *clipped(self.plant, self.program), strict=True)
        found = [clip(self._linear(row, bias, features), low, high) for row, bias, low, high in sides]
        return [form.loosened(_MORE * _UNITS[self.arithmetic] * form.size) for form in found]

    def _step(self, states: Form, leaf: Terminal, claimed: Sequence[Comparison]) -> tuple[Form, Flags]:
        """The states after one step, and whether what is claimed holds on the way."""
        plant, safe = self.plant, np.ones(states.centre.shape[1], bool)
        unknowns = [states[0].between(one.low, one.high) for one in plant.unknowns]
        values = plant.values(list(states), self._inputs(leaf, states), unknowns)
        if not plant.solved:
            after = gathered(_as_forms(plant.completed(values, plant.integrated(values, FORMS), FORMS), states))
            return after.loosened(_MORE * _STEP_ROUNDING * (1.0 + after.size)), safe
        moved = values
        for _ in range(plant.substeps):
            moved, path = self._flow(moved, states)
            if claimed:
                safe &= self.certain(claimed, gathered(_as_forms([path[name] for name in plant.states], states)))
        after = gathered(_as_forms(plant.completed(values, moved, FORMS), states))
        return after.loosened(_REMAINDER * after.error + 1e-9), safe

    def _flow(self, values: Values, like: Form) -> tuple[Values, Values]:
        """The values after a part of a sample, and on the way, by Picard's iteration."""
        plant, span = self.plant, self.plant.sample / self.plant.substeps
        clock = np.eye(like.slopes.shape[-1])[-1]
        passed = (0.0 * like[0]) + span / 2.0
        passed = Form(passed.centre, passed.slopes + clock * span / 2.0, passed.error)

        def speeds(path: Values) -> Values:
            found = plant.slopes(values | path, FORMS)
            return dict(zip(found, _as_forms(list(found.values()), like), strict=True))

        path, found = {name: values[name] for name in plant.rates}, dict[str, Form]()
        for _ in range(_ROUGH):
            room = {name: 1.05 * one.spread + 1e-12 for name, one in path.items()}
            box = {name: one.between(one.centre - room[name], one.centre + room[name]) for name, one in path.items()}
            path = {name: values[name] + passed * speed for name, speed in speeds(box).items()}
        for _ in range(3):
            found = speeds(path)
            means = {
                name: Form(speed.centre - speed.slopes[:, -1] / 2.0, speed.slopes * (1.0 - clock / 2.0), speed.error)
                for name, speed in found.items()
            }
            path = {name: values[name] + passed * mean for name, mean in means.items()}
        ends = {name: Form(one.centre, one.slopes * (1.0 - clock), one.error) for name, one in found.items()}
        return values | {name: values[name] + span * end for name, end in ends.items()}, values | path


def _as_forms(values: Sequence[Any], like: Form) -> list[Form]:
    """Numbers become forms as well."""
    return [one if isinstance(one, Form) else like[0].between(one, one) for one in values]


def _cut(form: Form, part: _Part, holds: bool) -> _Part | None:
    """The part where a form may come out above zero, or not above it; bounds of symbols shrink accordingly."""
    parents, low, high = part
    size, sign = low.shape[1], 1.0 if holds else -1.0
    slopes = sign * form.slopes[parents]
    most = np.maximum(slopes[:, :size] * low, slopes[:, :size] * high)
    extra = sign * form.centre[parents] + form.error[parents] + np.abs(slopes[:, size:]).sum(axis=1)
    total = most.sum(axis=1) + extra + 1e-12 * form.size[parents]
    kept = ~(total < 0.0)
    if not kept.any():
        return None
    slopes, low, high = slopes[kept][:, :size], low[kept], high[kept]
    with np.errstate(all="ignore"):
        bound = -(total[kept, None] - most[kept]) / slopes
    low = np.where((slopes > 0.0) & (bound > low), np.minimum(bound, high), low)
    high = np.where((slopes < 0.0) & (bound < high), np.maximum(bound, low), high)
    return parents[kept], low, high


def reduced(loop: Loop, claim: Claim) -> tuple[Loop, Claim, list[int]]:
    """The same question about fewer states, and which states those are.

    An end of episodes that reads another state is left out too: then more steps count, so more is proved.
    """
    plant = loop.plant
    rows = [row[:-1] for item in flatten(loop.program.root) if not isinstance(item, Blend) for row in number_rows(item)]
    weighed = [any(column) for column in zip(*rows, strict=True)] or [False] * len(plant.features)
    pairs = zip(plant.features.items(), weighed, strict=True)
    features = {name: form if read else _ZERO for (name, form), read in pairs}
    equations = [*plant.rates.items(), *plant.following.items(), *plant.define.items()]
    needed = set[str]().union(*(one.difference.names for one in (*claim.always, *claim.goal)))
    needed = needed.union(*(feature.names for feature in features.values()))
    while (more := needed.union(*(formula.names for name, formula in equations if name in needed))) != needed:
        needed = more
    kept = [index for index, state in enumerate(plant.states) if state in needed]
    if not kept:
        return loop, claim, list(range(len(plant.states)))
    smaller = replace(
        plant,
        states=tuple(plant.states[index] for index in kept),
        features=features,
        rates={name: formula for name, formula in plant.rates.items() if name in needed},
        following={name: formula for name, formula in plant.following.items() if name in needed},
        define={name: formula for name, formula in plant.define.items() if name in needed},
        ends=tuple(end for end in plant.ends if end.difference.names <= needed | plant.constants.keys()),
    )
    box = Box(tuple(claim.start.low[index] for index in kept), tuple(claim.start.high[index] for index in kept))
    return replace(loop, plant=smaller), replace(claim, start=box), kept
