"""HalfCheetahHurdle against its specification."""

import numpy as np
import pytest

from diprl.tasks.mujoco.cheetah import COUNTED, HURDLE, TARGET, judge, next_hurdle, observe, start
from diprl.tasks.mujoco.description import Start, States
from diprl.tasks.mujoco.engine import gymnasium_model
from diprl.tasks.mujoco.environment import MujocoEnvironment


def states(*, torso: tuple[float, float, float] = (0, 0, 0.6), back: float = -0.6, front: float = 0.6) -> States:
    places = np.array([[torso, (back, 0.0, 0.1), (front, 0.0, 0.1)]])
    return States(np.zeros((1, 9)), np.zeros((1, 9)), places, np.empty((1, 0)))


def parts(after: States) -> dict[str, float]:
    info = judge(states(), np.zeros((1, 6)), after).info
    return {key: value[0].item() for key, value in info.items()}


@pytest.mark.parametrize(
    ("foot", "hurdle", "remaining"),
    [(-20.0, -15, 9), (-0.6, 3, 4), (3.0, 3, 4), (3.0001, 7, 3), (15.0, 15, 1), (15.1, 15, 0), (30.0, 15, 0)],
)
def test_next_hurdle_is_the_first_at_or_beyond_the_foot(foot: float, hurdle: float, remaining: int) -> None:
    position, count = next_hurdle(np.array([foot]))
    assert (position[0], count[0]) == (hurdle, remaining)


def test_beyond_the_last_hurdle_the_distance_grows_again() -> None:
    assert observe(states(back=17.5))[0, -2:].tolist() == [15.0, 2.5]
    assert observe(states(back=14.0))[0, -2:].tolist() == [15.0, 1.0]
    assert parts(states(back=17.5))["reward_hurdles"] == 0.0


@pytest.mark.parametrize(
    ("front", "penalty"),
    [(2.92, 0.0), (2.926, -2.0), (2.99, -2.0), (3.0, -2.0), (3.01, 0.0), (15.01, 0.0), (18.99, 0.0)],
)
def test_collision_is_charged_just_short_of_a_counted_hurdle(front: float, penalty: float) -> None:
    assert parts(states(front=front))["reward_collision"] == penalty


def test_hurdles_are_counted_from_the_back_foot() -> None:
    assert parts(states(back=4.0, front=8.0))["reward_hurdles"] == -3.0


def test_the_goal_pays_and_ends_the_episode() -> None:
    short, inside = states(torso=(10.9, 0, 0.5)), states(torso=(11.1, 0, 0.5))
    outcome = judge(short, np.zeros((1, 6)), inside)
    assert outcome.terminated[0]
    assert outcome.info["is_success"][0]
    assert outcome.info["distance"][0] == 0.0
    assert outcome.reward[0] > 990
    before = judge(short, np.zeros((1, 6)), short)
    assert not before.terminated[0]
    assert before.info["distance"][0] == pytest.approx(0.1)


def test_speed_is_the_change_of_position_over_the_step() -> None:
    before, after = states(), states()
    after.qpos[0, :2] = (0.1, -0.05)
    info = judge(before, np.ones((1, 6)), after).info
    assert info["reward_run"][0] == pytest.approx(2.0)
    assert info["reward_leap"][0] == pytest.approx(0.3)


def test_only_the_bars_and_the_floor_collide() -> None:
    model = HURDLE.model()
    goal = model.body("goal").geomadr[0]
    anchored = model.body_weldid[model.geom_bodyid] == 0
    fixed = [i for i in np.flatnonzero(anchored) if i != goal]
    assert len(fixed) == 13
    assert model.geom_conaffinity[fixed].tolist() == [1] * 13
    assert np.allclose(model.geom_friction[fixed], (0.4, 0.1, 0.1))
    assert (model.geom_contype[goal], model.geom_conaffinity[goal]) == (0, 0)
    assert np.array_equal(model.body("goal").pos, TARGET)


def test_masses_are_the_files_scaled_to_fourteen_kilograms() -> None:
    model = HURDLE.model()
    original = gymnasium_model("half_cheetah.xml", drop='settotalmass="14"').compile()
    names = [original.body(i).name for i in range(1, original.nbody)]
    ratios = [model.body(name).mass[0] / original.body(name).mass[0] for name in names]
    assert model.body_mass.sum() == pytest.approx(14.0)
    assert np.allclose(ratios, ratios[0])


def test_reset_noise_touches_every_coordinate() -> None:
    drawn = start(np.random.default_rng(0), 4000)
    assert np.abs(drawn.qpos).max() <= 0.1
    assert np.allclose(drawn.qpos.std(axis=0), 0.2 / np.sqrt(12), rtol=0.05)
    assert np.allclose(drawn.qvel.std(axis=0), 0.1, rtol=0.05)


def test_body_positions_are_mujocos_own_and_lag_one_substep() -> None:
    environment = MujocoEnvironment(HURDLE)
    environment.reset(seed=0)
    for _ in range(10):
        environment.step(np.full(6, 0.5))
    data, places = environment.data, environment.states.places[0]
    assert np.array_equal(places, [data.body(name).xpos for name in ("torso", "bfoot", "ffoot")])
    assert places[0, 0] == pytest.approx(data.qpos[0] - 0.01 * data.qvel[0], abs=1e-9)
    assert places[0, 0] != data.qpos[0]


def test_the_target_can_be_run_through() -> None:
    environment = MujocoEnvironment(HURDLE)
    environment.reset(seed=0)
    drawn = environment.states
    environment.begin(Start(drawn.qpos + 12.0 * np.eye(9)[:1], drawn.qvel, drawn.goal))
    environment.step(np.zeros(6))
    contacts = environment.data.contact.geom[: environment.data.ncon]
    assert environment.model.body("goal").geomadr[0] not in contacts
    assert len(COUNTED) == 9
