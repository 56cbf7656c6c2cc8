"""Simplify: as few conditions, coefficients and digits as the score allows, each step judged on the same episodes.

Every accepted step is compared with the program it all began with, never with the step before, so that small losses
cannot add up unnoticed. The last one is judged again on fresh episodes, since many steps that were chosen on the same
ones may owe their score to those.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import CONFIRM_ROUND, SIMPLIFY_ROUND
from diprl.arena.programs import ProgramPlayer, program_player
from diprl.arena.reference import visited_views
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.ast import conditions
from diprl.program.signature import Continuous
from diprl.search import proposals
from diprl.search.polish import polish, standard_error
from diprl.search.proposals import Proposal
from diprl.search.search import Effort
from diprl.tasks.base import Task

CAUTION = 1.64
"""Standard errors kept as a safety margin to the tolerance."""
FIRST_LOOK = 64
"""Episodes after which a hopeless proposal is refused; what they leave open, more of them decide."""
DIGITS = (1, 2, 3, 4, 5)
REPAIRED = 4
"""How many of the most promising proposals get their numbers searched anew."""
TUNING = Effort(population=24, episodes=64, most_episodes=256, mutants=0, final_episodes=4096)
TUNING_STEPS = 1_000_000
"""Environment steps, on a compiled twin, of a search over all numbers, for each of them."""
REPAIR_STEPS = 2_000_000
"""Environment steps of a search over the numbers of a single proposal."""
WORTHWHILE = 0.1
"""Part of the numbers that a round must remove for another one to follow."""
THINNING = 0.1
"""Part of the numbers that go at once where they are trained on."""
TRAININGS = 4
"""How often such a smaller program may train on before it is given up."""
NEW_DIGITS = 3
"""Significant digits of new numbers: judged as they will be printed, they need no room for rounding later."""

Retrain = Callable[[Program], tuple[Program, int]]
"""Trains a program's numbers on without changing its shape; tells the environment steps that took."""


Show = Callable[[Proposal], None]
"""Is shown each accepted step."""


@dataclass(frozen=True)
class Simplified:
    """The smallest program found and the way to it."""

    program: Program
    stages: tuple[Proposal, ...]
    """First the program as given, last the result: a Pareto table of size against score."""
    steps: int


class Judge:
    """Accepts a program while its mean return, with a margin for chance, stays within the tolerance."""

    def __init__(
        self, task: Task, program: Program, tolerance: float, looks: tuple[int, ...], round_number: int = SIMPLIFY_ROUND
    ) -> None:
        self.play: ProgramPlayer = program_player(task, program)
        self.looks, self.round_number, self.steps = looks, round_number, 0
        self.baseline = self.returns(program, looks[-1])
        self.allowed = tolerance * abs(float(self.baseline.mean()))

    def returns(self, program: Program, episodes: int) -> NDArray[np.float64]:
        played = self.play([program], episodes, self.round_number)
        self.steps += played.steps
        return played.values[0]

    def score(self, program: Program) -> float | None:
        """The mean return if the program is acceptable, else None. The first look, on few episodes, only refuses."""
        for look, episodes in enumerate(self.looks):
            returns = self.returns(program, episodes)
            difference = returns - self.baseline[:episodes]
            mean, margin = float(difference.mean()), CAUTION * standard_error(difference)
            if mean + margin < -self.allowed:
                return None
            if look and mean - margin >= -self.allowed:
                return float(returns.mean())
        return None


class Simplifier:
    """The way down from a program: tries proposals and keeps what the judge accepts."""

    def __init__(
        self, task: Task, program: Program, judge: Judge, retrain: Retrain | None = None, show: Show = lambda _: None
    ) -> None:
        self.task, self.judge, self.retrain, self.show = task, judge, retrain, show
        self.stages: list[Proposal] = []
        self.keep(Proposal(program, "as learnt", float(judge.baseline.mean())))
        self.views = visited_views(task, program)[:, : task.layout.features]
        self.scales = np.asarray(self.views.std(axis=0), np.float64)

    @property
    def program(self) -> Program:
        return self.stages[-1].program

    def run(self) -> None:
        self.accept(Proposal(proposals.without_dead_branches(self.program), "remove branches that no state reaches"))
        self.tune()
        self.shrink(lambda: proposals.without_branch(self.program))
        self.tune()
        if self.retrain is not None:
            self.thin_out(self.retrain)
        self.drop_coefficients()
        self.round_off()

    def accept(self, proposal: Proposal) -> bool:
        score = self.judge.score(proposal.program)
        if score is not None:
            self.keep(replace(proposal, score=score))
        return score is not None

    def keep(self, stage: Proposal) -> None:
        self.stages.append(stage)
        self.show(stage)

    def tune(self) -> None:
        """Better numbers, where a search for them is cheap: what they gain can be given up for a smaller program."""
        if self.task.twin is not None:
            proposal = Proposal(self.program, f"tune all numbers, to {NEW_DIGITS} digits")
            self.accept(self.tuned(proposal, TUNING_STEPS * self.program.coefficients))

    def drop_coefficients(self) -> None:
        """Numbers go and those that stay are tuned, again and again while enough of them go."""
        before = self.program.coefficients
        self.shrink(lambda: proposals.without_coefficient(self.program, self.scales))
        self.tune()
        if self.task.twin is not None and before - self.program.coefficients > WORTHWHILE * before:
            self.drop_coefficients()

    def shrink(self, propose: Callable[[], list[Proposal]]) -> None:
        """Take proposals as they are while any is acceptable, then with their numbers searched anew."""
        self.take_all(propose, lambda proposal: proposal)
        if self.task.twin is not None:
            self.take_all(lambda: propose()[:REPAIRED], lambda proposal: self.tuned(proposal, REPAIR_STEPS))

    def take_all(self, propose: Callable[[], list[Proposal]], prepare: Callable[[Proposal], Proposal]) -> None:
        """Accept one proposal after another; what was refused once is not tried again."""
        refused: set[str] = set()
        while True:
            for proposal in propose():
                if proposal.what not in refused:
                    if self.accept(prepare(proposal)):
                        break
                    refused.add(proposal.what)
            else:
                return

    def tuned(self, proposal: Proposal, steps: int) -> Proposal:
        """The same shape with its numbers searched anew."""
        polished = polish(self.task, proposal.program, steps, effort=TUNING, views=self.views)
        self.judge.steps += polished.trial.steps
        return replace(proposal, program=proposals.rounded_conditions(polished.program, NEW_DIGITS))

    def thin_out(self, retrain: Retrain) -> None:
        """Drop the least influential weights several at a time and train on with the others; fewer if that fails."""
        count = self.program.coefficients
        while count := min(count, ceil(THINNING * self.program.coefficients)):
            smaller = proposals.without_weights(self.program, self.views, count)
            if smaller == self.program:
                return
            accepted = self.accept_trained(Proposal(smaller, f"drop {count} weights and train on"), retrain)
            count = 2 * count if accepted else count // 2

    def accept_trained(self, proposal: Proposal, retrain: Retrain) -> bool:
        for _ in range(TRAININGS):
            program, steps = retrain(proposal.program)
            self.judge.steps += steps
            proposal = replace(proposal, program=proposals.rounded_conditions(program, NEW_DIGITS))
            if self.accept(proposal):
                return True
        return False

    def round_off(self) -> None:
        """The fewest digits for each condition, then for the outputs."""
        for index in range(self.program.conditions):
            for digits in DIGITS:
                held = conditions(self.program.root)[index]
                if proposals.has_digits(held, digits):
                    break
                rounded = proposals.with_condition(self.program, index, proposals.rounded(held, digits))
                if self.accept(Proposal(rounded, f"round condition {index + 1} to {digits} digits")):
                    break
        if isinstance(self.program.signature.actions, Continuous):
            for digits in DIGITS:
                rounded = proposals.rounded_terminals(self.program, digits)
                if self.accept(Proposal(rounded, f"round outputs to {digits} digits")):
                    break

    def confirm(self, judge: Judge) -> None:
        """Go back to the last stage that also holds on this judge's episodes, by which none was chosen."""
        scores = ((stage, judge.score(stage.program)) for stage in reversed(self.stages))
        stage, score = next((stage, score) for stage, score in scores if score is not None)
        self.judge.steps += judge.steps
        if stage is not self.stages[-1]:
            self.keep(Proposal(stage.program, "go back: the rest loses too much on fresh episodes", score))


def simplify(
    task: Task,
    program: Program,
    tolerance: float = 0.01,
    *,
    episodes: int | None = None,
    retrain: Retrain | None = None,
    show: Show = lambda _: None,
) -> Simplified:
    """A smaller program whose score stays within a fraction `tolerance` of the given one's.

    Where a task has a compiled twin, the numbers of a smaller shape are searched anew; elsewhere `retrain` does that.
    Each accepted step is shown.
    """
    if not 0 <= tolerance < 1:
        raise DiprlError(f"tolerance must lie between 0 and 1, not {tolerance}")
    looks = (FIRST_LOOK, episodes) if episodes else default_looks(task)
    judge = Judge(task, program, tolerance, looks)
    simplifier = Simplifier(task, program, judge, retrain, show)
    simplifier.run()
    simplifier.confirm(Judge(task, program, tolerance, looks, CONFIRM_ROUND))
    return Simplified(simplifier.program, tuple(simplifier.stages), judge.steps)


def default_looks(task: Task) -> tuple[int, ...]:
    """Enough episodes to see a percent: fewer would refuse every step that is not an improvement."""
    return (FIRST_LOOK, min(8192, 4_000_000 // task.horizon)) if task.twin else (FIRST_LOOK, 1000, 4000)
