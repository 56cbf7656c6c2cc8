"""The environments in JavaScript against Gymnasium's own, from the same seeds."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diprl.arena.reference import evaluate_program
from diprl.export.js import language
from diprl.program import Program, parse
from diprl.report.page import TWINS, simulator
from diprl.tasks.registry import load_task
from tests.node import needs_node, run_node

pytestmark = needs_node
RESULTS = Path(__file__).parent.parent.parent / "results" / "programs"
STEPS = 200
FOLLOW = """
const result = given.actions.map((actions, index) => {
  const twin = TWINS[given.task](), state = begin(twin, given.seed + index), seen = new Float64Array(given.width);
  twin.observe(state, seen);
  const rows = [[Array.from(state), Array.from(seen), 0, false]];
  for (const action of actions) {
    const reward = twin.step(state, action);
    twin.observe(state, seen);
    rows.push([Array.from(state), Array.from(seen), reward, twin.done(state)]);
    if (twin.done(state)) break;
  }
  return rows;
});
"""
SCORE = """
const twin = TWINS[given.task](), program = parseProgram(given.text);
const starts = Array.from({ length: given.episodes }, (_, index) => begin(twin, given.seed + index));
const playing = scoreEpisodes(twin, program, starts);
let step = playing.next();
while (!step.done) step = playing.next();
const result = Array.from(step.value.returns);
"""
SWING_UP = """
features: x: "cosine of the angle", y, angular_velocity [rad/s]
outputs: torque [N m] in [-2, 2]

if x > 0.8:
    torque = -10*y - 2*angular_velocity
else:
    torque = 2*angular_velocity
"""
CLIMB = "features: position, velocity\noutputs: force in [-1, 1]\n\nforce = 30*velocity\n"


def follow(task: Any, actions: Any, seed: int) -> Iterator[tuple[list[float], list[float], float, bool]]:
    """What Gymnasium does, step by step: state, observation, reward, whether it ended."""
    environment = task.reference()
    observation, _ = environment.reset(seed=seed)
    reward, ended = 0.0, False
    for action in [*actions, None]:
        state = getattr(environment.unwrapped, "state", ())
        yield list(map(float, state)), np.asarray(observation, np.float64).tolist(), float(reward), ended
        if ended or action is None:
            break
        observation, reward, ended, _, _ = environment.step(action)
    environment.close()


@pytest.mark.parametrize("name", TWINS)
def test_trajectories_are_those_of_gymnasium(name: str, tmp_path: Path) -> None:
    task, generator, seed = load_task(name), np.random.default_rng(0), 1_000_000
    count, width = len(task.signature.actions.names), len(task.signature.features)
    if task.continuous:
        actions = generator.uniform(task.signature.actions.low, task.signature.actions.high, (20, STEPS, 1)).tolist()
    else:
        # Several steps in a row with one action, so that something happens.
        actions = np.repeat(generator.integers(0, count, (20, STEPS // 4)), 4, axis=1).tolist()
    given = {"task": name, "actions": actions, "seed": seed, "width": width}
    found = run_node(language() + simulator() + FOLLOW, given, tmp_path)
    for number, rows in enumerate(found):
        expected = list(follow(task, actions[number], seed + number))
        assert len(rows) == len(expected)
        for (state, seen, reward, ended), (true_state, observed, true_reward, over) in zip(rows, expected, strict=True):
            np.testing.assert_allclose(state[: len(true_state)], true_state, rtol=0, atol=1e-9)
            np.testing.assert_allclose(seen, observed, rtol=1e-6, atol=1e-9)
            assert reward == pytest.approx(true_reward, abs=1e-9)
            assert ended == over


def program_for(name: str) -> Program:
    own = {"Pendulum-v1": SWING_UP, "MountainCarContinuous-v0": CLIMB}
    similar = "DoorKey-6x6" if name.startswith("DoorKey") else name
    return parse(own[name]) if name in own else Program.load(RESULTS / f"{similar}.txt")


@pytest.mark.parametrize("name", TWINS)
def test_scores_are_those_of_the_reference(name: str, tmp_path: Path) -> None:
    """Not only close: the same returns from the same seeds."""
    task, program, episodes = load_task(name), program_for(name), 40
    score = evaluate_program(task, program, episodes)
    given = {"task": name, "text": str(program), "episodes": episodes, "seed": 1_000_000}
    found = run_node(language() + simulator() + SCORE, given, tmp_path)
    np.testing.assert_allclose(found, score.returns, rtol=0, atol=1e-6)


def test_every_twin_has_its_file() -> None:
    table = (files("diprl.report") / "assets" / "twins" / "table.js").read_text(encoding="utf-8")
    assert [line.split('"')[1] for line in table.splitlines() if line.startswith('  "')] == list(TWINS)
