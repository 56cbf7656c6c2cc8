"""Test vectors: observations on and beside every threshold, unusable ones, and what a controller must do with each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import inf, isfinite, nan, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.export import structure
from diprl.export.c_types import DOUBLE, FIXED, Real, number_types
from diprl.export.fixed import FixedPoint, whole
from diprl.export.guard import FLAGS, UNUSABLE, Guard
from diprl.export.parity import act_single
from diprl.export.samples import Samples
from diprl.program import Condition, Discrete, Program
from diprl.program.ast import conditions
from diprl.program.evaluate import linear, linear_batch
from diprl.program.paths import descend

Array = NDArray[np.float64]
TRIES = 64
"""Random places on each threshold, of which a few are taken."""
MOST = 4000
"""Vectors in all, as far as every threshold has some."""


@dataclass(frozen=True)
class Vectors:
    """Observations with a word on where each lies."""

    features: Array
    places: tuple[str, ...]
    unreached: tuple[int, ...]
    """Conditions that no observation within the ranges was found to reach, counted from one."""


def make_vectors(program: Program, guard: Guard, seed: int = 0) -> Vectors:
    """For every condition: places where it changes its answer, with the floats on both sides and places further off.

    Half of the places lie in the ranges that were tried, where they are known.
    """
    generator, asked = np.random.default_rng(seed), conditions(program.root)
    low, high = (np.array(ends) for ends in zip(*map(_finite, guard.limits), strict=True))
    tried = np.array(guard.seen).T if guard.seen else (low, high)
    owners = np.repeat(np.arange(len(asked)), TRIES)
    bases = generator.uniform(low, high, (len(owners), len(low)))
    bases[::2] = np.clip(generator.uniform(*tried, bases[::2].shape), low, high)
    chosen = [_solve(asked[owner], base, generator, low, high) for owner, base in zip(owners, bases, strict=True)]
    reached = _reached(program, bases, owners) & (np.array(chosen, int) >= 0)
    rows: list[list[float]] = []
    places: list[tuple[int, str]] = []
    for number, condition in enumerate(asked):
        found = np.flatnonzero(reached & (owners == number))[: max(1, min(4, MOST // (4 * len(asked))))]
        for row in found:
            for observation, place in _beside(condition, bases[row].tolist(), chosen[row], high - low):
                rows.append(observation)
                places.append((number, place))
    features = np.array(rows).reshape(-1, len(low))
    kept = _reached(program, features, np.array([number for number, _ in places], int))
    told = [f"condition {number + 1}: {place}" for (number, place), keep in zip(places, kept, strict=True) if keep]
    left = {number for (number, _), keep in zip(places, kept, strict=True) if keep}
    middle = ((low + high) / 2).tolist()
    special, words = zip(*_unusable(program, middle), strict=True)
    everything = np.concatenate([features[kept], np.array(special)])
    return Vectors(everything, (*told, *words), tuple(n + 1 for n in range(len(asked)) if n not in left))


def _finite(ends: tuple[float, float]) -> tuple[float, float]:
    """A range to draw from, also where the feature has no bounds."""
    low, high = ends
    if isfinite(low) and isfinite(high):
        return ends
    return (low, low + 20.0) if isfinite(low) else (high - 20.0, high) if isfinite(high) else (-10.0, 10.0)


def _solve(condition: Condition, base: Array, generator: np.random.Generator, low: Array, high: Array) -> int:
    """Move a place onto the threshold along a feature, in place; -1 where none within the ranges does."""
    for index in generator.permutation(np.flatnonzero(condition.weights)).tolist():
        before, base[index] = base[index], 0.0
        value = linear(condition.weights, condition.bias, base.tolist())
        with np.errstate(all="ignore"):
            base[index] = -value / condition.weights[index]
        if low[index] <= base[index] <= high[index]:
            return index
        base[index] = before
    return -1


def _reached(program: Program, features: Array, owners: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each observation is asked its own condition."""
    columns, reached, numbers = np.ascontiguousarray(features.T), np.zeros(len(features), bool), count()

    def split(condition: Condition, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        reached[rows] |= owners[rows] == next(numbers)
        true = linear_batch(condition.weights, condition.bias, columns[:, rows]) > 0.0
        return rows[true], rows[~true]

    for _ in descend(program.root, np.arange(len(features)), split):
        pass
    return reached


def _beside(condition: Condition, base: list[float], index: int, width: Array) -> Iterator[tuple[list[float], str]]:
    """The two neighbouring floats between which the condition changes its answer, and places a little further off."""

    def at(value: float) -> list[float]:
        return [*base[:index], value, *base[index + 1 :]]

    def holds(value: float) -> bool:
        return linear(condition.weights, condition.bias, at(value)) > 0.0

    step = 1e-12 * (1.0 + abs(base[index]))
    low, high = base[index] - step, base[index] + step
    while holds(low) == holds(high) and step < 1e-3:
        step *= 10.0
        low, high = base[index] - step, base[index] + step
    while holds(low) != holds(high) and nextafter(low, inf) < high:
        middle = low + (high - low) / 2.0
        low, high = (middle, high) if holds(middle) == holds(low) else (low, middle)
    if holds(low) != holds(high):
        yield at(low), "the last float on one side"
        yield at(high), "the first float on the other side"
    for sign, side in ((-1.0, "below"), (1.0, "above")):
        yield at(base[index] + sign * 1e-3 * float(width[index])), f"a thousandth of the range {side} in its feature"


def _unusable(program: Program, middle: list[float]) -> Iterator[tuple[list[float], str]]:
    """Observations that a controller must not act on, after one that it may."""
    yield middle, "the middle of all ranges"
    for index, feature in enumerate(program.signature.features):
        for value, word in ((nan, "is not a number"), (inf, "is infinite"), (-inf, "is minus infinity")):
            yield [*middle[:index], value, *middle[index + 1 :]], f"{feature.name} {word}"
        for end, away, word in ((feature.low, -inf, "below"), (feature.high, inf, "above")):
            if isfinite(end):
                yield [*middle[:index], nextafter(end, away), *middle[index + 1 :]], f"{feature.name} {word} its bounds"


@dataclass(frozen=True)
class Expected:
    """What one number type has to do with the vectors."""

    real: Real
    features: NDArray[Any]
    actions: NDArray[Any]
    """(vectors, entries of the action)"""
    status: NDArray[np.int64]


def expectations(program: Program, guard: Guard, vectors: Vectors, fixed: FixedPoint | None) -> list[Expected]:
    """For each number type that is emitted, what its `control` must give."""
    found = []
    for real in number_types(program):
        with np.errstate(all="ignore"):
            features = vectors.features.astype(real.kind)
        samples = Samples(vectors.features, None, None, "")
        acted = program.act_batch(features) if real is DOUBLE else act_single(program, samples)
        actions = guard.control(program, features, acted)
        found.append(Expected(real, features, actions.reshape(len(features), -1), guard.status(program, features)))
    return [*found, _expected_fixed(program, guard, vectors, fixed)] if fixed else found


def _expected_fixed(program: Program, guard: Guard, vectors: Vectors, fixed: FixedPoint) -> Expected:
    """The same in whole numbers, worked out in Python's own; what is not finite cannot be given to them."""
    finite = vectors.features[np.isfinite(vectors.features).all(axis=1)]
    inputs, read = fixed.inputs(finite), structure.read_features(program.root)
    flags = np.zeros(len(inputs), np.int64)
    for flag, ranges in guard.watched(program, fixed=True):
        for index in read if ranges else []:
            ends = [whole(end, fixed.feature_bits[index]) if isfinite(end) else end for end in ranges[index]]
            flags |= FLAGS[flag] * ((inputs[:, index] < ends[0]) | (inputs[:, index] > ends[1]))
    chosen = np.atleast_1d(guard.action(program)).tolist()
    if fixed.output_bits:
        chosen = [whole(value, bits) for value, bits in zip(chosen, fixed.output_bits, strict=True)]
    rows = zip(inputs.tolist(), flags.tolist(), strict=True)
    actions = [chosen if flag & UNUSABLE else np.atleast_1d(fixed.act(program, row)).tolist() for row, flag in rows]
    return Expected(FIXED, inputs, np.array(actions), flags)


def to_csv(program: Program, vectors: Vectors, expected: Expected) -> str:
    """The vectors in double precision as a table, with digits that read back exactly."""
    actions = ("action",) if isinstance(program.signature.actions, Discrete) else program.signature.actions.names
    lines = [",".join(["where", *structure.prefixed(program.signature.feature_names, "in_"), *actions, "status"])]
    columns = zip(vectors.places, vectors.features.tolist(), expected.actions.tolist(), expected.status, strict=True)
    lines += [f'"{place}",' + ",".join(map(repr, [*row, *acted, int(flag)])) for place, row, acted, flag in columns]
    return "\n".join(lines) + "\n"


def harness(program: Program, expected: Iterable[Expected]) -> dict[str, str]:
    """C files that run the vectors on any target, with what a bare Cortex-M needs."""
    name, tables, functions, calls = structure.prefix(program), "", "", ""
    includes = {f'#include "{name}.h"'}
    for one in expected:
        suffix, width, whole_action = (
            one.real.suffix,
            one.actions.shape[1],
            isinstance(program.signature.actions, Discrete),
        )
        kind = "int" if whole_action else one.real.name
        includes |= {f'#include "{name}_fixed.h"'} if one.real is FIXED else set()
        write = str if one.real is FIXED else lambda value, real=one.real: _constant(value, real)
        acted = str if whole_action else write
        tables += f"\n#define VECTORS{suffix.upper()} {len(one.features)}\n"
        tables += _table(f"{one.real.name} features{suffix}", one.features, write)
        tables += _table(f"{kind} expected{suffix}", one.actions, acted)
        tables += f"static const unsigned int status{suffix}[] = {{{', '.join(f'{flag}U' for flag in one.status)}}};\n"
        facts = {"name": name, "suffix": suffix, "SUFFIX": suffix.upper(), "real": one.real.name}
        functions += structure.fill("run_variant.c", "handover", **facts, kind=kind, width=width) + "\n"
        calls += f"    wrong += run{suffix}();\n"
    sources = " ".join(sorted({line.split('"')[1].replace(".h", ".c") for line in includes}))
    run = structure.fill("run_vectors.c", "handover", functions=functions, calls=calls, signature=f"{name}_signature")
    make = structure.fill("Makefile.txt", "handover", sources=" ".join(f"../c/{one}" for one in sources.split()))
    rest = {file: structure.fixed_text(file, "handover") for file in ("cortex_m.c", "cortex_m.ld")}
    head = "#include <math.h>\n\n" + "\n".join(sorted(includes)) + "\n"
    return {"vectors.h": head + tables, "run_vectors.c": run, "Makefile": make, **rest}


def _constant(value: float, real: Real) -> str:
    return "NAN" if np.isnan(value) else real.constant(float(value))


def _table(declared: str, rows: NDArray[Any], write: Any) -> str:
    kind, name = declared.split()
    lines = ",\n".join("    {" + ", ".join(map(write, row)) + "}" for row in rows.tolist())
    return f"static const {kind} {name}[][{rows.shape[1]}] = {{\n{lines}\n}};\n"
