"""Comments, number types and constants of C."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isinf

import numpy as np

from diprl.export.parity import single_precision
from diprl.export.structure import printable
from diprl.program import Program
from diprl.program.ast import flatten, number_rows
from diprl.program.networks import Network
from diprl.program.text_format import Notation


@dataclass(frozen=True)
class Real:
    """One type of numbers: how it is called and how its numbers are written."""

    name: str
    suffix: str
    """Ends the names of functions of this type."""
    number: Callable[[float], str]
    """A constant that reads back exactly, of a number that is not negative."""
    kind: type
    """NumPy's name for it."""
    tanh: str = ""
    term: str = ""
    """The type in which terms are added up; that of the numbers, unless they are whole."""

    @property
    def notation(self) -> Notation:
        lines = {"if": f"if (({{}}) > {self.number(0)}) {{{{", "end": "}"}
        return Notation(self.number, " * ", lines=lines, returning=True, product="({})")

    def constant(self, value: float) -> str:
        """Any number, in an expression."""
        if isinf(value) or abs(value) > float(np.finfo(self.kind).max):
            return "(-INFINITY)" if value < 0 else "INFINITY"
        return ("-" if value < 0 else "") + self.number(abs(value))


DOUBLE = Real("double", "", lambda value: repr(float(value)), np.float64, "tanh", "double")
SINGLE = Real("float", "_float", lambda value: f"{np.float32(value)!s}f", np.float32, "tanhf", "float")
FIXED = Real("int32_t", "_fixed", lambda value: f"INT64_C({int(value)})", np.int32, term="int64_t")


def number_types(program: Program, networks: Sequence[Network] = ()) -> list[Real]:
    """Double, and single where every number of the program and its networks is finite as a 32-bit float."""
    arrays = [row for item in flatten(single_precision(program.root)) for row in number_rows(item)]
    arrays += [array for network in networks for layer in network.layers for array in layer]
    arrays += [array for network in networks for array in (network.mean, network.std)]
    with np.errstate(all="ignore"):
        fits = all(np.isfinite(np.asarray(array, np.float32)).all() for array in arrays)
    return [DOUBLE, SINGLE] if fits else [DOUBLE]


def comment(text: str) -> str:
    """A comment on one line, whatever the text contains."""
    text = printable(text).replace("\\", " ")
    for mark in ("*/", "/*", "//", "??"):
        while mark in text:
            text = text.replace(mark, " ".join(mark))
    return f"/* {text.strip(' /*')} */"
