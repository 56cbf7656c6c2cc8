"""Settings that nobody has tuned: where several may be right, they are tried, and the best goes on."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import Any

from diprl.arena.episodes import REPORTS
from diprl.arena.reference import play, random_act
from diprl.methods.presets import candidates
from diprl.policy.base import SOFT
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer

PAUSES = (0.2, 0.4)
"""How far a training has come, as fractions, when all candidates but two go, and when all but one do."""
JUDGING, MOST_EPISODES = 0.01, 100
"""Part of the budget for the score of one candidate at the pause, and the most episodes of it."""
GREEDY = SOFT._replace(greedy=True)
RANDOM_EPISODES = 3
"""That show whether episodes end early."""
CHOOSING = "choosing settings"
"""What the steps for all this are counted as."""


def best_candidate(trainer: Trainer, stage: Stage, budget: int) -> tuple[Trained, dict[str, Any]]:
    """Train all candidates a little, two some more, and the best one to its end; gives that and what was chosen.

    Each is judged by the mean return of its relaxed policy on the same episodes. All steps count.
    """
    session, rollout = trainer.session, trainer.session.spec.settings.ppo.rollout_size
    choices = candidates(session.task, endless(trainer))[: session.spec.settings.program.candidates]
    counts, ends = halved(len(choices))
    episodes = int(min(MOST_EPISODES, max(1, JUDGING * budget // session.task.horizon)))
    left = budget - trainer.steps[CHOOSING] - episodes * session.task.horizon * sum(counts[:-1])
    length = rollout * rollouts_that_fit(left // rollout, counts, ends)
    tried = (session.spec.settings.with_values(total_timesteps=length, **choice) for choice in choices)
    parts = [replace(stage, name=f"candidate-{n}", settings=settings, member=n) for n, settings in enumerate(tried)]
    for pause, stay in zip(ends[:-1], counts[1:], strict=True):
        begun = [trainer.train(replace(part, name=f"{part.name}-{pause}", until=pause)) for part in parts]
        scores = [score(trainer, each, episodes) for each in begun]
        parts = [replace(parts[place], goes_on=begun[place]) for place in best_places(scores, stay)]
    trained = trainer.train(replace(parts[0], name="training"))
    return trained, {name: trained.settings.values()[name] for choice in choices for name in choice}


def endless(trainer: Trainer) -> bool:
    """Whether all episodes with random actions last as long as the horizon allows."""
    task, act = trainer.session.task, random_act(trainer.session.task, REPORTS.seed)
    played = play(task, lambda views, _: act(views), range(REPORTS.seed, REPORTS.seed + RANDOM_EPISODES))
    trainer.count(CHOOSING, played.steps)
    return played.steps == RANDOM_EPISODES * task.horizon


def halved(count: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """How many candidates train in each part of the run, and where the parts end.

    >>> halved(3), halved(2), halved(1)
    (((3, 2, 1), (0.2, 0.4, 1.0)), ((2, 1), (0.4, 1.0)), ((1,), (1.0,)))
    """
    part = max(0, 3 - count)
    return (count, 2, 1)[part:] if count > 1 else (1,), (*PAUSES, 1.0)[part:]


def rollouts_that_fit(most: int, counts: Sequence[int], ends: Sequence[float]) -> int:
    """The longest training with which the candidates, each in whole rollouts, take no more than `most`.

    >>> rollouts_that_fit(42, *halved(3))  # 3 of 5, then 2 of 5, then 1 of 15 more
    25
    """

    def taken(rollouts: int) -> int:
        edges = [0, *(ceil(end * rollouts) for end in ends)]
        return sum(count * (end - begin) for count, (begin, end) in zip(counts, pairwise(edges), strict=True))

    return next((rollouts for rollouts in range(most, 1, -1) if taken(rollouts) <= most), 1)


def best_places(scores: Sequence[float], count: int) -> list[int]:
    """Where the highest of them stand, in their order; of equal ones the first.

    >>> best_places([1.0, 5.0, 3.0, 5.0], 2)
    [1, 3]
    """
    return sorted(sorted(range(len(scores)), key=lambda place: -scores[place])[:count])


def score(trainer: Trainer, trained: Trained, episodes: int) -> float:
    """The mean return of the relaxed policy's likeliest actions; the same episodes for all."""
    act = trained.player.act(trained.state, trained.temperatures, GREEDY)
    seeds = range(REPORTS.seed, REPORTS.seed + episodes)
    played = play(trainer.session.task, lambda views, _: act(views), seeds)
    trainer.count(CHOOSING, played.steps)
    return float(played.returns.mean())
