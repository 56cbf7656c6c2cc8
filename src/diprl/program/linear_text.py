"""Linear expressions as text: `2.5*x - y + 0.3` both ways."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from operator import mul, neg, truediv

from diprl.program.tokens import Tokens

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

    def changed(self, change: Callable[[float], float]) -> "Linear":
        """The same sum with every number changed."""
        return Linear({name: change(weight) for name, weight in self.terms.items()}, change(self.constant))

    def weights(self, names: Sequence[str]) -> tuple[float, ...]:
        return tuple(self.terms.get(name, 0.0) for name in names)


def short_number(value: float) -> str:
    """The shortest digits that read back exactly; whole numbers need no point."""
    return repr(value).removesuffix(".0")


@dataclass(frozen=True)
class Notation:
    """How a language writes linear forms and the lines of a program."""

    number: Callable[[float], str] = short_number
    """Prints a number that is not negative."""
    times: str = "*"
    name: Callable[[str], str] = str
    """Prints the name of a feature, an output or an action."""
    lines: Mapping[str, str] = field(default_factory=dict)
    """The lines of if, elif, else and end, where the language has them; {} is the form of a condition."""
    space: str = "    "
    """What a line begins with for each `if` around it."""
    returning: bool = False
    """Whether each leaf returns, so that no line needs `else`."""


TEXT = Notation(lines={"if": "if {} > 0:", "elif": "elif {} > 0:", "else": "else:"})


def format_linear(weights: Sequence[float], bias: float, names: Sequence[str], notation: Notation = TEXT) -> str:
    """Print a linear form in the order in which it is added, with digits that read back exactly."""
    text = ""
    for weight, name in zip((*weights, bias), (*map(notation.name, names), ""), strict=True):
        if weight == 0.0:
            continue
        sign = ("-" if weight < 0.0 else "") if not text else (" - " if weight < 0.0 else " + ")
        factor = "" if name and abs(weight) == 1.0 else notation.number(abs(weight))
        text += sign + factor + (notation.times if factor and name else "") + name
    return text or notation.number(0.0)


def parse_linear(tokens: Tokens, names: Sequence[str], kind: str) -> Linear:
    """Read a linear form; `kind` says in errors what its names are, such as 'a feature name'."""
    start = tokens.current
    linear = _sum(tokens, names, kind, 0)
    if not all(map(isfinite, (linear.constant, *linear.terms.values()))):
        raise start.error("finite numbers", hint="a number is too large")
    return linear


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
        if operator.text == "/" and (factor.terms or factor.constant == 0.0):
            raise where.error("a number other than zero to divide by")
        if factor.terms and product.terms:
            raise where.error("a number", hint="conditions are linear: two names cannot be multiplied")
        if factor.terms:
            product, factor = factor, product
        change = truediv if operator.text == "/" else mul
        product = product.changed(lambda value, change=change, by=factor.constant: change(value, by))
    return product


def _factor(tokens: Tokens, names: Sequence[str], kind: str, depth: int) -> Linear:
    negative = False
    while sign := tokens.accept("+", "-"):
        negative ^= sign.text == "-"
    factor = _atom(tokens, names, kind, depth)
    return factor.changed(neg) if negative else factor


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
