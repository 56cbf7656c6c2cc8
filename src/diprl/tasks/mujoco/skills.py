"""What the primitives are rewarded for while they are trained."""

import numpy as np
from numpy.typing import NDArray

from diprl.tasks.mujoco import ant, pusher
from diprl.tasks.mujoco.description import Array, Judgement, States, never, squared_norm, velocity

PITCH = 2
PUCK_X, PUCK_Y = 3, 4
CRUISING_SPEED = 1.0


def judge_forward(before: States, actions: Array, after: States) -> Judgement:
    """Speed along x, less effort; tipping over ends it, since a cheetah on its back never gets up again."""
    parts = {"run": velocity(before, after, 0), "effort": -0.1 * squared_norm(actions)}
    return Judgement.sum(parts, np.abs(after.qpos[:, PITCH]) > 1.5)


def judge_jump(before: States, actions: Array, after: States) -> Judgement:
    """Vertical speed with some progress; tipping over ends it, since somersaults pay and lead nowhere."""
    parts = {
        "run": 0.5 * velocity(before, after, 0),
        "leap": np.abs(velocity(before, after, 1)),
        "effort": -0.1 * squared_norm(actions),
    }
    return Judgement.sum(parts, ~on_its_feet(after))


def on_its_feet(states: States) -> NDArray[np.bool_]:
    return np.abs(states.qpos[:, PITCH]) <= 1.0


def effort_cost(progress: float) -> float:
    """The price of effort: low until the arm has found the puck, the task's own from 65% of training on."""
    return float(np.interp(progress, (0.25, 0.65), (0.02, pusher.EFFORT)))


def judge_push(before: States, actions: Array, after: States, *, coordinate: int, effort: float) -> Judgement:
    """The task's own costs, but of the puck's way to the goal only what lies along x or along y.

    Speed towards −x or −y would teach to push the puck past the goal, where no primitive could fetch it.
    """
    parts = {
        "push": -np.abs(after.qpos[:, coordinate] - pusher.GOAL[coordinate - PUCK_X]),
        "reach": -0.5 * pusher.reach(after),
        "effort": -effort * squared_norm(actions),
    }
    return Judgement.sum(parts, never(after))


def puck_within_reach(states: States) -> NDArray[np.bool_]:
    """Whether the puck has not been carried far past the goal's x."""
    return states.qpos[:, PUCK_X] > -0.3


def ant_pace(progress: float) -> tuple[float, float]:
    """(cruising speed, price of drift): first run, then walk straight at a pace that can be stopped."""
    return (np.inf, 0.0) if progress < 0.4 else (CRUISING_SPEED, 1.0)


def judge_ant_up(
    before: States, actions: Array, after: States, *, cruising_speed: float, drift_price: float
) -> Judgement:
    """Speed along +x near a cruising speed, less drift, crouching and effort; leaving the healthy height ends it."""
    upright = ant.healthy(after)
    speed = velocity(before, after, 0)
    parts = {
        "walk": speed - 2.0 * np.maximum(speed - cruising_speed, 0.0),
        "drift": -drift_price * np.abs(velocity(before, after, 1)),
        "height": -((after.places[:, 0, 2] - 0.6) ** 2),
        "healthy": 1.0 * upright,
        "effort": -0.5 * squared_norm(actions),
    }
    return Judgement.sum(parts, ~upright)
