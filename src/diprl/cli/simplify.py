"""`diprl simplify`: the shortest program whose score stays within a tolerance."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import EnvironmentOptions


@dataclass(frozen=True)
class Command:
    """Drop conditions, coefficients and digits that do not matter for the score."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    tolerance: float = 0.01
    """How much of the score may be given up, as a fraction."""
    out: Path | None = None
    """Where to write the result; default: simplified.json next to the program."""
    episodes: int = 1000
    """Fresh episodes on the reference environment that both programs are scored on afterwards."""
    task: str | None = None
    """The environment; default: the one the program was learnt on."""
    json: bool = False
    """End standard output with one JSON object."""
    environment: tyro.conf.OmitArgPrefixes[EnvironmentOptions] = field(default_factory=EnvironmentOptions)

    def run(self) -> int:
        from diprl.arena.reference import evaluate_program
        from diprl.methods.retrain import retrainer
        from diprl.runs.folder import load_program, sibling, task_of
        from diprl.search.simplify import simplify
        from diprl.system.cache import use_compilation_cache
        from diprl.terminal.programs import body
        from diprl.terminal.tables import STAGE_COLUMNS, print_stage

        use_compilation_cache()
        program = load_program(self.program)
        task = task_of(self.program, program, self.task, self.environment.parsed())
        print(f"before\n\n{body(program)}\n\n{STAGE_COLUMNS}", flush=True)
        result = simplify(task, program, self.tolerance, retrain=retrainer(task, program), show=print_stage)
        print(f"\nafter\n\n{body(result.program)}\n")
        before = evaluate_program(task, program, self.episodes)
        after = evaluate_program(task, result.program, self.episodes)
        print(f"before  {before}\nafter   {after}\nused    {result.steps:,} environment steps")
        target = self.out or sibling(self.program, "simplified.json")
        result.program.save(target)
        print(f"written {target}")
        if self.json:
            sizes = {"coefficients": [program.coefficients, result.program.coefficients]}
            scores = {"before": before.summary(), "after": after.summary(), "steps": result.steps}
            print(json.dumps(sizes | scores | {"program": str(result.program)}))
        return 0
