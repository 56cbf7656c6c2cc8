"""What observers of a run get to see now and then."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diprl.program import Program
from diprl.tasks.base import Task


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment: how far it is, its figures, and its program if it were stopped now."""

    task: Task
    method: str
    seed: int
    steps: int
    total_steps: int
    seconds: float
    metrics: dict[str, float]
    """Everything measured since the last snapshot, by the names that Stable-Baselines3 uses."""
    program: Program | None
    save: Callable[[Path], None]
    """Writes a checkpoint from which training can go on."""

    @property
    def fraction(self) -> float:
        return self.steps / self.total_steps


Observer = Callable[[Snapshot], bool | None]
"""Called with each snapshot; returning True stops the run after it."""
