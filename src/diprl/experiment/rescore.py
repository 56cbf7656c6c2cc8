"""Scores on the reference environment for programs that were trained where only their twin could run."""

from collections.abc import Iterable

from diprl.experiment.execute import REFERENCE, TWIN, cached_task, scored
from diprl.experiment.grid import Announce, Grid, claim
from diprl.experiment.records import Record, amendment
from diprl.program import Program

KIND = "reference-score"


def rescore(grid: Grid, announce: Announce) -> int:
    """Score the grid's programs that lack a score on the reference environment; tells how many there were."""
    keys = {run.key for run in grid.runs}
    lacking = [record for key, record in grid.store.read().items() if key in keys and needs_score(record)]
    return sum(rescore_one(grid, record, announce) for record in lacking)


def needs_score(record: Record) -> bool:
    return record["score"]["environment"] == TWIN and record["program"] is not None


def rescore_one(grid: Grid, record: Record, announce: Announce) -> bool:
    """Score one program unless another process does; the twin's score is kept beside it."""
    with claim(grid.folder, record["key"].replace("/", "_") + "_score") as held:
        if not held:
            return False
        values = {"score": reference_score(record), "twin_score": record["score"]}
        announce(f"rescored {record['method']}, {record['task']}, seed {record['seed']}")
        return grid.store.append(amendment(record["key"], KIND, values))


def reference_score(record: Record) -> Record:
    """The score of a record's program, on as many episodes as it has returns."""
    from diprl.train.evaluate import evaluate_program

    program = Program.from_text(record["program"])
    score = evaluate_program(cached_task(record["task"]), program, len(record["score"]["returns"]))
    return scored(score.to_dict(), score.returns, REFERENCE)


def twin_scored(records: Iterable[Record]) -> list[str]:
    """Keys of records whose score still is the twin's."""
    return [record["key"] for record in records if record["score"]["environment"] == TWIN]
