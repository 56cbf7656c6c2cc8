"""The results of an experiment next to the runs that were asked for, so that what is missing stays visible."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from diprl.experiment.records import Record
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec

Measure = Callable[[Result], float | None]
"""A number of a result; None where a run of this kind has none."""


def score(result: Result) -> float | None:
    """Mean return of what the run hands over."""
    return result.score.mean


def distance(result: Result) -> float | None:
    """Mean distance to the goal at the end of an episode."""
    return result.score.extra.get("distance")


def success(result: Result) -> float | None:
    """Share of the episodes that reached the goal."""
    return result.score.extra.get("is_success")


def relaxed(result: Result) -> float | None:
    """Mean return of the relaxed policy: on the reference environment if measured there, else on the twin."""
    if result.stages:
        return result.stages["relaxed"]["mean"]
    return result.gap.relaxed if result.gap else None


def relaxed_distance(result: Result) -> float | None:
    return result.stages.get("relaxed", {}).get("distance")


def extracted(result: Result) -> float | None:
    """Mean return of the program as extracted, before fine-tuning or polish (there, as measured for the gap)."""
    if result.stages:
        return result.stages["extracted"]["mean"]
    return result.gap.relaxed - result.gap.total if result.polish and result.gap else score(result)


def extracted_distance(result: Result) -> float | None:
    return result.stages.get("extracted", {}).get("distance")


def depth(result: Result) -> float | None:
    return result.program.depth if result.program else None


def conditions(result: Result) -> float | None:
    return result.program.conditions if result.program else None


def coefficients(result: Result) -> float | None:
    """Non-zero numbers in the program."""
    return result.program.coefficients if result.program else None


def entropy(result: Result) -> float | None:
    """Architecture entropy as a share of the largest possible one; never below zero by rounding."""
    return max(result.gap.entropy, 0.0) if result.gap else None


def total_gap(result: Result) -> float | None:
    """Return lost between the relaxed policy and the program."""
    return result.gap.total if result.gap else None


@dataclass(frozen=True)
class Results:
    """Pairs of a run and its result, or None where there is none yet."""

    pairs: tuple[tuple[RunSpec, Result | None], ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.task for run, _ in self.pairs))

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(run.seed for run, _ in self.pairs))

    @property
    def presets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.preset for run, _ in self.pairs))

    @property
    def missing(self) -> list[RunSpec]:
        return [run for run, result in self.pairs if result is None]

    def having(self, **labels: str) -> "Results":
        """The part with these labels: task, method, preset, variant."""
        kept = [pair for pair in self.pairs if all(getattr(pair[0], name) == value for name, value in labels.items())]
        return Results(tuple(kept))

    def values(self, measure: Measure) -> dict[int, float | None]:
        """The measure by seed, of runs that differ in nothing else; None where it is missing."""
        return {run.seed: None if result is None else measure(result) for run, result in self.pairs}

    def present(self, measure: Measure) -> list[float]:
        """The measure of every run that has one."""
        values = [measure(result) for result in self.done()]
        return [value for value in values if value is not None]

    def done(self) -> list[Result]:
        return [result for _, result in self.pairs if result is not None]


def results_of(runs: Iterable[RunSpec], records: Mapping[str, Record]) -> Results:
    """Each run with the result in the record that has its key."""
    return Results(tuple((run, read_result(records.get(run.key))) for run in runs))


def read_result(record: Record | None) -> Result | None:
    return None if record is None else Result.read(record, str(record["key"]))
