"""Fewer digits: numbers that a person can read, as long as the score holds."""

from collections.abc import Iterator, Sequence
from typing import cast

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
SCALES = range(1, 10)
"""Smallest weights of a condition that are tried in the end: with one of them it may need fewer digits."""
FEWEST_FOR_DIGITS = 48
"""Episodes without which the score says too little about rounding."""


def rounded_alike(program: Program, views: NDArray[np.float32]) -> Program:
    """The program with the fewest digits, up to three, with which it acts as before in nearly all visited states."""
    states = thinned(views)
    acts = behaviour(program, states)
    short = [rounded_for(program, digits, states) for digits in DIGITS]
    changes = (np.abs(behaviour(version, states) - acts).max(axis=1).mean() for version in short)
    return next((each for each, changed in zip(short, changes, strict=True) if changed < ALIKE), short[-1])


def in_fewest_digits(trials: Trials, front: Front, views: NDArray[np.float32]) -> Front:
    """The front with the program to take in the fewest digits that keep its score; the views are states it visits."""
    program, states = front.program, thinned(views)
    fewer = (rounded_for(program, digits, states, SCALES) for digits in DIGITS if digits < digits_of(program))
    tried = [version for version in fewer if version.coefficients == program.coefficients]
    affordable = trials.left / ((len(tried) + 1) * trials.length)
    if not tried or affordable < FEWEST_FOR_DIGITS:
        return front
    episodes = int(min(affordable, MOST_EPISODES))
    exact, *others = trials.play([program, *tried], episodes, FRONT_ROUND)
    for version, returns in zip(tried, others, strict=True):
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


def rounded_for(
    program: Program, digits: int, states: NDArray[np.float32], scales: Sequence[float] = (1.0,)
) -> Program:
    """The program in so many digits, each condition with the constant and the scale that change it least there."""
    items = [
        min(versions(item, digits, states[here], holds[here], scales), key=lambda version: version[1])[0]
        for item, here, holds in reached(program.root, states)
    ]
    return program.with_root(assemble(items))


def versions(
    item: Item, digits: int, states: NDArray[np.float32], holds: NDArray[np.bool_], scales: Sequence[float]
) -> Iterator[tuple[Item, int]]:
    """An item in so many digits, and in how many of the states it then decides otherwise."""
    if not isinstance(item, Condition) or not len(states):
        yield round_item(of_unit_weight(item), digits), 0
        return
    for scale in scales:
        short = cast("Condition", round_item(of_unit_weight(item, scale), digits))
        values = states.astype(np.float64) @ np.asarray(short.weights)
        fitted = round_number(best_constant(values, holds), digits) if short.bias else 0.0
        for bias in dict.fromkeys([short.bias, fitted or short.bias]):
            yield Condition(short.weights, bias), int(np.count_nonzero((values + bias > 0) != holds))


def of_unit_weight(item: Item, scale: float = 1.0) -> Item:
    """A condition whose smallest weight is the scale; anything else as it is."""
    if not isinstance(item, Condition):
        return item
    smallest = min((abs(weight) for weight in item.weights if weight), default=1.0) / scale
    return Condition(tuple(weight / smallest for weight in item.weights), item.bias / smallest)
