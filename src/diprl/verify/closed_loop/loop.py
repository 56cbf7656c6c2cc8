"""The closed loop of a program and a plant: where sets of states go in one step, branch by branch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Act, Affine, Condition, If, Terminal
from diprl.program.evaluate import linear, terminal_at
from diprl.program.formula import Comparison
from diprl.verify.closed_loop.forms import FORMS, Form, clip
from diprl.verify.closed_loop.sets import Array, Indices, Sets
from diprl.verify.exact.cells import leaves_along
from diprl.verify.plants.flow import Rates, coefficients, polynomial
from diprl.verify.plants.plant import Plant, clipped

ORDER = 4
"""Of the Taylor series by which true solutions are enclosed."""
_UNIT, _UNIT_SINGLE = 2.0**-53, 2.0**-24
_STEP_ROUNDING = 2.0**-40
"""Relative to one plus a state's size: far more than a simulated step rounds."""
_MORE = 1.01
"""Margins are this much wider than the checker's."""
_Part = tuple[Indices, Array, Array]
"""Which sets, and within which bounds of their symbols."""


@dataclass(frozen=True, eq=False)
class Image:
    """Where some sets go along one branch."""

    parents: Indices
    leaf: int
    label: int
    """The action, or the branch where outputs are computed: another one is a switch."""
    states: list[Form]
    tubes: list[list[Form]]
    """Enclosures of the states during the step, in order; only where the true solution is enclosed."""


@dataclass(frozen=True)
class Loop:
    """A program that controls a plant."""

    program: Program
    plant: Plant
    noise: tuple[float, ...]
    """How far each feature may be off."""

    def forms(self, sets: Sets) -> list[Form]:
        """The states of sets, in their symbols."""
        return self._forms(sets.centre, sets.generators)

    def _forms(self, centre: Array, generators: Array) -> list[Form]:
        count, size = centre.shape
        slopes = np.concatenate([generators, np.zeros((count, size, len(self.plant.unknowns)))], axis=2)
        return [Form(centre[:, index], slopes[:, index], np.zeros(count)) for index in range(size)]

    def _unknowns(self, count: int) -> list[Form]:
        size, found = len(self.plant.states), []
        for index, unknown in enumerate(self.plant.unknowns):
            slopes = np.zeros((count, size + len(self.plant.unknowns)))
            slopes[:, size + index] = (unknown.high - unknown.low) / 2.0
            found.append(Form(np.full(count, (unknown.high + unknown.low) / 2.0), slopes, np.zeros(count)))
        return found

    def certain(self, wanted: Sequence[Comparison], states: Sequence[Form]) -> NDArray[np.bool_]:
        """Which sets certainly satisfy all comparisons."""
        values = dict(self.plant.constants) | dict(zip(self.plant.states, states, strict=True))
        found = np.ones(len(states[0].centre), bool)
        for one in wanted:
            difference: Any = one.difference.evaluate(values, FORMS)
            low = difference.low - 1e-12 * difference.size if isinstance(difference, Form) else np.asarray(difference)
            found &= low > 0.0 if one.strict else low >= 0.0
        return found

    def images(self, sets: Sets) -> Iterator[Image]:
        """Where sets go, for each branch that some of them may take."""
        centre, generators = sets.centre, sets.generators
        features = self._features(self._forms(centre, generators))
        size = len(self.plant.states)
        everything = np.full((len(sets), size), 1.0)

        def turn(part: _Part, condition: Condition, holds: bool) -> _Part | None:
            return _cut(self._linear(condition.weights, condition.bias, features), part, holds)

        whole = (np.arange(len(sets)), -everything, everything)
        for number, leaf, (parents, low, high) in leaves_along(self.program.root, whole, turn):
            middle, half = (low + high) / 2.0, (high - low) / 2.0
            moved = centre[parents] + np.einsum("snk,sk->sn", generators[parents], middle)
            states = self._forms(moved, generators[parents] * half[:, None, :])
            after, tubes = self._step(states, self._inputs(leaf, states))
            yield Image(parents, number, label_of(leaf, number), after, tubes)

    def _features(self, states: list[Form]) -> list[Form]:
        seen = _as_forms(self.plant.seen(states, FORMS), states[0])
        rounding = _MORE * ((_UNIT_SINGLE if self.plant.single else 0.0) + 256 * _UNIT)
        return [
            Form(form.centre, form.slopes, form.error + _MORE * noise + rounding * form.size + 1e-44)
            for form, noise in zip(seen, self.noise, strict=True)
        ]

    def _linear(self, weights: Sequence[float], bias: float, features: list[Form]) -> Form:
        """A linear form of the features, with what float64 may round away."""
        found = linear(weights, bias, features)
        if not isinstance(found, Form):
            return features[0].constant(bias, bias)
        total = sum((abs(weight) * form.size for weight, form in zip(weights, features, strict=True)), abs(bias))
        return Form(found.centre, found.slopes, found.error + _MORE * (4 * len(weights) + 260) * _UNIT * total)

    def _inputs(self, leaf: Terminal, states: list[Form]) -> list[Any]:
        if isinstance(leaf, Act):
            return list(self.plant.choices[leaf.action])
        assert isinstance(leaf, Affine)  # held by the plant's `misfit`
        features = self._features(states)
        sides = zip(leaf.weights, leaf.bias, *clipped(self.plant, self.program), strict=True)
        return [clip(self._linear(row, bias, features), low, high) for row, bias, low, high in sides]

    def _step(self, states: list[Form], inputs: list[Any]) -> tuple[list[Form], list[list[Form]]]:
        plant, tubes = self.plant, list[list[Form]]()
        values = plant.values(states, inputs, self._unknowns(len(states[0].centre)))

        def integrate(rates: Rates, moving: list[Any]) -> list[Any]:
            names = [name for name, _ in plant.rates]
            held = dict(zip(plant.states, states, strict=True))
            for _ in range(plant.substeps):
                moving, tube = enclosed_flow(rates, moving, plant.sample / plant.substeps)
                tubes.append([{**held, **dict(zip(names, tube, strict=True))}[name] for name in plant.states])
            return moving

        after = plant.step(values, FORMS, None if plant.simulated else integrate)
        after = _as_forms(after, states[0])
        slack = _MORE * (_STEP_ROUNDING if plant.simulated else 0.0)
        return [Form(one.centre, one.slopes, one.error + slack * (1.0 + one.size)) for one in after], tubes


def _as_forms(values: Sequence[Any], like: Form) -> list[Form]:
    """Numbers become forms as well."""
    return [one if isinstance(one, Form) else like.constant(one, one) for one in values]


def label_of(leaf: Terminal, number: int) -> int:
    return leaf.action if isinstance(leaf, Act) else number


def conditions_along(program: Program, features: Sequence[float]) -> list[tuple[Condition, Terminal, Terminal]]:
    """The conditions that a state meets, each with the leaves that the state reaches on its two sides."""
    found, node = [], program.root
    while isinstance(node, If):
        taken, other = node.then, node.orelse
        if not linear(node.condition.weights, node.condition.bias, features) > 0.0:
            taken, other = other, taken
        found.append((node.condition, terminal_at(taken, features), terminal_at(other, features)))
        node = taken
    return found


def _cut(form: Form, part: _Part, holds: bool) -> _Part | None:
    """The part where a form may come out above zero, or not above it; bounds of symbols shrink accordingly."""
    parents, low, high = part
    size, sign = low.shape[1], 1.0 if holds else -1.0
    slopes = sign * form.slopes[parents]
    most = np.where(slopes[:, :size] > 0.0, slopes[:, :size] * high, slopes[:, :size] * low)
    extra = sign * form.centre[parents] + form.error[parents] + np.abs(slopes[:, size:]).sum(axis=1)
    total = most.sum(axis=1) + extra
    total = total + 1e-12 * (np.abs(form.centre[parents]) + np.abs(slopes).sum(axis=1))
    kept = ~(total < 0.0)
    if not kept.any():
        return None
    slopes, total, most = slopes[kept][:, :size], total[kept], most[kept]
    with np.errstate(all="ignore"):
        bound = -(total[:, None] - most) / slopes
    low = np.where((slopes > 0.0) & (bound > low[kept]), np.minimum(bound, high[kept]), low[kept])
    high = np.where((slopes < 0.0) & (bound < high[kept]), np.maximum(bound, low), high[kept])
    return parents[kept], low, high


def enclosed_flow(rates: Rates, states: list[Any], time: float) -> tuple[list[Form], list[Form]]:
    """The states after some time, and an enclosure of them all the way."""
    box, speeds = _rough_box(rates, states, time)
    rows = coefficients(rates, states, ORDER, FORMS)
    rest = coefficients(rates, box, ORDER + 1, FORMS)
    factor = time ** (ORDER + 1)
    after = [polynomial(row, time) + last[-1] * factor for row, last in zip(rows, rest, strict=True)]
    moves = [(np.minimum(time * speed.low, 0.0), np.maximum(time * speed.high, 0.0)) for speed in speeds]
    return after, [state.shifted(*move) for state, move in zip(states, moves, strict=True)]


def _rough_box(rates: Rates, states: list[Form], time: float) -> tuple[list[Form], list[Any]]:
    """A box that no solution leaves within the time (Picard's criterion), and the rates in it."""
    box = [state.constant(state.low, state.high) for state in states]
    for _ in range(20):
        speeds = _as_forms(rates(box, FORMS), box[0])
        needed = [
            state.constant(
                state.low + np.minimum(time * speed.low, 0.0), state.high + np.maximum(time * speed.high, 0.0)
            )
            for state, speed in zip(states, speeds, strict=True)
        ]
        inside = [(new.low >= old.low) & (new.high <= old.high) for new, old in zip(needed, box, strict=True)]
        if np.all(inside):
            return box, speeds
        box = [
            one.constant(one.low - 0.05 * one.spread - 1e-12, one.high + 0.05 * one.spread + 1e-12) for one in needed
        ]
    return [one.constant(-np.inf, np.inf) for one in box], [one.constant(-np.inf, np.inf) for one in box]
