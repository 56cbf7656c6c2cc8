"""How long the search for an answer may take, and what is raised when there is no answer."""

from dataclasses import dataclass, field
from time import monotonic


class Undecided(Exception):
    """No answer: the reason says why."""


@dataclass(frozen=True)
class Deadline:
    """The moment at which the search for an answer ends."""

    seconds: float
    start: float = field(default_factory=monotonic)

    def remaining(self) -> float:
        """Seconds left; raises once there are none."""
        left = self.start + self.seconds - monotonic()
        if left <= 0:
            raise Undecided(f"no answer within the time limit of {self.seconds:g} s")
        return left

    def used(self, share: float) -> bool:
        """Whether this share of the time is over."""
        return monotonic() >= self.start + share * self.seconds
