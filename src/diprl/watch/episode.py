"""One episode of a program on the reference environment, step by step."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from diprl.arena.reference import program_act
from diprl.program import Program
from diprl.tasks.base import Task


class Moment(NamedTuple):
    """A state, what led to it and what the program does there."""

    features: NDArray[np.float64]
    branch: int
    """The leaf that decides, in the order in which leaves are printed."""
    action: Any
    reward: float
    """What the step that led here paid; 0 at the start."""
    total: float
    """The return so far."""
    ended: str
    """`terminated` or `truncated` in the final state, where no action is taken any more; else empty."""


def play_moments(task: Task, program: Program, environment: gym.Env[Any, Any], seed: int) -> Iterator[Moment]:
    """Play one episode; each moment is given before its action is taken, so that the state can be drawn."""
    act, count = program_act(task, program), len(program.signature.features)
    observation, _ = environment.reset(seed=seed)
    reward = total = 0.0
    ended = ""
    while True:
        view = task.view(np.asarray(observation)[None])
        features = view[0, :count].astype(np.float64)
        action = act(view)[0]
        yield Moment(features, int(program.branch_batch(features[None])[0]), action, reward, total, ended)
        if ended:
            return
        observation, earned, terminated, truncated, _ = environment.step(action)
        reward, total = float(earned), total + float(earned)
        ended = "terminated" if terminated else "truncated" if truncated else ""
