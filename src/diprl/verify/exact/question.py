"""Exact yes-or-no questions about linear inequalities, answered by z3 within a time limit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from time import monotonic
from typing import Any

from diprl.errors import optional
from diprl.verify.exact.linear import Constraint, Weights

_SLACKS = (Fraction(1, 100), Fraction(1, 10_000), Fraction(1, 10**6), Fraction(1, 10**9), Fraction(0))
"""How far from every threshold a point is looked for, in turn, so that it survives rounding."""
_LONGEST = 1_000_000.0
"""Seconds that z3 is given at most: it counts milliseconds in 32 bits."""


class Undecided(Exception):
    """No answer: the reason says why."""


@dataclass(frozen=True)
class Deadline:
    """The moment at which the search for an answer ends."""

    seconds: float
    start: float = field(default_factory=monotonic)

    def remaining(self) -> float:
        """Seconds left; raises once there are none."""
        left = self.start + self.seconds - monotonic()
        if left <= 0:
            raise Undecided(f"no answer within the time limit of {self.seconds:g} s")
        return left

    def used(self, share: float) -> bool:
        """Whether this share of the time is over."""
        return monotonic() >= self.start + share * self.seconds


def load_z3() -> Any:
    return optional("z3", "proofs need z3: install it with: pip install 'diprl[verify]'")


class Question:
    """Is there a point at which all of these inequalities hold? They come and go as on a stack.

    Inequalities may have more variables than a point has entries.
    """

    def __init__(self, dimensions: int, deadline: Deadline, given: Sequence[Constraint] = ()) -> None:
        self._z3 = load_z3()
        self._deadline, self._dimensions = deadline, dimensions
        self._solver = self._z3.SolverFor("QF_LRA")
        self._levels: list[tuple[Constraint, ...]] = []
        self.push(*given)

    @property
    def depth(self) -> int:
        """How many times something was pushed."""
        return len(self._levels)

    def push(self, *constraints: Constraint) -> None:
        """Ask for these as well, until `back_to` an earlier depth."""
        self._levels.append(constraints)
        self._solver.push()
        self._solver.add([self._inequality(constraint) for constraint in constraints])

    def back_to(self, depth: int) -> None:
        """Forget what was pushed after this depth."""
        if self.depth > depth:
            self._solver.pop(self.depth - depth)
            del self._levels[depth:]

    @contextmanager
    def asking(self, constraints: Sequence[Constraint]) -> Iterator[bool]:
        """Ask for these as well for a while; gives whether there is such a point."""
        depth = self.depth
        self.push(*constraints)
        try:
            yield self.feasible()
        finally:
            self.back_to(depth)

    def feasible(self, solver: Any = None) -> bool:
        """Whether such a point exists in real arithmetic; another solver may be asked for the same inequalities."""
        solver = self._solver if solver is None else solver
        seconds = min(self._deadline.remaining(), _LONGEST)
        solver.set("timeout", max(1, int(1000 * seconds)))
        answer = solver.check()
        if answer == self._z3.unknown:
            self._deadline.remaining()
            raise Undecided(f"z3 gave up ({solver.reason_unknown()})")
        return answer == self._z3.sat

    def point(self) -> tuple[Fraction, ...]:
        """A point that satisfies everything, away from the thresholds where that is possible.

        What was given at the start is kept as it is: a box may be flat, and rounding can respect it.
        """
        later = [constraint for level in self._levels[1:] for constraint in level]
        for slack in _SLACKS:
            tightened = [replace(one, bias=one.bias - slack * sum(map(abs, one.weights))) for one in later]
            with self.asking(tightened) as possible:
                if possible:
                    model = self._solver.model()
                    variables = [self._z3.Real(f"x{index}") for index in range(self._dimensions)]
                    return tuple(self._fraction(model.eval(variable, True)) for variable in variables)
        raise Undecided("the solver contradicts itself")

    def least(self, weights: Weights) -> Fraction | None:
        """The infimum of weights · point, or None where there is none; the question must be feasible."""
        optimiser = self._z3.Optimize()
        closed = [replace(constraint, strict=False) for level in self._levels for constraint in level]
        optimiser.add([self._inequality(constraint) for constraint in closed])
        goal = optimiser.minimize(self._form(weights, Fraction(0)))
        if not self.feasible(optimiser):
            raise Undecided("the solver contradicts itself")
        value = optimiser.lower(goal)
        known = self._z3.is_int_value(value) or self._z3.is_rational_value(value)
        return self._fraction(value) if known else None

    def _fraction(self, value: Any) -> Fraction:
        try:
            return Fraction(value.as_long()) if value.is_int() else value.as_fraction()
        except ValueError:
            raise Undecided("a rational number of the answer has too many digits") from None

    def _inequality(self, constraint: Constraint) -> Any:
        form = self._form(*_whole_numbers(constraint.weights, constraint.bias))
        return form > 0 if constraint.strict else form >= 0

    def _form(self, weights: Weights, bias: Fraction) -> Any:
        value, variable = self._z3.RealVal, self._z3.Real
        terms = [value(str(weight)) * variable(f"x{index}") for index, weight in enumerate(weights) if weight]
        return self._z3.Sum([*terms, value(str(bias))])


def _whole_numbers(weights: Weights, bias: Fraction) -> tuple[Weights, Fraction]:
    """The same inequality in coprime whole numbers, which z3 handles much faster than long fractions."""
    row = (*weights, bias)
    multiple = lcm(*(value.denominator for value in row))
    divisor = gcd(*(int(value * multiple) for value in row)) or 1
    scaled = tuple(value * multiple / divisor for value in row)
    return scaled[:-1], scaled[-1]
