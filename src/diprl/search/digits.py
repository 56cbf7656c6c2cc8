"""Fewer digits: numbers that a person can read, as long as the score holds."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import FRONT_ROUND
from diprl.program import Program
from diprl.program.ast import Condition, Item, assemble, flatten
from diprl.program.edit import round_item, round_number
from diprl.search.front import LARGE, MOST_EPISODES, SMALL, Front, standard_error
from diprl.search.smaller import behaviour, best_constant, reached, thinned
from diprl.search.trials import Trials

DIGITS = (1, 2, 3)
"""Significant digits that programs are rounded to."""
ALIKE = 0.002
"""Share of visited states in which rounding may change the action."""
FEWEST_FOR_DIGITS = 48
"""Episodes without which the score says too little about rounding."""


def rounded_alike(program: Program, views: NDArray[np.float32]) -> Program:
    """The program with the fewest digits, up to three, with which it acts as before in nearly all visited states."""
    states = thinned(views)
    acts = behaviour(program, states)
    versions = [rounded_for(program, digits, states) for digits in DIGITS]
    changes = (np.abs(behaviour(version, states) - acts).max(axis=1).mean() for version in versions)
    return next((each for each, changed in zip(versions, changes, strict=True) if changed < ALIKE), versions[-1])


def in_fewest_digits(trials: Trials, front: Front, views: NDArray[np.float32]) -> Front:
    """The front with the program to take in the fewest digits that keep its score; the views are states it visits."""
    program, states = front.program, thinned(views)
    fewer = (rounded_for(program, digits, states) for digits in DIGITS if digits < digits_of(program))
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


def rounded_for(program: Program, digits: int, states: NDArray[np.float32]) -> Program:
    """The program in so many digits, its constants such that conditions decide these states as before if they can."""
    return program.with_root(assemble(rounded_items(program, digits, states)))


def rounded_items(program: Program, digits: int, states: NDArray[np.float32]) -> Iterator[Item]:
    for item, here, holds in reached(program.root, states):
        short = round_item(of_unit_weight(item), digits)
        if isinstance(short, Condition) and short.bias and here.any():
            values = states[here].astype(np.float64) @ np.asarray(short.weights)
            fitted = round_number(best_constant(values, holds[here]), digits)
            errors = [np.count_nonzero((values + bias > 0) != holds[here]) for bias in (short.bias, fitted)]
            short = Condition(short.weights, fitted) if fitted and errors[1] < errors[0] else short
        yield short


def of_unit_weight(item: Item) -> Item:
    if not isinstance(item, Condition):
        return item
    smallest = min((abs(weight) for weight in item.weights if weight), default=1.0)
    return Condition(tuple(weight / smallest for weight in item.weights), item.bias / smallest)
