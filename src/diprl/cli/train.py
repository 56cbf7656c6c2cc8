"""`diprl train`: one command from an environment's name to a printed, scored program."""

import sys
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from diprl.cli.options import (
    Count,
    EnvironmentOptions,
    JSONOption,
    MaybeCount,
    MaybeNumber,
    MaybePath,
    MaybeText,
    one_of,
    optional_fields,
    shown,
)
from diprl.errors import DiprlError
from diprl.experiment.request import parse_seeds
from diprl.system.processes import Interruption, available_cores
from diprl.terminal.layout import say
from diprl.terminal.progress import Display
from diprl.train.settings import PPOSettings, ProgramSettings

if TYPE_CHECKING:
    from diprl.runs.result import Result
    from diprl.runs.session import Session

    PPOOptions = PPOSettings
    ProgramOptions = ProgramSettings
else:
    PPOOptions = optional_fields(PPOSettings)
    ProgramOptions = optional_fields(ProgramSettings)


@dataclass(frozen=True, kw_only=True)
class Train(EnvironmentOptions, JSONOption):
    """Learn a program for an environment, print it, and score it on the reference environment."""

    task: Annotated[str, tyro.conf.Positional, shown("TASK")] = ""
    """A task (see `diprl tasks`), a Gymnasium id, FILE.py:Class, module:Id, or a task file (see `diprl task`)."""
    method: Annotated[str, one_of("diprl", "ppo", "pi-prl", "dtsemnet", "viper")] = "diprl"
    """The method to train with; ppo learns a network, the others a program."""
    preset: Annotated[str, one_of("default", "paper", "release")] = "default"
    """Settings as tuned here, or as published."""
    seed: Count = 0
    """Seed of a single run."""
    seeds: MaybeText = None
    """Several runs, such as 123,321,456 or 0:10; they end with the mean over seeds and its interval."""
    out: MaybePath = None
    """Folder of the run, or the parent of several; default runs/TASK/METHOD-seed."""
    resume: MaybePath = None
    """Continue the run in this folder."""
    episodes: MaybeCount = None
    """Episodes that the final score is measured on; default: 100."""
    backend: Annotated[str | None, one_of("auto", "sync", "async", "envpool")] = None
    """How environments without a compiled twin are stepped."""
    env_timeout: MaybeNumber = None
    """Seconds that an environment may take for a step before the run is given up; default: no limit."""
    device: Annotated[str, one_of("auto", "cpu", "gpu", "gpu-only")] = "auto"
    """Where to train; gpu falls back to the CPU with a warning, gpu-only fails where there is none."""
    raw: bool = False
    """Keep the program as extraction reads it off; otherwise a part of the budget makes it shorter and better."""
    tensorboard: bool = False
    """Also write TensorBoard logs into the run folder."""
    ppo: tyro.conf.OmitArgPrefixes[PPOOptions] = field(default_factory=PPOOptions)
    """Settings of PPO; those not given are the preset's for the task. Fractions are of the whole run."""
    program: tyro.conf.OmitArgPrefixes[ProgramOptions] = field(default_factory=ProgramOptions)
    """Settings of the relaxed program, likewise."""

    def run(self) -> None:
        with Display() as display:
            from diprl.methods.registry import run_all
            from diprl.system.device import use_compilation_cache, use_device

            use_compilation_cache()
            use_device(self.device)
            interruption = Interruption()
            sessions = [self.resumed_session(self.resume)] if self.resume else self.fresh_sessions()
            watched = {"observers": (display, interruption), "interrupt": interruption}
            sessions = [replace(session, **watched) for session in sessions]
            workers = min(len(sessions), available_cores()) if sessions[0].task.twin else 1
            display.show(f"{sessions[0].task.name}: compiling …")
            with interruption.listening(self.resume_commands(sessions)):
                results = run_all(sessions, workers)
        self.print_results(sessions, results)

    def print_results(self, sessions: list["Session"], results: list["Result"]) -> None:
        """Every run, and the mean over several seeds."""
        from diprl.arena.score import score_of
        from diprl.terminal.printing import print_result, print_seeds

        for session, result in zip(sessions, results, strict=True):
            if result.trained is None:
                say(f"{session.folder} is already finished:")
            print_result(result, session.folder)
        seeds = score_of([result.score.mean for result in results])
        if len(results) > 1:
            print_seeds(seeds)
        spec, runs = sessions[0].spec, [summary(*pair) for pair in zip(sessions, results, strict=True)]
        over_seeds = {"mean": seeds.mean, "ci95": seeds.summary()["ci95"], "seeds": len(runs)}
        self.print_json(task=spec.task, method=spec.method, preset=spec.preset, over_seeds=over_seeds, runs=runs)

    def limits(self) -> dict[str, Any]:
        """Options that a resumed run may have otherwise than it began."""
        return {"env_timeout": self.env_timeout, "tensorboard": self.tensorboard}

    def given_settings(self) -> dict[str, Any]:
        options = asdict(self.ppo) | asdict(self.program)
        given = {name: value for name, value in options.items() if value is not None}
        return {"polish_share": 0.0} | given if self.raw else given

    def fresh_sessions(self) -> list["Session"]:
        """One session per seed, everything checked before anything is written."""
        from diprl.methods.presets import settings_for
        from diprl.methods.registry import find_method
        from diprl.runs.session import Session
        from diprl.runs.spec import RunSpec
        from diprl.tasks.batches.guard import load_limited
        from diprl.tasks.registry import load_task

        if not self.task:
            raise DiprlError("which task? For example: diprl train CartPole-v1 (see diprl tasks)")
        seeds = parse_seeds(self.seeds) if self.seeds else [self.seed]
        env_kwargs = self.parsed_env_kwargs()
        find_method(self.method)
        task = load_limited(partial(load_task, self.task, env_kwargs=env_kwargs), self.env_timeout)
        if task.note:
            print(f"diprl: {task.note}", file=sys.stderr)
        spec = RunSpec(
            task=task.name,
            method=self.method,
            settings=settings_for(self.method, self.preset, task, **self.given_settings()),
            episodes=100 if self.episodes is None else self.episodes,
            preset=self.preset,
            env_kwargs=env_kwargs,
            origin=task.origin,
        )
        session = Session(spec, task, backend=self.backend or "auto", **self.limits())
        own = ((replace(spec, seed=seed), self.folder_for(task.name, seed, len(seeds))) for seed in seeds)
        return [replace(session, spec=spec, folder=folder) for spec, folder in own]

    def folder_for(self, task: str, seed: int, count: int) -> Path:
        from diprl.runs.folder import free_folder

        if self.out is None:
            return free_folder(Path("runs") / task.replace("/", "_"), f"{self.method}-{self.preset}-seed{seed}")
        return self.out if count == 1 else self.out / f"seed{seed}"

    def resume_commands(self, sessions: list["Session"]) -> list[str]:
        """The commands that go on with these runs; a module that brings its environment is named again."""
        from diprl.runs.folder import resume_command

        task = f" {self.task}" if ":" in self.task else ""
        return [f"{resume_command(session.folder)}{task}" for session in sessions if session.folder]

    def resumed_session(self, folder: Path) -> "Session":
        """The session that a run folder describes; its spec is not to be changed half-way."""
        from diprl.runs.session import resume_session

        changed = list(self.given_settings()) + ["episodes"] * (self.episodes is not None)
        if changed:
            raise DiprlError(f"--resume goes on with the run as it was begun: leave out {', '.join(changed)}")
        return resume_session(folder, self.task or None, backend=self.backend, **self.limits())


def summary(session: "Session", result: Any) -> dict[str, Any]:
    """What `--json` says of a run: its result and its folder, without the learning curve."""
    content = {name: value for name, value in result.to_json().items() if name != "curve"}
    return content | {"folder": str(session.folder)}
