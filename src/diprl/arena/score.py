"""What episodes give: the score of a policy, how two programs compare, and what it costs to make one discrete."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from diprl.system.files import is_number

REFERENCE, TWIN = "reference", "twin"
"""Where a score was measured."""
KNOWN = ("mean", "std", "ci95", "episodes", "returns", "environment")
LARGEST = 1e100
"""Larger numbers in a file are none of ours."""
DIGITS = 6
"""Digits after the point of each return in files."""


@dataclass(frozen=True)
class Score:
    """Returns of independent episodes."""

    returns: tuple[float, ...]
    extra: dict[str, float] = field(default_factory=dict)
    """Means of what the environment reports at the end of an episode, such as `distance` and `is_success`."""
    environment: str = REFERENCE

    @property
    def mean(self) -> float:
        return float(np.mean(self.returns))

    @property
    def std(self) -> float:
        return float(np.std(self.returns))

    @property
    def ci95(self) -> tuple[float, float]:
        """Student's 95% interval for the mean over all episodes that could have been drawn."""
        from scipy.special import stdtrit

        count = len(self.returns)
        if count < 2:
            return (float("-inf"), float("inf"))
        half = float(stdtrit(count - 1, 0.975)) * float(np.std(self.returns, ddof=1)) / count**0.5
        return (self.mean - half, self.mean + half)

    def summary(self) -> dict[str, Any]:
        """Mean, deviation and interval in strict JSON: a bound that is not finite is null."""
        bounds = [bound if math.isfinite(bound) else None for bound in self.ci95]
        return {"mean": self.mean, "std": self.std, "ci95": bounds, "episodes": len(self.returns), **self.extra}

    def to_json(self) -> dict[str, Any]:
        """The summary with every return."""
        returns = [round(value, DIGITS) for value in self.returns]
        return self.summary() | {"returns": returns, "environment": self.environment}

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "Score":
        extra = {name: as_number(value) for name, value in content.items() if name not in KNOWN}
        returns = tuple(map(as_number, content["returns"]))
        if not returns:
            raise ValueError("a score needs at least one return")
        return Score(returns, extra, str(content["environment"]))

    def __str__(self) -> str:
        low, high = self.ci95
        extra = "".join(f", {name} {value:.3g}" for name, value in self.extra.items())
        return f"{self.mean:.2f} (95% interval {low:.2f} to {high:.2f}, {len(self.returns)} episodes{extra})"


def score_of(returns: Iterable[float], extra: dict[str, float] | None = None, environment: str = REFERENCE) -> Score:
    return Score(tuple(float(value) for value in returns), extra or {}, environment)


def as_number(value: Any) -> float:
    """A number from a file; anything else is refused, and so is one that no score could be."""
    if not is_number(value) or not abs(value) < LARGEST:
        raise ValueError(f"{value!r:.40} is not a number")
    return value


class Trial(NamedTuple):
    """How a search compared with the program it began with."""

    accepted: bool
    """Whether the search won; if not, the original stays."""
    gain: float
    """Mean difference on fresh episodes."""
    error: float
    """Its standard error."""
    steps: int
    """All environment steps of the search, those of the comparison included."""


LADDER = ("relaxed, sampled", "relaxed, greedy", "depth only, greedy", "hard conditions, sampled", "hard")
"""The steps from the relaxed policy to the program; terminals are sampled until the last, unless greedy."""


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
    relaxed_greedy: float | None = None
    """Score of the relaxed policy's likeliest actions; like the rest, None in records from before it was measured."""
    depth_greedy: float | None = None
    """The same with the likeliest depth alone; conditions are still soft."""
    advantage_range: float | None = None
    """Δ: how far apart the estimated advantages lie in one more rollout."""
    return_bound: float | None = None
    """Δ m_T / (1 − γ): the most return that taking one depth can lose, if Δ is right."""

    @property
    def total(self) -> float:
        return self.architecture + self.condition + self.terminal

    @property
    def ladder(self) -> dict[str, float | None]:
        """The scores on the way from the relaxed policy to the program."""
        threshold = self.relaxed - self.architecture - self.condition
        scores = (self.relaxed, self.relaxed_greedy, self.depth_greedy, threshold, self.relaxed - self.total)
        return dict(zip(LADDER, scores, strict=True))

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"total": self.total, "ladder": self.ladder}

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "Gap":
        added = {item.name: None for item in fields(Gap) if item.default is not MISSING}
        numbers = {item.name: (added | dict(content))[item.name] for item in fields(Gap)}
        return Gap(**{name: None if value is None else as_number(value) for name, value in numbers.items()})  # type: ignore[arg-type]
