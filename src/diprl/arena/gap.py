"""The gap: what it costs to make a relaxed program discrete."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from diprl.arena.score import as_number


@dataclass(frozen=True)
class Gap:
    """What each kind of hardening costs in return, next to what the theory says about the architecture."""

    relaxed: float
    """Score of the relaxed policy."""
    architecture: float
    """Lost by taking the likeliest depth alone."""
    condition: float
    """Lost by making the conditions thresholds."""
    terminal: float
    """Lost by taking each terminal's likeliest action."""
    mass: float | None
    """m_T = 1 − max p_d: the probability of every other depth."""
    entropy: float
    """H(T) / log D_m."""
    bound: float | None
    """1 − exp(−H), which m_T never exceeds."""

    @property
    def total(self) -> float:
        return self.architecture + self.condition + self.terminal

    def to_json(self) -> dict[str, float | None]:
        return asdict(self) | {"total": self.total}

    @staticmethod
    def from_json(content: Mapping[str, float]) -> "Gap":
        numbers = {item.name: content[item.name] for item in fields(Gap)}
        return Gap(**{name: None if value is None else as_number(value) for name, value in numbers.items()})  # type: ignore[arg-type]
