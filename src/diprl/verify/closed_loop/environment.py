"""Replays states in the Gymnasium environment that a model describes."""

from math import isfinite
from typing import Any

import numpy as np

from diprl.program import Program
from diprl.program.ast import Act
from diprl.program.evaluate import terminal_at
from diprl.verify.closed_loop.models import Model
from diprl.verify.exact.linear import State
from diprl.verify.exact.question import Deadline
from diprl.verify.exact.rounding import observed


def trajectory(
    model: Model, program: Program, start: State, steps: int, deadline: Deadline | None = None
) -> list[State]:
    """The states that the environment goes through under the program, until the episode ends.

    It also ends before a state that is no finite number.
    """
    environment = _environment_at(model, start)
    states = [start]
    try:
        with np.errstate(all="ignore"):
            for _ in range(steps):
                if deadline is not None:
                    deadline.remaining()
                _, _, terminated, _, _ = environment.step(_action_of(program, states[-1]))
                state = tuple(np.asarray(environment.state, np.float64).tolist())
                if not all(map(isfinite, state)):
                    break
                states.append(state)
                if terminated:
                    break
    finally:
        environment.close()
    return states


def _environment_at(model: Model, state: State) -> Any:
    """The model's Gymnasium environment in a given state."""
    import gymnasium

    environment: Any = gymnasium.make(model.environment).unwrapped
    environment.reset(seed=0)
    environment.state = np.asarray(state, np.float64)
    return environment


def _action_of(program: Program, state: State) -> int:
    """The discrete action at a state as an environment shows it."""
    leaf = terminal_at(program.root, observed(state))
    assert isinstance(leaf, Act)  # models are given for discrete actions only
    return leaf.action
