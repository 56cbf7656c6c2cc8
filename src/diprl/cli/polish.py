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
        from diprl.improve.polish import polish
        from diprl.improve.search import Budget
        from diprl.runs import load_program, sibling
        from diprl.saved import task_of
        from diprl.system.cache import use_compilation_cache
        from diprl.train.evaluate import evaluate_program

        use_compilation_cache()
        program = load_program(self.program)
        task = task_of(self.program, program, self.task, self.environment.parsed())
        found = polish(task, program, Budget(self.steps, self.seconds), seed=self.seed)
        before = evaluate_program(task, program, self.episodes)
        after = evaluate_program(task, found.program, self.episodes)
        verdict = "accepted" if found.accepted else "nothing better found, program kept"
        print(f"{verdict}: gain {found.gain:.2f} ± {found.error:.2f} on fresh episodes")
        print(
            f"before  {before}\nafter   {after}\nused    {found.steps:,} environment steps, {found.seconds:.0f} s"
        )
        target = self.out or sibling(self.program, "polished.json")
        found.program.save(target)
        print(f"written {target}")
        if self.json:
            summary = {
                "accepted": found.accepted,
                "gain": found.gain,
                "error": found.error,
                "steps": found.steps,
            }
            scores = {"before": before.to_dict(), "after": after.to_dict(), "seconds": found.seconds}
            print(json.dumps(summary | scores | {"program": str(found.program)}))
        return 0
