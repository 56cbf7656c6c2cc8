"""Training primitives and comparing programs with them."""

from dataclasses import replace
from pathlib import Path

import jax
import jax.random as jr
import numpy as np
import pytest

from diprl.arena.score import Score
from diprl.errors import DiprlError
from diprl.methods import primitives
from diprl.methods.agents import neural_agent
from diprl.methods.primitives import chance, greedy_network, share_grid, single_primitives, train_primitive
from diprl.policy.base import HARD, Temperatures
from diprl.program import Blend, Program
from diprl.runs.observers import Snapshot
from diprl.tasks.base import Task
from diprl.tasks.mujoco.primitive_tasks import primitive_tasks
from diprl.tasks.mujoco.primitives import load_primitive
from diprl.tasks.registry import load_task
from diprl.train.settings import Settings

TINY = Settings().with_values(
    num_envs=4, num_steps=8, minibatch_size=16, num_epochs=1, hidden_size=8, scale_rewards=True
)


def test_the_file_holds_the_greedy_network() -> None:
    task = primitive_tasks()["pusher_left"]()
    generator = np.random.default_rng(0)
    agent = jax.jit(lambda key: neural_agent(task, TINY, key=key))(jr.key(3))
    views = generator.normal(2.0, 3.0, (40, task.layout.size)).astype(np.float32)
    normaliser = jax.jit(lambda statistics, rows: statistics.update(rows))(agent.normaliser, views)
    agent = replace(agent, normaliser=normaliser)
    network = greedy_network(agent, task)
    noise = jax.numpy.full(agent.policy.noise_size, 0.3)
    greedy = jax.jit(jax.vmap(lambda view: agent.act(view, noise, Temperatures(), HARD)))(views)
    assert np.allclose(network.actions(views), np.clip(greedy, -3, 3), atol=1e-5)
    assert network.name == "pusher_left"


def test_training_goes_on_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(primitives, "preset_settings", lambda *_: TINY)
    seen: list[int] = []

    def train(steps: int, stop: int = 10**9) -> primitives.Primitive:
        def watch(snapshot: Snapshot) -> None:
            seen.append(snapshot.steps)
            if snapshot.steps >= stop:
                raise KeyboardInterrupt

        options = {"seed": 1, "observers": (watch,), "episodes": 1}
        return train_primitive("pusher_left", tmp_path / str(steps), total_timesteps=steps, **options)  # type: ignore[arg-type]

    with pytest.raises(KeyboardInterrupt):
        train(64, stop=32)
    first, again = train(64), train(64)
    assert seen == [32, 64]
    assert np.array_equal(first.network.layers[0][0], again.network.layers[0][0])
    assert not np.array_equal(train(96).network.layers[0][0], first.network.layers[0][0])
    assert first.command == "diprl primitives train pusher_left --seed 1 --total-timesteps 64"


def test_an_unknown_primitive_answers_with_the_nearest() -> None:
    with pytest.raises(DiprlError, match="pusher_left"):
        train_primitive("pusher_lef", Path("runs"))


def test_the_command_line_writes_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from diprl.cli import main

    monkeypatch.setattr(primitives, "preset_settings", lambda *_: TINY)
    options = f"--total-timesteps 32 --out {tmp_path} --runs {tmp_path}/runs --episodes 1".split()
    with pytest.raises(SystemExit) as ended:
        main(["primitives", "train", "pusher_left", *options])
    assert ended.value.code == 0
    written = load_primitive(tmp_path / "pusher_left.primitive")
    assert f"score {written.score:.2f}" in capsys.readouterr().out
    assert (tmp_path / "runs" / "pusher_left-seed0" / "metrics.csv").read_text().count("\n") == 2


def test_shares_cover_the_simplex() -> None:
    grid = list(share_grid(4, 4))
    assert len(grid) == len({tuple(shares) for shares in grid}) == 35
    assert np.allclose(np.sum(grid, axis=1), 1.0)
    assert [0.0, 0.0, 0.0, 1.0] in grid


def test_a_constant_program_runs_one_primitive() -> None:
    programs = single_primitives(load_task("AntRandomGoal"))
    assert list(programs) == ["up", "down", "left", "right"]
    actions = np.arange(8.0).reshape(1, 4, 2).repeat(4, axis=2) / 8
    chosen = programs["left"].act_batch(np.zeros((1, 6)), actions)
    assert np.array_equal(chosen[0], actions[0, 2])
    with pytest.raises(DiprlError, match="no primitives"):
        single_primitives(load_task("CartPole-v1"))


def test_the_best_blend_is_the_one_that_ranks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluate(task: Task, program: Program, *_: int) -> Score:
        assert isinstance(program.root, Blend)
        right = program.root.weights[1]
        return Score((right * (1.0 - right),), {"is_success": float(right > 0.7)})

    monkeypatch.setattr(primitives, "evaluate_program", evaluate)
    found = primitives.best_blends(load_task("Pusher2D"))
    assert {name: program.root for name, program in found.items()} == {
        "best blend by return": Blend((0.5, 0.5)),
        "best blend by success": Blend((0.25, 0.75)),
    }


def test_chance_says_how_sure_it_is_that_a_program_beats_every_other() -> None:
    noise = np.random.default_rng(0).normal(size=300)
    program = Score(tuple(noise), {"is_success": 0.9})
    worse, alike = Score(tuple(0.9 * noise - 0.1), {"is_success": 0.5}), Score(tuple(noise[::-1]), {"is_success": 0.88})
    assert max(chance(program, [worse]).values()) < 1e-9
    assert min(chance(program, [worse, alike]).values()) > 0.1
    assert chance(program, [worse, program])["p_return"] == 1.0, (
        "no difference is no success, and no number would be no JSON"
    )
    assert list(chance(Score((1.0, 2.0)), [Score((0.0, 0.5))])) == ["p_return"]
