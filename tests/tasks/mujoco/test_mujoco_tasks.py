"""The tasks as learners see them."""

from dataclasses import replace

import numpy as np
import pytest

from diprl.arena.episodes import ROUND_LENGTH, ROUNDS_SEED
from diprl.arena.reference import evaluate_many
from diprl.methods.primitives import single_primitives
from diprl.program.networks import Network
from diprl.program.signature import Continuous, Primitives
from diprl.search.trials import Trials
from diprl.tasks.mujoco import DESCRIPTIONS
from diprl.tasks.mujoco.ant import RANDOM_GOAL, judge, judge_approach
from diprl.tasks.mujoco.cheetah import BACK_FOOT, HURDLE
from diprl.tasks.mujoco.description import Description, Start, States
from diprl.tasks.mujoco.environment import MujocoEnvironment, MujocoEnvironments
from diprl.tasks.mujoco.primitive_tasks import (
    LEAPING,
    PUSHING_DOWN,
    PUSHING_LEFT,
    RUN_UP,
    RUNNING_FLAT,
    WALKING,
    ant_pace,
    effort_cost,
    has_landed,
    mixed_start,
    primitive_tasks,
    start_before_bar,
)
from diprl.tasks.mujoco.pusher import PUSHER
from diprl.tasks.mujoco.tasks import ANT, ARM, CHEETAH, Robot, mujoco_tasks

ROBOTS = {"HalfCheetahHurdle": CHEETAH, "Pusher2D": ARM, "AntRandomGoal": ANT, "AntCrossMaze": ANT}


def constant_primitives(robot: Robot, actuators: int) -> Robot:
    """The robot whose primitive number k always asks for k / 10."""
    inputs, unit = len(robot.senses), np.ones(actuators)
    mean, std = np.zeros(inputs), np.ones(inputs)
    silent = np.zeros((inputs, actuators))
    made = {
        name: Network(name, mean, std, ((silent, k / 10 * unit),), -unit, unit)
        for k, name in enumerate(robot.primitives)
    }
    return replace(robot, primitives={name: lambda name=name: made[name] for name in made})


@pytest.mark.parametrize("name", sorted(ROBOTS))
def test_views_hold_features_observation_and_primitive_actions(name: str) -> None:
    task, description = mujoco_tasks()[name](), DESCRIPTIONS[name]
    layout, primitives = task.layout, task.signature.actions
    assert isinstance(primitives, Primitives)
    actuators = description.action_size
    robot = constant_primitives(ROBOTS[name], actuators)
    batch = MujocoEnvironments(description, robot.view, 3)
    views = batch.reset(seed=0)
    observations = description.observe(batch.states)
    assert views.shape == (3, layout.size)
    assert views.dtype == np.float32
    assert layout.features == len(task.signature.features)
    assert np.array_equal(views[:, layout.features : layout.critic], observations.astype(np.float32))
    actions = views[:, layout.critic :].reshape(3, layout.primitives, layout.actuators)
    assert np.allclose(actions, np.arange(len(primitives.names))[:, None] / 10)
    assert len(primitives.low) == len(primitives.high) == layout.actuators == actuators
    for value, feature in zip(views.T, task.signature.features, strict=False):
        assert (value >= feature.low).all()
        assert (value <= feature.high).all()
    environment = task.reference()
    assert environment.reset(seed=0)[0].shape == (layout.critic - layout.features,)


def test_condition_features_are_what_their_names_say() -> None:
    observation = np.zeros((1, 31))
    observation[0, [0, 1, 29, 30]] = (-3.0, 4.0, 1.0, 2.0)
    assert ANT.read(observation)[0].tolist() == pytest.approx([-3, 4, 1, 2, np.arctan2(4, -3), 5])
    assert ARM.read(np.arange(15.0)[None])[0].tolist() == [9, 10, 12, 13]
    assert CHEETAH.read(np.arange(20.0)[None])[0].tolist() == [18, 19]


def test_budgets_and_paper_scores() -> None:
    facts = {name: (make().budget, make().paper_score, make().horizon) for name, make in mujoco_tasks().items()}
    assert facts == {
        "HalfCheetahHurdle": (5_000_000, 723.88, 1000),
        "HalfCheetahHurdle-composed": (5_000_000, 723.88, 1000),
        "Pusher2D": (250_000, -78.62, 100),
        "AntRandomGoal": (6_000_000, 413.12, 500),
        "AntCrossMaze": (5_000_000, 220.25, 1000),
        "AntRandomGoal-return": (6_000_000, 413.12, 500),
        "AntCrossMaze-unmodified": (5_000_000, 220.25, 1000),
        "AntCrossMaze-return": (5_000_000, 220.25, 1000),
    }


@pytest.mark.parametrize("name", ["AntRandomGoal", "AntCrossMaze"])
def test_ants_train_to_arrive_unless_asked_for_the_return(name: str) -> None:
    arriving, returning = mujoco_tasks()[name](), mujoco_tasks()[f"{name}-return"]()
    judges = [task.environments.args[0].judge.func for task in (arriving, returning)]  # type: ignore[union-attr]
    assert judges == [judge_approach, judge]
    starts = [task.environments.args[0].start for task in (arriving, returning)]  # type: ignore[union-attr]
    assert starts[0] is starts[1]
    assert arriving.reference().spec == returning.reference().spec


@pytest.mark.parametrize(("description", "bars"), [(RUNNING_FLAT, []), (LEAPING, [0.0])])
def test_the_composed_skills_are_learnt_away_from_the_track(description: Description, bars: list[float]) -> None:
    model = description.model()
    boxes = model.geom_pos[model.geom_type == 6]  # mjGEOM_BOX
    assert boxes[:, 0].tolist() == bars
    assert len(HURDLE.model().geom_pos[HURDLE.model().geom_type == 6]) == 12


def test_a_leap_begins_a_short_way_before_the_bar_and_mostly_under_way() -> None:
    running = Start(np.ones((5, 9)), np.full((5, 9), 3.0), np.empty((5, 0)))
    start = start_before_bar(lambda: running, np.random.default_rng(0), 1000)
    assert -RUN_UP[1] <= start.qpos[:, 0].min() < start.qpos[:, 0].max() <= -RUN_UP[0]
    assert np.mean(start.qvel[:, 0] > 1.5) == pytest.approx(0.85, abs=0.03)
    assert len(np.unique(start.qpos[:, 3])) == 1000  # no two gaits are the same


def test_a_run_begins_where_a_leap_ends() -> None:
    places = np.zeros((4, 3, 3))
    places[:, BACK_FOOT, 0] = [-0.1, 0.2, 0.9, 1.1]
    qpos = np.zeros((4, 9))
    assert has_landed(States(qpos, qpos, places, np.empty((4, 0)))).tolist() == [False, True, True, False]
    qpos[:, 2] = 1.2  # on its nose
    assert not has_landed(States(qpos, qpos, places, np.empty((4, 0)))).any()


def test_a_search_plays_what_training_pays() -> None:
    arriving, returning = mujoco_tasks()["AntRandomGoal"](), mujoco_tasks()["AntRandomGoal-return"]()
    lingering = single_primitives(arriving)["up"]
    practised, scored = (Trials(task, lingering).play([lingering], 2)[0] for task in (arriving, returning))
    assert (practised < 150.0).all()  # 4.75 m of approach in steps of 0.05 s, and the bonus
    assert (practised != scored).all()
    np.testing.assert_array_equal(scored, evaluate_many(arriving, [lingering], 2, ROUNDS_SEED + ROUND_LENGTH)[0][0])


@pytest.mark.parametrize("name", ["cheetah_forward", "cheetah_run", "pusher_left", "ant_up"])
def test_training_tasks_run_on_the_backend_and_in_gymnasium(name: str) -> None:
    task = primitive_tasks()[name]()
    assert isinstance(task.signature.actions, Continuous)
    actuators = len(task.signature.actions.names)
    assert task.environments is not None
    batch = task.environments(2)
    assert batch.reset(seed=0).shape == (2, task.layout.size) == (2, len(task.signature.features))
    step = batch.step(np.zeros((2, actuators)))
    assert np.isfinite(step.reward).all()
    environment = task.reference()
    assert environment.reset(seed=0)[0].shape == (task.layout.size,)
    assert environment.observation_space.contains(environment.step(np.zeros(actuators))[0])


def test_primitives_cannot_sense_where_they_are() -> None:
    for name, hidden in (("cheetah_forward", [0]), ("ant_up", [0, 1])):
        task = primitive_tasks()[name]()
        assert task.environments is not None
        batch = task.environments(1)
        assert isinstance(batch, MujocoEnvironments)
        batch.reset(seed=0)
        before = batch.description.observe(batch.states)
        batch.states.qpos[:, hidden] += 3.0
        assert np.array_equal(batch.description.observe(batch.states), before)


def test_effort_grows_dearer_while_training() -> None:
    assert [effort_cost(p) for p in (0.0, 0.25, 0.45, 0.65, 1.0)] == pytest.approx([0.02, 0.02, 0.06, 0.1, 0.1])
    task = primitive_tasks()["pusher_left"]()
    assert task.environments is not None
    batch = task.environments(1)
    assert isinstance(batch, MujocoEnvironments)
    costs = []
    for progress in (0.0, 1.0):
        batch.reset(seed=0)
        batch.set_progress(progress)
        costs.append(batch.step(np.ones((1, 3))).info["reward_effort"][0])
    assert costs == pytest.approx([-0.06, -0.3])


def test_a_share_of_episodes_begins_in_the_bank() -> None:
    bank = Start(np.full((1, 5), 9.0), np.full((1, 5), 9.0), np.empty((1, 0)))
    drawn = mixed_start(PUSHER.start, lambda: bank, np.random.default_rng(0), 1000)
    from_bank = (drawn.qpos == 9.0).all(axis=1)
    assert 400 < from_bank.sum() < 600
    assert np.array_equal(from_bank, (drawn.qvel == 9.0).all(axis=1))


@pytest.mark.parametrize(
    ("description", "coordinate", "goal"),
    [(PUSHING_LEFT, 3, 0.0), (PUSHING_DOWN, 4, -1.0)],
    ids=["pusher_left", "pusher_down"],
)
def test_a_push_costs_what_is_left_of_its_own_coordinate(
    description: Description, coordinate: int, goal: float
) -> None:
    start = PUSHER.start(np.random.default_rng(1), 5)
    near, far = (place(start, coordinate, goal + offset) for offset in (-0.1, 0.4))
    costs = [description.judge(states, np.zeros((5, 3)), states).info["reward_push"] for states in (near, far)]
    assert costs[0] == pytest.approx(-0.1)
    assert costs[1] == pytest.approx(-0.4)


def place(start: Start, coordinate: int, value: float) -> States:
    qpos = start.qpos.copy()
    qpos[:, coordinate] = value
    return States(qpos, start.qvel, np.zeros((len(qpos), 2, 3)), start.goal)


@pytest.mark.parametrize(
    ("name", "pitch", "ends"),
    [("cheetah_forward", 1.2, False), ("cheetah_forward", 1.8, True), ("cheetah_jump", 1.2, True)],
)
def test_falling_over_ends_a_run_and_leaning_a_jump(name: str, pitch: float, ends: bool) -> None:
    environment = primitive_tasks()[name]().reference().unwrapped
    assert isinstance(environment, MujocoEnvironment)
    environment.begin(Start(np.array([[0.0, 0.5, pitch] + [0.0] * 6]), np.zeros((1, 9)), np.empty((1, 0))))
    assert environment.step(np.zeros(6))[2] == ends


@pytest.mark.parametrize(("speed", "pay"), [(0.4, 0.4), (1.0, 1.0), (1.5, 0.5)])
def test_the_ant_is_paid_for_a_steady_pace_and_not_for_drift(speed: float, pay: float) -> None:
    start = RANDOM_GOAL.start(np.random.default_rng(0), 1)
    before = States(start.qpos, start.qvel, np.full((1, 1, 3), 0.6), start.goal)
    after = before._replace(qpos=before.qpos + 0.05 * np.array([speed, -0.3] + [0.0] * 13))
    info = WALKING.judge(before, np.zeros((1, 8)), after).info
    assert info["reward_walk"][0] == pytest.approx(pay)
    assert info["reward_drift"][0] == pytest.approx(-0.3)
    assert ant_pace(0.3) == (np.inf, 0.0)


def test_ants_learn_to_walk_out_of_any_hand_over() -> None:
    drawn = WALKING.start(np.random.default_rng(0), 2000)
    speeds = drawn.qvel[:, :2]
    assert speeds.min() < -1.2
    assert speeds.max() > 1.2
    assert np.ptp(drawn.qpos[:, 6]) > 0.4
    assert np.abs(drawn.qpos[:, :2]).max() <= 0.1
