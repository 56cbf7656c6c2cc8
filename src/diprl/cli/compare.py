"""`diprl compare`: several runs and programs on the same episodes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import Count, EnvironmentOptions, JSONOption, check_at_least, shown
from diprl.errors import DiprlError
from diprl.terminal.layout import say
from diprl.terminal.progress import Working


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
        check_at_least(self, episodes=2)
        if len(self.programs) < 2:
            raise DiprlError("compare needs two programs or runs, such as: diprl compare runs/a runs/b")
        with Working("opening") as working:
            from diprl.methods.registry import open_saved
            from diprl.runs.folder import sizes
            from diprl.search.compare import Contest
            from diprl.terminal.printing import print_compared

            opened = [open_saved(path, self.task, self.parsed_env_kwargs()) for path in self.programs]
            task = opened[0].task
            for path, other in zip(self.programs, opened, strict=True):
                if other.task.signature.feature_names != task.signature.feature_names:
                    raise DiprlError(f"{path} is for {other.task.name} and {self.programs[0]} for {task.name}")
            working.show(f"playing {self.episodes:,} episodes each")
            contest = Contest(task, opened[0].act, self.episodes)
            rows = [{"path": str(self.programs[0]), "score": contest.score.summary(), "gain": None, "alike": None}]
            for path, other in working.each(list(zip(self.programs, opened, strict=True))[1:]):
                score, gain, alike = contest.enter(other.act)
                rows.append({"path": str(path), "score": score.summary(), "gain": gain.summary(), "alike": alike})
        rows = [row | sizes(each.program) for row, each in zip(rows, opened, strict=True)]
        self.print_json(task=task.name, episodes=self.episodes, programs=rows)
        say(f"{task.name}, {self.episodes:,} episodes, the same for all\n")
        print_compared(rows)
        say("\ndifference: of the score, from 1; alike: share of states where the action is that of 1")
