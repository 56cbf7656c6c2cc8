"""Batches of environments for tasks without a compiled twin, on whatever steps them fastest here."""

from time import perf_counter

from diprl.errors import DiprlError, check_known
from diprl.system.processes import available_cores
from diprl.tasks.base import BACKENDS, Environments, Task
from diprl.tasks.batches.envpool import EnvPoolEnvironments, envpool_serves
from diprl.tasks.batches.sync import SyncEnvironments, random_views
from diprl.tasks.batches.workers import WorkerEnvironments
from diprl.tasks.mujoco.gymnasium_batch import GymnasiumEnvironments, rule_of

WORTH_SHARING = 3e-4
"""Seconds per batch of steps above which worker processes gain more than their messages cost."""
LAPS, CLEARLY = 3, 0.9
"""Worker processes win if most laps take them clearly less: on a busy machine a single lap says little."""


def make_environments(task: Task, num_envs: int, backend: str = "auto", timeout: float | None = None) -> Environments:
    """A batch of `num_envs` environments of a task.

    All backends but EnvPool give the same episodes for the same seed. `timeout`, in seconds per step, guards
    against environments that hang; it needs worker processes.
    """
    if num_envs < 1:
        raise DiprlError(f"num_envs is {num_envs}, but at least one environment is needed")
    check_known("backend", BACKENDS, backend)
    fastest = backend == "auto"
    if fastest and task.environments is not None:
        return task.environments(num_envs)
    if fastest and timeout is None and (rule := rule_of(task)):
        return GymnasiumEnvironments(task, rule, num_envs)
    if backend == "envpool" or (fastest and envpool_serves(task)):
        return EnvPoolEnvironments(task, num_envs)
    if backend == "async" or timeout is not None:
        return WorkerEnvironments(task, num_envs, timeout=timeout)
    return _faster_of_two(task, num_envs) if fastest else SyncEnvironments(task, num_envs)


def _faster_of_two(task: Task, num_envs: int) -> Environments:
    """This process or worker processes, by a short race; both give the same episodes."""
    alone = SyncEnvironments(task, num_envs)
    if min(available_cores(), num_envs) == 1 or _batch_seconds(alone, task) < WORTH_SHARING:
        return alone
    try:
        shared = WorkerEnvironments(task, num_envs)
    except DiprlError:
        return alone
    laps = [(_batch_seconds(shared, task), _batch_seconds(alone, task)) for _ in range(LAPS)]
    ahead = sum(ours < CLEARLY * theirs for ours, theirs in laps)
    winner, loser = (shared, alone) if ahead > LAPS / 2 else (alone, shared)
    loser.close()
    return winner


def _batch_seconds(environments: Environments, task: Task, batches: int = 20) -> float:
    """How long a batch takes for one step of random actions, after one to warm up."""
    random_views(environments, task.signature.actions, 1)
    start = perf_counter()
    random_views(environments, task.signature.actions, batches)
    return (perf_counter() - start) / batches
