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
from diprl.system.files import check_writable
from diprl.system.storage import is_stored as has_checkpoint
from diprl.system.storage import load_facts as stored_facts
from diprl.tasks.base import Task
from diprl.tasks.batches.choose import BACKENDS
from diprl.train.config import Config, check_seed
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
    heed: Callable[[], None] = lambda: None
    """Called now and then while no observer is; ends the run by raising."""
    env_timeout: float | None = None
    """Seconds that an environment may take for a step; None waits for ever."""
    resume: bool = False
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not isinstance(self.episodes, int) or self.episodes < 1:
            raise DiprlError(f"episodes must be at least 1, not {self.episodes!r:.40}")
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
    check_writable(plan.folder)
    with runs.exclusive(plan.folder):
        if (plan.folder / runs.CONFIG).exists() and not plan.resume:
            raise DiprlError(
                f"{plan.folder} already holds a run: choose another --out, or continue it with --resume"
            )
        try:
            return fill_folder(plan, plan.folder)
        except DiprlError:
            if not plan.resume and not has_checkpoint(plan.folder / runs.CHECKPOINT):
                runs.discard(plan.folder)
            raise
        except OSError as error:
            place, reason = error.filename or plan.folder, error.strerror or error
            raise DiprlError(
                f"{place}: {reason}; what was saved before is intact, go on with: "
                f"diprl train --resume {plan.folder}"
            ) from error


def fill_folder(plan: Plan, folder: Path) -> Finished:
    """Do the run and write down everything about it."""
    if not plan.resume:
        runs.write_json(folder / runs.CONFIG, header_of(plan))
    finished = finish(plan, folder_observers(plan))
    write_result(finished, folder)
    return finished


def header_of(plan: Plan) -> dict[str, Any]:
    """What it takes to repeat the run or to go on with it."""
    header = runs.describe_run(
        plan.method, plan.preset, plan.task.name, plan.seed, plan.config, dict(plan.env_kwargs)
    )
    return header | {
        "backend": plan.backend,
        "episodes": plan.episodes,
        "env_timeout": plan.env_timeout,
    }


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
        env_timeout=plan.env_timeout,
        heed=plan.heed,
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
    names = {path.name.removesuffix(".previous") for path in folder.glob(f"{runs.CHECKPOINT}-*")}
    members = [folder / name for name in names if name.removeprefix(f"{runs.CHECKPOINT}-").isdecimal()]
    trained = max(checkpoint_steps(path) for path in (folder / runs.CHECKPOINT, *members))
    return trained + checkpoint_steps(folder / runs.TUNING_CHECKPOINT)


def checkpoint_steps(path: Path) -> int:
    steps = stored_facts(path).get("steps", 0) if has_checkpoint(path) else 0
    if not isinstance(steps, int):
        raise DiprlError(f"{path}: not the checkpoint of a run (its steps are not a number)")
    return steps


def write_result(finished: Finished, folder: Path) -> None:
    program = finished.outcome.program
    if program is not None:
        runs.write_text(folder / runs.PROGRAM_JSON, program.to_json())
        runs.write_text(folder / runs.PROGRAM_TEXT, str(program))
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
