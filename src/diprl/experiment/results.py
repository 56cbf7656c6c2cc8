"""The records of an experiment next to the runs that were asked for, so that what is missing stays visible."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from diprl.experiment.grid import Run
from diprl.experiment.records import Record

Measure = Callable[[Record], float | None]
"""A number of a record; None where a run of this kind has none."""


def score(record: Record) -> float | None:
    """Mean return of what the run hands over."""
    return record["score"]["mean"]


def distance(record: Record) -> float | None:
    """Mean distance to the goal at the end of an episode."""
    return record["score"].get("distance")


def success(record: Record) -> float | None:
    """Share of the episodes that reached the goal."""
    return record["score"].get("is_success")


def relaxed(record: Record) -> float | None:
    """Mean return of the relaxed policy: on the reference environment if measured there, else on the twin."""
    stages = record.get("stages")
    return stages["relaxed"]["mean"] if stages else record.get("relaxed_score")


def relaxed_distance(record: Record) -> float | None:
    return (record.get("stages") or {}).get("relaxed", {}).get("distance")


def extracted(record: Record) -> float | None:
    """Mean return of the program as extracted, before fine-tuning or polish (there, as measured for the gap)."""
    stages = record.get("stages")
    if stages:
        return stages["extracted"]["mean"]
    return record["relaxed_score"] - record["gap"]["total"] if "polish" in record else score(record)


def extracted_distance(record: Record) -> float | None:
    return (record.get("stages") or {}).get("extracted", {}).get("distance")


def depth(record: Record) -> float | None:
    return record.get("depth")


def conditions(record: Record) -> float | None:
    return record.get("conditions")


def coefficients(record: Record) -> float | None:
    """Non-zero numbers in the program."""
    return record.get("coefficients")


def entropy(record: Record) -> float | None:
    """Architecture entropy as a share of the largest possible one; never below zero by rounding."""
    value = record.get("architecture_entropy")
    return None if value is None else max(value, 0.0)


def total_gap(record: Record) -> float | None:
    """Return lost between the relaxed policy and the program."""
    return record["gap"]["total"] if record.get("gap") else None


@dataclass(frozen=True)
class Results:
    """Pairs of a run and its record, or None where there is none yet."""

    pairs: tuple[tuple[Run, Record | None], ...]

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
    def missing(self) -> list[Run]:
        return [run for run, record in self.pairs if record is None]

    def having(self, **labels: str) -> "Results":
        """The part with these labels: task, method, preset, variant."""
        kept = [
            pair
            for pair in self.pairs
            if all(getattr(pair[0], name) == value for name, value in labels.items())
        ]
        return Results(tuple(kept))

    def values(self, measure: Measure) -> dict[int, float | None]:
        """The measure by seed, of runs that differ in nothing else; None where it is missing."""
        return {run.seed: None if record is None else measure(record) for run, record in self.pairs}

    def present(self, measure: Measure) -> list[float]:
        """The measure of every run that has one."""
        values = [measure(record) for record in self.records()]
        return [value for value in values if value is not None]

    def records(self) -> list[Record]:
        return [record for _, record in self.pairs if record is not None]


def results_of(runs: Iterable[Run], records: Mapping[str, Record]) -> Results:
    """Each run with the record that has its key."""
    return Results(tuple((run, records.get(run.key)) for run in runs))
