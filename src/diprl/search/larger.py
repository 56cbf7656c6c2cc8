"""Programs with one condition more than a given one, where gradients are weak: a program that picks among primitives.

A choice among gaits pays only if it lasts, as long as the run-up to a bar. Sampled step by step it costs, so training
may settle on the one primitive that does best alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import log

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Blend, Condition, If
from diprl.program.signature import Primitives
from diprl.search.polish import compare_fairly
from diprl.search.trials import Spent, Trials

QUANTILES = np.linspace(0.1, 0.9, 9)
"""Of a feature in visited states: the thresholds that are tried."""
KEPT = 4
"""One in how many programs stays after each round of a race."""
RACING = 0.5
"""Part of the steps that are left for a race; the rest is for what it finds."""
MOST_EPISODES, MOST_COMPARED = 256, 1024
"""Episodes of each program in a round of a race, and of the last comparison."""


def grown(trials: Trials, program: Program) -> Program:
    """The program with conditions in front, each of which surely earns more, as long as one does."""
    with suppress(Spent):
        while isinstance(program.signature.actions, Primitives):
            found = race(trials, list(larger_programs(program, trials.views(program))))
            if not compare_fairly(trials, program, found, MOST_COMPARED).accepted:
                break
            program = found
    return program


def larger_programs(program: Program, views: NDArray[np.float32]) -> Iterator[Program]:
    """`if feature > threshold: primitive` and the same with `<`, before everything else that the program does."""
    names, features = program.signature.actions.names, len(program.signature.features)
    alone = [Blend(tuple(map(float, row))) for row in np.eye(len(names))]
    for feature, row in enumerate(np.eye(features)):
        for threshold in np.unique(np.quantile(views[:, feature], QUANTILES)):
            for sign in (1.0, -1.0):
                condition = Condition(tuple(map(float, sign * row)), -sign * float(threshold))
                for terminal in alone:
                    if terminal != program.root:
                        yield Program(program.signature, If(condition, terminal, program.root), program.task)


def race(trials: Trials, programs: Sequence[Program]) -> Program:
    """The one that earns most: fewer and fewer of them meet more and more episodes."""
    steps = RACING * trials.left * log(KEPT) / log(KEPT * len(programs))
    while len(programs) > 1:
        episodes = int(np.clip(steps / (len(programs) * trials.length), 1, MOST_EPISODES))
        means = trials.play(programs, episodes).mean(axis=1)
        programs = [programs[place] for place in np.argsort(-means)[: max(1, len(programs) // KEPT)]]
    return programs[0]
