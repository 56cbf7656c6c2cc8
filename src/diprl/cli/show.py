"""`diprl show`: a saved program."""

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from diprl.cli.options import MaybeCount, ProgramCommand, check_at_least
from diprl.errors import DiprlError
from diprl.terminal.layout import say

if TYPE_CHECKING:
    from diprl.program import Program


@dataclass(frozen=True, kw_only=True)
class Show(ProgramCommand):
    """Print a saved program: with few digits in a terminal, exactly as it runs with --exact and elsewhere."""

    size: MaybeCount = None
    """Of a run: the best program with at most so many numbers, instead of the one it hands over."""
    digits: MaybeCount = None
    """Round numbers to so many significant digits."""
    exact: bool = False
    """Print numbers as they are; the default where the output is no terminal."""

    def run(self) -> None:
        program = self.load_program() if self.size is None else self.of_size(self.size)
        digits = self.digits_to_show()
        shown = program.rounded(digits) if digits else program
        if self.json:
            return self.print_json(**json.loads(shown.to_json()))
        say(shown)
        if self.digits is None and shown != program:
            say(f"numbers are rounded to {digits} digits: --exact prints them as they are")
        return None

    def digits_to_show(self) -> int | None:
        """None for all of them."""
        if self.digits is not None:
            if self.exact:
                raise DiprlError("--digits and --exact exclude each other")
            check_at_least(self, digits=1)
            return self.digits
        from diprl.terminal.printing import SHOWN_DIGITS

        return SHOWN_DIGITS if sys.stdout.isatty() and not (self.exact or self.json) else None

    def of_size(self, size: int) -> "Program":
        from diprl.runs.folder import read_result

        result = read_result(self.program) if self.program.is_dir() else None
        if result is None or result.front is None:
            raise DiprlError(f"{self.program} is no finished run with programs of several sizes: leave out --size")
        return result.front.pick(numbers=size).program
