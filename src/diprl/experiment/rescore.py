"""Scores on the reference environment for programs that were trained where only their twin could run."""

from diprl.arena.reference import evaluate_program
from diprl.arena.score import TWIN
from diprl.experiment.execute import cached_task
from diprl.experiment.grid import Announce, Grid, claim
from diprl.experiment.records import Record, amendment
from diprl.program import Program
from diprl.runs.result import Result

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
        program, episodes = Program.from_text(record["program"]), len(record["score"]["returns"])
        score = evaluate_program(cached_task(record["task"]), program, episodes)
        values = {"score": score.to_json(), "twin_score": record["score"]}
        announce(f"rescored {record['method']}, {record['task']}, seed {record['seed']}")
        return grid.store.append(amendment(record["key"], KIND, values))


def scored_on_twin(results: list[Result]) -> int:
    """How many results have a score on the twin only."""
    return sum(result.score.environment == TWIN for result in results)
