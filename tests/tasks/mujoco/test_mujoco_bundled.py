"""The primitives that ship still move their bodies their way."""

import numpy as np
import pytest

from diprl.program.networks import Network
from diprl.tasks.mujoco.ant import RANDOM_GOAL
from diprl.tasks.mujoco.cheetah import HURDLE
from diprl.tasks.mujoco.description import Array, Description, States
from diprl.tasks.mujoco.environment import Simulator
from diprl.tasks.mujoco.primitive_tasks import primitive_tasks
from diprl.tasks.mujoco.primitives import SUFFIX, bundled_primitive, data_folder
from diprl.tasks.mujoco.pusher import PUSHER
from diprl.tasks.mujoco.tasks import ANT, ARM, CHEETAH, Robot, mujoco_tasks

EPISODES = 16
SHIPPED = sorted(path.stem for path in data_folder().glob(f"*{SUFFIX}"))
BODIES: dict[str, tuple[Description, Robot]] = {
    "cheetah": (HURDLE, CHEETAH),
    "pusher": (PUSHER, ARM),
    "ant": (RANDOM_GOAL, ANT),
}


def move(body: str, network: Network, steps: int) -> tuple[States, States, Array]:
    """First and last states of some episodes without end, and the speed along the second coordinate on the way."""
    description, robot = BODIES[body]
    simulator = Simulator(description, EPISODES)
    first = states = simulator.settle(description.start(np.random.default_rng(5), EPISODES))
    speeds = []
    for _ in range(steps):
        actions = network.actions(robot.feel(description.observe(states)))
        after = simulator.advance(states, actions)
        speeds.append(np.abs(after.velocity_since(states, 1)))
        states = after
    simulator.close()
    return first, states, np.array(speeds)


COMPOSED = {"cheetah_run", "cheetah_leap"}
"""Those of HalfCheetahHurdle-composed, which is offered once they are there."""


def test_every_primitive_that_a_task_uses_ships() -> None:
    assert set(SHIPPED) | COMPOSED == set(primitive_tasks())
    assert ("HalfCheetahHurdle-composed" in mujoco_tasks()) == (set(SHIPPED) >= COMPOSED)
    for name in SHIPPED:
        primitive = bundled_primitive(name)
        assert primitive.network.name == name
        assert primitive.command.startswith(f"diprl primitives train {name}")
        assert np.isfinite(primitive.score)


def test_forward_runs() -> None:
    first, last, _ = move("cheetah", bundled_primitive("cheetah_forward").network, 80)
    assert np.median(last.qpos[:, 0] - first.qpos[:, 0]) > 6.0


def test_jump_leaps_and_stays_upright() -> None:
    _, last, leaps = move("cheetah", bundled_primitive("cheetah_jump").network, 60)
    assert leaps.mean() > 0.8
    assert np.mean(np.abs(last.qpos[:, 2]) < 1.5) > 0.8


@pytest.mark.parametrize(("name", "coordinate", "goal"), [("pusher_left", 3, 0.0), ("pusher_down", 4, -1.0)])
def test_pushers_push_as_far_as_the_goal(name: str, coordinate: int, goal: float) -> None:
    first, last, _ = move("pusher", bundled_primitive(name).network, 100)
    assert np.mean(last.qpos[:, coordinate] - first.qpos[:, coordinate]) < -0.2
    assert np.mean(np.abs(last.qpos[:, coordinate] - goal)) < 0.1


def test_ants_walk_straight_in_four_directions() -> None:
    directions = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    for network, direction in zip(ANT.networks, directions, strict=True):
        first, last, _ = move("ant", network, 60)
        moved = last.qpos[:, :2] - first.qpos[:, :2]
        assert 1.5 < np.median(moved @ direction) < 3.0
        assert np.median(np.abs(moved @ direction[::-1])) < 0.3
