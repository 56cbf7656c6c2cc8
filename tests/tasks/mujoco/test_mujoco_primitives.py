"""Primitives: evaluation, files, and the ant's symmetry."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from diprl.errors import DiprlError
from diprl.program.networks import Network
from diprl.system.storage import save_arrays
from diprl.tasks.mujoco.ant import RANDOM_GOAL, STANDING
from diprl.tasks.mujoco.description import Start
from diprl.tasks.mujoco.environment import Simulator
from diprl.tasks.mujoco.primitives import Primitive, bundled_primitive, load_primitive, save_primitive
from diprl.tasks.mujoco.symmetry import TURN_OF_ACTIONS, TURN_OF_STATE, turn, turned
from diprl.tasks.mujoco.tasks import ANT


def random_network(inputs: int = 27, outputs: int = 8, seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)
    sizes = (inputs, 16, 12, outputs)
    layers = tuple((rng.normal(size=(n, m)) / np.sqrt(n), 0.1 * rng.normal(size=m)) for n, m in pairwise(sizes))
    mean, std = rng.normal(size=inputs), rng.uniform(0.5, 2.0, inputs)
    bound = np.ones(outputs)
    return Network("test", mean, std, layers, -bound, bound)


def random_primitive(seed: int = 0) -> Primitive:
    return Primitive(random_network(seed=seed), "task", 1.5, "diprl primitives train test")


def test_actions_are_the_network_clipped() -> None:
    layers = ((np.array([[2.0]]), np.array([0.5])), (np.array([[3.0]]), np.array([0.0])))
    unit = np.ones(1)
    network = Network("p", 1.0 * unit, 2.0 * unit, layers, -unit, unit)
    actions = network.actions(np.array([[1.0], [0.4], [9.0]]))
    assert actions[:, 0].tolist() == pytest.approx([1.0, 3 * np.tanh(-0.1), 1.0])


def test_a_file_round_trip_keeps_everything(tmp_path: Path) -> None:
    primitive = random_primitive()
    save_primitive(primitive, tmp_path / "p.primitive")
    loaded = load_primitive(tmp_path / "p.primitive")
    assert loaded.network.name == primitive.network.name
    about = ("task", "score", "command")
    assert [getattr(loaded, key) for key in about] == [getattr(primitive, key) for key in about]
    observations = np.random.default_rng(1).normal(size=(5, 27))
    assert np.allclose(loaded.network.actions(observations), primitive.network.actions(observations), atol=1e-5)
    save_primitive(loaded, tmp_path / "again.primitive")
    assert (tmp_path / "again.primitive").read_bytes() == (tmp_path / "p.primitive").read_bytes()


@pytest.mark.parametrize("position", [0, 200, 700, 1200, 2000, -30])
def test_a_damaged_byte_is_noticed(tmp_path: Path, position: int) -> None:
    path = tmp_path / "p.primitive"
    save_primitive(random_primitive(), path)
    content = bytearray(path.read_bytes())
    content[position] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DiprlError, match=r"p\.primitive"):
        load_primitive(path)


@pytest.mark.parametrize("content", [b"", b"not a primitive", b"0" * 64 + b"\n{}"])
def test_a_file_that_is_no_primitive_is_explained(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.primitive").write_bytes(content)
    with pytest.raises(DiprlError, match=r"p\.primitive.*not a readable primitive file"):
        load_primitive(tmp_path / "p.primitive")


def test_a_file_of_the_earlier_format_is_refused_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "ant_up.npz", header=np.array("{}"), mean=np.ones(2, np.float32))
    with pytest.raises(DiprlError, match=r"ant_up\.npz: .*not a readable primitive file: train it again"):
        load_primitive(tmp_path / "ant_up.npz")


def test_an_older_file_never_stands_in_for_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "p.primitive"
    save_primitive(random_primitive(seed=1), path)
    save_primitive(random_primitive(seed=2), path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DiprlError, match="checksum does not match"):
        load_primitive(path)


def test_a_checkpoint_is_no_primitive(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    save_arrays(path, {"mean": np.ones(2, np.float32)}, {"steps": 64})
    with pytest.raises(DiprlError, match=r"checkpoint: .*are not those of a primitive"):
        load_primitive(path)


def test_arrays_that_do_not_fit_are_refused() -> None:
    good = random_network()
    with pytest.raises(DiprlError, match="layer 0"):
        Network("p", good.mean[1:], good.std[1:], good.layers, good.low, good.high)
    with pytest.raises(DiprlError, match="std must be positive"):
        Network("p", good.mean, 0 * good.std, good.layers, good.low, good.high)
    with pytest.raises(DiprlError, match="not finite"):
        Network("p", good.mean * np.nan, good.std, good.layers, good.low, good.high)


def test_a_missing_primitive_says_how_to_train_it() -> None:
    with pytest.raises(DiprlError, match="diprl primitives train cheetah_sideways"):
        bundled_primitive("cheetah_sideways")


def test_four_quarter_turns_change_nothing() -> None:
    for origins in (TURN_OF_STATE, TURN_OF_ACTIONS):
        vector = np.arange(1.0, 1 + len(origins))
        twice = turn(origins, turn(origins, vector))
        assert np.array_equal(turn(origins, turn(origins, twice)), vector)
        assert not np.array_equal(twice, vector)


def test_turned_ants_walk_turned_paths() -> None:
    """Four ants whose states and controllers differ by quarter turns stay turned copies of each other."""
    drawn = RANDOM_GOAL.start(np.random.default_rng(4), 1)
    drawn.qpos[0, 3:7] /= np.linalg.norm(drawn.qpos[0, 3:7])
    vectors = [np.concatenate((drawn.qpos[0], drawn.qvel[0]))]
    for _ in range(3):
        vectors.append(turn(TURN_OF_STATE, vectors[-1]))
    controllers = [turned(random_network(), turns) for turns in range(4)]
    simulator = Simulator(RANDOM_GOAL, 4)
    batch = np.array(vectors)
    states = simulator.settle(Start(batch[:, :15], batch[:, 15:], np.zeros((4, 2))))
    for _ in range(20):
        felt = ANT.feel(RANDOM_GOAL.observe(states))
        actions = np.vstack([c.actions(felt[i : i + 1]) for i, c in enumerate(controllers)])
        states = simulator.advance(states, actions)
    expected = np.concatenate((states.qpos[0], states.qvel[0]))
    for qpos, qvel in zip(states.qpos[1:], states.qvel[1:], strict=True):
        expected = turn(TURN_OF_STATE, expected)
        assert np.abs(np.concatenate((qpos, qvel)) - expected).max() < 1e-6
    assert np.linalg.norm(states.qpos[0, :2] - STANDING[:2]) > 0.1
    simulator.close()
