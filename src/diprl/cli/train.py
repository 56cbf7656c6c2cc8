"""`diprl train`: one command from an environment's name to a printed, scored program."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from diprl.cli.interruption import Interruption
from diprl.cli.options import EnvironmentOptions, parse_seeds
from diprl.cli.settings import optional_fields
from diprl.errors import DiprlError
from diprl.system.cores import available_cores
from diprl.train.config import Config

if TYPE_CHECKING:
    Settings = Config
else:
    Settings = optional_fields(Config)


@dataclass(frozen=True)
class Command:
    """Learn a program for an environment, print it, and score it on the reference environment."""

    task: Annotated[str, tyro.conf.Positional] = ""
    """A task (see `diprl tasks`), a Gymnasium id, or module:Id."""
    method: str = "diprl"
    """The method to train with."""
    preset: str = "default"
    """`default` (tuned here) or `paper` (as published)."""
    seed: int = 0
    """Seed of a single run."""
    seeds: str | None = None
    """Several runs: 123,321,456 or 0:10."""
    out: Path | None = None
    """Folder of the run, or the parent of several; default runs/TASK/METHOD-seed."""
    resume: Path | None = None
    """Continue the run in this folder."""
    episodes: int | None = None
    """Episodes that the final score is measured on; default: 100, or what the run was begun with."""
    backend: str | None = None
    """Where environments without a compiled twin are stepped: auto (default), sync, async or envpool."""
    env_timeout: float | None = None
    """Seconds that an environment may take for a step before the run is given up; default: no limit."""
    device: str = "auto"
    """auto, cpu, gpu (falls back to the CPU with a warning) or gpu-only (fails where there is none)."""
    polish: bool = True
    """Whether the preset's share of the budget goes to a search over the discrete program."""
    tensorboard: bool = False
    """Also write TensorBoard logs into the run folder."""
    json: bool = False
    """End standard output with one JSON object."""
    environment: tyro.conf.OmitArgPrefixes[EnvironmentOptions] = field(default_factory=EnvironmentOptions)
    settings: tyro.conf.OmitArgPrefixes[Settings] = field(default_factory=Settings)
    """Settings; those not given are the preset's for the task. Fractions are of the whole run."""

    def run(self) -> int:
        from diprl.display import Display, print_finished
        from diprl.runner import run_seeds
        from diprl.system.cache import use_compilation_cache
        from diprl.system.device import use_device

        use_compilation_cache()
        use_device(self.device)
        display, interruption = Display(), Interruption()
        observers = (display, interruption)
        plans = resumed_plans(self, observers) if self.resume else fresh_plans(self, observers)
        plans = [replace(plan, heed=interruption.heed) for plan in plans]
        workers = min(len(plans), available_cores()) if plans[0].task.twin else 1
        with interruption.on(ways_on(self, plans)), display:
            finished = run_seeds(plans, workers, lambda _: None)
        for one in finished:
            print_finished(one)
        if self.json:
            first = plans[0]
            summary = {"task": first.task.name, "method": first.method, "preset": first.preset}
            print(json.dumps(summary | {"runs": [one.record() for one in finished]}))
        return 0


def given_settings(command: Command) -> dict[str, Any]:
    given = {name: value for name, value in asdict(command.settings).items() if value is not None}
    return given if command.polish else {"polish_share": 0.0} | given


def fresh_plans(command: Command, observers: tuple[Any, ...]) -> list[Any]:
    """One plan per seed, everything checked before anything is written."""
    from diprl.methods.registry import find_method, settings_for
    from diprl.runner import Plan
    from diprl.tasks.registry import load_task

    if not command.task:
        raise DiprlError("which task? For example: diprl train CartPole-v1 (see diprl tasks)")
    seeds = parse_seeds(command.seeds) if command.seeds else [command.seed]
    env_kwargs = command.environment.parsed()
    find_method(command.method)
    task = limited(load_task(command.task, env_kwargs=env_kwargs), command.env_timeout)
    config = settings_for(command.method, command.preset, task).with_values(**given_settings(command))
    return [
        Plan(
            task=task,
            method=command.method,
            preset=command.preset,
            config=config,
            seed=seed,
            folder=folder_for(command, task.name, seed, len(seeds)),
            observers=observers,
            backend=command.backend or "auto",
            episodes=100 if command.episodes is None else command.episodes,
            env_timeout=command.env_timeout,
            tensorboard=command.tensorboard,
            env_kwargs=env_kwargs,
        )
        for seed in seeds
    ]


def folder_for(command: Command, task: str, seed: int, count: int) -> Path:
    from diprl.runs import free_folder

    if command.out is None:
        return free_folder(
            Path("runs") / task.replace("/", "_"), f"{command.method}-{command.preset}-seed{seed}"
        )
    return command.out if count == 1 else command.out / f"seed{seed}"


def limited(task: Any, seconds: Any) -> Any:
    """The task with environments that are given up after so many seconds, if any are named."""
    from diprl.tasks.batches.guard import guarded

    if seconds is None:
        return task
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        raise DiprlError(f"env_timeout must be a positive number of seconds, not {seconds!r:.40}")
    return guarded(task, seconds)


def ways_on(command: Command, plans: list[Any]) -> list[str]:
    """The commands that go on with these runs; a module that brings its environment is named again."""
    task = f"{command.task} " if ":" in command.task else ""
    return [f"diprl train {task}--resume {plan.folder}" for plan in plans]


def resumed_plans(command: Command, observers: tuple[Any, ...]) -> list[Any]:
    """The plan that a run folder describes, which is not to be changed half-way."""
    from diprl import runs

    folder = command.resume
    if folder is None or not (folder / runs.CONFIG).exists():
        raise DiprlError(f"{folder} holds no run to continue")
    if changed := list(given_settings(command)):
        raise DiprlError(f"--resume goes on with the run as it was begun: leave out {', '.join(changed)}")
    header = runs.read_json(folder / runs.CONFIG)
    try:
        return [plan_of(header, folder, command, observers)]
    except (KeyError, TypeError) as error:
        raise DiprlError(f"{folder / runs.CONFIG}: not the config of a run ({error})") from error
    except DiprlError as error:
        raise DiprlError(f"{folder / runs.CONFIG}: {error}") from error


def plan_of(header: dict[str, Any], folder: Path, command: Command, observers: tuple[Any, ...]) -> Any:
    """The plan in a run's config; what does not change the training may be asked for anew."""
    from diprl.methods.registry import find_method
    from diprl.runner import Plan
    from diprl.tasks.registry import load_task, refuse_module

    if not isinstance(header["env_kwargs"], dict):
        raise DiprlError("env_kwargs must be an object")
    find_method(header["method"])
    task = load_task(command.task or refuse_module(header["task"]), env_kwargs=header["env_kwargs"])
    if task.name != header["task"]:
        raise DiprlError(f"the run is one of {header['task']!s:.80}, so leave out {command.task}")
    timeout = header.get("env_timeout") if command.env_timeout is None else command.env_timeout
    return Plan(
        task=limited(task, timeout),
        method=header["method"],
        preset=header["preset"],
        config=Config().with_values(**header["settings"]),
        seed=header["seed"],
        folder=folder,
        observers=observers,
        backend=command.backend or header.get("backend", "auto"),
        episodes=header.get("episodes", 100) if command.episodes is None else command.episodes,
        tensorboard=command.tensorboard,
        env_timeout=timeout,
        resume=True,
        env_kwargs=header["env_kwargs"],
    )
