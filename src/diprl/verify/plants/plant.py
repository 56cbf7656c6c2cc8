"""A plant: states, actions, equations, and what a program sees; stepped in any algebra."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.formula import NUMPY, Comparison, Formula
from diprl.program.signature import Continuous, Discrete
from diprl.verify.exact.linear import Box
from diprl.verify.plants.flow import METHODS, Functions

Array = NDArray[np.float64]
Named = tuple[tuple[str, Formula], ...]
Derivative = Callable[[Sequence[Any], Functions], list[Any]]


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
    rates: Named = ()
    """Time derivatives of states."""
    following: Named = ()
    """States after the step, from values before it."""
    after: Named = ()
    """Changes to states at the end of the step, such as bounds."""
    define: Named = ()
    """Abbreviations, in order."""
    choices: tuple[tuple[float, ...], ...] = ()
    """The inputs of each discrete action; empty where the program's outputs are the inputs."""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    """Bounds of inputs that the program computes."""
    constants: tuple[tuple[str, float], ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    sample: float = 1.0
    """Seconds, or other units of time, between two actions."""
    substeps: int = 1
    """Into how many parts a sample is cut where the true solution is enclosed."""
    method: str = "exact"
    """How rates are integrated over one sample; `exact` encloses the true solution."""
    single: bool = False
    """Whether the program sees features rounded to 32 bits, as Gymnasium shows them."""
    start: Box | None = None
    ends: tuple[Comparison, ...] = ()
    """An episode is over when one of these holds; later steps do not count."""
    environment: str = ""
    """The Gymnasium id of the environment that steps alike."""
    reward: Formula | None = None
    """Of a step, from the states after it; used for learning only."""

    @property
    def simulated(self) -> bool:
        """Whether a step is itself a computation in floats, so that its rounding counts."""
        return not self.rates or self.method != "exact"

    @property
    def unprovable(self) -> str:
        """What no proof can deal with, or nothing."""
        if self.after or (self.rates and self.method == "rk4"):
            return "'after:' and 'method: rk4'"
        formulas = (*self.rates, *self.following, *self.define, *self.features)
        used = {name for _, formula in formulas for name in formula.functions} & {"exp", "sqrt", "wrap"}
        return f"'{min(used)}'" if used else ""

    def values(self, states: Sequence[Any], inputs: Sequence[Any], unknowns: Sequence[Any]) -> dict[str, Any]:
        names = (*self.states, *self.inputs, *(unknown.name for unknown in self.unknowns))
        return dict(self.constants) | dict(zip(names, (*states, *inputs, *unknowns), strict=True))

    def seen(self, states: Sequence[Any], functions: Functions = NUMPY) -> list[Any]:
        """The features at a state."""
        values = dict(self.constants) | dict(zip(self.states, states, strict=True))
        return [formula.evaluate(values, functions) for _, formula in self.features]

    def derivative(self, values: Mapping[str, Any]) -> Derivative:
        """The rates of the integrated states as a function of those states."""
        moving = [name for name, _ in self.rates]

        def rates(states: Sequence[Any], functions: Functions) -> list[Any]:
            current = self.defined({**values, **dict(zip(moving, states, strict=True))}, functions)
            return [formula.evaluate(current, functions) for _, formula in self.rates]

        return rates

    def defined(self, values: dict[str, Any], functions: Functions) -> dict[str, Any]:
        for name, formula in self.define:
            values[name] = formula.evaluate(values, functions)
        return values

    def step(
        self,
        values: dict[str, Any],
        functions: Functions = NUMPY,
        integrate: Callable[[Derivative, list[Any]], list[Any]] | None = None,
    ) -> list[Any]:
        """The states after one sample, in the algebra of the functions."""
        moving = [name for name, _ in self.rates]
        moved = {}
        if self.rates:
            integrate = integrate or (lambda rates, states: METHODS[self.method](rates, states, self.sample, functions))
            moved = dict(
                zip(moving, integrate(self.derivative(values), [values[name] for name in moving]), strict=True)
            )
        before = self.defined(dict(values), functions) if self.following else values
        moved |= {name: formula.evaluate(before, functions) for name, formula in self.following}
        ended = {**values, **moved}
        moved |= {name: formula.evaluate(ended, functions) for name, formula in self.after}
        return [moved[name] for name in self.states]

    def next_states(self, states: Array, inputs: Array, unknowns: Array) -> Array:
        """The states, one per column, after one step."""
        with np.errstate(all="ignore"):
            after = self.step(self.values(list(states), list(inputs), list(unknowns)))
        return np.stack([np.broadcast_to(row, states.shape[1:]) for row in after])

    def observed(self, states: Array) -> Array:
        """The features, one per row, as the program receives them."""
        with np.errstate(all="ignore"):
            rows = np.stack([np.broadcast_to(row, states.shape[1:]) for row in self.seen(list(states))])
            return rows.astype(np.float32).astype(np.float64) if self.single else rows

    def inputs_of(self, actions: NDArray[Any]) -> Array:
        """What a batch of actions sets, one input per row."""
        return np.array(self.choices)[actions].T if self.choices else actions.T

    def misfit(self, program: Program) -> str:
        """Why a program cannot control this plant, or nothing."""
        actions, features = program.signature.actions, program.signature.features
        if len(features) != len(self.features):
            return f"the plant shows {len(self.features)} features, the program reads {len(features)}"
        if isinstance(actions, Discrete) and self.choices:
            fits = len(actions.names) == len(self.choices)
        else:
            fits = isinstance(actions, Continuous) and not self.choices and len(actions.names) == len(self.inputs)
        return "" if fits else "the program's actions are not those of the plant"

    def delayed(self, first: Mapping[str, float]) -> "Plant":
        """The same plant, on which every action takes effect one step later; `first` are the inputs of the first."""
        held = tuple(f"held_{name}" for name in self.inputs)
        names = dict(zip(self.inputs, held, strict=True))
        early = tuple((name, Formula(kept, (kept,))) for name, kept in names.items())
        sent = tuple(f"sent_{name}" for name in self.inputs)
        later = tuple((kept, Formula(one, (one,))) for kept, one in zip(held, sent, strict=True))
        values = tuple(first.get(name, 0.0) for name in self.inputs)
        start = self.start and Box((*self.start.low, *values), (*self.start.high, *values))
        kept_names = {"states": (*self.states, *held), "inputs": sent, "start": start}
        return replace(self, **kept_names, define=(*early, *self.define), following=(*self.following, *later))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for certificates: every formula as its author wrote it, an Euler step as what follows."""

        def texts(pairs: Named) -> list[list[str]]:
            return [[name, formula.text] for name, formula in pairs]

        def finite(values: Sequence[float]) -> list[float | None]:
            return [None if isinf(value) else value for value in values]

        steps = [[name, f"{name} + {self.sample!r}*({formula.text})"] for name, formula in self.rates]
        euler = steps if self.method == "euler" else []
        return {
            "states": list(self.states),
            "inputs": list(self.inputs),
            "choices": [list(choice) for choice in self.choices],
            "low": finite(self.low),
            "high": finite(self.high),
            "constants": dict(self.constants),
            "unknowns": [[unknown.name, unknown.low, unknown.high] for unknown in self.unknowns],
            "define": texts(self.define),
            "rates": [] if euler else texts(self.rates),
            "next": texts(self.following) + euler,
            "after": texts(self.after),
            "features": texts(self.features),
            "sample": self.sample,
            "substeps": self.substeps,
            "method": self.method,
            "single": self.single,
            "ends": [comparison.text for comparison in self.ends],
        }


def clipped(plant: Plant, program: Program) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Bounds of what a program's outputs become: its own and the plant's."""
    actions = program.signature.actions
    assert isinstance(actions, Continuous)  # held by `misfit`
    low = plant.low or (-inf,) * len(plant.inputs)
    high = plant.high or (inf,) * len(plant.inputs)
    return tuple(map(max, actions.low, low)), tuple(map(min, actions.high, high))
