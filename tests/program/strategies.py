"""Random programs of every kind, for property tests."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from diprl.program import (
    Act,
    Affine,
    Blend,
    Condition,
    Continuous,
    Discrete,
    Feature,
    If,
    Node,
    Primitives,
    Program,
    Signature,
)
from diprl.program.ast import conditions
from diprl.program.names import is_identifier

names = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True).filter(is_identifier)
extreme_numbers = st.floats(allow_nan=False, allow_infinity=False)
tame_numbers = st.one_of(st.just(0.0), st.integers(-4, 4).map(float), st.floats(-10, 10).map(lambda x: round(x, 3)))
words = st.text(max_size=6)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[float, float]:
    low, high = sorted(draw(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))))
    return draw(st.sampled_from([(low, high), (-np.inf, high), (low, np.inf), (-np.inf, np.inf)]))


@st.composite
def signatures(draw: st.DrawFn, kinds: tuple[type, ...] = (Discrete, Continuous, Primitives)) -> Signature:
    features = tuple(
        Feature(name, draw(words), *draw(intervals()), draw(words))
        for name in draw(st.lists(names, min_size=1, max_size=4, unique=True))
    )
    kind = draw(st.sampled_from(kinds))
    labels = tuple(draw(st.lists(names, min_size=1, max_size=3, unique=True)))
    if kind is Discrete:
        return Signature(features, Discrete(labels))
    count = len(labels) if kind is Continuous else draw(st.integers(1, 3))
    bounds = [draw(intervals()) for _ in range(count)]
    low, high = tuple(pair[0] for pair in bounds), tuple(pair[1] for pair in bounds)
    if kind is Primitives:
        return Signature(features, Primitives(labels, low, high))
    units = draw(st.one_of(st.just(()), st.tuples(*[words] * count)))
    return Signature(features, Continuous(labels, low, high, units))


@st.composite
def terminals(draw: st.DrawFn, signature: Signature, numbers: st.SearchStrategy[float]) -> Node:
    features, actions = len(signature.features), signature.actions
    if isinstance(actions, Discrete):
        return Act(draw(st.integers(0, len(actions.names) - 1)))
    if isinstance(actions, Continuous):
        rows = tuple(draw(st.tuples(*[numbers] * features)) for _ in actions.names)
        return Affine(rows, draw(st.tuples(*[numbers] * len(actions.names))))
    parts = draw(st.lists(st.integers(0, 5), min_size=len(actions.names), max_size=len(actions.names)))
    total = sum(parts)
    return Blend(tuple(part / total for part in parts) if total else (1.0, *[0.0] * (len(parts) - 1)))


def nodes(signature: Signature, numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Node]:
    tests = st.builds(Condition, st.tuples(*[numbers] * len(signature.features)), numbers)
    leaves = terminals(signature, numbers)
    return st.recursive(leaves, lambda inner: st.builds(If, tests, inner, inner), max_leaves=8)


@st.composite
def programs(
    draw: st.DrawFn,
    numbers: st.SearchStrategy[float] = extreme_numbers,
    kinds: tuple[type, ...] = (Discrete, Continuous, Primitives),
) -> Program:
    """Nested trees of all kinds of actions; pass `tame_numbers` for numbers a person would write."""
    signature = draw(signatures(kinds))
    return Program(signature, draw(nodes(signature, numbers)), draw(words))


def observations(program: Program, count: int, seed: int, special: bool = True) -> NDArray[np.float64]:
    """Random observations, many of them exactly on or next to a threshold, some infinite or not a number."""
    generator = np.random.default_rng(seed)
    features = generator.normal(scale=3.0, size=(count, len(program.signature.features))).round(2)
    for row, condition in zip(features, conditions(program.root) * count, strict=False):
        _onto_threshold(row, condition, generator)
    if special:
        mask = generator.random(features.shape) < 0.05
        features[mask] = generator.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], size=int(mask.sum()))
    return features


def primitive_actions(program: Program, count: int, seed: int) -> NDArray[np.float64] | None:
    actions = program.signature.actions
    if not isinstance(actions, Primitives):
        return None
    return np.random.default_rng(seed).normal(size=(count, len(actions.names), len(actions.low)))


def _onto_threshold(row: NDArray[np.float64], condition: Condition, generator: Any) -> None:
    """Solve the condition for one feature it reads, then stay there or step to a neighbouring float."""
    read = np.flatnonzero(condition.weights)
    if not len(read):
        return
    weights, chosen = np.array(condition.weights), generator.choice(read)
    with np.errstate(all="ignore"):
        rest = weights @ np.where(np.arange(len(row)) == chosen, 0.0, row) + condition.bias
        place = -rest / weights[chosen]
    if np.isfinite(place):
        row[chosen] = np.nextafter(place, generator.choice([place, -np.inf, np.inf]))
