"""Ways to do runs: one here, or a whole grid by processes, by one compiled call for many runs, or by a Ray cluster.

Those for a grid keep to its claims, so that several may work on one grid at the same time.
"""

import hashlib
import multiprocessing
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from diprl.arena.reference import evaluate_program
from diprl.arena.score import TWIN
from diprl.errors import DiprlError, check_known, optional
from diprl.experiment.grid import PATIENCE, Announce, Execute, Failures, Grid, Record, claim, failed, work_through
from diprl.experiment.rivals import RIVALS
from diprl.experiment.vmap import batch_key, execute_batch, fits
from diprl.methods import registry
from diprl.program import Program
from diprl.runs.folder import CONFIG
from diprl.runs.result import command
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.system.device import use_compilation_cache
from diprl.system.processes import available_cores, end_with_parent
from diprl.tasks.base import Task

Executor = Callable[[Grid, Announce], Failures]
"""Does every run of a grid that has no record yet."""
RESCORED = "reference-score"
RETRIES = 10
"""How often Ray begins a run again after its worker died."""


@cache
def cached_task(name: str) -> Task:
    """One task per process, so that its runs share compiled code."""
    from diprl.tasks.registry import load_task  # brings Gymnasium, which a machine that only trains may lack

    return load_task(name)


def execute(spec: RunSpec, folder: Path) -> Record:
    """Do a run in its folder as `diprl train` would, from its checkpoint where there is one, and give its record."""
    if spec.method in RIVALS:
        return RIVALS[spec.method](spec, cached_task(spec.task)).to_json()
    use_compilation_cache()
    session = Session(spec, cached_task(spec.task), folder, resume=(folder / CONFIG).exists())
    return registry.run(session).to_json()


def local(grid: Grid, announce: Announce, workers: int | None = None, execute: Execute = execute) -> Failures:
    """Worker processes on this machine, or this process alone where one is enough.

    A worker that dies leaves its run to the others.
    """
    count = min(workers or available_cores(), len(grid.pending()))
    if count <= 1:
        return work_through(grid, execute, announce)
    context = multiprocessing.get_context("spawn")
    started = []
    for _ in range(count):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=serve, args=(grid, execute, sender))
        process.start()
        sender.close()
        started.append((process, receiver))
    failures: Failures = {}
    for process, receiver in started:
        with suppress(EOFError):  # a worker that was killed says nothing
            failures |= receiver.recv()
        process.join()
    return failures


def serve(grid: Grid, execute: Execute, sender: Connection) -> None:
    """The life of a worker process; Ctrl-C reaches its parent too, which says what there is to say."""
    end_with_parent()
    with suppress(KeyboardInterrupt):
        sender.send(work_through(grid, execute, print_line))
    sender.close()


def print_line(text: str) -> None:
    clear = "\r\x1b[2K" if sys.stderr.isatty() else ""  # a bar may stand where the line goes
    print(f"{clear}{text}", file=sys.stderr, flush=True)


def vmap(grid: Grid, announce: Announce, workers: int | None = None) -> Failures:
    """Batches of runs in one compiled call each; what cannot be batched goes through `local`.

    A batch always holds all runs of the grid that belong together, done or not, so that an interrupted one continues as
    it was.
    """
    batches: dict[Any, dict[str, RunSpec]] = {}
    for run in grid.runs:
        if fits(run):
            batches.setdefault(batch_key(run), {})[run.key] = run
    failures: Failures = {}
    for batch in batches.values():
        failures |= do_batch(grid, batch, announce)
    others = tuple(run for run in grid.runs if not fits(run))
    return failures | (local(Grid(grid.folder, others), announce, workers) if others else {})


def do_batch(grid: Grid, batch: dict[str, RunSpec], announce: Announce) -> Failures:
    """Claim all runs of a batch, do them together, write the records that are missing."""
    runs, digest = list(batch.values()), hashlib.sha256("\n".join(batch).encode()).hexdigest()
    folder = grid.work_folder(runs[0]).with_name(f"batch_{digest[:16]}")
    while any(run.key in batch for run in grid.pending()):
        with ExitStack() as claims:
            if not all(claims.enter_context(claim(grid.folder, run.slug)) for run in runs):
                time.sleep(PATIENCE)
                continue
            try:
                grid.store.extend(execute_batch(runs, folder, announce))
            except DiprlError as error:
                return dict.fromkeys(batch, f"{runs[0].task}, {len(batch)} runs together: {error}")
    shutil.rmtree(folder, ignore_errors=True)
    return {}


def ray(grid: Grid, announce: Announce, workers: int | None = None, execute: Execute = execute) -> Failures:
    """Tasks on a Ray cluster: the one that RAY_ADDRESS names, or one on this machine.

    This process claims the runs and writes the records. Ray repeats a task whose worker died; it continues from its
    checkpoint wherever the grid's folder is on a file system that the workers share.
    """
    cluster = optional("ray", "the ray executor needs Ray: install it with: pip install 'diprl[cluster]'")
    grid.sweep()
    if not cluster.is_initialized():
        cluster.init(log_to_driver=False)
    remote = cluster.remote(num_cpus=1, max_retries=RETRIES)(execute)
    failures: Failures = {}
    while waiting := [run for run in grid.pending() if run.key not in failures]:
        with ExitStack() as claims:
            held = [run for run in waiting if claims.enter_context(claim(grid.folder, run.slug))]
            failures |= gather(grid, cluster, remote, held, announce)
        if not held:
            time.sleep(PATIENCE)
    return failures


def gather(grid: Grid, cluster: Any, remote: Any, runs: list[RunSpec], announce: Announce) -> Failures:
    """Send off claimed runs and write their records as they come in."""
    failures: Failures = {}
    running = {remote.remote(run, grid.work_folder(run).absolute()): run for run in runs}
    while running:
        (done, *_), _ = cluster.wait(list(running), num_returns=1)
        run = running.pop(done)
        try:
            grid.finish(run, cluster.get(done) | {"command": command()}, announce)
        except cluster.exceptions.RayError as error:
            reason = str(getattr(error, "cause", None) or error)
            failures |= failed(run, reason.splitlines()[0], announce)
    return failures


EXECUTORS: dict[str, Callable[..., Failures]] = {
    "local": local,
    "vmap": vmap,
    "ray": ray,
    "none": lambda grid, announce, workers: {},  # what has no record is shown as missing
}


def find_executor(name: str, workers: int | None = None) -> Executor:
    """An executor by name; `workers` is for those that start processes of their own."""
    check_known("executor", EXECUTORS, name)
    return partial(EXECUTORS[name], workers=workers)


def rescore(grid: Grid, announce: Announce) -> int:
    """Score the grid's programs that only have a score on the twin, and keep that beside it; tells how many.

    What another process scores at the same time is left to it.
    """
    keys, count = {run.key for run in grid.runs}, 0
    for key, record in grid.store.read().items():
        if key not in keys or record["score"]["environment"] != TWIN or not record["program"]:
            continue
        with claim(grid.folder, key.replace("/", "_") + "_score") as held:
            if held:
                program, episodes = Program.from_text(record["program"]), len(record["score"]["returns"])
                score = evaluate_program(cached_task(record["task"]), program, episodes)
                values = {"score": score.to_json(), "twin_score": record["score"]}
                announce(f"rescored {record['method']}, {record['task']}, seed {record['seed']}")
                count += grid.store.amend(key, RESCORED, values)
    return count
