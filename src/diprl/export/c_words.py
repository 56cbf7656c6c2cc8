"""Words and numbers of C."""

import re

import numpy as np

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


def safe(name: str) -> str:
    """The name, marked where a macro of <float.h> or <math.h> could have it."""
    return f"{name}_value" if _MACRO.fullmatch(name) else name


def literal(value: float) -> str:
    """A double constant that reads back exactly."""
    return repr(value)


def literal_single(value: float) -> str:
    """A float constant that reads back exactly."""
    return f"{np.float32(value)!s}f"


def comment(text: str) -> str:
    """A comment on one line, whatever the text contains."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return f"/* {plain.replace('*/', '* /').replace('??', '? ?').rstrip(chr(92) + ' ')} */"
