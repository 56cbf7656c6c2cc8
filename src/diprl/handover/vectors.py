"""Test vectors: observations on and beside every threshold, unusable ones, and what a controller must do with each."""

from dataclasses import dataclass, replace
from math import inf, isfinite, nan, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.export import structure
from diprl.export.c_types import DOUBLE, FIXED, Real, number_types
from diprl.export.fixed import FixedPoint, whole
from diprl.export.guard import FLAGS, UNUSABLE, Guard, Ranges
from diprl.export.parity import act_single
from diprl.export.samples import Samples, near_thresholds
from diprl.program import Discrete, Program, Signature
from diprl.program.evaluate import asked_batch, terminal_at

TRIES, KEPT = 60, 6
"""Places drawn for each threshold, and those kept on each side of it."""


def make_vectors(program: Program, guard: Guard) -> tuple[NDArray[np.float64], list[str], list[int]]:
    """Observations, a word on each, and the conditions that none of them reaches, counted from one."""
    blocks = [block for ranges in (guard.limits, guard.seen) if ranges for block in _near(program, ranges)]
    features = np.concatenate(blocks) if blocks else np.empty((0, len(guard.limits)))
    owners = np.concatenate(
        [np.full(len(block), number % program.conditions) for number, block in enumerate(blocks)] or [[]]
    )
    rows, words, unreached = [], [], []
    for number, (_, asked, values) in enumerate(asked_batch(program.root, np.ascontiguousarray(features.T))):
        own = owners[asked] == number
        for side, word in ((values > 0.0, "holds"), (~(values > 0.0), "fails")):
            near = asked[own & side][np.argsort(np.abs(values[own & side]), kind="stable")]
            chosen = near[:: max(1, len(near) // KEPT)][:KEPT]
            rows += features[chosen].tolist()
            words += [f"condition {number + 1} {word}"] * len(chosen)
        unreached += [] if own.any() else [number + 1]
    for row, word in _unusable(program, guard):
        rows.append(row)
        words.append(word)
    return np.array(rows), words, unreached


def _near(program: Program, ranges: Ranges) -> list[NDArray[np.float64]]:
    """For each condition, places within the ranges on its threshold, a few floats from it, and a thousandth off."""
    pairs = zip(program.signature.features, ranges, strict=True)
    features = tuple(replace(one, low=low, high=high) for one, (low, high) in pairs)
    bounded = Program(Signature(features, program.signature.actions), program.root)
    low, high = np.array(ranges).T
    found = []
    for block in near_thresholds(bounded, TRIES, np.random.default_rng(0)):
        wider = np.concatenate([block, block * 1.001, block * 0.999])
        found.append(wider[((wider >= low) & (wider <= high)).all(axis=1)])
    return found


def _unusable(program: Program, guard: Guard) -> list[tuple[list[float], str]]:
    """Observations that a controller must not act on, after one that it may."""
    middle = [(low + high) / 2 if isfinite(low + high) else min(max(0.0, low), high) for low, high in guard.limits]
    found = [(middle, "the middle of all ranges")]
    for index, feature in enumerate(program.signature.features):
        values = {"is not a number": nan, "is infinite": inf, "is minus infinity": -inf}
        values |= {
            "is below its bounds": nextafter(feature.low, -inf),
            "is above its bounds": nextafter(feature.high, inf),
        }
        found += [
            ([*middle[:index], value, *middle[index + 1 :]], f"{feature.name} {word}") for word, value in values.items()
        ]
    return found


@dataclass(frozen=True)
class Expected:
    """What `control` of one number type has to do with the vectors."""

    real: Real
    features: NDArray[Any]
    actions: NDArray[Any]
    """(vectors, entries of the action)"""
    status: NDArray[np.int64]


def expectations(
    program: Program, guard: Guard, features: NDArray[np.float64], fixed: FixedPoint | None
) -> list[Expected]:
    """One for each number type that is emitted."""
    found = []
    for real in number_types(program):
        with np.errstate(all="ignore"):
            given = features.astype(real.kind)
        acted = program.act_batch(given) if real is DOUBLE else act_single(program, Samples(features, None, None, ""))
        actions, status = guard.control(program, given, acted)
        found.append(Expected(real, given, actions.reshape(len(given), -1), status))
    return [*found, _in_whole_numbers(program, guard, features, fixed)] if fixed else found


def _in_whole_numbers(program: Program, guard: Guard, features: NDArray[np.float64], fixed: FixedPoint) -> Expected:
    """The same in Python's own whole numbers; what is not finite cannot be given to them."""
    inputs = fixed.inputs(features[np.isfinite(features).all(axis=1)])
    flags = np.zeros(len(inputs), np.int64)
    for flag, ranges in guard.watched(program, fixed=True).items():
        for index in structure.read_features(program.root) if ranges else []:
            low, high = (whole(end, fixed.bits[index]) if isfinite(end) else end for end in ranges[index])
            flags |= FLAGS[flag] * ((inputs[:, index] < low) | (inputs[:, index] > high))
    leaves: Any = [terminal_at(fixed.root, row) for row in inputs.tolist()]
    actions = np.where(flags & UNUSABLE, guard.action(program), [leaf.action for leaf in leaves])
    return Expected(FIXED, inputs, actions[:, None], flags)


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
    kinds = {one.real: "int" if isinstance(program.signature.actions, Discrete) else one.real.name for one in expected}
    for one in expected:
        facts = {"name": name, "suffix": one.real.suffix, "SUFFIX": one.real.suffix.upper(), "real": one.real.name}
        facts |= {"kind": kinds[one.real], "rows": len(one.features), "width": one.actions.shape[1]}
        status = "{" + ", ".join(f"{flag}U" for flag in one.status.tolist()) + "}"
        filled = {"features": _rows(one.features, one.real), "actions": _rows(one.actions, one.real), "status": status}
        tables += structure.fill("table.h", "handover", **facts, count=one.features.shape[1], **filled)
        functions += structure.fill("run_variant.c", "handover", **facts)
        calls += f"    wrong += run{one.real.suffix}();\n"
    files = [name, f"{name}_fixed"] if FIXED in kinds else [name]
    includes = "".join(f'#include "{file}.h"\n' for file in files)
    sources = " ".join(f"../c/{file}.c" for file in files)
    return {
        "vectors.h": f"#include <math.h>\n\n{includes}{tables}",
        "run_vectors.c": structure.fill("run_vectors.c", "handover", name=name, functions=functions, calls=calls),
        "Makefile": structure.fill("Makefile.txt", "handover", sources=sources),
        **{file: structure.fixed_text(file, "handover") for file in ("cortex_m.c", "cortex_m.ld")},
    }


def _rows(rows: NDArray[Any], real: Real) -> str:
    """The rows of a table in C."""

    def write(value: float) -> str:
        return str(value) if isinstance(value, int) else "NAN" if np.isnan(value) else real.constant(value)

    return "{\n" + ",\n".join("    {" + ", ".join(map(write, row)) + "}" for row in rows.tolist()) + "\n}"
