"""`diprl compare`: several runs and programs on the same episodes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from diprl.cli.options import Count, EnvironmentOptions, JSONOption, check_at_least, shown
from diprl.errors import DiprlError

if TYPE_CHECKING:
    from diprl.arena.score import Score
    from diprl.program import Program


@dataclass(frozen=True, kw_only=True)
class Compare(EnvironmentOptions, JSONOption):
    """Compare runs and programs with the first of them: scores on the same episodes, sizes, agreement of actions."""

    programs: Annotated[tuple[Path, ...], tyro.conf.Positional, shown("PROGRAM …")]
    """Run folders or program files, two or more; runs that learnt a network take part too."""
    task: Annotated[str | None, shown("TASK")] = None
    """The environment; default: the one the first was learnt on."""
    episodes: Count = 100
    """Episodes that each of them plays."""

    def run(self) -> None:
        from diprl.terminal.layout import say
        from diprl.terminal.progress import Working
        from diprl.terminal.runs import print_compared

        check_at_least(self, episodes=2)
        if len(self.programs) < 2:
            raise DiprlError("compare needs two programs or runs, such as: diprl compare runs/a runs/b")
        with Working("opening") as working:
            from diprl.methods.saved import open_saved
            from diprl.search.compare import Contest

            opened = [open_saved(path, self.task, self.parsed_env_kwargs()) for path in self.programs]
            task = opened[0].task
            for path, other in zip(self.programs, opened, strict=True):
                if other.task.signature.feature_names != task.signature.feature_names:
                    raise DiprlError(f"{path} is for {other.task.name} and {self.programs[0]} for {task.name}")
            working.show(f"playing {self.episodes:,} episodes each", 0.0)
            contest = Contest(task, opened[0].act, self.episodes)
            rows = [row_of(self.programs[0], opened[0].program, contest.score)]
            for number, (path, other) in enumerate(zip(self.programs[1:], opened[1:], strict=True), 1):
                working.show(fraction=number / len(opened))
                rows.append(row_of(path, other.program, *contest.enter(other.act)))
        self.print_json(task=task.name, episodes=self.episodes, programs=rows)
        if not self.json:
            say(f"{task.name}, {self.episodes:,} episodes, the same for all\n")
            print_compared(rows)
            say("\ndifference: of the score, from 1; alike: share of states where the action is that of 1")


def row_of(
    path: Path, program: "Program | None", score: "Score", gain: "Score | None" = None, alike: float | None = None
) -> dict[str, Any]:
    """What is known of one of them; the first has nothing to be compared with."""
    return {
        "path": str(path),
        "score": score.summary(),
        "gain": gain.summary() if gain else None,
        "alike": alike,
        "conditions": program.conditions if program else None,
        "numbers": program.coefficients if program else None,
    }
