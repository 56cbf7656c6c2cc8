"""Settings for an environment that nobody has tuned: a few are tried, and the one that does best goes on."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import REPORTS
from diprl.arena.reference import play
from diprl.methods.presets import candidates
from diprl.policy.base import SOFT
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer
from diprl.tasks.batches.sync import random_actions

PAUSE = 0.2
"""How far a training has come, as a fraction, when all candidates but one go."""
CLEARLY, FAR_AHEAD = 1.25, 2.0
"""How many times as much as the first candidate another must have gained, and one that learns without gradients: it is
soon safe, and gradients are slower, but go farther."""
JUDGING, MOST_EPISODES = 0.01, 100
"""Part of the budget for the score of one candidate at a pause, and the most episodes of it."""
GREEDY = SOFT._replace(greedy=True)
RANDOM_EPISODES = 3
"""That show what a gain is measured from, and whether episodes end early."""
CHOOSING = "choosing settings"
"""What the steps for all this are counted as."""


def best_candidate(trainer: Trainer, stage: Stage, budget: int) -> Trained:
    """Train all candidates a little, and the best one to its end.

    Each is judged by the mean return of its relaxed policy on the same episodes. All steps count.
    """
    session = trainer.session
    by_chance, endless = at_random(trainer)
    choices = candidates(session.task, endless)[: session.spec.settings.program.candidates]
    episodes = int(min(MOST_EPISODES, max(1, JUDGING * budget // session.task.horizon)))
    rollout = session.spec.settings.ppo.rollout_size
    left = budget - trainer.steps[CHOOSING] - episodes * session.task.horizon * len(choices)
    length = rollout * rollouts_that_fit(left // rollout, len(choices))
    parts = [
        replace(
            stage,
            name=f"candidate-{index}",
            settings=session.spec.settings.with_values(total_timesteps=length, **choice),
            member=index,
            until=PAUSE,
        )
        for index, choice in enumerate(choices)
    ]
    begun = [trainer.train(part) for part in parts]
    gains = [score(trainer, each, episodes) - by_chance for each in begun]
    best = best_place(gains, [handicap(part) for part in parts])
    return trainer.train(replace(parts[best], name="training", goes_on=begun[best], until=1.0))


def at_random(trainer: Trainer) -> tuple[float, bool]:
    """What random actions earn, and whether all episodes with them last as long as the horizon allows."""
    task, generator = trainer.session.task, np.random.default_rng(REPORTS.seed)

    def act(views: NDArray[np.float32], _: NDArray[np.int64]) -> NDArray[Any]:
        return random_actions(generator, task.signature.actions, len(views))

    played = play(task, act, range(REPORTS.seed, REPORTS.seed + RANDOM_EPISODES))
    trainer.count(CHOOSING, played.steps)
    return float(played.returns.mean()), played.steps == RANDOM_EPISODES * task.horizon


def rollouts_that_fit(most: int, count: int) -> int:
    """The longest training with which so many candidates, each in whole rollouts, take no more than `most`.

    >>> rollouts_that_fit(46, 4)  # 4 of 6, 1 of 22 more
    28
    """
    fitting = (n for n in range(most, 1, -1) if n + (count - 1) * ceil(PAUSE * n) <= most)
    return next(fitting, 1)


def handicap(part: Stage) -> float:
    """How many times as much as the first candidate another one must have gained."""
    return 1.0 if not part.member else FAR_AHEAD if part.settings.program.directions else CLEARLY


def best_place(gains: Sequence[float], handicaps: Sequence[float]) -> int:
    """Which candidate goes on; the handicaps count once the first has gained anything.

    >>> best_place([400.0, 440.0, 700.0], [1.0, CLEARLY, FAR_AHEAD])
    0
    """
    if gains[0] <= 0.0:
        return max(range(len(gains)), key=gains.__getitem__)
    worth = [gain / handicap for gain, handicap in zip(gains, handicaps, strict=True)]
    return max(range(len(worth)), key=worth.__getitem__)


def score(trainer: Trainer, trained: Trained, episodes: int) -> float:
    """The mean return of the relaxed policy's likeliest actions; the same episodes for all."""
    act = trained.player.act(trained.state, trained.temperatures, GREEDY)
    seeds = range(REPORTS.seed, REPORTS.seed + episodes)
    played = play(trainer.session.task, lambda views, _: act(views), seeds)
    trainer.count(CHOOSING, played.steps)
    return float(played.returns.mean())


def chosen(trainer: Trainer, trained: Trained) -> dict[str, Any]:
    """What an agent was trained with, of the settings that the run has tried; empty where it tried none."""
    count, values = trainer.session.spec.settings.program.candidates, trained.settings.values()
    tried = candidates(trainer.session.task)[:count] if count > 1 else []
    return {name: values[name] for name in dict.fromkeys(name for choice in tried for name in choice)}
