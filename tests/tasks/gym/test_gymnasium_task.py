"""Any Gymnasium environment as a task: its spaces, its names, and the sentences for what cannot be done."""

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from diprl.errors import DiprlError
from diprl.program.names import is_identifier
from diprl.program.signature import Continuous, Discrete
from diprl.tasks.gym.spaces import actions_of, features_of, native_action
from diprl.tasks.registry import load_task

NAMED = ("classic_control", "box2d", "mujoco")
OBSOLETE = ("-v2", "-v3")


def documented_ids() -> list[str]:
    """Every id of Gymnasium's own classic-control, Box2D and MuJoCo environments that can be made here."""
    ids = []
    for identifier, spec in gym.registry.items():
        entry = str(spec.entry_point)
        outdated = "mujoco" in entry and identifier.endswith(OBSOLETE)
        if any(f"gymnasium.envs.{family}" in entry for family in NAMED) and not outdated:
            ids.append(identifier)
    return sorted(set(ids) - {"Pusher-v4", "CarRacing-v3", "CartPole-v0"})


class Echo(gym.Env[Any, Any]):
    """Shows samples of any observation space and remembers the actions it got."""

    def __init__(self, shown: gym.Space[Any], taken: gym.Space[Any], render_mode: str | None = None) -> None:
        self.observation_space, self.action_space, self.render_mode = shown, taken, render_mode
        self.received: list[Any] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.received.append(action)
        return self.observation_space.sample(), 0.0, False, False, {}


PLAIN = spaces.Box(-1.0, 1.0, (2,))
MIXED = spaces.Dict(
    {
        "arm": spaces.Dict({"angle": spaces.Box(-3.0, 3.0, (2,)), "held": spaces.MultiBinary(1)}),
        "room no.": spaces.Discrete(3, start=1),
        "pair": spaces.Tuple([spaces.Box(0.0, np.inf, ()), spaces.MultiDiscrete([2, 2])]),
    }
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("identifier", documented_ids())
def test_gymnasiums_own_environments_have_names(identifier: str) -> None:
    signature = load_task(identifier).signature
    names = [*signature.feature_names, *signature.actions.names]
    assert all(is_identifier(name) for name in names)
    assert len(set(signature.feature_names)) == len(signature.features)
    assert signature.features[0].name != "x0"
    assert not names[-1].startswith("action")
    assert any(feature.unit for feature in signature.features) or "MountainCar" in identifier


def test_parts_of_an_observation_are_named_by_key() -> None:
    features = features_of(MIXED)
    assert [feature.name for feature in features] == [
        *("arm_angle_0", "arm_angle_1", "arm_held"),
        *("pair_part0", "pair_part1_0_is_0", "pair_part1_0_is_1", "pair_part1_1_is_0", "pair_part1_1_is_1"),
        *("room_no_is_1", "room_no_is_2", "room_no_is_3"),
    ]
    assert (features[0].low, features[0].high) == (-3.0, 3.0)
    assert features[3].high == np.inf


def test_flattened_numbers_lie_under_their_names() -> None:
    task = load_task(partial(Echo, MIXED, spaces.Discrete(2)))
    environment = task.reference()
    for seed in range(20):
        observation, _ = environment.reset(seed=seed)
        seen = dict(zip(task.signature.feature_names, task.view(observation[None])[0], strict=True))
        MIXED.seed(seed)
        raw = MIXED.sample()
        assert seen["arm_angle_1"] == np.float32(raw["arm"]["angle"][1])
        assert seen["arm_held"] == raw["arm"]["held"][0]
        assert seen[f"room_no_is_{raw['room no.']}"] == 1.0
        assert seen[f"pair_part1_1_is_{raw['pair'][1][1]}"] == 1.0


def test_a_discrete_observation_is_one_hot() -> None:
    task = load_task("FrozenLake-v1")
    observation, _ = task.reference().reset(seed=0)
    np.testing.assert_array_equal(task.view(observation[None])[0], np.eye(16)[0])
    assert task.signature.feature_names[15] == "state_is_15"


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_joint_actions_reach_every_combination_once(counts: list[int]) -> None:
    space = spaces.MultiDiscrete(counts, start=np.arange(len(counts)))
    names = actions_of(space).names
    reached = {tuple(native_action(space, index).tolist()) for index in range(len(names))}
    assert len(reached) == len(names) == np.prod(counts)
    assert all(space.contains(native_action(space, index)) for index in range(len(names)))
    first_values = tuple(np.array(reached.pop()) * 0 + np.arange(len(counts)))
    assert tuple(native_action(space, 0)) == first_values
    assert names[0] == "set_" + "_".join("0" * len(counts))


def test_actions_arrive_as_the_environment_wants_them() -> None:
    shifted = load_task(partial(Echo, PLAIN, spaces.Discrete(3, start=5))).reference()
    shifted.reset(seed=0)
    shifted.step(2)
    assert shifted.unwrapped.received == [7]  # type: ignore[attr-defined]
    bounded = load_task(partial(Echo, PLAIN, spaces.Box(-2.0, 2.0, (2, 2)))).reference()
    bounded.reset(seed=0)
    bounded.step(np.array([-9.0, 0.5, 1.0, 9.0]))
    np.testing.assert_array_equal(bounded.unwrapped.received[0], [[-2.0, 0.5], [1.0, 2.0]])  # type: ignore[attr-defined]


def test_unbounded_actions_stay_unbounded() -> None:
    task = load_task(partial(Echo, PLAIN, spaces.Box(-np.inf, np.inf, (1,))))
    assert task.signature.actions == Continuous(("a0",), (-np.inf,), (np.inf,))
    environment = task.reference()
    environment.reset(seed=0)
    environment.step(np.array([1e6]))
    assert environment.unwrapped.received[0] == [1e6]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("shown", "taken", "words"),
    [
        (spaces.Box(0, 255, (8, 8, 3), np.uint8), spaces.Discrete(2), "is an image of shape"),
        (spaces.Dict({"eye": spaces.Box(0, 255, (4, 4, 3), np.uint8)}), spaces.Discrete(2), "is an image"),
        (spaces.Box(0, 1, (513,)), spaces.Discrete(2), "has 513 numbers, more than the 512"),
        (spaces.Text(5), spaces.Discrete(2), "an observation of type Text"),
        (spaces.Sequence(spaces.Discrete(2)), spaces.Discrete(2), "an observation of type Sequence"),
        (PLAIN, spaces.MultiDiscrete([9, 9]), "81 combinations, more than the 64"),
        (PLAIN, spaces.Tuple([spaces.Discrete(2)]), "actions of type Tuple are not supported"),
    ],
)
def test_refusals_say_why(shown: gym.Space[Any], taken: gym.Space[Any], words: str) -> None:
    with pytest.raises(DiprlError, match=words):
        load_task(partial(Echo, shown, taken))


def test_a_users_features_are_what_programs_speak_of() -> None:
    own = [("speed", "m/s", lambda seen: float(np.hypot(*seen))), ("leans_left", "", lambda seen: seen[0] < 0)]
    task = load_task(partial(Echo, PLAIN, spaces.Discrete(2)), features=own)
    assert [(feature.name, feature.unit) for feature in task.signature.features] == [
        ("speed", "m/s"),
        ("leans_left", ""),
    ]
    np.testing.assert_allclose(task.view(np.array([[3.0, 4.0], [-1.0, 0.0]])), [[5.0, 0.0], [1.0, 1.0]])
    assert task.layout.size == 2


def test_a_users_features_read_any_observation() -> None:
    own = [("colour", "", lambda seen: seen["image"][0, 0, 0]), ("words", "", lambda seen: len(seen["text"]))]
    shown = spaces.Dict({"image": spaces.Box(0, 255, (2, 2, 3), np.uint8), "text": spaces.Text(4)})
    task = load_task(partial(Echo, shown, spaces.Discrete(2)), features=own)
    observation, _ = task.reference().reset(seed=1)
    assert task.view(observation[None]).shape == (1, 2)
    shown.seed(1)
    raw = shown.sample()
    np.testing.assert_array_equal(observation, [raw["image"][0, 0, 0], len(raw["text"])])


def test_a_users_names_replace_known_ones() -> None:
    task = load_task("CartPole-v1", feature_names=["x", "v", "a", "w"], action_names=["push_left", "push_right"])
    assert task.signature.feature_names == ("x", "v", "a", "w")
    assert task.signature.actions == Discrete(("push_left", "push_right"))
    assert task.twin is not None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feature_names": ["x"]}, "feature_names has 1 entries, but the environment has 4 features"),
        ({"feature_names": ["x", "x", "y", "z"]}, "feature name 'x' is used twice"),
        ({"action_names": ["go left", "right"]}, "action name 'go left' is not an identifier"),
        ({"feature_names": ["a", "b", "c", "if"]}, "feature name 'if' is not an identifier"),
        ({"features": [("speed", "", len)], "feature_names": ["s"]}, "either `features` or `feature_names`"),
        ({"env_kwargs": {"gravity": 3}}, "CartPole-v1 could not be made with {'gravity': 3}"),
    ],
)
def test_bad_names_and_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(DiprlError, match=words):
        load_task("CartPole-v1", **options)
