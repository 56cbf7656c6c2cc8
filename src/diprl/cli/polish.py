"""`diprl polish`: better numbers for a saved program."""

from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

from diprl.cli.change import ChangeCommand
from diprl.cli.options import Count, Number, check_at_least
from diprl.terminal.layout import say, say_labelled
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Polish(ChangeCommand):
    """Search over a program's numbers on its true return; the result is never worse than the program.

    Ctrl-C ends the search; what it has found by then is compared and written.
    """

    file: ClassVar[str] = "polished.json"
    seconds: Number = 60.0
    """Wall time to search for."""
    steps: Number = float("inf")
    """Environment steps to search for, if that comes first."""
    seed: Count = 0
    """Seed of the search."""

    def run(self) -> None:
        from diprl.system.processes import Interruption

        interruption = Interruption()
        with interruption.listening(then="comparing what was found"), Working("compiling …") as working:
            check_at_least(self, seconds=0.1)
            target = self.target()
            from diprl.search.polish import polish
            from diprl.system.device import use_compilation_cache

            use_compilation_cache()
            program, task = self.load()
            began = monotonic()

            def enough() -> bool:
                passed = (monotonic() - began) / self.seconds
                searching = passed < 1 and not interruption.asked
                doing = "searching for better numbers" if searching else "comparing with the program as it was"
                working.show(doing, passed)
                return interruption.asked

            found = polish(task, program, self.steps, seconds=self.seconds, seed=self.seed, enough=enough)
        found.program.save(target)
        trial = found.trial
        verdict = "accepted" if trial.accepted else "nothing better found, program kept"
        say(f"{verdict}: gain {trial.gain:.2f} ± {trial.error:.2f} on fresh episodes")
        scores = self.scores(task, program, found.program)
        say_labelled("used", f"{trial.steps:,} environment steps, {found.seconds:.0f} s")
        say_labelled("written", target)
        self.print_json(**trial._asdict(), **scores, seconds=found.seconds, program=str(found.program), written=target)
