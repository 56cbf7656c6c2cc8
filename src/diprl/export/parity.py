"""What an export wrote, and how it compares with the interpreter: at random, on thresholds and next to them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.export.guard import PLAIN, Guard
from diprl.program import Condition, Discrete, Node, Primitives, Program
from diprl.program.ast import assemble, conditions, flatten, number_rows, with_number_rows
from diprl.program.evaluate import act_batch, linear_batch
from diprl.program.networks import Network

Array = NDArray[np.float64]

_ULPS = np.arange(-3, 4)
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.7e308)
NETWORK_TOLERANCE = 1e-9
"""Networks are summed in another order than NumPy's, so their blends are compared to within this."""
SINGLE_TOLERANCE = 1e-3
"""Networks in 32 bits only come near to those in 64."""


@dataclass(frozen=True)
class Samples:
    """A batch of inputs for a program, and where they come from."""

    features: Array
    primitive_actions: Array | None
    senses: Array | None
    description: str

    def __len__(self) -> int:
        return len(self.features)


def draw(
    program: Program, random: int = 2000, near: int = 1000, seed: int = 0, networks: Sequence[Network] = ()
) -> Samples:
    """Random observations, others within a few floats of a threshold, and those with infinities or NaN."""
    generator = np.random.default_rng(seed)
    spread = _random(program, random, generator)
    close, exact = _near(program, near, generator)
    special = generator.choice(_SPECIAL, size=(min(200, random), len(program.signature.features)))
    special = np.where(generator.random(special.shape) < 0.5, special, spread[: len(special)])
    features = np.concatenate([spread, close, special])
    actions, count = program.signature.actions, len(features)
    blended = isinstance(actions, Primitives)
    primitives = generator.normal(size=(count, len(actions.names), len(actions.low))) if blended else None
    senses = generator.normal(size=(count, len(networks[0].mean))) if networks else None
    description = f"{random} random, {len(close)} near a threshold ({exact} exactly on it)"
    return Samples(features, primitives, senses, f"{description}, {len(special)} with special numbers")


def _random(program: Program, count: int, generator: np.random.Generator) -> Array:
    """Uniform within bounds where there are any, else of every order of magnitude near one."""
    columns = []
    for feature in program.signature.features:
        if np.isfinite(feature.high - feature.low):
            columns.append(generator.uniform(feature.low, feature.high, count))
        else:
            magnitude = 10.0 ** generator.uniform(-3.0, 2.0, count)
            columns.append(np.clip(generator.choice([-1.0, 1.0], count) * magnitude, feature.low, feature.high))
    return np.stack(columns, axis=1) if columns else np.empty((count, 0))


def _near(program: Program, count: int, generator: np.random.Generator) -> tuple[Array, int]:
    """Observations moved along one feature onto or next to a threshold, and how many are exactly on it."""
    readable = [condition for condition in conditions(program.root) if any(condition.weights)]
    if not readable:
        return _random(program, 0, generator), 0
    blocks, exact = [], 0
    for condition in readable:
        features = _random(program, -(-count // len(readable)), generator)
        features[::2] = features[::2].round(1)
        with np.errstate(all="ignore"):
            move_onto(features, condition, generator)
            exact += int((linear_batch(condition.weights, condition.bias, features.T) == 0.0).sum())
        blocks.append(features)
    return np.concatenate(blocks), exact


def move_onto(features: Array, condition: Condition, generator: np.random.Generator) -> None:
    """Solve the condition for one feature that it reads; two of three rows then step by a few floats."""
    weights = np.array(condition.weights)
    chosen = int(generator.choice(np.flatnonzero(weights)))
    others = features.copy()
    others[:, chosen] = 0.0
    place = -(others @ weights + condition.bias) / weights[chosen]
    steps = generator.choice(_ULPS, size=len(place)) * (np.arange(len(place)) % 3 > 0)
    features[:, chosen] = place + steps * np.spacing(place)


@dataclass(frozen=True)
class Written:
    """The files of one target, and the inputs on which they are compared with the program."""

    program: Program
    files: Sequence[Path]
    samples: Samples
    networks: Sequence[Network] = ()
    guard: Guard = PLAIN


@dataclass(frozen=True)
class Check:
    """One comparison of an exported form with the interpreter."""

    name: str
    """What was run, such as 'double'."""
    observations: int = 0
    disagreements: int = 0
    note: str = ""
    """Why it was not checked, or how near 'equal' had to be."""

    def __str__(self) -> str:
        if not self.observations:
            return f"{self.name}: not checked: {self.note}"
        verdict = "agrees" if not self.disagreements else f"DISAGREES {self.disagreements} times"
        note = f" ({self.note})" if self.note else ""
        return f"{self.name}: {verdict} on {self.observations} observations{note}"


@dataclass(frozen=True)
class ExportReport:
    """The files of one target and the checks that they went through."""

    target: str
    files: tuple[Path, ...]
    checks: tuple[Check, ...]
    sample: str = ""
    """What the observations of the checks were."""

    @property
    def agrees(self) -> bool:
        """Whether nothing that was checked disagreed with the interpreter."""
        return not any(check.disagreements for check in self.checks)

    def __str__(self) -> str:
        lines = [f"{self.target}: wrote {', '.join(map(str, self.files))}"]
        lines += [f"    {check}" for check in self.checks]
        if any(check.observations for check in self.checks):
            lines.append(f"    observations: {self.sample}")
        return "\n".join(lines)


def unchecked(name: str, note: str) -> Callable[[Written], list[Check]]:
    """The check of a target that nothing can run."""
    return lambda written: [Check(name, note=note)]


def compare(name: str, written: Written, found: NDArray[Any], single: bool = False) -> Check:
    """Exact comparison: the same action or the same bits for every observation; NaN equals NaN."""
    wrong = differing(found, _expected(written.program, written.samples, single))
    return Check(name, len(written.samples), wrong, "in 32 bits" if single else "")


def compare_networks(name: str, written: Written, found: NDArray[Any], single: bool = False) -> Check:
    """Comparison of a whole controller, networks included, to within a tolerance."""
    tolerance = SINGLE_TOLERANCE if single else NETWORK_TOLERANCE
    assert written.samples.senses is not None  # drawn for these networks
    actions = np.stack([network.actions(written.samples.senses) for network in written.networks], axis=1)
    samples = replace(written.samples, primitive_actions=actions)
    near = np.isclose(found, _expected(written.program, samples, single), tolerance, tolerance, equal_nan=True)
    return Check(name, len(samples), int((~near).any(axis=1).sum()), f"to within {tolerance:g}")


def differing(found: NDArray[Any], expected: NDArray[Any]) -> int:
    """How many rows differ."""
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    return int((~same if same.ndim == 1 else ~same.all(axis=1)).sum())


def _expected(program: Program, samples: Samples, single: bool) -> NDArray[Any]:
    return act_single(program, samples) if single else program.act_batch(samples.features, samples.primitive_actions)


def single_precision(root: Node) -> Node:
    """The tree with every number rounded to a 32-bit float; numbers that do not fit become infinite."""
    return assemble(with_number_rows(item, [_single(row) for row in number_rows(item)]) for item in flatten(root))


def act_single(program: Program, samples: Samples) -> NDArray[Any]:
    """What a program does when all of its arithmetic is in 32-bit floats, in the interpreter's order."""
    actions, primitives = program.signature.actions, samples.primitive_actions
    if not isinstance(actions, Discrete):
        actions = replace(actions, low=_single(actions.low), high=_single(actions.high))
    with np.errstate(all="ignore"):
        columns: Any = np.ascontiguousarray(samples.features.T.astype(np.float32))
        blended: Any = None if primitives is None else primitives.astype(np.float32)
    return act_batch(single_precision(program.root), actions, columns, blended)


def _single(values: tuple[float, ...]) -> tuple[float, ...]:
    with np.errstate(all="ignore"):
        return tuple(np.array(values, np.float64).astype(np.float32).astype(np.float64).tolist())
