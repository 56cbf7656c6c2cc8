"""What is claimed about a closed loop."""

from dataclasses import dataclass

from diprl.program.formula import Comparison
from diprl.verify.exact.linear import Box


@dataclass(frozen=True)
class Claim:
    """From every start in the box: what holds, during which steps, and what is reached."""

    start: Box
    always: tuple[Comparison, ...] = ()
    """What holds from step `since` on, until `steps`, or until the goal where there is one."""
    since: int = 0
    steps: int | None = None
    """The last step that is examined; None is forever."""
    goal: tuple[Comparison, ...] = ()
    """What is reached by then, where something is to be reached."""

    def text(self) -> str:
        wanted = " and ".join(one.text for one in self.always)
        if self.goal:
            reached = " and ".join(one.text for one in self.goal)
            return f"{reached} within {self.steps} steps{f', and {wanted} until then' if wanted else ''}"
        if self.since:
            end = f"to step {self.steps}" if self.steps is not None else "on, forever"
            return f"{wanted} from step {self.since} {end}"
        return f"{wanted} {f'at each of the first {self.steps} steps' if self.steps is not None else 'forever'}"
