"""Continuous outputs, which are clipped, as linear forms on the parts where they are linear."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isinf

from diprl.program.ast import Affine
from diprl.program.signature import Continuous, Signature
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.linear import Constraint, Weights, exact

Way = tuple[Constraint, ...]
"""Further conditions under which something happens at a leaf; empty where it always does."""


@dataclass(frozen=True)
class Piece:
    """Where an output is a linear form of the variables, and which."""

    given: Way
    weights: Weights
    bias: Fraction


def output_pieces(leaf: Leaf, output: int, actions: Continuous) -> list[Piece]:
    """A clipped output in up to three pieces: at its low bound, at its high one, and in between."""
    weights, bias = _form(leaf, output)
    nothing = tuple(Fraction(0) for _ in weights)
    between: list[Constraint] = []
    pieces = []
    for bound, side in ((actions.low[output], 1), (actions.high[output], -1)):
        if not isinf(bound):
            towards = tuple(side * weight for weight in weights)
            inside = Constraint(towards, side * (bias - Fraction(bound)), strict=False)
            between.append(inside)
            pieces.append(Piece((inside.negated(),), nothing, Fraction(bound)))
    return [*pieces, Piece(tuple(between), weights, bias)]


def ways_above_zero(
    actions: Continuous,
    terms: Sequence[tuple[Fraction | int, Leaf, int]],
    bias: Fraction | int = 0,
    strict: bool = True,
) -> Iterator[Way]:
    """Where a sum of factors times outputs of leaves, plus a bias, is above zero.

    It is loosened by what rounding of the outputs can do, as far as the leaves have a margin. Clipping makes no
    error larger.
    """
    error = sum((abs(factor) * _error(leaf, output) for factor, leaf, output in terms), Fraction(0))
    for pieces in product(*(output_pieces(leaf, output, actions) for _, leaf, output in terms)):
        factors = [Fraction(factor) for factor, _, _ in terms]
        columns = zip(*(piece.weights for piece in pieces), strict=True)
        weights = tuple(Constraint(column, Fraction(0), strict).value(factors) for column in columns)
        total = Constraint(tuple(factors), bias + error, strict).value([piece.bias for piece in pieces])
        given = [constraint for piece in pieces for constraint in piece.given]
        yield (*given, Constraint(weights, total, strict))


def _form(leaf: Leaf, output: int) -> tuple[Weights, Fraction]:
    """An output before it is clipped, as a linear form of the question's variables."""
    if leaf.outputs is not None:
        return (), Fraction(leaf.outputs[output])
    terminal = _affine(leaf)
    return leaf.place.weights(exact(terminal.weights[output])), Fraction(terminal.bias[output])


def _error(leaf: Leaf, output: int) -> Fraction:
    terminal = _affine(leaf)
    return leaf.margin(terminal.weights[output], terminal.bias[output])


def _affine(leaf: Leaf) -> Affine:
    assert isinstance(leaf.terminal, Affine)  # programs over continuous actions have no other terminals
    return leaf.terminal


def disagreements(
    first: Leaf, second: Leaf, signature: Signature, tolerance: Fraction = Fraction(0), sign: int = 1
) -> Iterator[Way]:
    """Where two leaves act differently.

    `sign` is −1 where the second one's outputs should be the negative of the first one's.
    """
    actions = signature.actions
    if not isinstance(actions, Continuous):
        if first.terminal != second.terminal:
            yield ()
        return
    for output in range(len(actions.names)):
        for side in (1, -1):
            terms = [(side, first, output), (-side * sign, second, output)]
            yield from ways_above_zero(actions, terms, -tolerance)
