"""A score: the returns of some episodes and what they say about the mean."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Score:
    """Returns of independent episodes."""

    returns: tuple[float, ...]
    extra: dict[str, float] = field(default_factory=dict)
    """Means of what the environment reports at the end of an episode, such as `distance` and `is_success`."""

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

    def to_dict(self) -> dict[str, Any]:
        """As JSON reports carry it."""
        low, high = self.ci95
        return {
            "mean": self.mean,
            "std": self.std,
            "ci95": [low, high],
            "episodes": len(self.returns),
            **self.extra,
        }

    def __str__(self) -> str:
        low, high = self.ci95
        extra = "".join(f", {name} {value:.3g}" for name, value in self.extra.items())
        return f"{self.mean:.2f} (95% interval {low:.2f} to {high:.2f}, {len(self.returns)} episodes{extra})"


def score_of(returns: NDArray[Any], extra: dict[str, float] | None = None) -> Score:
    return Score(tuple(float(value) for value in returns), extra or {})
