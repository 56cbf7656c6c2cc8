"""Scoring: on the reference environment whatever acts, on the twin whatever is compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError, NotFiniteError
from diprl.program import Program
from diprl.tasks.base import Task
from diprl.train.score import Score, score_of

Act = Callable[[NDArray[np.float32]], NDArray[Any]]
"""Actions for a batch of views."""

EVALUATION_SEED = 1_000_000
"""First seed of the episodes that scores are reported on; training and validation use others."""
PARALLEL_EPISODES = 32


def program_act(task: Task, program: Program) -> Act:
    """How a program acts on the task's views."""
    layout = task.layout

    def act(views: NDArray[np.float32]) -> NDArray[Any]:
        primitives = None
        if layout.primitives:
            primitives = views[:, layout.critic :].reshape(-1, layout.primitives, layout.actuators)
        return program.act_batch(views[:, : layout.features], primitives)

    return act


def evaluate_program(task: Task, program: Program, episodes: int = 100, seed: int = EVALUATION_SEED) -> Score:
    """The score of a program on the reference environment."""
    return evaluate(task, program_act(task, program), episodes, seed)


def evaluate(task: Task, act: Act, episodes: int = 100, seed: int = EVALUATION_SEED) -> Score:
    """Returns of episodes seeded seed, seed + 1, … on the reference environment, several at a time."""
    if episodes < 1:
        raise DiprlError(f"episodes must be at least 1, not {episodes}")
    environments = [task.reference() for _ in range(min(episodes, PARALLEL_EPISODES))]
    try:
        return _play(task, act, environments, episodes, seed)
    finally:
        for environment in environments:
            environment.close()


def _play(task: Task, act: Act, environments: list[Any], episodes: int, seed: int) -> Score:
    """Step all environments in lockstep; one that ends takes the next episode that nobody has played yet."""
    returns = np.zeros(episodes)
    extra: dict[str, list[float]] = {}
    episode_of = list(range(len(environments)))
    observations = [env.reset(seed=seed + i)[0] for i, env in zip(episode_of, environments, strict=True)]
    following = len(environments)
    while environments:
        actions = act(task.view(np.asarray(observations)))
        for slot in reversed(range(len(environments))):
            observations[slot], reward, terminated, truncated, info = environments[slot].step(actions[slot])
            returns[episode_of[slot]] += _finite(task, float(reward), observations[slot])
            if not (terminated or truncated):
                continue
            for name in ("distance", "is_success"):
                if name in info:
                    extra.setdefault(name, []).append(float(info[name]))
            if following < episodes:
                observations[slot] = environments[slot].reset(seed=seed + following)[0]
                episode_of[slot], following = following, following + 1
            else:
                for items in (environments, observations, episode_of):
                    _retire(items, slot)
    return score_of(returns, {name: float(np.mean(values)) for name, values in extra.items()})


def _retire(items: list[Any], slot: int) -> None:
    item = items.pop(slot)
    if hasattr(item, "close"):
        item.close()


def _finite(task: Task, reward: float, observation: Any) -> float:
    if not np.isfinite(reward):
        raise NotFiniteError(f"{task.name} returned the reward {reward}")
    if not np.all(np.isfinite(observation)):
        raise NotFiniteError(f"{task.name} returned an observation that is not finite")
    return reward
