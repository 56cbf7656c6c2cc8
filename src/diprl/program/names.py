"""Names that every target language can print."""

import re
import unicodedata
from collections.abc import Callable, Sequence

RESERVED = frozenset({"if", "elif", "else", "in"})
"""Words of the language itself, which nothing may be named."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CATEGORY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)_is_(0|[1-9][0-9]{0,8})")


def is_identifier(name: str) -> bool:
    """Whether a name can stand in a program: ASCII letters, digits and underscores, no reserved word."""
    return _NAME.fullmatch(name) is not None and name not in RESERVED


def category(name: str) -> tuple[str, int] | None:
    """What a feature is one value of, and which: features that are 1 for one value of something and 0 for all others.

    >>> category("state_is_3"), category("speed")
    (('state', 3), None)
    """
    found = _CATEGORY.fullmatch(name)
    return (found[1], int(found[2])) if found else None


def identifier(name: str) -> str:
    """Turn any string into a name that programs can use.

    >>> identifier("left-leg"), identifier("Höhe [m]"), identifier("2nd wheel"), identifier("")
    ('left_leg', 'Hohe_m', 'n2nd_wheel', 'unnamed')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    candidate = "_".join(re.findall(r"[A-Za-z0-9]+", plain)) or "unnamed"
    if candidate[0].isdigit():
        candidate = f"n{candidate}"
    return candidate if is_identifier(candidate) else f"{candidate}_"


def unique_identifiers(names: list[str]) -> list[str]:
    """One identifier per name, numbering those that would collide."""
    return unique_names([identifier(name) for name in names])


def unique_names(names: Sequence[str], fold: Callable[[str], str] = str) -> list[str]:
    """The names, numbered where they are equal once folded; none begins with an underscore."""
    folded, chosen = set[str](), list[str]()
    for name in names:
        base = candidate = f"v{name}" if name.startswith("_") else name
        number = 2
        while fold(candidate) in folded:
            candidate, number = f"{base}_{number}", number + 1
        folded.add(fold(candidate))
        chosen.append(candidate)
    return chosen
