"""What a program may use: the features it reads and the actions it chooses from."""

from dataclasses import dataclass
from math import inf, isfinite


@dataclass(frozen=True)
class Feature:
    """One named number that conditions read, in raw units."""

    name: str
    """An identifier; it appears in every printed program."""
    unit: str = ""
    """SI unit, or empty for a pure number."""
    low: float = -inf
    high: float = inf
    """Bounds that the environment promises; proofs may rely on them."""
    meaning: str = ""
    """How the feature is computed from the observation, in words; empty when it is an observation entry."""


@dataclass(frozen=True)
class Discrete:
    """A finite set of named actions; the environment receives the index."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Continuous:
    """A vector of named outputs; what a program computes is clipped to [low, high]."""

    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    units: tuple[str, ...] = ()


@dataclass(frozen=True)
class Primitives:
    """Named frozen controllers whose actions a program blends; the blend is clipped to [low, high]."""

    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    """Bounds of the environment's action vector, one entry per actuator."""


Actions = Discrete | Continuous | Primitives


@dataclass(frozen=True)
class Signature:
    """The interface between a program and its environment: what it reads and what it may do.

    >>> tank = Signature((Feature("level", "m", 0.0, 2.0), Feature("inflow", "m/s")), Discrete(("off", "on")))
    >>> tank.feature_names
    ('level', 'inflow')
    """

    features: tuple[Feature, ...]
    actions: Actions

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)


def outputs(actions: Actions) -> list[Feature]:
    """What a vector of actions holds, with units and ranges; nothing where actions are choices or blends."""
    if not isinstance(actions, Continuous):
        return []
    return list(map(Feature, actions.names, actions.units or ("",) * len(actions.names), actions.low, actions.high))


def action_range(actions: Continuous | Primitives) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Centre and half-width of each output's range; an unbounded output is measured in its own units."""
    pairs = zip(actions.low, actions.high, strict=True)
    bounded = [(low, high) if isfinite(low) and isfinite(high) else (-1.0, 1.0) for low, high in pairs]
    return tuple((low + high) / 2 for low, high in bounded), tuple((high - low) / 2 for low, high in bounded)
