"""`diprl show`: a saved program."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from diprl.cli.options import MaybeCount, ProgramCommand, check_at_least
from diprl.errors import DiprlError
from diprl.terminal.layout import say

if TYPE_CHECKING:
    from diprl.program import Program


@dataclass(frozen=True, kw_only=True)
class Show(ProgramCommand):
    """Print a saved program, exactly as it runs unless --digits rounds it."""

    size: MaybeCount = None
    """Of a run: the best program with at most so many numbers, instead of the one it hands over."""
    digits: MaybeCount = None
    """Round numbers for the eye to so many significant digits."""

    def run(self) -> None:
        program = self.load_program() if self.size is None else self.of_size(self.size)
        if self.digits is not None:
            check_at_least(self, digits=1)
            program = program.rounded(self.digits)
        self.print_json(**json.loads(program.to_json())) if self.json else say(program)

    def of_size(self, size: int) -> "Program":
        from diprl.runs.folder import read_result

        result = read_result(self.program) if self.program.is_dir() else None
        if result is None or result.front is None:
            raise DiprlError(f"{self.program} is no finished run with programs of several sizes: leave out --size")
        return result.front.pick(numbers=size).program
