"""`diprl studio`: the page about a run, served on this machine, with Python behind its buttons."""

import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import JSONOption
from diprl.terminal.layout import say


@dataclass(frozen=True, kw_only=True)
class Studio(JSONOption):
    """Edit, score, polish, simplify, train on and prove programs in the browser; nothing is written unless asked.

    The studio answers on 127.0.0.1 only, at the address that it prints, until Ctrl-C.
    """

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional] = (Path("."),)
    """Run folders or program files, to see side by side."""
    task: str | None = None
    """The environment; default: the one each program was learnt on."""
    spec: Path | None = None
    """A file of properties in YAML to prove; default: that every branch can be reached."""
    port: int = 0
    """The port; default: any that is free."""
    browser: bool = True
    """Open a browser."""

    def run(self) -> None:
        from diprl.report.episode import prepare_rendering
        from diprl.report.studio import open_studio
        from diprl.system.device import use_compilation_cache

        prepare_rendering()
        use_compilation_cache()
        with open_studio(self.runs, self.task, self.spec, self.port) as studio:
            say(f"studio at {studio.address}\nCtrl-C ends it")
            self.print_json(address=studio.address)
            if self.browser:
                webbrowser.open(studio.address)
            studio.serve_forever()
