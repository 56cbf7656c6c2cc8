"""Errors that a user can act on: one clear sentence, exit code 2 on the command line."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

LONGEST_NAME = 80
"""Characters of a name that are compared and shown; a name may come from any file."""
MOST_NAMES = 1000
"""Known names that a misspelt one is compared with."""


class DiprlError(Exception):
    """Something the user asked for cannot be done; the message says what and how to fix it."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ProgramError(DiprlError):
    """A program's text or file is not valid."""


class NotFiniteError(DiprlError):
    """An observation, reward or loss stopped being a finite number."""


def printable(text: str) -> str:
    """The text with what would steer a terminal written out: it may come from a file or an environment."""
    shown = (each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
    return text if text.isprintable() else "".join(shown)


def unknown(kind: str, name: str, known: Iterable[str]) -> DiprlError:
    """An error for a misspelt name that offers the nearest ones."""
    known, name = sorted(known), name[:LONGEST_NAME]
    near = nearest(name, known, count=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {listed(known)}"
    return DiprlError(f"unknown {kind} '{name}': {hint}")


def nearest(name: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Known names like this one; comparing is slow, so however many there are, it stays within bounds."""
    return get_close_matches(name[:LONGEST_NAME], list(islice(known, MOST_NAMES)), count, cutoff)


def listed(names: Iterable[object], most: int = 40) -> str:
    """Names with commas between; of very many, and of very long ones, the beginning."""
    shown = [f"{name!s:.{LONGEST_NAME}}" for name in islice(names, most + 1)]
    return ", ".join(shown[:most] + ["…"] * (len(shown) > most))
