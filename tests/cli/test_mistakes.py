"""Mistakes that users make: each gets one sentence that names what is wrong, exit code 2, and leaves no trace."""

import shlex
from pathlib import Path

import pytest

from diprl.cli.main import main
from tests.cli.scene import write_scene

MISTAKES = {
    "trian": "unknown command 'trian': did you mean train?",
    "qqq": "unknown command 'qqq' (see diprl --help)",
    "train": "which task? For example: diprl train CartPole-v1",
    "train CartPole-v9": "unknown task 'CartPole-v9': did you mean CartPole-v1",
    "train cartpole-v1": "unknown task 'cartpole-v1': did you mean CartPole-v1",
    "train Zzyzx-v0": "unknown task 'Zzyzx-v0': diprl tasks lists those that are built in",
    "train nowhere_at_all:Env-v0": "the module 'nowhere_at_all' cannot be imported",
    "train tests.spaces:Talk-v0": "action",
    "train tests.spaces:Words-v0": "observation",
    "train CartPole-v1 --lerning-rate 1": "unknown option '--lerning-rate': did you mean --learning-rate",
    "train CartPole-v1 --qqq 1": "unknown option '--qqq' (see diprl train --help)",
    "train CartPole-v1 more": "unexpected argument 'more': options begin with --",
    "train CartPole-v1 --seed": "Missing value for argument '--seed'",
    "train CartPole-v1 --seed one": "--seed: a whole number such as 200000 or 2e5 is needed, not 'one'",
    "train CartPole-v1 --seed -1": "seed must not be negative, got -1",
    "train CartPole-v1 --seeds 1,1": "--seeds must name distinct non-negative numbers, not '1,1'",
    "train CartPole-v1 --seeds one": "--seeds must look like 123,321,456 or 0:10, not 'one'",
    "train CartPole-v1 --preset papre": "unknown preset 'papre': did you mean paper?",
    "train CartPole-v1 --method diprll": "unknown method 'diprll': did you mean diprl",
    "train CartPole-v1 --method network": "unknown method 'network': known: diprl, dtsemnet, pi-prl, ppo, viper",
    "train CartPole-v1 --backend sink": "unknown backend 'sink': known: async, auto, envpool, sync",
    "train CartPole-v1 --device tpu": "unknown device 'tpu': did you mean gpu, cpu?",
    "train CartPole-v1 --max-depth 0": "max_depth must be positive, not 0",
    "train CartPole-v1 --max-depth 1.5": "--max-depth: a whole number such as 200000 or 2e5 is needed, not '1.5'",
    "train CartPole-v1 --gamma high": "--gamma: a number such as 0.01 or 1e-2 is needed, not 'high'",
    "train CartPole-v1 --gamma 2": "gamma must lie between 0 and 1, not 2.0",
    "train CartPole-v1 --minibatch-size 1e6": "minibatch_size 1000000 is larger than the rollout",
    "train CartPole-v1 --minibatch-size 100": "does not divide the rollout of 2048 steps: 64 and 128 do",
    "train CartPole-v1 --total-timesteps many": "--total-timesteps: a whole number such as 200000 or 2e5 is needed",
    "train CartPole-v1 --total-timesteps -3": "total_timesteps must be positive, not -3",
    "train CartPole-v1 --episodes 0": "episodes must be at least 1 and at most 1000000, not 0",
    "train CartPole-v1 --env-kwargs [1]": "--env-kwargs must be a JSON object, not '[1]'",
    "train CartPole-v1 --env-kwargs '{\"colour\": 1}'": "could not be made with {'colour': 1}",
    "train CartPole-v1 --env-timeout -1": "env_timeout must be a positive number of seconds, not -1.0",
    "train CartPole-v1 --out runs/a": "runs/a already holds a run: choose another --out, or continue it with --resume",
    "train --resume nothing-here": "nothing-here holds no run",
    "train --resume runs": "runs holds 5 runs: name one of runs/a, runs/b",
    "train --resume runs/broken": "runs/broken/config.json: not valid JSON",
    "train --resume runs/a --gamma 0.5": "--resume goes on with the run as it was begun: leave out gamma",
    "train MountainCar-v0 --resume runs/half": "the run is one of CartPole-v1, so leave out MountainCar-v0",
    "eval": "diprl eval needs PROGRAM",
    "eval nothing-here": "there is no program at nothing-here",
    "eval runs": "runs holds 5 runs: name one of runs/a, runs/b",
    "eval empty": "empty holds no run",
    "eval runs/half": "runs/half is unfinished: resume with: diprl train --resume runs/half",
    "eval runs/broken": "runs/broken/config.json: not valid JSON",
    "eval runs/a --episodes 0": "--episodes must be at least 1, not 0",
    "eval runs/a --task MountainCar-v0": "does not fit MountainCar-v0: it reads 4 features, that has 2",
    "eval bad.json": "bad.json: the document is not valid JSON",
    "show runs/net": "runs/net holds a network (ppo), no program",
    "show nothing.txt": "there is no program at nothing.txt",
    "simplify p.txt": "simplified.json exists and was not written by diprl: choose another --out",
    "simplify runs/net": "runs/net holds a network (ppo), no program",
    "simplify runs/a --tolerance 2": "--tolerance must lie between 0 and 1, not 2.0",
    "polish p.txt --seconds 0": "--seconds must be at least 0.1, not 0.0",
    "polish runs": "runs holds 5 runs",
    "edit p.txt --with-text and.txt": "put the second one in an 'if' inside the branch",
    "edit p.txt --with-text or.txt": "put the second one in an 'elif' with the same action",
    "edit p.txt --with-text between.txt": "a condition is one comparison",
    "edit p.txt --with-text misspelt.txt": "found 'pole_angel' (did you mean pole_angle?)",
    "edit p.txt --with-text equal.txt": "conditions are strict comparisons",
    "edit p.txt --with-text half.txt": "the program is not complete",
    "edit p.txt --with-text product.txt": "conditions are linear: two names cannot be multiplied",
    "edit p.txt --with-text nothing.txt": "nothing.txt: cannot be read",
    "explain p.txt --state pole_agnle=1": "unknown feature 'pole_agnle': did you mean pole_angle?",
    "explain p.txt --state pole_angle=up": "--state must look like \"pole_angle=0.1\", not 'pole_angle=up'",
    "export p.txt --to phyton": "unknown export target 'phyton': did you mean python?",
    "export p.txt --to python --main": "--main belongs to the C export: add --to c",
    "export p.txt --to c": "export/cartpole_v1.c is there already: write elsewhere, or replace it with --force",
    "verify p.txt": "diprl verify needs SPEC",
    "verify p.txt nothing.yaml": "nothing.yaml: cannot be read",
    "verify p.txt other.yaml": "the specification is about MountainCar-v0: take one for CartPole-v1",
    "verify p.txt kind.yaml": "'nevr' is not a kind of property: did you mean never?",
    "verify p.txt feature.yaml": "line 4, column 12: expected a feature name, found 'pole_angel'",
    "report runs/half": "runs/half is unfinished: resume with: diprl train --resume runs/half",
    "report runs/a --features nothing": "unknown feature 'nothing': known: cart_position",
    "watch p.txt --record film.avi": "film.avi: a film is a .gif or an .mp4 file",
    "watch p.txt --record p.txt": "p.txt is there already: write elsewhere, or replace it with --force",
    "runs nothing-here": "there is no folder nothing-here",
    "compare p.txt": "compare needs two programs or runs",
    "compare p.txt runs/half": "runs/half is unfinished: resume with",
    "completion tcsh": "unknown shell 'tcsh': known: bash, fish, zsh",
    "primitives": "Expected one of {list, train, compare}",
    "primitives train nothing": "unknown primitive 'nothing': known: ant_up",
    "reproduce discrte": "unknown experiment 'discrte': did you mean discrete?",
    "reproduce discrete --executor slrum": "unknown executor 'slrum': known: local, none, ray, vmap",
    "doctor --jsn": "unknown option '--jsn': did you mean --json?",
}
"""Commands, in the folder of `scene.py`, and what is said about them."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scene(tmp_path_factory.mktemp("scene"))


def test_there_are_many() -> None:
    assert len(MISTAKES) >= 50


@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_gets_one_sentence_and_leaves_no_trace(
    command: str, scene: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    monkeypatch.chdir(scene)
    before = content(scene)
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command))
    printed = capsys.readouterr()
    assert stopped.value.code == 2
    assert printed.out == ""
    assert printed.err.startswith("diprl: ")
    assert len(printed.err.splitlines()) == 1
    assert MISTAKES[command] in printed.err
    assert content(scene) == before


def content(folder: Path) -> dict[Path, bytes]:
    """Every file with what it holds; locks, which are empty, do not count."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}
