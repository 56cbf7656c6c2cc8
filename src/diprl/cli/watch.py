"""`diprl watch`: see a program at work, in a window or as a film."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import EnvironmentOptions
from diprl.errors import DiprlError


@dataclass(frozen=True)
class Command:
    """Watch a saved program in a window, or record it without a screen."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    task: str | None = None
    """The environment to watch it in; default: the one the program was learnt on."""
    episodes: int = 1
    """How many episodes."""
    seed: int = 0
    """Seed of the first episode."""
    record: Path | None = None
    """Write a film, FILE.gif or FILE.mp4, instead of opening a window."""
    fps: float = 25.0
    """At most so many pictures per second of the environment's time."""
    width: int = 480
    """At most so many pixels across."""
    environment: tyro.conf.OmitArgPrefixes[EnvironmentOptions] = field(default_factory=EnvironmentOptions)

    def run(self) -> int:
        from diprl.report.episode import prepare_rendering
        from diprl.report.watch import record, show
        from diprl.runs.folder import load_program, task_of

        self.check()
        prepare_rendering()
        program = load_program(self.program)
        task = task_of(self.program, program, self.task, self.environment.parsed())
        seeds = range(self.seed, self.seed + self.episodes)
        if self.record is None:
            returns = show(task, program, seeds)
        else:
            returns = record(task, program, self.record, seeds=seeds, fps=self.fps, width=self.width)
        for seed, earned in zip(seeds, returns, strict=True):
            print(f"seed {seed}: return {earned:.2f}")
        if self.record is not None:
            print(f"wrote {self.record} ({self.record.stat().st_size / 1e6:.1f} MB)")
        return 0

    def check(self) -> None:
        for name, least in (("episodes", 1), ("fps", 1), ("width", 32), ("seed", 0)):
            if getattr(self, name) < least:
                raise DiprlError(f"--{name} must be at least {least}, not {getattr(self, name)}")
