"""Ready-made observers for `learn(callback=…)`; any function of a snapshot serves as well."""

from dataclasses import dataclass
from pathlib import Path

from diprl.arena.reference import evaluate_program
from diprl.runs.observers import Snapshot


@dataclass(frozen=True)
class StopAtScore:
    """Stop once the hard program's validation score reaches a threshold."""

    score: float
    metric: str = "eval/program"

    def __call__(self, snapshot: Snapshot) -> bool:
        return snapshot.metrics.get(self.metric, float("-inf")) >= self.score


@dataclass
class EvalCallback:
    """Score the current program on the reference environment every so many steps and keep the best."""

    every: int = 100_000
    episodes: int = 10
    best_path: Path | None = None
    best_score: float = float("-inf")
    last: int = 0

    def __call__(self, snapshot: Snapshot) -> None:
        if snapshot.program is None or snapshot.steps - self.last < self.every:
            return
        self.last = snapshot.steps
        score = evaluate_program(snapshot.task, snapshot.program, self.episodes).mean
        if score > self.best_score:
            self.best_score = score
            if self.best_path is not None:
                snapshot.program.save(self.best_path)


@dataclass
class CheckpointCallback:
    """Keep a checkpoint every so many steps under its own name."""

    folder: Path
    every: int = 100_000
    last: int = 0

    def __call__(self, snapshot: Snapshot) -> None:
        if snapshot.steps - self.last >= self.every:
            self.last = snapshot.steps
            Path(self.folder).mkdir(parents=True, exist_ok=True)
            snapshot.save(Path(self.folder) / f"step-{snapshot.steps}.checkpoint")
