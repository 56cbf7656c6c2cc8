"""Does the closed loop of a program and its task's dynamics stay where it should?"""

from dataclasses import dataclass, replace

from diprl.verify.closed_loop.attempt import Attempt, best_attempt
from diprl.verify.closed_loop.models import MODELS
from diprl.verify.closed_loop.simulate import simulate, trajectory
from diprl.verify.context import Context
from diprl.verify.exact.linear import Box, Constraint, State, all_text, bounds_of
from diprl.verify.report import Answer, Witness, named_text
from diprl.verify.spec.asked import Asked, read_count

_COVERED = "covered too: observations rounded to float32, float64 rounding of conditions and dynamics"


@dataclass(frozen=True)
class Safe:
    """From every start in the box, the closed loop satisfies the conditions at each of so many steps."""

    name: str
    box: Box
    steps: int
    always: tuple[Constraint, ...]

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Safe":
        if "within" in asked.entries:
            raise asked.error("'safe' has 'start:' instead of 'within:'")
        asked.box = bounds_of(asked.program.signature)
        start = asked.take("start", asked.inner_box)
        if not start.finite:
            raise asked.error("'start:' must give an interval for every feature")
        return cls(name, start, asked.take("steps", read_count), asked.take("always", asked.conditions))

    def check(self, context: Context) -> Answer:
        if context.model is None:
            known = " and ".join(f"{name} ({', '.join(one.coordinates)})" for name, one in MODELS.items())
            sentence = "closed loops need dynamics, which are given for programs that read the plain state of"
            return Answer("unknown", f"{sentence} {known}: is 'task:' set?")
        violation, simulated, ranges = simulate(context, self.box, self.always, self.steps)
        if violation is not None:
            return self._replayed(context, violation)
        attempt = best_attempt(context, self.box, self.always, self.steps, ranges)
        tried = f"no violation among thousands of simulated starts in {simulated} steps"
        assumptions = (
            f"starts: {self.box.text(context.names)}",
            f"the dynamics of {context.model.environment}, with its features in the order "
            f"{', '.join(context.model.coordinates)}; steps after an episode's end do not count",
            "sin and cos of the C library are right to 15 digits",
        )
        return replace(self._judged(context, attempt, tried), assumptions=assumptions)

    def _judged(self, context: Context, attempt: Attempt, tried: str) -> Answer:
        wanted = all_text(self.always, context.names)
        within = attempt.widest.box.text(context.names) if attempt.widest else "the start"
        if attempt.forever:
            found = f"no step leaves {within}, where all starts lie"
            summary = f"{wanted} at every step of every episode, not only the first {self.steps}"
            return Answer("proved", summary, (found, _COVERED))
        if attempt.steps == self.steps:
            reached = f"all states of these steps lie within {within}"
            return Answer("proved", f"{wanted} at each of the first {self.steps} steps", (reached, _COVERED))
        shown = f"proved for the first {attempt.steps} steps only" if attempt.steps >= 0 else "nothing is proved"
        why = attempt.stopped or "after that the enclosure of the states is too wide to tell"
        return Answer("unknown", f"{shown}: {why}", (f"the enclosures so far lie within {within}", tried))

    def _replayed(self, context: Context, start: State) -> Answer:
        """A start that went wrong in simulation counts once it goes wrong in the environment."""
        states = trajectory(context, start, self.steps)
        for step, state in enumerate(states):
            broken = [constraint for constraint in self.always if not constraint.holds(state)]
            if broken:
                sentence = f"{broken[0].text(context.names)} is false after {step} steps"
                replay = f"{context.dynamics.environment} after {step} steps: {named_text(context.named(state))}"
                return Answer("refuted", sentence, (), Witness((("start", context.named(start)),), (replay,)))
        sentence = "a simulated start goes wrong, but it does not when replayed in the environment"
        return Answer("unknown", sentence, (f"start: {named_text(context.named(start))}",))
