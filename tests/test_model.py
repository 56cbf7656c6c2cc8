"""The Python interface, as users of Stable-Baselines3 would try it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diprl import CheckpointCallback, DiPRL, EvalCallback, Program, StopAtScore
from diprl.errors import DiprlError
from diprl.runs.observers import Snapshot
from diprl.runs.spec import RunSpec
from diprl.system.storage import StorageError, save_tree
from tests.small import ROLLOUT, SMALL, registered_probes


@pytest.fixture(autouse=True, scope="module")
def probes_by_name() -> Iterator[None]:
    with registered_probes():
        yield


def untrained(**options: Any) -> DiPRL:
    return DiPRL("ThresholdProbe", **{"learning_rate": 0.02, **SMALL, **options})


@pytest.fixture(scope="module")
def model(probes_by_name: None) -> DiPRL:
    return untrained(seed=5).learn(8 * ROLLOUT)


def test_learning_returns_the_model_and_counts_steps(model: DiPRL) -> None:
    assert isinstance(model, DiPRL)
    assert model.num_timesteps == 8 * ROLLOUT
    assert untrained().learn(ROLLOUT + 1).num_timesteps == 2 * ROLLOUT


def test_the_same_seed_gives_the_same_program(model: DiPRL) -> None:
    assert untrained(seed=5).learn(8 * ROLLOUT).program == model.program
    assert untrained(seed=6).learn(8 * ROLLOUT).program != model.program


def test_predict_takes_one_observation_or_many(model: DiPRL) -> None:
    one, state = model.predict(np.array([0.9], np.float32), state="kept", episode_start=np.ones(1), deterministic=True)
    assert (int(one), state, np.ndim(one)) == (model.program.act([0.9]), "kept", 0)
    batch, _ = model.predict(np.array([[0.9], [-0.9], [0.1]], np.float32))
    np.testing.assert_array_equal(batch, [model.program.act([x]) for x in (0.9, -0.9, 0.1)])


def test_an_evaluation_loop_like_stable_baselines_runs(model: DiPRL) -> None:
    """Vectorised observations, states and starts go in; one action per environment comes out."""
    environments = [model.task.reference() for _ in range(3)]
    observations = np.stack([env.reset(seed=i)[0] for i, env in enumerate(environments)])
    states, starts = None, np.ones(3, bool)
    for _ in range(4):
        actions, states = model.predict(observations, state=states, episode_start=starts, deterministic=True)
        assert actions.shape == (3,)
        steps = [env.step(action) for env, action in zip(environments, actions, strict=True)]
        starts = np.array([step[2] or step[3] for step in steps])
        ends = zip(environments, starts, steps, strict=True)
        observations = np.stack([env.reset()[0] if start else step[0] for env, start, step in ends])


def test_what_is_printed_is_what_was_scored(model: DiPRL) -> None:
    observations = np.random.default_rng(0).uniform(-1, 1, (100_000, 1))
    printed = Program.from_text(str(model.program))
    np.testing.assert_array_equal(printed.act_batch(observations), model.predict(observations.astype(np.float64))[0])


def test_the_repr_is_a_table_of_programs_by_size() -> None:
    assert repr(untrained()) == "DiPRL('ThresholdProbe')"
    model = untrained(seed=5, polish_share=0.3).learn()
    title, header, *rows = repr(model).splitlines()
    assert title.startswith("DiPRL on ThresholdProbe, seed 5, ")
    assert header.split() == ["numbers", "conditions", "score", "95%", "interval"]
    assert [row.startswith("→") for row in rows].count(True) == 1
    assert model.front.program == model.program == model.pick()
    assert model.pick(numbers=2).coefficients <= 2


def test_without_a_search_there_is_one_program(model: DiPRL) -> None:
    assert repr(model) == "DiPRL on ThresholdProbe, seed 5, 2,048 steps"
    with pytest.raises(DiprlError, match="polish_share was 0"):
        model.pick(numbers=3)


def test_saving_keeps_every_bit(model: DiPRL, tmp_path: Path) -> None:
    model.save(tmp_path / "new folder" / "model")
    loaded = DiPRL.load(tmp_path / "new folder" / "model")
    assert loaded.program == model.program
    assert loaded.gap == model.gap
    assert (loaded.spec, loaded.num_timesteps) == (model.spec, model.num_timesteps)
    assert [loaded.program_at(d) for d in (1, 2, 3)] == [model.program_at(d) for d in (1, 2, 3)]
    assert repr(loaded) == repr(model)
    mine, other = (np.asarray(each.trained.state.vector) for each in (model, loaded) if each.trained)
    assert mine.tobytes() == other.tobytes()


def test_a_loaded_model_goes_on_learning(model: DiPRL, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again, other = DiPRL.load(tmp_path / "model").learn(2 * ROLLOUT), untrained(seed=5).learn(2 * ROLLOUT)
    assert again.num_timesteps == 2 * ROLLOUT
    assert again.program != other.program


def test_loading_under_the_user_s_names(tmp_path: Path) -> None:
    named = untrained(feature_names=["place"], action_names=["stop", "go"]).learn(ROLLOUT)
    named.save(tmp_path / "model")
    assert DiPRL.load(tmp_path / "model").program == named.program
    assert named.program.signature.feature_names == ("place",)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({}, "not a saved model"),
        ({"spec": RunSpec("CartPole-v1", "ppo").to_json()}, "holds a model of method 'ppo', not 'diprl'"),
        ({"spec": {"schema": 1}}, r"written by another version of diprl \(schema 1, this one reads 2\)"),
        ({"spec": RunSpec("NoSuch-v0").to_json()}, "unknown task 'NoSuch-v0'"),
        ({"spec": RunSpec("CartPole-v1").to_json()}, "it belongs to a run with other settings"),
    ],
)
def test_other_files_are_not_models(tmp_path: Path, facts: dict[str, Any], message: str) -> None:
    save_tree(tmp_path / "file", (), facts)
    with pytest.raises(DiprlError, match=message):
        DiPRL.load(tmp_path / "file")


def test_a_missing_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        DiPRL.load(tmp_path / "none")


def test_an_untrained_model_refuses_to_pretend(tmp_path: Path) -> None:
    model = untrained()
    for ask in (
        lambda: model.program,
        lambda: model.gap,
        lambda: model.predict([0.0]),
        lambda: model.save(tmp_path / "m"),
    ):
        with pytest.raises(DiprlError, match="not learnt anything yet"):
            ask()
    assert not list(tmp_path.iterdir())


def test_observers_see_the_run_and_may_end_it(tmp_path: Path) -> None:
    seen: list[Snapshot] = []
    evaluated = EvalCallback(every=ROLLOUT, episodes=2, best_path=tmp_path / "best.json")
    kept = CheckpointCallback(tmp_path / "kept", every=2 * ROLLOUT)
    model = untrained().learn(6 * ROLLOUT, callback=[seen.append, evaluated, kept, lambda s: s.steps >= 4 * ROLLOUT])
    assert [snapshot.steps for snapshot in seen] == [ROLLOUT * n for n in (1, 2, 3, 4)]
    assert model.num_timesteps == 4 * ROLLOUT
    assert evaluated.best_score > 0
    assert Program.load(tmp_path / "best.json").task == "ThresholdProbe"
    assert sorted(file.name for file in (tmp_path / "kept").iterdir()) == [
        "step-1024.checkpoint",
        "step-512.checkpoint",
    ]


def test_metrics_have_the_names_that_users_know() -> None:
    seen: list[Snapshot] = []
    untrained().learn(ROLLOUT, callback=seen.append)
    names = {
        "rollout/ep_rew_mean", "rollout/ep_len_mean", "time/total_timesteps", "time/fps", "train/approx_kl",
        "train/clip_fraction", "train/clip_range", "train/entropy_loss", "train/explained_variance",
        "train/learning_rate", "train/value_loss", "train/architecture_entropy", "train/alpha",
        "train/prog_depth_1_prob", "train/prog_depth_3_prob", "eval/relaxed", "eval/program",
    }  # fmt: skip
    assert names <= seen[0].metrics.keys()
    json.dumps(seen[0].metrics)


def test_stopping_at_a_score() -> None:
    assert untrained().learn(50 * ROLLOUT, callback=StopAtScore(0.0)).num_timesteps == ROLLOUT


def test_unknown_names_are_answered_with_near_ones() -> None:
    with pytest.raises(DiprlError, match="unknown setting 'learning_rte': did you mean learning_rate"):
        untrained(learning_rte=1.0)
    with pytest.raises(DiprlError, match="unknown preset 'papr': did you mean paper"):
        untrained(preset="papr")
    with pytest.raises(DiprlError, match="did you mean CartPole-v1"):
        DiPRL("CartPol-v1")


def test_learning_into_a_folder_writes_what_the_command_line_writes(tmp_path: Path) -> None:
    from diprl.runs.folder import read_result, read_spec

    model = untrained(seed=5).learn(4 * ROLLOUT, folder=tmp_path / "run", episodes=7)
    files = {"config.json", "result.json", "program.json", "program.txt", "metrics.csv", "metrics.jsonl", "model"}
    assert {path.name for path in (tmp_path / "run").iterdir()} == files | {".lock"}
    assert read_spec(tmp_path / "run") == model.spec
    assert read_result(tmp_path / "run") == model.result
    assert model.result is not None
    assert len(model.result.score.returns) == 7


def test_a_finished_run_folder_opens_as_the_model_it_was(tmp_path: Path) -> None:
    model = untrained(seed=5).learn(4 * ROLLOUT, folder=tmp_path / "run")
    loaded = DiPRL.load(tmp_path / "run")
    assert (loaded.program, loaded.gap, repr(loaded)) == (model.program, model.gap, repr(model))
    observations = np.linspace(-1, 1, 50, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(loaded.predict(observations)[0], model.predict(observations)[0])


class Stopped(Exception):
    """Ends a run from outside."""


def stop_halfway(snapshot: Snapshot) -> None:
    if snapshot.steps >= 4 * ROLLOUT:
        raise Stopped


def test_an_unfinished_run_opens_and_resumes_to_the_same_end(tmp_path: Path) -> None:
    whole = untrained(seed=5).learn(8 * ROLLOUT, folder=tmp_path / "whole")
    with pytest.raises(Stopped):
        untrained(seed=5).learn(8 * ROLLOUT, callback=stop_halfway, folder=tmp_path / "run")
    half = DiPRL.load(tmp_path / "run")
    assert half.result is None
    assert half.num_timesteps == 4 * ROLLOUT
    assert half.predict([0.9])[0] == half.program.act([0.9])
    with pytest.raises(DiprlError, match="no gap"):
        _ = half.gap
    seen: list[Snapshot] = []
    half.learn(resume=True, callback=seen.append)
    assert seen[0].steps == 5 * ROLLOUT
    assert half.program == whole.program
    for name in ("program.json", "model"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_only_a_loaded_run_resumes() -> None:
    with pytest.raises(DiprlError, match="goes on with a run as it was begun: load its folder"):
        untrained().learn(resume=True)


def test_a_checkpoint_of_a_callback_opens_as_a_model(tmp_path: Path) -> None:
    kept = CheckpointCallback(tmp_path, every=2 * ROLLOUT)
    untrained(seed=5).learn(4 * ROLLOUT, callback=kept)
    half = DiPRL.load(tmp_path / f"step-{2 * ROLLOUT}.checkpoint")
    assert half.num_timesteps == 2 * ROLLOUT


def test_logs_and_time_outs_are_there_from_python_too(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    model = untrained().learn(2 * ROLLOUT, folder=tmp_path / "run", tensorboard=True, env_timeout=30.0)
    assert list((tmp_path / "run" / "tensorboard").iterdir())
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["session"] == {"backend": "auto", "env_timeout": 30.0}
    assert model.result is not None


def test_a_model_does_not_resume_the_run_of_another(tmp_path: Path) -> None:
    untrained(seed=5).learn(2 * ROLLOUT, folder=tmp_path / "run")
    other = untrained(seed=6)
    with pytest.raises(DiprlError, match="already holds a run"):
        other.learn(2 * ROLLOUT, folder=tmp_path / "run")
    with pytest.raises(DiprlError, match="holds another run than diprl, ThresholdProbe, default, seed 6"):
        other.learn(resume=True)


def test_a_model_acts_by_what_it_learnt_last() -> None:
    model, observations = untrained(seed=5).learn(ROLLOUT), np.linspace(-1, 1, 99, dtype=np.float32)[:, None]
    model.predict(observations)
    model.learn(8 * ROLLOUT)
    np.testing.assert_array_equal(model.predict(observations)[0], model.program.act_batch(observations))


def test_train_is_a_function_too(model: DiPRL, tmp_path: Path) -> None:
    import diprl

    for _ in range(2):  # the package of the same name is loaded by the first call
        options = {"learning_rate": 0.02, "seed": 5, **SMALL}
        trained = diprl.train("ThresholdProbe", 8.0 * ROLLOUT, episodes=3, **options)
        assert trained.program == model.program
    with pytest.raises(DiprlError, match="unknown method 'diprll': did you mean diprl"):
        diprl.train("ThresholdProbe", method="diprll")
    with pytest.raises(DiprlError, match=r"total_timesteps must be a whole number, not 1\.5"):
        untrained().learn(1.5)


def test_a_model_is_made_smaller_exported_and_reported_on(model: DiPRL, tmp_path: Path) -> None:
    smaller = model.simplify(tolerance=0.05, steps=20_000)
    assert smaller.coefficients <= model.program.coefficients
    report = model.export("json", tmp_path)
    assert report.agrees
    assert Program.load(report.files[0]) == model.program
    with pytest.raises(DiprlError, match="a report is about a run folder"):
        model.report()


def test_a_run_is_reported_on_in_its_folder(tmp_path: Path) -> None:
    model = untrained(seed=5).learn(2 * ROLLOUT, folder=tmp_path / "run")
    assert model.report() == tmp_path / "run" / "report.html"
