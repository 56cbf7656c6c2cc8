"""A plant: states, actions, equations, and what a program sees; its equations take numbers, arrays or enclosures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.formula import NUMBERS, Comparison, Formula, Functions, read_formula
from diprl.program.signature import Continuous, Discrete
from diprl.verify.exact.linear import Box

Array = NDArray[np.float64]
Named = Mapping[str, Formula]
Values = dict[str, Any]
"""States, inputs, unknowns and constants by name."""
COUNTED = ("last_action", "switches")
"""States that a plant has when it counts how often the action changes."""
_FINE = 0.025
"""Longest Runge-Kutta step by which the true solution is simulated."""


@dataclass(frozen=True)
class Unknown:
    """A number of which only bounds are known."""

    name: str
    low: float
    high: float
    constant: bool
    """A parameter keeps its value; a disturbance has another one at each step."""


@dataclass(frozen=True)
class Plant:
    """The equations of one plant."""

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    """The values that actions set."""
    features: Named
    """What the program sees, in its order."""
    rates: Named = field(default_factory=dict)
    """Time derivatives of states."""
    following: Named = field(default_factory=dict)
    """States after the step, from values before it."""
    after: Named = field(default_factory=dict)
    """Changes to states at the end of the step, such as bounds."""
    define: Named = field(default_factory=dict)
    """Abbreviations, in order."""
    choices: tuple[tuple[float, ...], ...] = ()
    """The inputs of each discrete action; empty where the program's outputs are the inputs."""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    """Bounds of inputs that the program computes."""
    constants: Mapping[str, float] = field(default_factory=dict)
    unknowns: tuple[Unknown, ...] = ()
    sample: float = 1.0
    """Time between two actions."""
    substeps: int = 1
    """Into how many parts a sample is cut where the true solution is enclosed."""
    method: str = "exact"
    """How rates are integrated over one sample: the true solution, or a step of `euler` or `rk4`."""
    single: bool = False
    """Whether the program sees features rounded to 32 bits, as Gymnasium shows them."""
    start: Box | None = None
    ends: tuple[Comparison, ...] = ()
    """An episode is over when one of these holds; later steps do not count."""
    environment: str = ""
    """The Gymnasium id of the environment that steps alike."""

    @property
    def solved(self) -> bool:
        """Whether a step is the true solution of differential equations; others are computed in floats."""
        return bool(self.rates) and self.method == "exact"

    def values(self, states: Sequence[Any], inputs: Sequence[Any] = (), unknowns: Sequence[Any] = ()) -> Values:
        rows = ((self.states, states), (self.inputs, inputs), ([one.name for one in self.unknowns], unknowns))
        return dict(self.constants) | {name: value for row in rows for name, value in zip(*row, strict=False)}

    def seen(self, states: Sequence[Any], functions: Functions = NUMBERS) -> list[Any]:
        values = self.values(states)
        return [formula(values, functions) for formula in self.features.values()]

    def slopes(self, values: Values, functions: Functions = NUMBERS) -> Values:
        """The rates of the states that have some."""
        values = self._defined(values, functions)
        return {name: formula(values, functions) for name, formula in self.rates.items()}

    def runge_kutta(self, values: Values, time: float, functions: Functions = NUMBERS) -> Values:
        """The values after one step of Runge and Kutta's method."""
        first = self.slopes(values, functions)
        second = self.slopes(_moved(values, first, time / 2.0), functions)
        third = self.slopes(_moved(values, second, time / 2.0), functions)
        fourth = self.slopes(_moved(values, third, time), functions)
        total = {name: first[name] + 2.0 * second[name] + 2.0 * third[name] + fourth[name] for name in first}
        return _moved(values, total, time / 6.0)

    def integrated(self, values: Values, functions: Functions = NUMBERS) -> Values:
        """The values after the states that have rates have moved on for one sample."""
        if self.method == "euler":
            return _moved(values, self.slopes(values, functions), self.sample)
        parts = 1 if self.method == "rk4" else 4 + int(self.sample / _FINE)
        for _ in range(parts if self.rates else 0):
            values = self.runge_kutta(values, self.sample / parts, functions)
        return values

    def completed(self, values: Values, moved: Values, functions: Functions = NUMBERS) -> list[Any]:
        """The states after one sample, once those that have rates have moved on."""
        before = self._defined(values, functions) if self.following else values
        moved = moved | {name: formula(before, functions) for name, formula in self.following.items()}
        moved = moved | {name: formula(moved, functions) for name, formula in self.after.items()}
        return [moved[name] for name in self.states]

    def next_states(self, states: Array, inputs: Array, unknowns: Array) -> Array:
        """The states, one per column, after one step."""
        values = self.values(list(states), list(inputs), list(unknowns))
        with np.errstate(all="ignore"):
            after = self.completed(values, self.integrated(values))
        return np.stack([np.broadcast_to(row, states.shape[1:]) for row in after])

    def observed(self, states: Array) -> Array:
        """The features, one per row, as the program receives them."""
        with np.errstate(all="ignore"):
            rows = np.stack([np.broadcast_to(row, states.shape[1:]) for row in self.seen(list(states))])
            return rows.astype(np.float32).astype(np.float64) if self.single else rows

    def inputs_of(self, actions: NDArray[Any]) -> Array:
        """What a batch of actions sets, one input per row."""
        if self.choices:
            return np.array(self.choices)[actions].T
        return np.clip(actions.T, np.array(self.low)[:, None], np.array(self.high)[:, None])

    def misfit(self, program: Program) -> str:
        """Why a program cannot control this plant, or nothing."""
        actions, features = program.signature.actions, program.signature.features
        if len(features) != len(self.features):
            return f"the plant shows {len(self.features)} features, the program reads {len(features)}"
        kind, count = (Discrete, len(self.choices)) if self.choices else (Continuous, len(self.inputs))
        fits = isinstance(actions, kind) and len(actions.names) == count
        return "" if fits else "the program's actions are not those of the plant"

    def delayed(self, first: Mapping[str, float]) -> "Plant":
        """The same plant, on which every action takes effect one step later; `first` are the inputs of the first."""
        held = {f"held_{name}": _name(f"sent_{name}") for name in self.inputs}
        early = {name: _name(f"held_{name}") for name in self.inputs}
        plant = self._with_states(held, [first.get(name, 0.0) for name in self.inputs])
        return replace(plant, inputs=tuple(f"sent_{name}" for name in self.inputs), define={**early, **self.define})

    def counting(self) -> "Plant":
        """The same plant with two more states: the last action, and how often it has changed."""
        changed = "switches + where(abs(last_action - action_taken) > 0.5, where(last_action > -0.5, 1, 0), 0)"
        count = read_formula(changed, (*COUNTED, "action_taken"))
        more: Named = {"last_action": _name("action_taken"), "switches": count}
        choices = tuple((*choice, float(action)) for action, choice in enumerate(self.choices))
        return replace(self._with_states(more, [-1.0, 0.0]), inputs=(*self.inputs, "action_taken"), choices=choices)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for certificates; an Euler step is what follows."""
        euler = self.method == "euler"
        rates, following = _trees(self.rates), _trees(self.following)
        steps = {name: ["+", name, ["*", self.sample, rate]] for name, rate in rates.items()}
        plain = ("states", "inputs", "choices", "sample", "substeps", "single")
        return {name: getattr(self, name) for name in plain} | {
            "low": [None if isinf(one) else one for one in self.low],
            "high": [None if isinf(one) else one for one in self.high],
            "constants": {name: (value, value) for name, value in self.constants.items()}
            | {one.name: (one.low, one.high) for one in self.unknowns},
            "define": _trees(self.define),
            "rates": {} if euler else rates,
            "next": following | (steps if euler else {}),
            "features": _trees(self.features),
            "ends": [end.tree() for end in self.ends],
        }

    def _defined(self, values: Values, functions: Functions) -> Values:
        values = dict(values)
        for name, formula in self.define.items():
            values[name] = formula(values, functions)
        return values

    def _with_states(self, more: Named, start: Sequence[float]) -> "Plant":
        box = self.start and Box((*self.start.low, *start), (*self.start.high, *start))
        states, following = (*self.states, *more), {**self.following, **more}
        return replace(self, states=states, following=following, start=box, environment="")


def _moved(values: Values, slopes: Values, time: float) -> Values:
    return values | {name: values[name] + time * slope for name, slope in slopes.items()}


def _name(name: str) -> Formula:
    return Formula(name, (name,))


def _trees(formulas: Named) -> dict[str, Any]:
    return {name: formula.tree() for name, formula in formulas.items()}


def clipped(plant: Plant, program: Program) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Bounds of what a program's outputs become: its own and the plant's."""
    actions = program.signature.actions
    assert isinstance(actions, Continuous)  # held by `misfit`
    return tuple(map(max, actions.low, plant.low)), tuple(map(min, actions.high, plant.high))
