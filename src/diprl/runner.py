"""One run from start to finish: train, score on the reference environment, write the folder, return the record."""

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diprl import runs
from diprl.errors import DiprlError, unknown
from diprl.methods.base import Job, Outcome
from diprl.methods.registry import find_method
from diprl.tasks.base import Task
from diprl.tasks.vector import BACKENDS
from diprl.train.checkpoint import has_checkpoint, stored_facts
from diprl.train.config import Config
from diprl.train.evaluate import evaluate
from diprl.train.observers import MetricsLog, TensorBoardLog
from diprl.train.score import Score
from diprl.train.snapshot import Observer


@dataclass(frozen=True)
class Plan:
    """A run to do: what, how, where to."""

    task: Task
    method: str
    preset: str
    config: Config
    seed: int
    folder: Path | None = None
    """Where to write; None keeps everything in memory."""
    observers: tuple[Observer, ...] = ()
    backend: str = "auto"
    episodes: int = 100
    tensorboard: bool = False
    resume: bool = False
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise DiprlError(f"seed must not be negative, got {self.seed}")
        if self.episodes < 1:
            raise DiprlError(f"episodes must be at least 1, not {self.episodes}")
        if self.backend not in BACKENDS:
            raise unknown("backend", self.backend, BACKENDS)


@dataclass(frozen=True)
class Finished:
    """A run with its score on the reference environment."""

    plan: Plan
    outcome: Outcome
    score: Score
    wall_seconds: float

    def record(self) -> dict[str, Any]:
        """The run as one JSON object."""
        program, facts = self.outcome.program, self.outcome.facts
        gap = facts.get("gap")
        return {
            "seed": self.plan.seed,
            "folder": str(self.plan.folder) if self.plan.folder else None,
            "program": str(program) if program else None,
            "depth": program.depth if program else None,
            "conditions": program.conditions if program else None,
            "coefficients": program.coefficients if program else None,
            "score": self.score.to_dict(),
            "relaxed_score": gap["relaxed"] if gap else None,
            "gap": {part: gap[part] for part in ("architecture", "condition", "terminal", "total")}
            if gap
            else None,
            "architecture_entropy": gap["entropy"] if gap else None,
            "steps": self.outcome.steps,
            "wall_seconds": self.wall_seconds,
        } | {name: value for name, value in facts.items() if name != "gap"}


def run(plan: Plan) -> Finished:
    """Train and score; with a folder, everything is kept there and a second process is refused."""
    if plan.folder is None:
        return finish(plan, ())
    runs.make_folder(plan.folder)
    with runs.exclusive(plan.folder):
        if (plan.folder / runs.CONFIG).exists() and not plan.resume:
            raise DiprlError(
                f"{plan.folder} already holds a run: choose another --out, or continue it with --resume"
            )
        header = runs.describe_run(
            plan.method, plan.preset, plan.task.name, plan.seed, plan.config, dict(plan.env_kwargs)
        )
        if not plan.resume:
            runs.write_json(plan.folder / runs.CONFIG, header)
        try:
            finished = finish(plan, folder_observers(plan))
        except DiprlError:
            if not plan.resume and not has_checkpoint(plan.folder / runs.CHECKPOINT):
                runs.discard(plan.folder)
            raise
        write_result(finished, plan.folder)
        return finished


def finish(plan: Plan, writers: tuple[Observer, ...]) -> Finished:
    began = time.monotonic()
    job = Job(
        task=plan.task,
        method=plan.method,
        config=plan.config,
        seed=plan.seed,
        observers=(*writers, *plan.observers),
        checkpoint=plan.folder / runs.CHECKPOINT if plan.folder else None,
        backend=plan.backend,
    )
    outcome = find_method(plan.method).fit(job)
    score = evaluate(plan.task, outcome.act, plan.episodes)
    return Finished(plan, outcome, score, time.monotonic() - began)


def folder_observers(plan: Plan) -> tuple[Observer, ...]:
    folder = plan.folder
    if folder is None:
        return ()
    writers: list[Observer] = [MetricsLog(folder, done_steps(folder) if plan.resume else 0)]
    if plan.tensorboard:
        writers.append(TensorBoardLog(folder / "tensorboard"))
    return tuple(writers)


def done_steps(folder: Path) -> int:
    """Steps that the checkpoints of a run stand for: its latest member's, and those of its tuning phase."""
    members = [folder / runs.CHECKPOINT, *folder.glob(f"{runs.CHECKPOINT}-[0-9]*")]
    trained = max(checkpoint_steps(path) for path in members)
    return trained + checkpoint_steps(folder / runs.TUNING_CHECKPOINT)


def checkpoint_steps(path: Path) -> int:
    return stored_facts(path).get("steps", 0) if has_checkpoint(path) else 0


def write_result(finished: Finished, folder: Path) -> None:
    program = finished.outcome.program
    if program is not None:
        program.save(folder / runs.PROGRAM_JSON)
        program.save(folder / runs.PROGRAM_TEXT)
    runs.write_json(folder / runs.RESULT, finished.record() | {"returns": list(finished.score.returns)})


def run_seeds(plans: list[Plan], workers: int, done: Callable[[Finished], None]) -> list[Finished]:
    """Several seeds of one plan, on as many threads: compiled code leaves Python, so each has a core to itself."""
    from concurrent.futures import ThreadPoolExecutor

    def one(plan: Plan) -> Finished:
        finished = run(plan)
        done(finished)
        return finished

    context = nullcontext() if workers == 1 else ThreadPoolExecutor(workers)
    with context as pool:
        return [one(plan) for plan in plans] if pool is None else list(pool.map(one, plans))
