"""The results of an experiment next to the runs that were asked for, so that what is missing stays visible."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diprl.arena.score import LADDER, Gap
from diprl.experiment.grid import Record
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec

Measure = Callable[[Result], float | None]
"""A number of a result; None where a run of this kind has none."""


def score(result: Result) -> float | None:
    """Mean return of what the run hands over."""
    return result.score.mean


def relaxed(result: Result) -> float | None:
    """Mean return of the relaxed policy: on the reference environment if measured there, else on the twin."""
    if result.stages:
        return result.stages["relaxed"]["mean"]
    return result.gap.relaxed if result.gap else None


def extracted(result: Result) -> float | None:
    """Mean return of the program as extracted, before fine-tuning or shortening (there, as measured for the gap)."""
    if result.stages:
        return result.stages["extracted"]["mean"]
    return result.gap.relaxed - result.gap.total if result.front and result.gap else score(result)


def of_gap(read: Callable[[Gap], float | None]) -> Measure:
    """What was measured on the way to the program."""
    return lambda result: read(result.gap) if result.gap else None


def rung(name: str) -> Measure:
    return of_gap(lambda gap: gap.ladder[name])


MEASURES: dict[str, Measure] = {
    "return": score,
    "relaxed return": relaxed,
    "extracted return": extracted,
    "distance": lambda result: result.score.extra.get("distance"),
    "relaxed distance": lambda result: result.stages.get("relaxed", {}).get("distance"),
    "extracted distance": lambda result: result.stages.get("extracted", {}).get("distance"),
    "success": lambda result: result.score.extra.get("is_success"),
    "depth": lambda result: getattr(result.program, "depth", None),
    "conditions": lambda result: getattr(result.program, "conditions", None),
    "coefficients": lambda result: getattr(result.program, "coefficients", None),
    "steps": lambda result: result.total_steps / 1e6,
    "entropy": of_gap(lambda gap: max(gap.entropy, 0.0)),  # never below zero by rounding
    "gap": of_gap(lambda gap: gap.total),
    "mass": of_gap(lambda gap: gap.mass),
    "mass bound": of_gap(lambda gap: gap.bound),
    "advantage range": of_gap(lambda gap: gap.advantage_range),
    "return bound": of_gap(lambda gap: gap.return_bound),
    **{name: rung(name) for name in LADDER},
}
"""What the tables show, by name."""


@dataclass(frozen=True)
class Results:
    """Pairs of a run and its result, or None where there is none yet."""

    pairs: tuple[tuple[RunSpec, Result | None], ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.distinct("task")

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.distinct("seed")

    @property
    def presets(self) -> tuple[str, ...]:
        return self.distinct("preset")

    def distinct(self, label: str) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(getattr(run, label) for run, _ in self.pairs))

    @property
    def missing(self) -> list[RunSpec]:
        return [run for run, result in self.pairs if result is None]

    @property
    def done(self) -> list[Result]:
        return [result for _, result in self.pairs if result is not None]

    def having(self, **labels: str | int) -> "Results":
        """The part with these labels: task, method, preset, variant, seed."""
        kept = [pair for pair in self.pairs if all(getattr(pair[0], name) == value for name, value in labels.items())]
        return Results(tuple(kept))

    def present(self, measure: Measure) -> list[float]:
        """The measure of every run that has one."""
        return [value for value in map(measure, self.done) if value is not None]


def results_of(runs: Sequence[RunSpec], records: Mapping[str, Record]) -> Results:
    """Each run with the result in the record that has its key."""
    read = {run.key: Result.read(records[run.key], run.key) for run in runs if run.key in records}
    return Results(tuple((run, read.get(run.key)) for run in runs))
