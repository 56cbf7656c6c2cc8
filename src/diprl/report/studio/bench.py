"""One run on the workbench: what Python can do with an edited program of it, in a thread where that takes a while."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

from diprl.arena.reference import evaluate_program
from diprl.arena.score import Score
from diprl.errors import DiprlError, check_known
from diprl.program import Program
from diprl.program.text_parse import parse_text
from diprl.report.source import Source, quick_check, read_source
from diprl.runs.folder import CONFIG, free_folder, task_of, write_result
from diprl.runs.result import Result, provenance
from diprl.runs.spec import RunSpec
from diprl.system.files import check_writable, is_number, write_json
from diprl.tasks.base import Task
from diprl.verify import load_spec, verify

TICK = 0.25
"""Seconds from one message about progress to the next."""
MOST_EPISODES, MOST_SECONDS, MOST_STEPS = 10_000, 3600.0, 100_000_000
SAVED_EPISODES = 100
"""What a saved edit is scored on."""


class Stopped(Exception):
    """The person at the page has seen enough."""


@dataclass
class Job:
    """One piece of work; `work` gets the job, calls `check` now and then, and returns what the page is to know."""

    kind: str
    work: Callable[["Job"], dict[str, Any]]
    seconds: float | None = None
    """How long it will take, where that is known."""
    words: str = ""
    """What it does at the moment."""
    began: float = field(default_factory=monotonic)
    answer: dict[str, Any] | None = None
    _stop: Event = field(default_factory=Event)
    _ended: Event = field(default_factory=Event)

    def start(self) -> "Job":
        Thread(target=self._run, daemon=True).start()
        return self

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def stop(self) -> None:
        self._stop.set()

    def check(self) -> None:
        """End the work if it was stopped."""
        if self._stop.is_set():
            raise Stopped

    def told(self) -> dict[str, Any]:
        """What came out, or after a moment how far it is."""
        if self._ended.wait(TICK):
            return {"done": True} | (self.answer or {})
        elapsed = monotonic() - self.began
        share = min(elapsed / self.seconds, 1.0) if self.seconds else None
        return {"share": share, "words": self.words, "elapsed": round(elapsed, 1)}

    def _run(self) -> None:
        try:
            self.answer = self.work(self)
        except Stopped:
            self.answer = {"words": "stopped; nothing was changed"}
        except DiprlError as error:
            self.answer = {"error": str(error)}
        except Exception as error:  # what fails here must reach the page, not only the terminal
            self.answer = {"error": f"{self.kind} failed: {type(error).__name__}: {error}"}
        finally:
            self._ended.set()


class Bench:
    """A run with its task; nothing is written but by `save`."""

    def __init__(self, path: Path, task: str | None = None, spec: Path | None = None) -> None:
        self.path, self.wanted, self.spec = path, task, spec
        self.source: Source = read_source(path)

    @cached_property
    def task(self) -> Task:
        return task_of(self.path, self.source.program, self.wanted)

    def program(self, text: str) -> Program:
        """The edited program; it must read and do what the run's own does."""
        original = self.source.program
        signature, root, _ = parse_text(text, original.signature)
        return Program(signature, root, original.task)

    def score(self, text: str, episodes: Any) -> dict[str, Any]:
        """Returns on the reference environment, from the seeds that every report uses."""
        count = int(_number(episodes, "episodes", MOST_EPISODES))
        return {"returns": evaluate_program(self.task, self.program(text), count).returns}

    def job(self, kind: str, text: str, amount: Any) -> Job:
        """Polish or simplify the program, train on from it, or prove something about it."""
        program = self.program(text)
        works = {"polish": self._polish, "simplify": self._simplify, "train": self._train, "prove": self._prove}
        check_known("job", works, kind)
        most = {"polish": ("seconds", MOST_SECONDS), "train": ("steps", MOST_STEPS)}.get(kind)
        amount = _number(amount, *most) if most else None
        return Job(kind, lambda job: works[kind](job, program, amount), amount if kind == "polish" else None)

    def _polish(self, job: Job, program: Program, seconds: float) -> dict[str, Any]:
        from diprl.search.polish import polish

        job.words = "searching for better numbers"
        trial = (found := polish(self.task, program, float("inf"), seconds=seconds, interrupt=job.check)).trial
        verdict = "better" if trial.accepted else "nothing better was found"
        words = f"{verdict}: {trial.gain:+.2f} ± {trial.error:.2f} on fresh episodes, {trial.steps:,} steps"
        return _changed(program, found.program, words)

    def _simplify(self, job: Job, program: Program, _: Any) -> dict[str, Any]:
        from diprl.methods.retrain import retrainer
        from diprl.search.simplify import simplify

        def show(what: str, smaller: Program) -> None:
            job.words = f"{what}: {smaller.coefficients} numbers"

        found = simplify(self.task, program, train=retrainer(self.task, program), interrupt=job.check, show=show)
        return _changed(program, found.program, f"{program.coefficients} numbers became {found.program.coefficients}")

    def _train(self, _: Job, program: Program, steps: float) -> dict[str, Any]:
        from diprl.methods.retrain import continue_from

        trained = continue_from(self.task, program, int(steps), seed=0)
        return _changed(program, trained, f"trained on for {int(steps):,} steps")

    def _prove(self, job: Job, program: Program, _: Any) -> dict[str, Any]:
        report = verify(program, load_spec(self.spec, program)) if self.spec else quick_check(program)
        rows = [(one.answer.verdict, one.name, one.answer.summary) for one in report.findings]
        return {"words": f"{sum(row[0] == 'proved' for row in rows)} of {len(rows)} proved", "findings": rows}

    def save(self, text: str) -> dict[str, Any]:
        """Keep the edited program as a run next to this one, with its score."""
        program, folder = self.program(text), free_folder(self.path.parent, f"{self.path.stem}-edited")
        check_writable(folder)
        own = self.source.spec or RunSpec(self.task.name)
        spec = replace(own, variant="edited", episodes=SAVED_EPISODES)
        score: Score = evaluate_program(self.task, program, SAVED_EPISODES)
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / CONFIG, spec.to_json())
        write_result(folder, Result(spec, program, score, {}, **provenance()))
        return {"words": f"saved as {folder}, scored {score}"}


def _changed(before: Program, after: Program, words: str) -> dict[str, Any]:
    """What came out of a job, with the program if it is another one."""
    return {"words": words} | ({"text": str(after)} if after != before else {})


def _number(value: Any, name: str, most: float) -> float:
    if not is_number(value) or not 1 <= value <= most:
        raise DiprlError(f"{name} must be a number from 1 to {most:g}, not {value!r:.40}")
    return value
