"""Names, comments, number types and constants of C."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isinf

import numpy as np

from diprl.export.networks import Network
from diprl.export.parity import single_precision
from diprl.program import Program
from diprl.program.ast import flatten, number_rows
from diprl.program.linear_text import Notation

RESERVED = frozenset(
    re.findall(
        r"\w+",
        """auto break case char const continue default do double else enum extern float for goto if inline int
        long register restrict return short signed sizeof static struct switch typedef union unsigned void
        volatile while alignas alignof asm bool constexpr false fortran nullptr static_assert thread_local
        true typeof typeof_unqual
        linux unix i386 vax NULL I INFINITY NAN HUGE_VAL HUGE_VALF HUGE_VALL MATH_ERRNO
        MATH_ERREXCEPT math_errhandling isfinite double_t float_t near far features primitive_actions senses
        action class delete explicit export friend mutable namespace new operator private protected public
        template this throw try typeid typename using virtual catch and or not xor compl bitand bitor""",
    )
)
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
        return Notation(self.number, " * ")

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
    plain = "".join(character if character.isprintable() else " " for character in text)
    return f"/* {plain.replace('*/', '* /').replace('??', '? ?').rstrip(chr(92) + ' ')} */"
