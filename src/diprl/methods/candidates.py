"""Settings for an environment that nobody has tuned: where several may be right, they are tried and the best goes on."""

from dataclasses import replace
from math import ceil
from typing import Any

from diprl.arena.episodes import REPORTS
from diprl.arena.reference import play, random_act
from diprl.methods.presets import candidates
from diprl.policy.base import SOFT
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer

PAUSE = 0.4
"""How far a training has come, as a fraction, when all candidates but one go."""
JUDGING, MOST_EPISODES = 0.01, 100
"""Part of the budget for the score of one candidate at the pause, and the most episodes of it."""
GREEDY = SOFT._replace(greedy=True)
RANDOM_EPISODES = 3
"""That show whether episodes end early."""
CHOOSING = "choosing settings"
"""What the steps for all this are counted as."""


def best_candidate(trainer: Trainer, stage: Stage, budget: int) -> tuple[Trained, dict[str, Any]]:
    """Train all candidates for a part, and the best one to its end; what was chosen, where there was a choice.

    Each is judged by the mean return of its relaxed policy on the same episodes. All steps count.
    """
    session, rollout = trainer.session, trainer.session.spec.settings.ppo.rollout_size
    choices = candidates(session.task, endless(trainer))[: session.spec.settings.program.candidates]
    left, episodes = budget - trainer.steps[CHOOSING], 0
    if len(choices) > 1:
        episodes = int(min(MOST_EPISODES, max(1, JUDGING * budget // session.task.horizon)))
        left -= episodes * session.task.horizon * len(choices)
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
    if not episodes:
        return trainer.train(replace(parts[0], name="training", until=1.0)), {}
    begun = [trainer.train(part) for part in parts]
    scores = [score(trainer, each, episodes) for each in begun]
    best = max(range(len(parts)), key=scores.__getitem__)
    trained = trainer.train(replace(parts[best], name="training", goes_on=begun[best], until=1.0))
    return trained, {name: trained.settings.values()[name] for choice in choices for name in choice}


def endless(trainer: Trainer) -> bool:
    """Whether all episodes with random actions last as long as the horizon allows."""
    task, act = trainer.session.task, random_act(trainer.session.task, REPORTS.seed)
    played = play(task, lambda views, _: act(views), range(REPORTS.seed, REPORTS.seed + RANDOM_EPISODES))
    trainer.count(CHOOSING, played.steps)
    return played.steps == RANDOM_EPISODES * task.horizon


def rollouts_that_fit(most: int, count: int) -> int:
    """The longest training with which so many candidates, each in whole rollouts, take no more than `most`.

    >>> rollouts_that_fit(46, 2)  # and 13 of the other; 33 and 14 would be 47
    32
    """
    fitting = (n for n in range(most, 1, -1) if n + (count - 1) * ceil(PAUSE * n) <= most)
    return next(fitting, 1)


def score(trainer: Trainer, trained: Trained, episodes: int) -> float:
    """The mean return of the relaxed policy's likeliest actions; the same episodes for all."""
    act = trained.player.act(trained.state, trained.temperatures, GREEDY)
    seeds = range(REPORTS.seed, REPORTS.seed + episodes)
    played = play(trainer.session.task, lambda views, _: act(views), seeds)
    trainer.count(CHOOSING, played.steps)
    return float(played.returns.mean())
