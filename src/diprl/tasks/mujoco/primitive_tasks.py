"""The tasks that primitives are trained on: one robot, its own senses, and a reward for one skill."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from diprl.program.signature import Continuous, Signature
from diprl.tasks.base import Task, ViewLayout, flat_view
from diprl.tasks.mujoco import ant, pusher
from diprl.tasks.mujoco.cheetah import BACK_FOOT, HURDLE, model
from diprl.tasks.mujoco.description import Array, Description, Judgement, Start, Starts, States, squared_norm
from diprl.tasks.mujoco.environment import MujocoEnvironments, limited
from diprl.tasks.mujoco.primitives import bundled_primitive
from diprl.tasks.mujoco.tasks import ANT, ARM, CHEETAH, Robot

PITCH = 2
PUCK_X, PUCK_Y = 3, 4
CRUISING_SPEED = 1.0
SURE_PACE = 5.0
"""What a cheetah can run at (m/s) and still leap without somersaults."""
RUN_UP = (0.5, 2.5)
"""How far (m) the cheetah's torso may be from the bar that it leaps over."""
SHAKEN = 0.1
"""How much of a gait is left to chance (m or rad; five times as much per second)."""
LANDED = (0.0, 1.0)
"""How far (m) beyond the bar its back foot is when it has leapt and another primitive takes over."""
YAW = 6
"""The part of an ant's quaternion that turns it about z."""
HANDED_OVER_SPEED, HANDED_OVER_TURN = 1.5, 0.15
"""How fast (m/s) and how far turned (half radians) an ant may be when another primitive leaves it."""


def feeling(description: Description, robot: Robot) -> Description:
    """The same robot and world, observed through its own senses only."""

    def observe(states: States) -> Array:
        return robot.feel(description.observe(states))

    return replace(description, observe=observe, observation_size=len(robot.senses))


def judge_forward(before: States, actions: Array, after: States, *, pace: float = np.inf) -> Judgement:
    """Speed along x up to a pace, less effort; tipping over ends it, since a cheetah on its back stays there."""
    speed = np.minimum(after.velocity_since(before, 0), pace)
    parts = {"run": speed, "effort": -0.1 * squared_norm(actions)}
    return Judgement.sum(parts, np.abs(after.qpos[:, PITCH]) > 1.5)


def start_before_bar(running: Callable[[], Start], rng: np.random.Generator, count: int) -> Start:
    """Beginnings in the forward gait, shaken as another might be, a short way before the one bar, which stands at 0."""
    start = mixed_start(HURDLE.start, running, rng, count, share=0.85)
    start.qpos[:, 1:] += rng.uniform(-SHAKEN, SHAKEN, start.qpos[:, 1:].shape)
    start.qvel[:] += 5.0 * SHAKEN * rng.standard_normal(start.qvel.shape)
    start.qpos[:, 0] = -rng.uniform(*RUN_UP, count)
    return start


def judge_jump(before: States, actions: Array, after: States, *, run: float = 0.5, leap: float = 1.0) -> Judgement:
    """Vertical speed with some progress; tipping over ends it, since somersaults pay and lead nowhere."""
    parts = {
        "run": run * after.velocity_since(before, 0),
        "leap": leap * np.abs(after.velocity_since(before, 1)),
        "effort": -0.1 * squared_norm(actions),
    }
    return Judgement.sum(parts, ~on_its_feet(after))


def on_its_feet(states: States) -> NDArray[np.bool_]:
    return np.abs(states.qpos[:, PITCH]) <= 1.0


def has_landed(states: States) -> NDArray[np.bool_]:
    """Whether its back foot has just passed the one bar, which stands at 0."""
    beyond = states.places[:, BACK_FOOT, 0]
    return on_its_feet(states) & (beyond > LANDED[0]) & (beyond < LANDED[1])


def judge_push(before: States, actions: Array, after: States, *, coordinate: int, progress: float = 1.0) -> Judgement:
    """The task's own costs, but of the puck's way to the goal only what lies along x or along y.

    Speed towards −x or −y would teach to push the puck past the goal, where no primitive could fetch it.
    """
    parts = {
        "push": -np.abs(after.qpos[:, coordinate] - pusher.GOAL[coordinate - PUCK_X]),
        "reach": -0.5 * pusher.reach(after),
        "effort": -effort_cost(progress) * squared_norm(actions),
    }
    return Judgement.sum(parts)


def effort_cost(progress: float) -> float:
    """The price of effort: low until the arm has found the puck, the task's own from 65% of training on."""
    return float(np.interp(progress, (0.25, 0.65), (0.02, pusher.EFFORT)))


def puck_within_reach(states: States) -> NDArray[np.bool_]:
    """Whether the puck has not been carried far past the goal's x."""
    return states.qpos[:, PUCK_X] > -0.3


def judge_ant_up(before: States, actions: Array, after: States, *, progress: float = 1.0) -> Judgement:
    """Speed along +x near a cruising speed, less drift, crouching and effort; leaving the healthy height ends it."""
    cruising_speed, drift_price = ant_pace(progress)
    upright = ant.healthy(after)
    speed = after.velocity_since(before, 0)
    parts = {
        "walk": speed - 2.0 * np.maximum(speed - cruising_speed, 0.0),
        "drift": -drift_price * np.abs(after.velocity_since(before, 1)),
        "height": -((after.places[:, 0, 2] - 0.6) ** 2),
        "healthy": 1.0 * upright,
        "effort": -0.5 * squared_norm(actions),
    }
    return Judgement.sum(parts, ~upright)


def ant_pace(progress: float) -> tuple[float, float]:
    """(cruising speed, price of drift): first run, then walk straight at a pace that can be stopped."""
    return (np.inf, 0.0) if progress < 0.4 else (CRUISING_SPEED, 1.0)


def start_under_way(rng: np.random.Generator, count: int) -> Start:
    """Beginnings that find the ant already moving, in any direction and turned a little: hand-overs look like that."""
    start = ant.RANDOM_GOAL.start(rng, count)
    start.qvel[:, :2] += rng.uniform(-HANDED_OVER_SPEED, HANDED_OVER_SPEED, (count, 2))
    start.qpos[:, YAW] += rng.uniform(-HANDED_OVER_TURN, HANDED_OVER_TURN, count)
    return start


def mixed_start(
    ordinary: Starts, bank: Callable[[], Start], rng: np.random.Generator, count: int, share: float = 0.5
) -> Start:
    """Ordinary beginnings, a share of them replaced by states from a bank."""
    start, others = ordinary(rng, count), bank()
    chosen = rng.random(count) < share
    rows = rng.integers(len(others.qpos), size=count)
    parts = zip(start, others, strict=True)
    return Start(*(np.where(chosen[:, None], other[rows], own) for own, other in parts))


@cache
def states_along(description: Description, usable: Callable[[States], NDArray[np.bool_]], every: int = 5) -> Start:
    """Usable states that the bundled primitive of that name passes through on its own training task."""
    network = bundled_primitive(description.name).network
    environments = MujocoEnvironments(description, network.actions, 32)
    actions = environments.reset(seed=0)
    visited: list[States] = []
    for step in range(100):
        actions = environments.step(actions).view
        if step >= 10 and step % every == 0:
            visited.append(environments.states)
    environments.close()
    passed = States(*(np.concatenate(parts) for parts in zip(*visited, strict=True)))
    rows = usable(passed)
    return Start(passed.qpos[rows], passed.qvel[rows], passed.goal[rows])


RUNNING = replace(feeling(HURDLE, CHEETAH), name="cheetah_forward", judge=judge_forward, horizon=250)
"""Run fast and blind over the hurdle track: a gait learnt on open ground stumbles there."""
JUMPING = replace(
    RUNNING,
    name="cheetah_jump",
    start=partial(mixed_start, HURDLE.start, partial(states_along, RUNNING, on_its_feet)),
    judge=judge_jump,
)
"""Leap without falling over, from a standstill or out of the forward gait."""
FLAT = replace(RUNNING, name="cheetah_run", model=partial(model, ()), judge=partial(judge_forward, pace=SURE_PACE))
LEAPING = replace(
    RUNNING,
    name="cheetah_leap",
    model=partial(model, (0.0,)),
    start=partial(start_before_bar, partial(states_along, FLAT, on_its_feet)),
    judge=partial(judge_jump, run=1.0, leap=0.3),
    horizon=60,
)
"""Get over one bar, which it cannot see, out of the gait of `cheetah_run`: paid as the hurdle task pays."""
RUNNING_FLAT = replace(
    FLAT,
    start=partial(mixed_start, HURDLE.start, partial(states_along, LEAPING, has_landed, every=1), share=0.75),
    horizon=60,
)
"""Run fast on open ground, also from where `cheetah_leap` lands: a gait that stumbles over bars."""
PUSHING_LEFT = replace(
    feeling(pusher.PUSHER, ARM), name="pusher_left", judge=partial(judge_push, coordinate=PUCK_X), anneals=True
)
"""Push the puck left, to the x of the goal."""
PUSHING_DOWN = replace(
    PUSHING_LEFT,
    name="pusher_down",
    start=partial(mixed_start, pusher.PUSHER.start, partial(states_along, PUSHING_LEFT, puck_within_reach)),
    judge=partial(judge_push, coordinate=PUCK_Y),
)
"""Push the puck down, to the y of the goal, from the task's start or from where `pusher_left` has brought it."""
WALKING = replace(
    feeling(ant.RANDOM_GOAL, ANT), name="ant_up", start=start_under_way, judge=judge_ant_up, anneals=True, horizon=200
)
"""Walk towards +x, in the end straight and at a steady pace, whichever way the ant was moving before."""
SKILLS = (
    (RUNNING, CHEETAH, 6_000_000),
    (JUMPING, CHEETAH, 2_000_000),
    (RUNNING_FLAT, CHEETAH, 6_000_000),
    (LEAPING, CHEETAH, 9_000_000),
    (PUSHING_LEFT, ARM, 1_500_000),
    (PUSHING_DOWN, ARM, 1_000_000),
    (WALKING, ANT, 2_500_000),
)


def primitive_tasks() -> dict[str, Callable[[], Task]]:
    """The training tasks by primitive; `cheetah_jump`, `cheetah_leap` and `pusher_down` need the one before them."""
    return {skill.name: partial(_task, skill, robot, budget) for skill, robot, budget in SKILLS}


def _task(description: Description, robot: Robot, budget: int) -> Task:
    return Task(
        name=description.name,
        signature=Signature(robot.senses, Continuous(robot.motors, *description.bounds)),
        reference=partial(limited, description),
        horizon=description.horizon,
        layout=ViewLayout(description.observation_size, description.observation_size),
        view=flat_view,
        environments=partial(MujocoEnvironments, description, flat_view),
        budget=budget,
    )
