"""Names, comments, number types and constants of C."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isinf

import numpy as np

from diprl.export.parity import single_precision
from diprl.export.structure import fixed_text, printable
from diprl.program import Program
from diprl.program.ast import flatten, number_rows
from diprl.program.networks import Network
from diprl.program.text_format import Notation

RESERVED = frozenset(fixed_text("reserved.c.txt").split())
"""Keywords of C and C++, macros of the headers that are included, and names that the emitted code uses."""

_MACRO = re.compile(r"(FLT|DBL|LDBL|DECIMAL|FP|M)_[A-Z0-9_]+")


@dataclass(frozen=True)
class Real:
    """One floating-point type: how it is called and how its numbers are written."""

    name: str
    suffix: str
    """Ends the names of functions of this type."""
    number: Callable[[float], str]
    """A constant that reads back exactly, of a number that is not negative."""
    tanh: str
    largest: float

    @property
    def notation(self) -> Notation:
        lines = {"if": f"if ({{}} > {self.number(0.0)}) {{{{", "end": "}"}
        return Notation(self.number, " * ", lines=lines, returning=True)

    def constant(self, value: float) -> str:
        """Any number, in an expression."""
        if isinf(value) or abs(value) > self.largest:
            return "(-INFINITY)" if value < 0 else "INFINITY"
        return ("-" if value < 0 else "") + self.number(abs(value))


DOUBLE = Real("double", "", repr, "tanh", float(np.finfo(np.float64).max))
SINGLE = Real("float", "_float", lambda value: f"{np.float32(value)!s}f", "tanhf", float(np.finfo(np.float32).max))


def number_types(program: Program, networks: Sequence[Network] = ()) -> list[Real]:
    """Double, and single where every number of the program and its networks is finite as a 32-bit float."""
    arrays = [row for item in flatten(single_precision(program.root)) for row in number_rows(item)]
    arrays += [array for network in networks for layer in network.layers for array in layer]
    arrays += [array for network in networks for array in (network.mean, network.std)]
    with np.errstate(all="ignore"):
        fits = all(np.isfinite(np.asarray(array, np.float32)).all() for array in arrays)
    return [DOUBLE, SINGLE] if fits else [DOUBLE]


def valid_name(name: str) -> str:
    """The name, marked where a macro of <float.h> or <math.h> could have it."""
    return f"{name}_value" if _MACRO.fullmatch(name) else name


def comment(text: str) -> str:
    """A comment on one line, whatever the text contains."""
    return f"/* {printable(text).replace('*/', '* /').replace('??', '? ?').rstrip(chr(92) + ' ')} */"
