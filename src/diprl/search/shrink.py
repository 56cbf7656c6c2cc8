"""Shorter and shorter programs: numbers and branches go one after another, and those that stay are tuned.

What goes is what changes behaviour least on visited states; a race on a few episodes decides among the likeliest.
The way down gives one program of every size, so that a user can choose.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from diprl.program import Program
from diprl.search.climb import best_of, climb, population
from diprl.search.digits import in_fewest_digits, rounded_alike
from diprl.search.front import (
    FEWEST_SIZES,
    FOR_DIGITS,
    LOOKS,
    MOST_EPISODES,
    NO_LIMITS,
    Front,
    Limits,
    near_best,
    spread,
    validated,
)
from diprl.search.polish import COMPARISON, compare_fairly
from diprl.search.smaller import Proposal, merged, smaller_programs
from diprl.search.trials import Spent, Trials, never

MOST_VALIDATION = 65_536
"""Episodes that go to a comparison of sizes at the most."""
FIRST_LOOK = 24
"""More programs are in that comparison where each can meet so many episodes at the first look."""
WIDTH = 3
"""Proposals that race at each size."""
FINALISTS, SECOND_ROUND = 2, 3
"""Those that race again, against the program there is, and on how many times as many episodes."""
RACING = 0.35
"""Part of a size's steps for the race; the rest tunes the numbers that stay."""
FEWEST, CLIMBING = 16, 4
"""Episodes of each program in a race, and of each candidate in a search over numbers, where many generations add up."""
MOST_COMPARED = 2048
"""Episodes of the last comparison."""
CLOSER_ON_TWIN = 4.0
"""Factor on the episodes of a comparison of sizes where they cost next to nothing, after a thorough search."""
ROUGHER = 0.25
"""The same factor where a comparison only says what to train on once more."""
MOST_TRAININGS = 16
"""Where training tunes, what is left is divided among half as many sizes at the most."""
PATIENCE = 3
"""How often training may change nothing before the search goes on without it."""
AGAIN, TRAINING = 0.6, 0.8
"""Part of a second way down that tunes the program it begins with, and of any where training does that."""
NEAR_TO_TRAIN = 0.05
"""Part of the best mean return by which a program may lose that trains on once more."""
FEWEST_GENERATIONS = 20
"""Of a search over numbers: fewer achieve nothing."""


class Effort(NamedTuple):
    """How thoroughly programs are searched and compared on the way down."""

    validation: float = 0.8
    """Part of the steps that goes to the last comparison of sizes."""
    first: float = 0.0
    """Part of the search, at the least, that tunes the first program before anything is removed."""
    most: int = 64
    """Episodes of each program in a race, at the most; four times as many decide whether tuning was worth it."""
    far_below: float = 0.15
    """Part of the best mean return by which a program may lose and still be worth more episodes."""
    retries: int = 0
    """How often a step that costs too much is taken back."""
    part: float = 1.0
    """Part of what is left for the first way down; the rest is for a second one."""
    near: float = 0.0
    """Part of the best mean return by which the program may lose that the second way begins with."""


QUICK = Effort()
"""As part of a training."""
THOROUGH = Effort(validation=0.25, first=0.25, most=512, far_below=0.1, retries=10, part=0.6, near=0.03)
"""Afterwards."""
Tune = Callable[[Trials, Program, float], Program]
"""Better numbers for a program within so many steps."""
Show = Callable[[str, Program], None]
"""Is told what has just been done, and the program there is now."""


class Shrinker:
    """The way down from a program."""

    def __init__(
        self,
        trials: Trials,
        program: Program,
        limits: Limits,
        *,
        seed: int,
        others: Sequence[Program] = (),
        effort: Effort = QUICK,
        train: Tune | None = None,
        show: Show = lambda *_: None,
    ) -> None:
        self.trials, self.limits, self.seed, self.effort, self.show = trials, limits, seed, effort, show
        self.tune, self.trains = partial(train, trials) if train else self.climb, train is not None
        self.program = self.tuned = merged(program)
        """The smallest so far, and the last one whose numbers were tuned, which the others should act like."""
        self.views = trials.views(self.program)
        self.met = [rounded_alike(self.program, self.views), *others]
        """Every program to choose from; those on the way down are rounded by the states they were made for."""
        self.best = self.level = -np.inf
        """The highest mean return of a race, and that of the last winner."""
        self.began, self.retries = trials.steps, effort.retries
        self.refused = set[Program]()
        """What cost too much when it was tried."""

    def run(self) -> Front:
        """Go down, then perhaps again from the smallest program that comes near the best, with its numbers tuned."""
        front = self.descend(TRAINING if self.trains else self.effort.first, self.effort.part)
        with suppress(Spent):
            if self.effort.part < 1.0 and self.left > 0:
                self.program = self.tuned = near_best(front, NEAR_TO_TRAIN if self.trains else self.effort.near)
                self.views, self.level = self.trials.views(self.program), self.best
                front = self.descend(TRAINING if self.trains else AGAIN, 1.0)
        return front

    def descend(self, first: float, part: float) -> Front:
        """Tune the program, go down to one condition, or to where this way's part ends, and compare what was met.

        Training lets numbers go by itself, so it is repeated until it has changed nothing a few times.
        """
        with suppress(Spent):
            for _ in range(PATIENCE if self.trains else 1):
                while self.accept_tuned(max(self.slice, first * self.left), "tune all numbers") and self.trains:
                    pass
        with self.trials.part(part):
            with suppress(Spent):
                self.go_down()
            closer = CLOSER_ON_TWIN if self.trials.task.twin and self.effort.part < 1.0 else 1.0
            rougher = ROUGHER if self.trains and part < 1.0 else 1.0
            return self.compared(int(closer * rougher * MOST_EPISODES))

    def go_down(self) -> None:
        while self.left > 0 or self.hopeless:
            proposals = smaller_programs(self.program, self.views, self.tuned)
            options = [each for each in proposals if self.allows(each.program) and each.program not in self.refused]
            if not options:
                break
            self.take(options)

    def allows(self, program: Program) -> bool:
        """A program has a condition, and reads what it must."""
        return program.conditions > 0 and self.limits.are_read(program)

    def compared(self, most: int) -> Front:
        """The front of what was met so far, even where somebody has had enough of searching."""
        trials, enough = self.trials, self.trials.enough
        trials.enough = never
        affordable = trials.left / (LOOKS + FOR_DIGITS) / (FIRST_LOOK * trials.length)
        compared = spread(self.met, int(max(FEWEST_SIZES, affordable)), self.limits)
        trials.grace = 2.0 * len(compared) * trials.task.horizon
        try:
            return validated(trials, compared, self.limits, most)
        finally:
            trials.enough, trials.grace = enough, 0.0

    @property
    def left(self) -> float:
        """Steps for this way down, beside those that the comparison of sizes needs."""
        left, most = self.trials.left, MOST_VALIDATION * self.trials.length
        return left - min(self.effort.validation * (left + self.trials.steps - self.began), most)

    @property
    def slice(self) -> float:
        """Steps for one size: large ones, where there is more to lose and to choose from, get more.

        Training takes more steps than a search over numbers to achieve anything, and few sizes need it.
        """
        parts = max(2, self.program.coefficients)
        return 2 * self.left / (min(parts, MOST_TRAININGS) if self.trains else parts)

    @property
    def shortest_race(self) -> float:
        """Steps of a race with the fewest episodes."""
        return (WIDTH + SECOND_ROUND * (FINALISTS + 1)) * FEWEST * self.trials.length

    @property
    def hopeless(self) -> bool:
        return self.level < self.best - self.effort.far_below * abs(self.best)

    def take(self, options: Sequence[Proposal]) -> None:
        """Replace the program by the most promising smaller one, tuned where it loses.

        What changes nothing in visited states goes without a race. So does everything once the score is gone, or where
        the steps do not allow a race. A thorough search goes back where tuning does not bring the score back, and tries
        something else.
        """
        limit, winner, loses = self.trials.steps + self.slice, options[0], False
        before = self.program, self.tuned, self.views
        if winner.changed > 0.0 and not self.hopeless and self.shortest_race <= self.slice:
            winner, loses = self.race(options[:WIDTH])
        self.accept(winner.program, winner.what)
        if loses:
            self.accept_tuned(limit - self.trials.steps, "tune")
        if loses and self.retries > 0:
            self.level = float(self.trials.play([self.program], SECOND_ROUND * FEWEST).mean())
            if self.hopeless:
                self.retries -= 1
                self.refused.add(winner.program)
                (self.program, self.tuned, self.views), self.level = before, self.best

    def race(self, options: Sequence[Proposal]) -> tuple[Proposal, bool]:
        """The option that earns most on the same episodes, and whether it earns less than the program there is."""
        runners = [option.program for option in options]
        affordable = RACING * self.slice / (self.trials.length * 2 * (len(runners) + 1))
        episodes = int(np.clip(affordable, FEWEST, self.effort.most))
        means = self.trials.play(runners, episodes).mean(axis=1)
        first = [runners[index] for index in np.argsort(-means)[:FINALISTS]]
        returns = self.trials.play([self.program, *first], SECOND_ROUND * episodes).mean(axis=1)
        winner, self.level = first[int(np.argmax(returns[1:]))], float(returns[1:].max())
        self.best = max(self.best, *returns)
        return options[runners.index(winner)], bool(self.level < returns[0])

    def climb(self, program: Program, steps: float) -> Program:
        """CMA-ES on the true return; kept if it wins on fresh episodes."""
        self.seed += 1
        generation = population(program.coefficients) * CLIMBING * self.trials.length
        if steps < FEWEST_GENERATIONS * generation or not program.coefficients:
            return program
        most = int(np.clip(steps / (200 * self.trials.length), CLIMBING, self.effort.most))
        tuned = climb(
            self.trials,
            program,
            self.views,
            steps=0.9 * steps,
            episodes=max(CLIMBING, most // 4),
            most_episodes=most,
            seed=self.seed,
        )
        episodes = int(np.clip(0.05 * steps / self.trials.length, FEWEST, 4 * self.effort.most))
        return best_of(self.trials, [program, tuned], episodes)

    def polished(self, front: Front) -> Front:
        """Whatever is left of the budget goes to the numbers of the program to take."""
        while not self.trials.spent():
            self.views = self.trials.views(front.program)
            tuned = rounded_alike(self.climb(front.program, (1.0 - COMPARISON) * self.trials.left), self.views)
            trial = compare_fairly(self.trials, front.program, tuned, MOST_COMPARED)
            if not trial.accepted:
                break
            front = front.with_program(tuned, trial.gain)
            self.show(f"tune the numbers of the program to take: {trial.gain:+.4g}", front.program)
        return front

    def accept_tuned(self, steps: float, what: str) -> bool:
        """Tune the numbers, and say whether that changed any.

        If so, the new program's states count, and it may be as good as the best.
        """
        before, after = self.program, self.tune(self.program, steps)
        self.accept(after, what)
        if after != before:
            self.tuned, self.views, self.level = self.program, self.trials.views(self.program), self.best
        return after != before

    def accept(self, program: Program, what: str) -> None:
        self.program = merged(program)
        self.met.append(rounded_alike(self.program, self.views))
        self.show(what, self.program)


def shrink(
    trials: Trials,
    program: Program,
    limits: Limits = NO_LIMITS,
    *,
    seed: int = 0,
    others: Sequence[Program] = (),
    effort: Effort = QUICK,
    train: Tune | None = None,
    show: Show = lambda *_: None,
) -> Front:
    """The front of programs from one condition up to the given one, tuned and rounded.

    `others` are compared with what is found. Where not even one episode fits into the budget, `Spent` is raised.
    """
    shrinker = Shrinker(trials, program, limits, seed=seed, others=others, effort=effort, train=train, show=show)
    front = shrinker.run()
    with suppress(Spent):
        front = in_fewest_digits(trials, front, shrinker.views)
        front = shrinker.polished(front)
    return front
