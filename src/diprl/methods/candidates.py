"""Settings for an environment that nobody has tuned: a few are tried, those that do best go on (successive halving)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import Any

from diprl.arena.episodes import REPORTS
from diprl.arena.reference import play
from diprl.methods.presets import candidates
from diprl.policy.base import SOFT
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer

PAUSES = (0.06, 0.2)
"""How far a training has come, as a fraction, when the worse half of the candidates goes."""
JUDGING, MOST_EPISODES = 0.01, 100
"""Part of the budget for the score of one candidate at a pause, and the most episodes of it."""
GREEDY = SOFT._replace(greedy=True)


def best_candidate(trainer: Trainer, stage: Stage, budget: int) -> Trained:
    """Train all candidates a little, the better half some more, and the best one to its end.

    Each is judged by the mean return of its relaxed policy on the same episodes. All steps count.
    """
    session = trainer.session
    choices = candidates(session.task)[: session.spec.settings.program.candidates]
    counts, ends = halved(len(choices)), pauses(len(choices))
    episodes = int(min(MOST_EPISODES, max(1, JUDGING * budget // session.task.horizon)))
    judging = episodes * session.task.horizon * sum(counts[:-1])
    rollout = session.spec.settings.ppo.rollout_size
    length = rollout * rollouts_that_fit((budget - judging) // rollout, counts, ends)
    settings = [session.spec.settings.with_values(total_timesteps=length, **choice) for choice in choices]
    running: list[tuple[int, Trained | None]] = [(index, None) for index in range(len(choices))]
    for part, until in enumerate(ends[1:]):
        trained = [
            trainer.train(
                replace(
                    stage,
                    name=f"candidate-{index}-{part}",
                    settings=settings[index],
                    member=index,
                    goes_on=before,
                    until=until,
                )
            )
            for index, before in running
        ]
        if len(trained) == 1:
            break
        scores = [score(trainer, each, episodes) for each in trained]
        kinds = [each.settings.program.directions > 0 for each in trained]
        running = [(running[place][0], trained[place]) for place in better(scores, kinds, counts[part + 1])]
    return trained[0]


def rollouts_that_fit(most: int, counts: Sequence[int], ends: Sequence[float]) -> int:
    """The longest training of which all candidates' parts, each in whole rollouts, are no more than so many."""

    def taken(rollouts: int) -> int:
        edges = [ceil(end * rollouts) for end in ends]
        return sum(count * (end - begin) for count, (begin, end) in zip(counts, pairwise(edges), strict=True))

    return next((rollouts for rollouts in range(most, 1, -1) if taken(rollouts) <= most), 1)


def better(scores: Sequence[float], kinds: Sequence[bool], count: int) -> list[int]:
    """The places of the best. Where several stay, the best of either kind does: one may be slow at first.

    >>> better([5.0, 4.0, 3.0, 2.0], [False, False, False, True], 2)
    [0, 3]
    """
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    firsts = [next(place for place in order if kinds[place] == kind) for kind in set(kinds)] if count > 1 else []
    return sorted(sorted(order, key=lambda place: place not in firsts)[:count], key=order.index)


def halved(count: int) -> list[int]:
    """How many candidates train in each part of the run: all, half of them, one."""
    return [count, (count + 1) // 2, 1] if count > 1 else [1]


def pauses(count: int) -> Sequence[float]:
    """Where the parts of a run with so many candidates begin and end."""
    return (0.0, *PAUSES[: len(halved(count)) - 1], 1.0)


def score(trainer: Trainer, trained: Trained, episodes: int) -> float:
    """The mean return of the relaxed policy's likeliest actions; the same episodes for all."""
    act = trained.player.act(trained.state, trained.temperatures, GREEDY)
    seeds = range(REPORTS.seed, REPORTS.seed + episodes)
    played = play(trainer.session.task, lambda views, _: act(views), seeds)
    trainer.count("choosing settings", played.steps)
    return float(played.returns.mean())


def chosen(trainer: Trainer, trained: Trained) -> dict[str, Any]:
    """What an agent was trained with, of the settings that the run has tried; empty where it tried none."""
    count, values = trainer.session.spec.settings.program.candidates, trained.settings.values()
    tried = candidates(trainer.session.task)[:count] if count > 1 else []
    return {name: values[name] for name in dict.fromkeys(name for choice in tried for name in choice)}
