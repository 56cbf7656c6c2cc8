"""Errors that a user can act on: one clear sentence, exit code 2 on the command line."""

import unicodedata
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from importlib import import_module
from itertools import islice
from typing import Any

LONGEST_NAME = 80
"""Characters of a name that are compared and shown; a name may come from any file."""
LONGEST_LIST = 20
"""As many known names are listed where none is near; more would hide the sentence."""
MOST_NAMES = 1000
"""Known names that a misspelt one is compared with."""


class DiprlError(Exception):
    """Something the user asked for cannot be done; the message says what and how to fix it."""

    def __str__(self) -> str:
        return visible(super().__str__())


class ProgramError(DiprlError):
    """A program's text or file is not valid."""


class NotFiniteError(DiprlError):
    """An observation, reward or loss stopped being a finite number."""


def optional(module: str, otherwise: str) -> Any:
    """A package that not everybody needs; where it is not installed, the error says this."""
    try:
        return import_module(module)
    except ImportError:
        raise DiprlError(otherwise) from None


def unknown(kind: str, name: str, known: Iterable[str], see: str = "") -> DiprlError:
    """An error for a misspelt name that offers near ones; `see` is a command that lists all."""
    spelt, name = {entry.lower(): entry for entry in sorted(known)}, name[:LONGEST_NAME]
    alike = 0.6 if len(spelt) <= LONGEST_LIST else 0.75  # among many, something always looks a little like it
    near = [spelt[entry] for entry in nearest(name.lower(), spelt, count=3, cutoff=alike)]
    hint = f": did you mean {', '.join(near)}?" if near else f" (see {see})" if see else ""
    if not hint and len(spelt) <= LONGEST_LIST:
        hint = f": known: {listed(spelt.values())}"
    return DiprlError(f"unknown {kind} '{name}'{hint}")


def check_known(kind: str, known: Collection[str], *names: str, see: str = "") -> None:
    """Refuse the first of some names that is not known."""
    for name in names:
        if name not in known:
            raise unknown(kind, name, known, see)


def visible(text: str) -> str:
    r"""The text with characters that steer a terminal written out; lines stay lines.

    >>> print(visible("a\x1b[31mb"))
    a\x1b[31mb
    """
    steering = {each for each in set(text) - {"\n"} if unicodedata.category(each) in ("Cc", "Cf", "Cs")}
    for each in steering:
        text = text.replace(each, each.encode("unicode_escape").decode())
    return text


def nearest(name: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Known names like this one; comparing is slow, so however many there are, it stays within bounds."""
    return get_close_matches(name[:LONGEST_NAME], list(islice(known, MOST_NAMES)), count, cutoff)


def listed(names: Iterable[object], most: int = 40) -> str:
    """Names with commas between; of very many, and of very long ones, the beginning."""
    shown = [f"{name!s:.{LONGEST_NAME}}" for name in islice(names, most + 1)]
    return ", ".join(shown[:most] + ["…"] * (len(shown) > most))
