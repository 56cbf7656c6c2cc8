"""Continuous outputs, which are clipped, as linear forms on the parts where they are linear."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import isinf
from typing import NamedTuple

from diprl.program.ast import Affine
from diprl.program.signature import Continuous
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.linear import Constraint, Weights, dot, exact

Way = tuple[Constraint, ...]
"""Further conditions under which something happens at a leaf; empty where it always does."""


class Piece(NamedTuple):
    """Where an output is a linear form of the variables, which, and by how much rounding may have it off."""

    given: Way
    weights: Weights
    bias: Fraction
    error: Fraction


def output_pieces(leaf: Leaf, output: int) -> list[Piece]:
    """A clipped output in up to three pieces: at its low bound, at its high one, and in between.

    Clipping makes no error larger.
    """
    actions = leaf.program.signature.actions
    assert isinstance(actions, Continuous)  # others have no outputs to ask about
    whole = _before_clipping(leaf, output)
    between: list[Constraint] = []
    pieces = []
    for bound, side in ((actions.low[output], 1), (actions.high[output], -1)):
        if not isinf(bound):
            towards = tuple(side * weight for weight in whole.weights)
            inside = Constraint(towards, side * (whole.bias - Fraction(bound)), strict=False)
            between.append(inside)
            pieces.append(Piece((inside.negated(),), (Fraction(0),) * len(towards), Fraction(bound), whole.error))
    return [*pieces, whole._replace(given=tuple(between))]


def _before_clipping(leaf: Leaf, output: int) -> Piece:
    if leaf.outputs is not None:
        return Piece((), (), Fraction(leaf.outputs[output]), Fraction(0))
    assert isinstance(leaf.terminal, Affine)  # programs over continuous actions have no other terminals
    row, bias = leaf.terminal.weights[output], leaf.terminal.bias[output]
    return Piece((), leaf.place.weights(exact(row)), Fraction(bias), leaf.errors.get((row, bias), Fraction(0)))


def ways_above_zero(
    terms: Sequence[tuple[Fraction | int, Leaf, int]], bias: Fraction | int = 0, strict: bool = True
) -> Iterator[Way]:
    """Where a sum of factors times outputs of leaves, plus a bias, may come out above zero."""
    factors = tuple(Fraction(factor) for factor, _, _ in terms)
    for pieces in product(*(output_pieces(leaf, output) for _, leaf, output in terms)):
        weights = tuple(dot(factors, column) for column in zip(*(piece.weights for piece in pieces), strict=True))
        error = dot(tuple(map(abs, factors)), [piece.error for piece in pieces])
        total = dot(factors, [piece.bias for piece in pieces]) + bias + error
        given = [constraint for piece in pieces for constraint in piece.given]
        yield (*given, Constraint(weights, total, strict))


def disagreements(first: Leaf, second: Leaf, tolerance: Fraction = Fraction(0), sign: int = 1) -> Iterator[Way]:
    """Where two leaves act differently.

    `sign` is −1 where the second one's outputs should be the negative of the first one's.
    """
    actions = first.program.signature.actions
    if isinstance(actions, Continuous):
        for output, side in product(range(len(actions.names)), (1, -1)):
            yield from ways_above_zero([(side, first, output), (-side * sign, second, output)], -tolerance)
    elif first.terminal != second.terminal:
        yield ()
