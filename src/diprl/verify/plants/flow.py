"""Integration over one sample: Euler, Runge-Kutta, and Taylor series of the true solution, in any algebra."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Functions = Mapping[str, Callable[..., Any]]
Rates = Callable[[Sequence[Any], Functions], list[Any]]

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda first, second: np.divide(first, second) if type(first) is type(second) is float else first / second,
    "**": operator.pow,
    "negative": operator.neg,
}
"""For numbers that are neither floats nor arrays and bring operators of their own."""
INTEGRABLE = {*ARITHMETIC, "sin", "cos"}
"""The functions that rates may use under the method `exact`."""
_FINE = 0.025
"""Longest step of Runge and Kutta's method by which the true solution is simulated."""


def euler(rates: Rates, states: list[Any], sample: float, functions: Functions) -> list[Any]:
    return [state + sample * rate for state, rate in zip(states, rates(states, functions), strict=True)]


def runge_kutta(rates: Rates, states: list[Any], sample: float, functions: Functions) -> list[Any]:
    def moved(slopes: Sequence[Any], time: float) -> list[Any]:
        return [state + time * slope for state, slope in zip(states, slopes, strict=True)]

    first = rates(states, functions)
    second = rates(moved(first, sample / 2.0), functions)
    third = rates(moved(second, sample / 2.0), functions)
    fourth = rates(moved(third, sample), functions)
    slopes = zip(first, second, third, fourth, strict=True)
    return moved([a + 2 * b + 2 * c + d for a, b, c, d in slopes], sample / 6.0)


def simulate_finely(rates: Rates, states: list[Any], sample: float, functions: Functions) -> list[Any]:
    """The true solution to many digits."""
    parts = 4 + int(sample / _FINE)
    for _ in range(parts):
        states = runge_kutta(rates, states, sample / parts, functions)
    return states


METHODS = {"euler": euler, "rk4": runge_kutta, "exact": simulate_finely}


def coefficients(rates: Rates, states: Sequence[Any], order: int, functions: Functions) -> list[list[Any]]:
    """The Taylor coefficients of the solution from these states, up to an order."""
    rows = [[state] for state in states]
    algebra = _series_functions(functions)
    for degree in range(order):
        slopes = rates([Series(tuple(row)) for row in rows], algebra)
        for row, slope in zip(rows, slopes, strict=True):
            row.append(_series(slope, degree + 1)[degree] * (1.0 / (degree + 1)))
    return rows


def polynomial(row: Sequence[Any], time: float) -> Any:
    """Horner's scheme."""
    total = row[-1]
    for coefficient in reversed(row[:-1]):
        total = coefficient + time * total
    return total


@dataclass(frozen=True)
class Series:
    """A truncated power series in time."""

    terms: tuple[Any, ...]
    __array_ufunc__ = None  # an array times a series is a series

    def __add__(self, other: Any) -> "Series":
        return Series(tuple(a + b for a, b in zip(self.terms, _series(other, len(self.terms)), strict=True)))

    def __sub__(self, other: Any) -> "Series":
        return self + -1.0 * other

    def __rsub__(self, other: Any) -> "Series":
        return -1.0 * self + other

    def __neg__(self) -> "Series":
        return -1.0 * self

    def __mul__(self, other: Any) -> "Series":
        if not isinstance(other, Series):
            return Series(tuple(term * other for term in self.terms))
        return Series(tuple(_convolved(self.terms, other.terms, degree) for degree in range(len(self.terms))))

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Series":
        if not isinstance(other, Series):
            return Series(tuple(term / other for term in self.terms))
        found: list[Any] = []
        for degree, term in enumerate(self.terms):
            rest = [found[index] * other.terms[degree - index] for index in range(degree)]
            found.append((term - sum(rest[1:], rest[0]) if rest else term) / other.terms[0])
        return Series(tuple(found))

    def __rtruediv__(self, other: Any) -> "Series":
        return Series(tuple(_series(other, len(self.terms)))) / self

    def __pow__(self, power: float) -> "Series":
        found = self
        for _ in range(int(power) - 1):
            found = found * self
        return found


def _series(value: Any, length: int) -> tuple[Any, ...]:
    return value.terms if isinstance(value, Series) else (value, *(0.0 * value for _ in range(length - 1)))


def _convolved(first: Sequence[Any], second: Sequence[Any], degree: int) -> Any:
    total = first[0] * second[degree]
    for index in range(1, degree + 1):
        total = total + first[index] * second[degree - index]
    return total


def _series_functions(functions: Functions) -> Functions:
    """Arithmetic by operators, and the functions whose series are known; others cannot be integrated exactly."""

    def wave(argument: Any) -> tuple[Series, Series]:
        terms = argument.terms
        sines, cosines = [functions["sin"](terms[0])], [functions["cos"](terms[0])]
        for degree in range(1, len(terms)):
            inner = [(index / degree) * terms[index] for index in range(1, degree + 1)]
            sines.append(_total(inner, cosines, degree))
            cosines.append(-1.0 * _total(inner, sines, degree))
        return Series(tuple(sines)), Series(tuple(cosines))

    def lifted(name: str, of_series: Callable[[Any], Series]) -> Callable[[Any], Any]:
        return lambda value: of_series(value) if isinstance(value, Series) else functions[name](value)

    return ARITHMETIC | {
        "sin": lifted("sin", lambda value: wave(value)[0]),
        "cos": lifted("cos", lambda value: wave(value)[1]),
    }


def _total(inner: Sequence[Any], found: Sequence[Any], degree: int) -> Any:
    """Σ of i/k · a_i · found_{k−i}, for i from 1 to k."""
    total = inner[0] * found[degree - 1]
    for index in range(2, degree + 1):
        total = total + inner[index - 1] * found[degree - index]
    return total
