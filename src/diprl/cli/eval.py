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
        from diprl.arena.episodes import EVALUATION
        from diprl.arena.reference import evaluate_program
        from diprl.runs.folder import load_program, task_of

        program = load_program(self.program)
        task = task_of(self.program, program, self.task, self.environment.parsed())
        score = evaluate_program(task, program, self.episodes, EVALUATION.seed if self.seed is None else self.seed)
        print(f"{task.name}: {score}")
        if self.json:
            print(json.dumps({"task": task.name, "score": score.summary()}))
        return 0
