"""`diprl show`: a saved program, exactly as it runs."""

import json
from dataclasses import dataclass

from diprl.cli.options import ProgramCommand
from diprl.terminal.layout import say


@dataclass(frozen=True, kw_only=True)
class Show(ProgramCommand):
    """Print a saved program, exactly as it runs."""

    def run(self) -> None:

        program = self.load_program()
        self.print_json(**json.loads(program.to_json())) if self.json else say(program)
