"""`diprl show`: the program as it runs."""

from dataclasses import dataclass

from diprl.cli.options import JSONOption, ProgramCommand


@dataclass(frozen=True, kw_only=True)
class Command(ProgramCommand, JSONOption):
    """Print a saved program, exactly as it runs."""

    def run(self) -> None:
        program = self.load_program()
        print(program.to_json() if self.json else program)
