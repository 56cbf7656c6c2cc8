"""Comparing an exported form with the interpreter."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.export.networks import Network, run_all
from diprl.export.report import Check
from diprl.export.samples import Samples
from diprl.program import Affine, Blend, Condition, Discrete, Node, Program, Terminal, evaluate
from diprl.program.ast import rebuild

NETWORK_TOLERANCE = 1e-9
"""Networks are summed in another order than NumPy's, so their blends are compared to within this."""


def compare(name: str, program: Program, samples: Samples, found: NDArray[Any]) -> Check:
    """Exact comparison: the same action or the same bits for every observation; NaN equals NaN."""
    return Check(
        name, len(samples), differing(found, program.act_batch(samples.features, samples.primitive_actions))
    )


def compare_networks(
    name: str,
    program: Program,
    samples: Samples,
    networks: Sequence[Network],
    *,
    found: NDArray[Any],
    tolerance: float = NETWORK_TOLERANCE,
) -> Check:
    """Comparison of a whole controller, networks included, to within a tolerance."""
    assert samples.senses is not None  # drawn for these networks
    expected = program.act_batch(samples.features, run_all(networks, samples.senses))
    far = ~np.isclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return Check(name, len(samples), int(far.any(axis=1).sum()), f"to within {tolerance:g}")


def differing(found: NDArray[Any], expected: NDArray[Any]) -> int:
    """How many rows differ."""
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    return int((~same if same.ndim == 1 else ~same.all(axis=1)).sum())


def single_precision(root: Node) -> Node:
    """The tree with every number rounded to a 32-bit float; numbers that do not fit become infinite."""
    return rebuild(root, _single_condition, _single_terminal)


def act_single(program: Program, samples: Samples) -> NDArray[Any]:
    """What a program does when all of its arithmetic is in 32-bit floats, in the interpreter's order."""
    root = single_precision(program.root)
    with np.errstate(all="ignore"):
        columns: Any = np.ascontiguousarray(samples.features.T.astype(np.float32))
        actions = program.signature.actions
        if isinstance(actions, Discrete):
            return evaluate.discrete_batch(root, columns)
        primitives: Any = samples.primitive_actions
        primitives = None if primitives is None else primitives.astype(np.float32)
        return evaluate.vector_batch(root, columns, primitives, _single(actions.low), _single(actions.high))


def _single(values: Sequence[float]) -> tuple[float, ...]:
    with np.errstate(all="ignore"):
        return tuple(np.array(values, np.float64).astype(np.float32).astype(np.float64).tolist())


def _single_condition(condition: Condition) -> Condition:
    return Condition(_single(condition.weights), _single([condition.bias])[0])


def _single_terminal(terminal: Terminal) -> Terminal:
    if isinstance(terminal, Affine):
        return Affine(tuple(map(_single, terminal.weights)), _single(terminal.bias))
    if isinstance(terminal, Blend):
        return replace(terminal, weights=_single(terminal.weights))
    return terminal
