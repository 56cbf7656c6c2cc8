"""AntRandomGoal and AntCrossMaze against their specifications."""

import numpy as np
import pytest

from diprl.tasks.mujoco.ant import (
    APPROACH_CROSS_MAZE,
    APPROACH_RANDOM_GOAL,
    ARRIVAL_BONUS,
    CROSS_MAZE,
    MAZE_GOALS,
    RANDOM_GOAL,
    STANDING,
    start_in_maze,
)
from diprl.tasks.mujoco.description import Start, States
from diprl.tasks.mujoco.engine import gymnasium_model, import_mujoco
from diprl.tasks.mujoco.environment import MujocoEnvironment


def states(torso: tuple[float, float, float], goal: tuple[float, float]) -> States:
    qpos = np.array([[*torso, *STANDING[3:]]])
    return States(qpos, np.zeros((1, 14)), np.array([[torso]]), np.array([goal]))


def test_random_goals_lie_between_one_and_five_in_every_direction() -> None:
    goals = RANDOM_GOAL.start(np.random.default_rng(0), 20_000).goal
    radius = np.linalg.norm(goals, axis=1)
    assert radius.min() > 1.0
    assert radius.max() <= 5.0
    assert radius.mean() == pytest.approx(3.0, abs=0.05)
    quadrants = np.unique(np.sign(goals), axis=0, return_counts=True)[1]
    assert np.allclose(quadrants, 5000, atol=250)


def test_maze_goals_are_the_three_ends() -> None:
    goals = start_in_maze(np.random.default_rng(0), 300).goal
    assert np.array_equal(np.unique(goals, axis=0), np.unique(MAZE_GOALS, axis=0))


def test_reset_noise_shakes_the_standing_ant() -> None:
    drawn = RANDOM_GOAL.start(np.random.default_rng(0), 4000)
    assert np.array_equal(RANDOM_GOAL.model().qpos0, STANDING)
    assert np.abs(drawn.qpos - STANDING).max() <= 0.1
    assert np.allclose((drawn.qpos - STANDING).std(axis=0), 0.2 / np.sqrt(12), rtol=0.05)
    assert np.allclose(drawn.qvel.std(axis=0), 0.1, rtol=0.05)


def test_the_reward_pays_for_being_near() -> None:
    after = states((1.0, 0.0, 0.5), (4.0, 4.0))
    outcome = RANDOM_GOAL.judge(after, np.full((1, 8), 0.5), after)
    assert outcome.reward[0] == pytest.approx(0.3 * (5 - 4.75) + 0.05 - 0.01 * 2.0)
    assert outcome.info["distance"][0] == pytest.approx(4.75)
    maze = CROSS_MAZE.judge(after, np.zeros((1, 8)), after)
    assert maze.info["distance"][0] == pytest.approx(4.0)


def test_the_training_reward_pays_for_approaching_and_arriving_but_not_for_lingering() -> None:
    far, near, there = (states((x, 0.0, 0.5), (4.0, 0.0)) for x in (1.0, 1.1, 3.8))
    judge = APPROACH_RANDOM_GOAL.judge
    still = np.zeros((1, 8))
    assert judge(far, still, near).reward[0] == pytest.approx(0.1 / 0.05)
    assert judge(near, still, near).reward[0] == 0.0
    arrival, official = judge(near, still, there), RANDOM_GOAL.judge(near, still, there)
    assert arrival.reward[0] == pytest.approx((2.9 - 0.25) / 0.05 + ARRIVAL_BONUS)
    assert arrival.terminated[0] == official.terminated[0] == arrival.info["is_success"][0]


def test_in_the_maze_every_step_along_a_corridor_pays_alike() -> None:
    """Straight towards the goal there is a wall, so a step to the side must not pay more than one ahead."""
    here = states((2.0, 0.0, 0.5), (6.0, 6.0))
    ahead, aside = states((2.1, 0.0, 0.5), (6.0, 6.0)), states((2.0, 0.1, 0.5), (6.0, 6.0))
    pay = [APPROACH_CROSS_MAZE.judge(here, np.zeros((1, 8)), there).reward[0] for there in (ahead, aside)]
    assert pay == pytest.approx([2.0, 2.0])


def test_training_in_the_maze_begins_all_over_it_but_never_in_a_wall() -> None:
    start = APPROACH_CROSS_MAZE.start(np.random.default_rng(0), 300)
    at_origin = np.linalg.norm(start.qpos[:, :2], axis=1) < 0.2
    assert 0.4 < at_origin.mean() < 0.6
    assert (np.abs(start.qpos[:, 1]) > 2.0).mean() > 0.05
    environment = MujocoEnvironment(CROSS_MAZE)
    for row in np.flatnonzero(~at_origin)[:40]:
        environment.begin(Start(start.qpos[[row]], start.qvel[[row]], start.goal[[row]]))
        assert environment.data.ncon == 0


@pytest.mark.parametrize(
    ("torso", "terminated", "success"),
    [
        ((2.8, 0, 0.5), True, True),
        ((2.7, 0, 0.5), False, False),
        ((-5.01, 0, 0.5), True, False),
        ((0, 0, 0.1), False, False),
    ],
)
def test_random_goal_ends_at_the_goal_or_outside(
    torso: tuple[float, float, float], terminated: bool, success: bool
) -> None:
    after = states(torso, (3.0, 0.0))
    outcome = RANDOM_GOAL.judge(after, np.zeros((1, 8)), after)
    assert outcome.terminated[0] == terminated
    assert outcome.info["is_success"][0] == success


@pytest.mark.parametrize(("height", "healthy"), [(0.19, 0.0), (0.2, 0.05), (1.0, 0.05), (1.01, 0.0)])
def test_health_is_a_matter_of_height(height: float, healthy: float) -> None:
    after = states((0.0, 0.0, height), (3.0, 0.0))
    assert RANDOM_GOAL.judge(after, np.zeros((1, 8)), after).info["reward_healthy"][0] == healthy


def test_the_maze_has_no_area_limit() -> None:
    after = states((9.0, 0.0, 0.5), (12.0, 0.0))
    assert not CROSS_MAZE.judge(after, np.zeros((1, 8)), after).terminated[0]


def test_goals_and_walls_leave_the_ant_as_it_was() -> None:
    original = gymnasium_model("ant.xml").compile()
    for description in (RANDOM_GOAL, CROSS_MAZE):
        model = description.model()
        assert model.body_mass.sum() == pytest.approx(original.body_mass.sum())
        assert np.array_equal(model.dof_invweight0, original.dof_invweight0)
        assert model.opt.integrator == import_mujoco().mjtIntegrator.mjINT_RK4
        assert model.actuator_gear[:, 0].tolist() == [150.0] * 8


@pytest.mark.parametrize(
    ("x", "y", "blocked"),
    [(1, -2.2, True), (6, -7.2, True), (13.2, 0, True), (6, 5, False), (-1.7, 0, True), (8.2, 5, True)],
)
def test_walls_stand_where_they_should(x: float, y: float, blocked: bool) -> None:
    environment = MujocoEnvironment(CROSS_MAZE)
    qpos = STANDING.copy()
    qpos[:2] = x, y
    environment.begin(Start(qpos[None], np.zeros((1, 14)), MAZE_GOALS[:1]))
    assert (environment.data.ncon > 0) == blocked


def test_the_torso_place_lags_one_substep() -> None:
    environment = MujocoEnvironment(RANDOM_GOAL)
    environment.reset(seed=0)
    assert np.array_equal(environment.states.places[0, 0], environment.data.qpos[:3])
    twin = MujocoEnvironment(RANDOM_GOAL)
    twin.reset(seed=0)
    environment.step(np.full(8, 0.3))
    twin.data.ctrl[:] = 0.3
    import_mujoco().mj_step(twin.model, twin.data, 4)
    assert np.allclose(environment.states.places[0, 0], twin.data.qpos[:3], atol=1e-12)
