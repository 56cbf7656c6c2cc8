"""Linear expressions as text: `2.5*x - y + 0.3` both ways."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite

from diprl.program.tokens import Token, Tokens

_MAX_PARENTHESES = 40


@dataclass
class Linear:
    """A sum of named terms and a constant, while it is being read."""

    terms: dict[str, float] = field(default_factory=dict)
    constant: float = 0.0

    def add(self, other: "Linear", sign: float) -> None:
        for name, weight in other.terms.items():
            self.terms[name] = self.terms.get(name, 0.0) + sign * weight
        self.constant += sign * other.constant

    def scale(self, factor: float) -> None:
        self.terms = {name: weight * factor for name, weight in self.terms.items()}
        self.constant *= factor

    def divide(self, divisor: float) -> None:
        self.terms = {name: weight / divisor for name, weight in self.terms.items()}
        self.constant /= divisor

    def weights(self, names: Sequence[str]) -> tuple[float, ...]:
        return tuple(self.terms.get(name, 0.0) for name in names)


def format_linear(weights: Sequence[float], bias: float, names: Sequence[str]) -> str:
    """Print a linear form in the order in which it is added, with digits that read back exactly."""
    terms = [_format_term(weight, name) for weight, name in zip(weights, names, strict=True) if weight != 0.0]
    if bias != 0.0 or not terms:
        terms.append(_format_number(bias))
    joined = " + ".join(terms)
    return joined.replace("+ -", "- ")


def parse_linear(tokens: Tokens, names: Sequence[str], kind: str) -> Linear:
    """Read a linear form; `kind` says in errors what its names are, such as 'a feature name'."""
    start = tokens.current
    linear = _sum(tokens, names, kind, 0)
    if not all(map(isfinite, (linear.constant, *linear.terms.values()))):
        raise start.error("finite numbers", hint="a number is too large")
    return linear


def _format_term(weight: float, name: str) -> str:
    if abs(weight) == 1.0:
        return name if weight > 0.0 else f"-{name}"
    return f"{_format_number(weight)}*{name}"


def _format_number(value: float) -> str:
    """The shortest digits that read back exactly; whole numbers need no point."""
    return repr(value).removesuffix(".0")


def _sum(tokens: Tokens, names: Sequence[str], kind: str, depth: int) -> Linear:
    total = Linear()
    total.add(_product(tokens, names, kind, depth), 1.0)
    while sign := tokens.accept("+", "-"):
        total.add(_product(tokens, names, kind, depth), 1.0 if sign.text == "+" else -1.0)
    return total


def _product(tokens: Tokens, names: Sequence[str], kind: str, depth: int) -> Linear:
    product = _factor(tokens, names, kind, depth)
    while operator := tokens.accept("*", "/"):
        where = tokens.current
        factor = _factor(tokens, names, kind, depth)
        if operator.text == "/":
            _divide(product, factor, where)
        elif factor.terms and product.terms:
            raise where.error("a number", hint="conditions are linear: two names cannot be multiplied")
        elif factor.terms:
            factor.scale(product.constant)
            product = factor
        else:
            product.scale(factor.constant)
    return product


def _divide(product: Linear, divisor: Linear, where: Token) -> None:
    if divisor.terms or divisor.constant == 0.0:
        raise where.error("a number other than zero to divide by")
    product.divide(divisor.constant)


def _factor(tokens: Tokens, names: Sequence[str], kind: str, depth: int) -> Linear:
    negative = False
    while sign := tokens.accept("+", "-"):
        negative ^= sign.text == "-"
    factor = _atom(tokens, names, kind, depth)
    if negative:
        factor.scale(-1.0)
    return factor


def _atom(tokens: Tokens, names: Sequence[str], kind: str, depth: int) -> Linear:
    token = tokens.advance()
    if token.kind == "number":
        return Linear(constant=float(token.text))
    if token.kind == "name":
        if token.text not in names:
            raise token.error(kind, names)
        return Linear({token.text: 1.0})
    if token.text != "(":
        raise token.error(f"{kind} or a number")
    if depth == _MAX_PARENTHESES:
        raise token.error(f"at most {_MAX_PARENTHESES} nested parentheses")
    inner = _sum(tokens, names, kind, depth + 1)
    tokens.expect(")")
    return inner
