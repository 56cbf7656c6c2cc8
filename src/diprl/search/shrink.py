"""Shorter and shorter programs: numbers and branches go one after another, and those that stay are tuned.

What goes is what changes behaviour least on visited states; a race on a few episodes decides among the likeliest.
The way down gives one program of every size, so that a user can choose.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from diprl.arena.episodes import FRONT_ROUND
from diprl.program import Program
from diprl.search.climb import best_of, climb, population
from diprl.search.front import FOR_DIGITS, LOOKS, MOST_EPISODES, NO_LIMITS, Front, Limits, validated
from diprl.search.polish import COMPARISON, compare_fairly
from diprl.search.rounding import digits_of
from diprl.search.smaller import Proposal, merged, rounded_alike, smaller_programs, with_fewer_digits
from diprl.search.trials import Spent, Trials, never

VALIDATION = 0.5
"""Part of the steps that goes to the last comparison of sizes."""
FEWEST_SIZES, FIRST_LOOK = 6, 24
"""Programs in that comparison at least; more of them where each can meet so many episodes at the first look."""
ROUGHLY_ALIKE = 0.02
"""Share of visited states in which rounding may change the action, if the score stays."""
FEWEST_FOR_DIGITS = 64
"""Episodes without which the score says too little about rounding."""
WIDTH = 3
"""Proposals that race at each size."""
FINALISTS, SECOND_ROUND = 2, 3
"""Those that race again, against the program there is, and on how many times as many episodes."""
RACING = 0.35
"""Part of a size's steps for the race; the rest tunes the numbers that stay."""
FEWEST, MOST = 4, 64
"""Episodes of each program in a race."""
MOST_COMPARED = 2048
"""Episodes of the last comparison."""
FAR_BELOW = 0.15
"""Part of the best mean return by which a program may lose and still be worth more episodes."""
FEWEST_GENERATIONS = 20
"""Of a search over numbers: fewer achieve nothing."""

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
        tune: Tune | None = None,
        show: Show = lambda *_: None,
    ) -> None:
        self.trials, self.limits, self.seed, self.show = trials, limits, seed, show
        self.tune = partial(tune, trials) if tune else self.climb
        self.program = self.tuned = merged(program)
        """The smallest so far, and the last one whose numbers were tuned, which the others should act like."""
        self.views = trials.views(self.program)
        self.met = [rounded_alike(self.program, self.views)]
        """Every program on the way down, rounded by the states it was made for."""
        self.best = self.level = -np.inf
        """The highest mean return of a race, and that of the last winner."""
        self.searched = (1.0 - VALIDATION) * trials.left + trials.steps
        """The count of steps at which the search ends."""

    def run(self) -> None:
        """Go down to one condition, or to where the budget ends."""
        self.accept_tuned(self.slice, "tune all numbers")
        while self.left > 0 or self.hopeless:
            proposals = smaller_programs(self.program, self.views, self.tuned)
            options = [option for option in proposals if self.allows(option.program)]
            if not options:
                break
            self.take(options)

    def allows(self, program: Program) -> bool:
        """A program has a condition, and reads what it must."""
        return program.conditions > 0 and self.limits.are_read(program)

    @property
    def left(self) -> float:
        return min(self.searched - self.trials.steps, self.trials.left)

    @property
    def slice(self) -> float:
        """Steps for one size: large ones, where there is more to lose and to choose from, get more."""
        return 2 * self.left / max(2, self.program.coefficients)

    @property
    def shortest_race(self) -> float:
        """Steps of a race with the fewest episodes."""
        return (WIDTH + SECOND_ROUND * (FINALISTS + 1)) * FEWEST * self.trials.length

    @property
    def hopeless(self) -> bool:
        return self.level < self.best - FAR_BELOW * abs(self.best)

    def take(self, options: Sequence[Proposal]) -> None:
        """Replace the program by the most promising smaller one, tuned where it loses.

        What changes nothing in visited states goes without a race. So does everything once the score is gone, or where
        the steps do not allow a race.
        """
        if options[0].changed <= 0.0 or self.hopeless or self.shortest_race > self.slice:
            return self.accept(options[0].program, options[0].what)
        limit = self.trials.steps + self.slice
        winner, loses = self.race(options[:WIDTH])
        self.accept(winner.program, winner.what)
        if loses:
            self.accept_tuned(limit - self.trials.steps, "tune")
        return None

    def race(self, options: Sequence[Proposal]) -> tuple[Proposal, bool]:
        """The option that earns most on the same episodes, and whether it earns less than the program there is."""
        runners = [option.program for option in options]
        affordable = RACING * self.slice / (self.trials.length * 2 * (len(runners) + 1))
        episodes = int(np.clip(affordable, FEWEST, MOST))
        means = self.trials.play(runners, episodes).mean(axis=1)
        first = [runners[index] for index in np.argsort(-means)[:FINALISTS]]
        returns = self.trials.play([self.program, *first], SECOND_ROUND * episodes).mean(axis=1)
        winner, self.level = first[int(np.argmax(returns[1:]))], float(returns[1:].max())
        self.best = max(self.best, *returns)
        return options[runners.index(winner)], bool(self.level < returns[0])

    def climb(self, program: Program, steps: float) -> Program:
        """CMA-ES on the true return; kept if it wins on fresh episodes."""
        self.seed += 1
        generation = population(program.coefficients) * FEWEST * self.trials.length
        if steps < FEWEST_GENERATIONS * generation or not program.coefficients:
            return program
        most = int(np.clip(steps / (200 * self.trials.length), FEWEST, MOST))
        tuned = climb(
            self.trials,
            program,
            self.views,
            steps=0.9 * steps,
            episodes=max(FEWEST, most // 4),
            most_episodes=most,
            seed=self.seed,
        )
        episodes = int(np.clip(0.05 * steps / self.trials.length, FEWEST, 4 * MOST))
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

    def in_fewest_digits(self, front: Front) -> Front:
        """The front with the program to take in the fewest digits with which it earns no less."""
        program = front.program
        self.views = self.trials.views(program)
        rounder = with_fewer_digits(program, self.views, ROUGHLY_ALIKE)
        same_size = (each for each in rounder if each.coefficients == program.coefficients)
        versions = [each for each in dict.fromkeys(same_size) if digits_of(each) < digits_of(program)]
        affordable = self.trials.left / ((len(versions) + 1) * self.trials.length)
        if not versions or affordable < FEWEST_FOR_DIGITS:
            return front
        episodes = int(min(affordable, MOST_EPISODES))
        exact, *others = self.trials.play([program, *versions], episodes, FRONT_ROUND).mean(axis=1)
        for version, mean in zip(versions, others, strict=True):
            if mean >= exact:
                return front.with_program(version, float(mean - exact))
        return front

    def accept_tuned(self, steps: float, what: str) -> None:
        """Tune the numbers; if that changes any, the states of the tuned program are those that count."""
        before, after = self.program, self.tune(self.program, steps)
        self.accept(after, what)
        if after != before:
            self.tuned, self.views = self.program, self.trials.views(self.program)

    def accept(self, program: Program, what: str) -> None:
        self.program = merged(program)
        self.met.append(rounded_alike(self.program, self.views))
        self.show(what, self.program)


def spread(met: Sequence[Program], most: int, limits: Limits = NO_LIMITS) -> list[Program]:
    """The first program and others of evenly spread sizes; of one size, the latest. Most keep to the limits."""
    latest = {program.coefficients: program for program in met}
    sizes = sorted(latest, reverse=True)
    allowed = [size for size in sizes if limits.hold(latest[size])]
    too_large = [size for size in sizes if size not in allowed]
    chosen = [*evenly(too_large, FEWEST_SIZES // 2), *evenly(allowed, most)]
    return list(dict.fromkeys([met[0], *(latest[size] for size in chosen)]))


def evenly(sizes: Sequence[int], most: int) -> list[int]:
    """So many of the sizes at most, the first and the last among them."""
    ranks = np.linspace(0, len(sizes) - 1, min(most, len(sizes))).round().astype(int)
    return [sizes[rank] for rank in ranks]


def shrink(
    trials: Trials,
    program: Program,
    limits: Limits = NO_LIMITS,
    *,
    seed: int = 0,
    tune: Tune | None = None,
    show: Show = lambda *_: None,
) -> Front:
    """The front of programs from one condition up to the given one, tuned and rounded.

    Where not even one episode fits into the budget, `Spent` is raised.
    """
    shrinker = Shrinker(trials, program, limits, seed=seed, tune=tune, show=show)
    with suppress(Spent):
        shrinker.run()
    trials.enough = never  # what was found by then is still to be compared
    affordable = trials.left / (LOOKS + FOR_DIGITS) / (FIRST_LOOK * trials.length)
    front = validated(trials, spread(shrinker.met, int(max(FEWEST_SIZES, affordable)), limits), limits)
    with suppress(Spent):
        front = shrinker.in_fewest_digits(front)
        front = shrinker.polished(front)
    return front
