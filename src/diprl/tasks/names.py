"""Names and units that Gymnasium's own environments leave to their documentation; `names.toml` holds them."""

import tomllib
from importlib.resources import files
from itertools import product
from re import split
from typing import Any, NamedTuple

from diprl.program.signature import Feature

_FILE: dict[str, Any] = tomllib.loads((files("diprl.tasks") / "names.toml").read_text(encoding="utf-8"))


class Names(NamedTuple):
    """What the entries of observations and actions are called."""

    features: tuple[Feature, ...]
    """Empty where they name themselves."""
    actions: tuple[str, ...]


def names_of(kind: str) -> list[Names]:
    """Everything known for an id without its version: an entry for each number of features or actions."""
    entries = _FILE.get(_FILE["same_as"].get(kind, kind), [])
    return [Names(named_features(entry.get("features", "")), expanded(entry["actions"])) for entry in entries]


def known_names(environment_id: str, features: int | None, actions: int) -> Names | None:
    """Names for a Gymnasium id of any version with that many actions and features; None features fit any."""
    for names in names_of(environment_id.rpartition("-v")[0]):
        if len(names.actions) == actions and (features in (None, len(names.features)) or not names.features):
            return names
    return None


def named_features(text: str) -> tuple[Feature, ...]:
    """A feature for each word of 'name:unit name …', once expanded."""
    entries = [entry.partition(":") for entry in expanded(text)]
    return tuple(Feature(name, unit) for name, _, unit in entries)


def expanded(text: str) -> tuple[str, ...]:
    """The words of a text, those with braces expanded as a shell does.

    >>> expanded("{a,b}_{x,y} c")
    ('a_x', 'a_y', 'b_x', 'b_y', 'c')
    """
    parts = [[part.split(",") for part in split("[{}]", word)] for word in text.split()]
    return tuple("".join(chosen) for word in parts for chosen in product(*word))
