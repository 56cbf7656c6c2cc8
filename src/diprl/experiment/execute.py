"""One run of a grid on this machine, and the score on the reference environment of a run made elsewhere."""

from functools import cache
from pathlib import Path

from diprl.arena.reference import evaluate_program
from diprl.arena.score import TWIN
from diprl.experiment.grid import Announce, Grid, claim
from diprl.experiment.records import Record, amendment
from diprl.methods.registry import run
from diprl.program import Program
from diprl.runs.folder import CONFIG
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.system.cache import use_compilation_cache
from diprl.tasks.base import Task

RESCORED = "reference-score"


@cache
def cached_task(name: str) -> Task:
    """One task per process, so that its runs share compiled code."""
    from diprl.tasks.registry import load_task  # brings Gymnasium, which a machine that only trains may lack

    return load_task(name)


def execute(spec: RunSpec, folder: Path) -> Record:
    """Do a run in its folder as `diprl train` would, from its checkpoint where there is one, and give its record."""
    use_compilation_cache()
    session = Session(spec, cached_task(spec.task), folder, resume=(folder / CONFIG).exists())
    return run(session).to_json()


def rescore(grid: Grid, announce: Announce) -> int:
    """Score the grid's programs that only have a score on the twin; tells how many there were."""
    keys = {run.key for run in grid.runs}
    records = [record for key, record in grid.store.read().items() if key in keys]
    on_twin = [record for record in records if record["score"]["environment"] == TWIN and record["program"]]
    return sum(rescore_one(grid, record, announce) for record in on_twin)


def rescore_one(grid: Grid, record: Record, announce: Announce) -> bool:
    """Score one program unless another process does; the twin's score is kept beside it."""
    with claim(grid.folder, record["key"].replace("/", "_") + "_score") as held:
        if not held:
            return False
        program, episodes = Program.from_text(record["program"]), len(record["score"]["returns"])
        score = evaluate_program(cached_task(record["task"]), program, episodes)
        values = {"score": score.to_json(), "twin_score": record["score"]}
        announce(f"rescored {record['method']}, {record['task']}, seed {record['seed']}")
        return grid.store.append(amendment(record["key"], RESCORED, values))
