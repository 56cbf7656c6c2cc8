"""The front: programs of one run from small to large, each with its score, and the one to take."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import FRONT_ROUND
from diprl.arena.score import as_number
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.ast import Affine, Condition, flatten, number_rows
from diprl.search.trials import Spent, Trials

LOOKS, MOST_EPISODES = 4, 1024
"""How often validation plays; each look takes an equal part of the steps, with half as many programs as the last."""
FOR_DIGITS = 1.0
"""Looks whose steps are left for choosing the number of digits."""
SURE = 2
"""The look from which on a program goes because a smaller one did exactly alike."""
HOPELESS = 2.0
"""Standard errors by which a program must lose to be out of the running."""
FEWEST_LEFT = 3
"""Programs that stay in the running unless they are hopeless."""
FEWEST_SIZES = 9
"""Programs in a comparison of sizes, at the least."""
SMALL, LARGE = 0.0025, 0.01
"""Losses, as parts of the best program's returns, that always and that never count as none."""


@dataclass(frozen=True)
class Entry:
    """A program with its mean return on validation episodes, which are not those that scores are reported from."""

    program: Program
    mean: float
    error: float
    """Standard error of the mean."""
    episodes: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the mean."""
        return self.mean - 1.96 * self.error, self.mean + 1.96 * self.error

    def to_json(self) -> dict[str, Any]:
        program = self.program
        sizes = {"coefficients": program.coefficients, "conditions": program.conditions}
        scores = {"mean": self.mean, "error": self.error, "episodes": self.episodes}
        return sizes | scores | {"program": str(program)}

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "Entry":
        mean, error, episodes = (as_number(content[name]) for name in ("mean", "error", "episodes"))
        return Entry(Program.from_text(content["program"]), mean, error, int(episodes))


@dataclass(frozen=True)
class Front:
    """One program of each size, from small to large."""

    entries: tuple[Entry, ...]
    picked: int
    """Which of them to take: the smallest whose score is within one standard error of the best (`is_as_good`)."""

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def program(self) -> Program:
        return self.entries[self.picked].program

    def pick(self, numbers: int | None = None, conditions: int | None = None) -> Entry:
        """The best program with at most so many numbers and conditions; without a limit, the one to take."""
        if numbers is None and conditions is None:
            return self.entries[self.picked]
        fitting = [entry for entry in self.entries if is_within(entry.program, numbers, conditions)]
        if not fitting:
            least = self.entries[0].program
            sizes = f"{least.coefficients} numbers and {least.conditions} conditions"
            raise DiprlError(f"the smallest program has {sizes}: ask for no fewer")
        return max(fitting, key=lambda entry: entry.mean)

    def to_json(self) -> dict[str, Any]:
        return {"entries": [entry.to_json() for entry in self.entries], "picked": self.picked}

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "Front":
        entries = tuple(Entry.from_json(entry) for entry in content["entries"])
        picked = int(as_number(content["picked"]))
        if not 0 <= picked < len(entries):
            raise ValueError(f"the front has no entry {picked}")
        return Front(entries, picked)

    def with_program(self, program: Program, gain: float) -> "Front":
        """The front with a better program in place of the one to take."""
        old = self.entries[self.picked]
        better = replace(old, program=program, mean=old.mean + gain)
        return replace(self, entries=tuple(better if entry is old else entry for entry in self.entries))


@dataclass(frozen=True)
class Limits:
    """What the program to take must keep to."""

    numbers: int | None = None
    conditions: int | None = None
    required: tuple[int, ...] = ()
    """Features that it must read."""
    tolerance: float = 0.0
    """Part of the best score, or of its distance from the worst one, that may be given up for a smaller program."""

    def hold(self, program: Program) -> bool:
        return self.are_read(program) and is_within(program, self.numbers, self.conditions)

    def are_read(self, program: Program) -> bool:
        """Whether the program reads every feature that it must."""
        return set(self.required) <= features_read(program)


NO_LIMITS = Limits()
Returns = Mapping[Program, NDArray[np.float64]]


def is_within(program: Program, numbers: int | None, conditions: int | None) -> bool:
    few_numbers = numbers is None or program.coefficients <= numbers
    return few_numbers and (conditions is None or program.conditions <= conditions)


def features_read(program: Program) -> set[int]:
    """Which features any condition or output of the program reads."""
    items = (item for item in flatten(program.root) if isinstance(item, Condition | Affine))
    return {int(index) for item in items for row in number_rows(item) for index in np.flatnonzero(row[:-1])}


def validated(trials: Trials, programs: Sequence[Program], limits: Limits, most: int = MOST_EPISODES) -> Front:
    """The front of these programs. All meet the same episodes, and those that may be the one to take more and more.

    The last look is at `most` episodes, or fewer. The first program, which the others were made from, stays in the
    running where the limits allow it, unless a smaller one does exactly alike for long. Raises `Spent` where the budget
    does not allow two episodes of each.
    """
    returns: dict[Program, NDArray[np.float64]] = {program: np.zeros(0) for program in programs}
    contenders, allowed = list(returns), set(filter(limits.hold, programs)) or set(programs)
    with suppress(Spent):
        for look in range(LOOKS):
            affordable = trials.left / (LOOKS - look + FOR_DIGITS) / (len(contenders) * trials.length)
            block = int(np.clip(affordable, 2, most >> (LOOKS - 1 - look)))
            values = trials.play(contenders, block, FRONT_ROUND)
            for program, more in zip(contenders, values, strict=True):
                returns[program] = np.append(returns[program], more)
            contenders = [program for program in contenders if program in allowed]
            running = still_in(contenders, returns, look >= SURE, tolerable(returns, limits.tolerance))
            first = [each for each in contenders if each == programs[0] and each not in running]
            alike = look >= SURE and any(np.array_equal(returns[each], returns[programs[0]]) for each in running)
            contenders = [*([] if alike else first), *running]
            if len(contenders) == 1:
                break
    if min(map(len, returns.values())) < 2:
        raise Spent
    return front_of(returns, limits)


def tolerable(returns: Returns, tolerance: float) -> float:
    """The loss that a part of the score stands for: of its size or, where it may be near zero, of what is at stake."""
    means = [float(values.mean()) for values in returns.values()]
    return tolerance * max(abs(max(means)), max(means) - min(means))


def still_in(programs: Sequence[Program], returns: Returns, sure: bool = True, loss: float = 0.0) -> list[Program]:
    """Those that may be the one to take; of several that surely do alike, the smallest.

    Who loses little stays: the best may have been lucky, and fail in episodes that are still to come. If they are too
    many, the best goes on with those that lose least, and the smallest of those that lose about the same.
    """
    first = max(programs, key=lambda program: returns[program].mean())
    best = returns[first]
    size, alike = np.sqrt(np.mean(best**2)), dict[Program | bytes, Program]()
    for program in sorted(programs, key=lambda program: program.coefficients):
        losses = best - returns[program]
        if losses.mean() <= max(HOPELESS * standard_error(losses), LARGE * size, loss):
            alike.setdefault(returns[program].tobytes() if sure else program, program)
    most, step = max(FEWEST_LEFT, len(programs) // 2), max(SMALL * size, loss, 1e-12)
    kept = sorted(alike.values(), key=lambda program: round((best - returns[program]).mean() / step))[:most]
    is_kept = any(np.array_equal(returns[program], best) for program in kept)
    return kept if is_kept else [*kept[:-1], first]


def front_of(returns: Returns, limits: Limits) -> Front:
    """Of each size the program that did best, and which of them to take."""
    kept: dict[int, Program] = {}
    for program in sorted(returns, key=lambda each: (len(returns[each]), returns[each].mean())):
        kept[program.coefficients] = program
    programs = [kept[size] for size in sorted(kept)]
    allowed = [program for program in programs if limits.hold(program)] or programs[:1]
    best = max(allowed, key=lambda program: (len(returns[program]), returns[program].mean()))
    loss = tolerable(returns, limits.tolerance)
    taken = next(program for program in allowed if is_as_good(returns[program], returns[best], loss))
    entries = tuple(entry_of(program, returns[program], returns[best]) for program in programs)
    return Front(entries, programs.index(taken))


def is_as_good(returns: NDArray[np.float64], best: NDArray[np.float64], loss: float) -> bool:
    """Whether what is lost on the episodes that both met is within one standard error of the best, or surely tolerable.

    Few episodes have a large error, which excuses no large loss; many have one too small to matter to anybody.
    """
    if len(returns) < len(best):
        return False
    losses, size = best - returns, np.sqrt(np.mean(best**2))
    margin = np.clip(standard_error(best), SMALL * size, LARGE * size)
    return float(losses.mean()) <= max(margin, loss - standard_error(losses))


def entry_of(program: Program, returns: NDArray[np.float64], best: NDArray[np.float64]) -> Entry:
    """The program's score. The best one has met more episodes, which tells how hard the first ones were."""
    count, shared = len(returns), best[: len(returns)]
    spread = float(shared.var())
    alike = float(np.clip(np.cov(returns, shared, bias=True)[0, 1] / spread, 0.0, 1.0)) if spread else 0.0
    mean = returns.mean() + alike * (best.mean() - shared.mean())
    error = np.hypot(standard_error(returns - alike * shared), alike * standard_error(best))
    return Entry(program, float(mean), float(error), count)


def standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")


def near_best(front: Front, far_below: float) -> Program:
    """The smallest program whose score is no more than a part below the best."""
    best = max(entry.mean for entry in front)
    return next(entry.program for entry in front if entry.mean >= best - far_below * abs(best))


def spread(met: Sequence[Program], most: int, limits: Limits = NO_LIMITS) -> list[Program]:
    """The first program and others of evenly spread sizes; of one size, the latest. Most keep to the limits."""
    latest = {program.coefficients: program for program in met}
    sizes = sorted(latest, reverse=True)
    allowed = [size for size in sizes if limits.hold(latest[size])]
    too_large = [size for size in sizes if size not in allowed]
    large, small = ([size for size in allowed if (2 * size > allowed[0]) == half] for half in (True, False))
    few = min(FEWEST_SIZES // 3, len(small))
    chosen = [*evenly(too_large, FEWEST_SIZES // 2), *evenly(large, most - few), *evenly(small, few)]
    return list(dict.fromkeys([met[0], *(latest[size] for size in chosen)]))


def evenly(sizes: Sequence[int], most: int) -> list[int]:
    """So many of the sizes at most, the first and the last among them."""
    ranks = np.linspace(0, len(sizes) - 1, min(most, len(sizes))).round().astype(int)
    return [sizes[rank] for rank in ranks]
