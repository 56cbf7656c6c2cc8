"""Names that every target language can print."""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence

RESERVED = frozenset({"if", "elif", "else", "in"})
"""Words of the language itself, which nothing may be named."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIGNS = {"−": " minus ", "-": " minus ", "+": " plus ", "²": "2", "³": "3", "\u0307": " dot "}


def is_identifier(name: str) -> bool:
    """Whether a name can stand in a program: ASCII letters, digits and underscores, no reserved word."""
    return _NAME.fullmatch(name) is not None and name not in RESERVED


def identifier(name: str) -> str:
    """Turn any string into a name that programs can use, spelling out Greek letters and signs before numbers.

    >>> identifier("θ̇1 rate"), identifier("torque −1"), identifier("left-leg"), identifier("")
    ('theta_dot_1_rate', 'torque_minus_1', 'left_leg', 'unnamed')
    """
    spelled = "".join(_spell(name, position) for position in range(len(name)))
    parts = re.findall(r"[A-Za-z0-9]+", spelled)
    candidate = "_".join(parts) or "unnamed"
    if candidate[0].isdigit():
        candidate = f"n{candidate}"
    return candidate if is_identifier(candidate) else f"{candidate}_"


def unique_identifiers(names: list[str]) -> list[str]:
    """One identifier per name, numbering those that would collide."""
    return unique_names([identifier(name) for name in names])


def unique_names(names: Sequence[str], taken: Collection[str] = (), fold: Callable[[str], str] = str) -> list[str]:
    """The names, numbered where they are taken or equal once folded; none begins with an underscore."""
    folded, chosen = {fold(name) for name in taken}, list[str]()
    for name in names:
        base = candidate = f"v{name}" if name.startswith("_") else name
        number = 2
        while fold(candidate) in folded:
            candidate, number = f"{base}_{number}", number + 1
        folded.add(fold(candidate))
        chosen.append(candidate)
    return chosen


def _spell(name: str, position: int) -> str:
    """The ASCII for one character; a hyphen is a sign only before a digit and after a gap."""
    character = name[position]
    if character == "-":
        signed = name[position + 1 : position + 2].isdigit() and not name[:position].rstrip(" ").endswith("-")
        return _SIGNS["-"] if signed and (position == 0 or name[position - 1] == " ") else " "
    if character in _SIGNS:
        return _SIGNS[character]
    if "GREEK" in unicodedata.name(character, "") and character.isalpha():
        return unicodedata.name(character).split("LETTER ")[-1].split(" ")[0].lower()
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or " "
