"""Test vectors: observations on and beside every threshold, unusable ones, and what a controller must do with each."""

from math import inf, isfinite, nan, nextafter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.export import structure
from diprl.export.c_types import DOUBLE, FIXED, Real, number_types
from diprl.export.fixed import FixedPoint
from diprl.export.guard import Guard
from diprl.export.parity import Samples, act_single, move_onto
from diprl.program import Discrete, Program
from diprl.program.evaluate import asked_batch, terminal_at

DRAWN, MOVED, KEPT = 50_000, 100, 6
"""Observations drawn in all ranges, those of them moved to each threshold, and those kept on each side of it."""
Array = NDArray[np.float64]


def make_vectors(program: Program, guard: Guard) -> tuple[Array, list[str], list[int]]:
    """Observations, a word on each, and the conditions that none of them reaches, counted from one.

    Of the places found on a threshold, a few floats from it and a thousandth off, some are kept on either side.
    """
    moved, owners = _near_thresholds(program, guard)
    low, high = np.array(guard.limits).T
    inside, rows, words, unreached = ((moved >= low) & (moved <= high)).all(axis=1), list[Any](), list[str](), []
    for number, (_, asked, values) in enumerate(asked_batch(program.root, np.ascontiguousarray(moved.T)), 1):
        own = (owners[asked] == number) & inside[asked]
        for side, word in ((own & (values > 0.0), "holds"), (own & ~(values > 0.0), "fails")):
            nearest = asked[side][np.argsort(np.abs(values[side]), kind="stable")]
            chosen = nearest[:: max(1, len(nearest) // KEPT)][:KEPT]
            rows += moved[chosen].tolist()
            words += [f"condition {number} {word}"] * len(chosen)
        unreached += [] if own.any() else [number]
    for row, word in _unusable(program, guard):
        rows.append(row)
        words.append(word)
    return np.array(rows), words, unreached


def _near_thresholds(program: Program, guard: Guard) -> tuple[Array, NDArray[np.int64]]:
    """Observations that reach a condition, moved to its threshold; and the number of that condition."""
    generator, blocks, owners = np.random.default_rng(0), [], []
    ends = [np.clip(np.array(ranges).T, -1e3, 1e3) for ranges in (guard.limits, guard.seen) if ranges]
    drawn = np.concatenate([generator.uniform(low, high, (DRAWN, len(low))) for low, high in ends])
    for number, (condition, asked, _) in enumerate(asked_batch(program.root, np.ascontiguousarray(drawn.T)), 1):
        block = drawn[asked[:: max(1, len(asked) // MOVED)]]
        if len(block) and any(condition.weights):
            move_onto(block, condition, generator)
        blocks.append(np.concatenate([block, block * 1.001, block * 0.999]))
        owners.append(np.full(len(blocks[-1]), number))
    return np.concatenate([drawn[:0], *blocks]), np.concatenate([np.empty(0, np.int64), *owners])


def _unusable(program: Program, guard: Guard) -> list[tuple[list[float], str]]:
    """Observations that a controller must not act on, after one that it may."""
    middle = [(low + high) / 2 if isfinite(low + high) else min(max(0.0, low), high) for low, high in guard.limits]
    found = [(middle, "the middle of all ranges")]
    for index, feature in enumerate(program.signature.features):
        values = {"is not a number": nan, "is infinite": inf, "is minus infinity": -inf}
        values |= {"is below its bounds": nextafter(feature.low, -inf)} if isfinite(feature.low) else {}
        values |= {"is above its bounds": nextafter(feature.high, inf)} if isfinite(feature.high) else {}
        for word, value in values.items():
            found.append(([*middle[:index], value, *middle[index + 1 :]], f"{feature.name} {word}"))
    return found


class Expected(NamedTuple):
    """What `control` of one number type has to do with the vectors."""

    real: Real
    features: NDArray[Any]
    actions: NDArray[Any]
    """(vectors, entries of the action)"""
    status: NDArray[np.int64]


def expectations(program: Program, guard: Guard, features: Array, fixed: FixedPoint | None) -> list[Expected]:
    """One for each number type that is emitted; fixed point in Python's own whole numbers, for what is finite."""
    found = []
    for real in number_types(program):
        with np.errstate(all="ignore"):
            given = features.astype(real.kind)
        acted = program.act_batch(given) if real is DOUBLE else act_single(program, Samples(features, None, None, ""))
        actions, status = guard.control(program, given, acted)
        found.append(Expected(real, given, actions.reshape(len(given), -1), status))
    if fixed:
        inputs = fixed.inputs(features[np.isfinite(features).all(axis=1)])
        leaves: Any = [terminal_at(fixed.root, row) for row in inputs.tolist()]
        actions, status = guard.control(program, inputs, np.array([leaf.action for leaf in leaves]), fixed.inputs)
        found.append(Expected(FIXED, inputs, actions[:, None], status))
    return found


def to_csv(program: Program, words: list[str], expected: Expected) -> str:
    """The vectors in double precision as a table, with digits that read back exactly."""
    actions = ("action",) if isinstance(program.signature.actions, Discrete) else program.signature.actions.names
    lines = [",".join(["where", *structure.prefixed(program.signature.feature_names, "in_"), *actions, "status"])]
    columns = zip(words, expected.features.tolist(), expected.actions.tolist(), expected.status.tolist(), strict=True)
    lines += [",".join([word, *map(repr, [*row, *acted, flag])]) for word, row, acted, flag in columns]
    return "\n".join(lines) + "\n"


def harness(program: Program, expected: list[Expected]) -> dict[str, str]:
    """C files that run the vectors on any target, with what a bare Cortex-M needs."""
    name, tables, functions, calls = structure.prefix(program), "", "", ""
    for one in expected:
        kind, suffix = "int" if isinstance(program.signature.actions, Discrete) else one.real.name, one.real.suffix
        facts = {"name": name, "suffix": suffix, "SUFFIX": suffix.upper(), "real": one.real.name, "kind": kind}
        facts |= {"rows": len(one.features), "count": one.features.shape[1], "width": one.actions.shape[1]}
        filled = {"features": _rows(one.features, one.real), "actions": _rows(one.actions, one.real)}
        status = ", ".join(map("{}U".format, one.status))
        tables += structure.fill("table.h", "handover", **facts, **filled, status=status)
        functions += structure.fill("run_variant.c", "handover", **facts)
        calls += f"    wrong += run{suffix}();\n"
    files = [name, f"{name}_fixed"] if expected[-1].real is FIXED else [name]
    includes = "".join(f'#include "{file}.h"\n' for file in files)
    sources = " ".join(f"../c/{file}.c" for file in files)
    return {
        "vectors.h": f"#include <math.h>\n\n{includes}{tables}",
        "run_vectors.c": structure.fill("run_vectors.c", "handover", name=name, functions=functions, calls=calls),
        "Makefile": structure.fill("Makefile.txt", "handover", name=name, sources=sources),
        **{file: structure.fixed_text(file, "handover") for file in ("cortex_m.c", "cortex_m.ld")},
    }


def _rows(rows: NDArray[Any], real: Real) -> str:

    def write(value: float) -> str:
        return str(value) if isinstance(value, int) else "NAN" if np.isnan(value) else real.constant(value)

    return ",\n".join("    {" + ", ".join(map(write, row)) + "}" for row in rows.tolist())
