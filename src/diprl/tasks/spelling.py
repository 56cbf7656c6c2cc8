"""How tables of names are written down."""

from typing import NamedTuple


class Names(NamedTuple):
    """What one environment's observation entries and actions are called; units follow the entries."""

    features: tuple[str, ...]
    units: tuple[str, ...]
    actions: tuple[str, ...]


def spelt(features: str, actions: str) -> Names:
    """Names from 'name:unit name …' and 'name name …'."""
    pairs = [entry.partition(":") for entry in features.split()]
    return Names(tuple(pair[0] for pair in pairs), tuple(pair[2] for pair in pairs), tuple(actions.split()))
