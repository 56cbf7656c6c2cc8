"""Fewer digits: numbers that a person can read, as long as the score holds."""

import numpy as np

from diprl.arena.episodes import FRONT_ROUND
from diprl.program import Program
from diprl.program.ast import Condition, Item, assemble, flatten
from diprl.program.edit import round_item
from diprl.search.front import LARGE, MOST_EPISODES, SMALL, Front, standard_error
from diprl.search.trials import Trials

DIGITS = (1, 2, 3)
"""Significant digits that programs are rounded to."""
FEWEST_FOR_DIGITS = 48
"""Episodes without which the score says too little about rounding."""


def in_fewest_digits(trials: Trials, front: Front) -> Front:
    """The front with the program to take in the fewest digits that keep its score."""
    program = front.program
    fewer = (rounded(program, digits) for digits in DIGITS if digits < digits_of(program))
    versions = [version for version in fewer if version.coefficients == program.coefficients]
    affordable = trials.left / ((len(versions) + 1) * trials.length)
    if not versions or affordable < FEWEST_FOR_DIGITS:
        return front
    episodes = int(min(affordable, MOST_EPISODES))
    exact, *others = trials.play([program, *versions], episodes, FRONT_ROUND)
    for version, returns in zip(versions, others, strict=True):
        losses, size = exact - returns, np.sqrt(np.mean(exact**2))
        if losses.mean() <= SMALL * size and max(losses.mean(), 0.0) + standard_error(losses) <= LARGE * size:
            return front.with_program(version, float(returns.mean() - exact.mean()))
    return front


def digits_of(program: Program) -> int:
    """The significant digits of its longest number, as far as rounding goes."""
    return next((digits for digits in DIGITS if program.rounded(digits) == program), DIGITS[-1])


def rounded(program: Program, digits: int) -> Program:
    """The program with its numbers to so many significant digits.

    A condition is divided by its smallest weight first, so that one of its coefficients reads as 1.
    """
    return program.with_root(assemble(round_item(of_unit_weight(item), digits) for item in flatten(program.root)))


def of_unit_weight(item: Item) -> Item:
    if not isinstance(item, Condition):
        return item
    smallest = min((abs(weight) for weight in item.weights if weight), default=1.0)
    return Condition(tuple(weight / smallest for weight in item.weights), item.bias / smallest)
