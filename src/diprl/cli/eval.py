"""`diprl eval`: score a program again, on as many episodes as wanted."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import EnvironmentOptions


@dataclass(frozen=True)
class Command:
    """Score a saved program on its environment."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    task: str | None = None
    """The environment to score on; default: the one the program was learnt on."""
    episodes: int = 100
    """How many episodes."""
    seed: int | None = None
    """Seed of the first episode; default: the evaluation seeds."""
    json: bool = False
    """End standard output with one JSON object."""
    environment: tyro.conf.OmitArgPrefixes[EnvironmentOptions] = field(default_factory=EnvironmentOptions)

    def run(self) -> int:
        from diprl.errors import DiprlError
        from diprl.runs import load_program
        from diprl.tasks.registry import harmless, load_task
        from diprl.train.evaluate import EVALUATION_SEED, evaluate_program

        program = load_program(self.program)
        name = self.task or program.task
        if not name:
            raise DiprlError(f"{self.program} does not say which environment it is for: give --task")
        task = load_task(self.task or harmless(name), env_kwargs=self.environment.parsed())
        score = evaluate_program(
            task, program, self.episodes, EVALUATION_SEED if self.seed is None else self.seed
        )
        print(f"{task.name}: {score}")
        if self.json:
            print(json.dumps({"task": task.name, "score": score.to_dict()}))
        return 0
