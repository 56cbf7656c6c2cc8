"""Errors that a user can act on: one clear sentence, exit code 2 on the command line."""

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_NAME = 80
"""Characters of a name that are compared and shown; a name may come from any file."""
LONGEST_LIST = 20
"""As many known names are listed where none is near; more would hide the sentence."""


class DiprlError(Exception):
    """Something the user asked for cannot be done; the message says what and how to fix it."""


class ProgramError(DiprlError):
    """A program's text or file is not valid."""


class NotFiniteError(DiprlError):
    """An observation, reward or loss stopped being a finite number."""


def unknown(kind: str, name: str, known: Iterable[str], see: str = "") -> DiprlError:
    """An error for a misspelt name that offers near ones; `see` is a command that lists all."""
    spelt, name = {entry.lower(): entry for entry in sorted(known)}, name[:LONGEST_NAME]
    alike = 0.6 if len(spelt) <= LONGEST_LIST else 0.75  # among many, something always looks a little like it
    near = [spelt[entry] for entry in get_close_matches(name.lower(), spelt, n=3, cutoff=alike)]
    hint = f": did you mean {', '.join(near)}?" if near else f" (see {see})" if see else ""
    if not hint and len(spelt) <= LONGEST_LIST:
        hint = f": known: {', '.join(spelt.values())}"
    return DiprlError(f"unknown {kind} '{name}'{hint}")


def visible(text: str) -> str:
    r"""The text with characters that steer a terminal written out; lines stay lines.

    >>> print(visible("a\x1b[31mb"))
    a\x1b[31mb
    """
    steering = {each for each in set(text) - {"\n"} if unicodedata.category(each) in ("Cc", "Cf", "Cs")}
    for each in steering:
        text = text.replace(each, each.encode("unicode_escape").decode())
    return text
