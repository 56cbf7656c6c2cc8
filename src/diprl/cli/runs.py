"""`diprl runs`: what lies in a folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import JSONOption, shown
from diprl.errors import DiprlError
from diprl.terminal.layout import say
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Runs(JSONOption):
    """List the runs in a folder: task, method, seed, score, size and state."""

    folder: Annotated[Path, tyro.conf.Positional, shown("FOLDER", "(default: runs)")] = Path("runs")
    """Where to look, and in the folders below."""

    def run(self) -> None:
        if not self.folder.is_dir():
            raise DiprlError(f"there is no folder {self.folder}: diprl train writes to runs/, or to --out")
        with Working("reading runs") as working:
            from diprl.runs.folder import look_at, run_folders
            from diprl.terminal.printing import print_runs

            found = [look_at(folder) for folder in working.each(list(run_folders(self.folder)))]
        self.print_json(runs=found)
        print_runs(found) if found else say(f"no run lies in {self.folder}")
