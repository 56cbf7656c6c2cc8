"""Enclosures of quantities on many sets at once, of formulas, and of solutions of differential equations.

All arithmetic is rounded outwards.
"""
# pyright: basic
# ruff: noqa: PLR0911 - one case of a formula after the other

import ast
from math import factorial

import numpy as np

UNIT, ROUND, TINY = 2.0**-53, 2.0**-46, 1e-300  # ROUND covers what an operation on up to 60 symbols rounds away
ORDER = 4


class Refused(Exception):
    """The certificate proves nothing; the message says where it fails."""


def demand(true, sentence):
    if not np.all(true):
        raise Refused(sentence)


def times(first, second):
    """An upper bound on a product of numbers that are not negative; zero times infinity is zero."""
    return np.where((first == 0.0) | (second == 0.0), 0.0, first * second * (1.0 + ROUND) + TINY)


class Form:
    """centre + slopes · z + e with z in [-1, 1] and |e| <= error: one quantity on each of many sets."""

    def __init__(self, centre, slopes, error):
        bad = ~(np.isfinite(centre) & np.isfinite(slopes).all(axis=1) & (error < np.inf))
        self.centre, self.slopes = np.where(bad, 0.0, centre), np.where(bad[:, None], 0.0, slopes)
        self.error = np.where(bad, np.inf, error)
        self.spread = (np.abs(self.slopes).sum(axis=1) + self.error) * (1.0 + ROUND) + TINY
        self.size = np.abs(self.centre) + self.spread
        reach = self.spread + ROUND * self.size
        self.low, self.high = self.centre - reach, self.centre + reach

    def __add__(self, other):
        error = self.error + other.error + ROUND * (self.size + other.size) + TINY
        return Form(self.centre + other.centre, self.slopes + other.slopes, error)

    def __mul__(self, other):
        if not isinstance(other, Form):  # a number for all sets, or one for each
            factor = np.broadcast_to(np.asarray(other, float), self.centre.shape)
            error = times(np.abs(factor), self.error + ROUND * self.size) + TINY
            return Form(self.centre * factor, self.slopes * factor[:, None], error)
        slopes = self.slopes * other.centre[:, None] + other.slopes * self.centre[:, None]
        error = times(np.abs(other.centre), self.error) + times(np.abs(self.centre), other.error)
        error = error + (self.spread * other.spread + ROUND * self.size * other.size + TINY)
        return Form(self.centre * other.centre, slopes, error)

    def __sub__(self, other):
        return self + other * -1.0

    def __truediv__(self, other):
        zero = ~((other.low > 1e-90) | (other.high < -1e-90))
        low, high, centre = (np.where(zero, 1.0, one) for one in (other.low, other.high, other.centre))
        ends = np.stack([2.0 / low**3, 2.0 / high**3])
        slack = ROUND * np.abs(ends).max(axis=0)
        found = other.tangent(1.0 / centre, -1.0 / centre**2, ends.min(axis=0) - slack, ends.max(axis=0) + slack)
        return self * other.within(-np.inf, np.inf).where(zero, found)

    def __pow__(self, power):
        found = self.tangent(self.centre**2, 2.0 * self.centre, 0.0, 2.0) if power > 1 else self
        for _ in range(power - 2):
            found = found * self
        return found

    def within(self, low, high):
        """Something in [low, high]."""
        low, high = (np.broadcast_to(np.asarray(one, float), self.centre.shape) for one in (low, high))
        middle = low / 2 + high / 2
        half = np.maximum(high - middle, middle - low) * (1.0 + ROUND) + TINY
        return Form(middle, np.zeros_like(self.slopes), half)

    def tangent(self, value, slope, least, most):
        """By value and slope at the centre, and bounds on the second derivative over the range."""
        square = self.spread * self.spread / 2.0 * (1.0 + ROUND)
        rounding = ROUND * (1.0 + np.abs(value) + (1.0 + np.abs(slope)) * self.spread)
        line = Form(value, self.slopes * slope[:, None], times(np.abs(slope), self.error) + rounding)
        return line + self.within(-times(square, np.maximum(-least, 0.0)), times(square, np.maximum(most, 0.0)))

    def where(self, mask, other):
        slopes = np.where(mask[:, None], self.slopes, other.slopes)
        return Form(np.where(mask, self.centre, other.centre), slopes, np.where(mask, self.error, other.error))

    def sin(self, function=np.sin, slope=np.cos):
        value = function(self.centre)
        least, most = np.maximum(-1.0, value - self.spread - ROUND), np.minimum(1.0, value + self.spread + ROUND)
        return self.tangent(value, slope(self.centre), -most, -least)

    def positive(self):
        """max(x, 0) lies between share·x and share·x + max((1 − share)·high, −share·low), for any share in [0, 1]."""
        share = np.clip(np.nan_to_num(self.high / (self.high - self.low)), 0.0, 1.0)
        share = np.where(self.low >= 0.0, 1.0, share)
        above = np.maximum(times(1.0 - share, np.maximum(self.high, 0.0)), times(share, np.maximum(-self.low, 0.0)))
        return self * share + self.within(0.0, above)

    def clip(self, low, high):
        found = low + (self - low).positive()
        found = high - (high - found).positive()
        flat = self.within(np.clip(self.low, low.low, high.low), np.clip(self.high, low.high, high.high))
        return flat.where(flat.spread < 0.9 * found.spread, found)

    def choose(self, above, other):
        change = other - above
        both = above + above.within(np.minimum(change.low, 0.0), np.maximum(change.high, 0.0))
        return above.where(self.low > 0.0, other.where(self.high <= 0.0, both))


FUNCTIONS = {
    "+": Form.__add__,
    "-": Form.__sub__,
    "*": Form.__mul__,
    "/": Form.__truediv__,
    "**": lambda form, power: form ** int(power.centre[0]),
    "sin": Form.sin,
    "cos": lambda form: form.sin(np.cos, lambda x: -np.sin(x)),
    "abs": lambda form: form.positive() + (form * -1.0).positive(),
    "max": lambda first, second: (first - second).positive() + second,
    "min": lambda first, second: first - (first - second).positive(),
    "clip": Form.clip,
    "where": Form.choose,
}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
ZERO, ONE = ("number", 0.0), ("number", 1.0)


def tree(node, known):
    """A formula as nested tuples, with definitions put in; nothing is executed."""
    match node:
        case str():
            return tree(ast.parse(node, mode="eval").body, known)
        case ast.Constant(value=float() | int() as number):
            return ("number", float(number))
        case ast.Name(id=name):
            return known.get(name, ("name", name))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return ("-", ZERO, tree(operand, known))
        case ast.BinOp(op=sign, left=left, right=right) if type(sign) in SIGNS:
            demand(type(sign) is not ast.Pow or getattr(right, "value", 0) in range(1, 17), "a power must be whole")
            return (SIGNS[type(sign)], tree(left, known), tree(right, known))
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[right]):
            return ("-", tree(left, known), tree(right, known))
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
            return ("-", tree(right, known), tree(left, known))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return (name, *(tree(one, known) for one in arguments))
    raise Refused(f"a formula cannot be read: {ast.dump(node)[:80]}")


def value(node, values):
    """The enclosure of a formula; values of its parts are kept beside those of names."""
    if node[0] == "name":
        return values[node[1]]
    if node[0] == "*" and node[1][0] == "number":
        return value(node[2], values) * node[1][1]
    if id(node) not in values:
        parts = [] if node[0] == "number" else [value(one, values) for one in node[1:]]
        found = FUNCTIONS[node[0]](*parts) if parts else values["any"].within(node[1], node[1])
        values[id(node)] = found, node  # which keeps the node, so that no other gets its id
    return values[id(node)][0]


def derivative(node, rates):
    """The time derivative of a formula along the solution."""
    match node:
        case ("number", _):
            return ZERO
        case ("name", name):
            return rates.get(name, ZERO)
        case ("+" | "-" as sign, left, right):
            return (sign, derivative(left, rates), derivative(right, rates))
        case ("*", left, right):
            return ("+", ("*", derivative(left, rates), right), ("*", left, derivative(right, rates)))
        case ("/", left, right):
            return ("/", ("-", derivative(left, rates), ("*", node, derivative(right, rates))), right)
        case ("**", inner, ("number", power)):
            lower = ("**", inner, ("number", power - 1.0)) if power > 1.0 else ONE
            return ("*", ("*", ("number", power), lower), derivative(inner, rates))
        case ("sin" | "cos" as name, inner):
            outer = ("cos", inner) if name == "sin" else ("-", ZERO, ("sin", inner))
            return ("*", outer, derivative(inner, rates))
    raise Refused(f"'{node[0]}' cannot be integrated exactly")


def flow(towers, values, time):
    """The states after some time, and on the way; towers are states followed by their derivatives."""
    plain = {key: one for key, one in values.items() if isinstance(key, str)}
    box = {name: values[name].within(values[name].low, values[name].high) for name in towers}
    for _ in range(40):
        inside, tube = plain | box, {}
        for name, tower in towers.items():
            speed = value(tower[1], inside) * time
            move = speed.within(np.minimum(speed.low, 0.0), np.maximum(speed.high, 0.0))
            tube[name] = values[name] + move
        slack = {name: one.error - 4.0 * ROUND * one.size for name, one in box.items()}
        moved = [(tube[name].low - one.centre, tube[name].high - one.centre, slack[name]) for name, one in box.items()]
        if all(np.all((low >= -most) & (high <= most)) for low, high, most in moved):  # no solution leaves the box
            break
        wider = {name: (one, 0.05 * one.spread + 1e-12) for name, one in tube.items()}
        box = {name: one.within(one.low - more, one.high + more) for name, (one, more) in wider.items()}
    else:
        raise Refused("a solution has no rough enclosure")
    after = dict(plain)
    for name, tower in towers.items():
        after[name] = value(tower[-1], inside) * (time ** (ORDER + 1) / factorial(ORDER + 1))
        for degree, node in enumerate(tower[:-1]):
            after[name] = after[name] + value(node, values) * (time**degree / factorial(degree))
    return after, plain | tube
