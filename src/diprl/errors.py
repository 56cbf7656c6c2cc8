"""Errors that a user can act on: one clear sentence, exit code 2 on the command line."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_NAME = 80
"""Characters of a name that are compared and shown; a name may come from any file."""


class DiprlError(Exception):
    """Something the user asked for cannot be done; the message says what and how to fix it."""


class ProgramError(DiprlError):
    """A program's text or file is not valid."""


class NotFiniteError(DiprlError):
    """An observation, reward or loss stopped being a finite number."""


def unknown(kind: str, name: str, known: Iterable[str]) -> DiprlError:
    """An error for a misspelt name that offers the nearest ones."""
    known, name = sorted(known), name[:LONGEST_NAME]
    near = get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known)}"
    return DiprlError(f"unknown {kind} '{name}': {hint}")
