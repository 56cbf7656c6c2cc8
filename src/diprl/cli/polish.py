"""`diprl polish`: better numbers for a program, judged by its true return."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import EnvironmentOptions


@dataclass(frozen=True)
class Command:
    """Search over a program's numbers on its true return; the result is never worse than the program."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    seconds: float = 60.0
    """Wall time to search for."""
    steps: float = float("inf")
    """Environment steps to search for, if that comes first."""
    seed: int = 0
    """Seed of the search."""
    out: Path | None = None
    """Where to write the result; default: polished.json next to the program."""
    episodes: int = 100
    """Episodes on the reference environment that both programs are scored on afterwards."""
    task: str | None = None
    """The environment; default: the one the program was learnt on."""
    json: bool = False
    """End standard output with one JSON object."""
    environment: tyro.conf.OmitArgPrefixes[EnvironmentOptions] = field(default_factory=EnvironmentOptions)

    def run(self) -> int:
        from diprl.arena.reference import evaluate_program
        from diprl.runs.folder import load_program, sibling, task_of
        from diprl.search.polish import polish
        from diprl.system.cache import use_compilation_cache

        use_compilation_cache()
        program = load_program(self.program)
        task = task_of(self.program, program, self.task, self.environment.parsed())
        found = polish(task, program, self.steps, seconds=self.seconds, seed=self.seed)
        before = evaluate_program(task, program, self.episodes)
        after = evaluate_program(task, found.program, self.episodes)
        verdict = "accepted" if found.trial.accepted else "nothing better found, program kept"
        print(f"{verdict}: gain {found.trial.gain:.2f} ± {found.trial.error:.2f} on fresh episodes")
        print(
            f"before  {before}\nafter   {after}\nused    {found.trial.steps:,} environment steps, {found.seconds:.0f} s"
        )
        target = self.out or sibling(self.program, "polished.json")
        found.program.save(target)
        print(f"written {target}")
        if self.json:
            scores = {"before": before.summary(), "after": after.summary(), "seconds": found.seconds}
            print(json.dumps(found.trial._asdict() | scores | {"program": str(found.program)}))
        return 0
