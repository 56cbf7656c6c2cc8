"""Run folders with known content, written without training."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from diprl.arena.score import Gap, Score
from diprl.program import Program, parse
from diprl.runs.folder import CONFIG, METRICS_JSONL, PROGRAM_JSON, RESULT
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.search.front import Entry, Front
from diprl.search.smaller import without_branches
from diprl.system.files import write_json
from diprl.train.settings import Settings

PROGRAM = parse(
    """
task: CartPole-v1
features:
    cart_position [m] in [-4.8, 4.8]
    cart_velocity [m/s]
    pole_angle [rad] in [-0.42, 0.42]
    pole_angular_velocity [rad/s]
actions: left, right

if 3*pole_angle + pole_angular_velocity > 0.0123456789:
    right
elif 0.1*cart_position + 0.5*cart_velocity + 4*pole_angle + pole_angular_velocity > 0:
    right
else:
    left
"""
)
STATES = ", ".join(f"state_is_{state} in [0, 1]" for state in range(16))
LAKE = parse(
    f"""
task: FrozenLake-v1
features: {STATES}
actions: left, down, right, up

if state in {{1, 4, 10}}:
    left
elif state not in {{9, 13}}:
    right
else:
    down
"""
)
"""A program of sets, for an environment that only Python plays."""
CLUMSY = PROGRAM.edit(swap=True)
"""A program that drops the pole at once, for tests that play it only by the way."""
SMALLER = next(without_branches(PROGRAM, np.zeros((1, 4), np.float32)))[0]


def write_run(folder: Path, seed: int = 0, mean: float = 480.0, program: Program = PROGRAM) -> Path:
    """A finished run of three snapshots."""
    folder.mkdir(parents=True)
    write_json(folder / CONFIG, header(seed))
    write_json(folder / RESULT, result(seed, mean))
    lines = [json.dumps(metrics(step)) + "\n" for step in (1000, 2000, 3000)]
    (folder / METRICS_JSONL).write_text("".join(lines))
    program.save(folder / PROGRAM_JSON)
    return folder


def write_lake(folder: Path) -> Path:
    """A finished run on FrozenLake, where every condition is a set."""
    write_run(folder, program=LAKE)
    lake = RunSpec(LAKE.task, settings=spec(0).settings, episodes=10)
    write_json(folder / CONFIG, header(0) | lake.to_json())
    content = Result(spec=lake, program=LAKE, score=Score((0.0, 1.0) * 5), steps={"training": 3000}).to_json()
    write_json(folder / RESULT, content)
    return folder


def spec(seed: int) -> RunSpec:
    settings = Settings().with_values(total_timesteps=3000, max_depth=3)
    return RunSpec("CartPole-v1", settings=settings, seed=seed, episodes=10)


def header(seed: int) -> dict[str, Any]:
    return spec(seed).to_json() | {"session": {"backend": "auto", "env_timeout": None}}


def result(seed: int, mean: float) -> dict[str, Any]:
    return Result(
        spec=spec(seed),
        program=PROGRAM,
        score=Score((mean - 12.0, mean + 12.0) * 5),
        steps={"training": 3000},
        gap=Gap(mean + 6.0, 1.0, 5.0, 0.0, mass=0.0, entropy=0.0, bound=0.0),
        front=Front((Entry(SMALLER, 9.0, 1.0, 32), Entry(PROGRAM, mean, 2.0, 100)), picked=1),
        versions={"python": "3.11.0", "diprl": "0.1.0"},
        command=f"diprl train CartPole-v1 --seed {seed} --out 'a folder'",
        wall_seconds=4.0,
    ).to_json()


def metrics(step: int) -> dict[str, float | None]:
    done = step / 3000
    return {
        "time/total_timesteps": step,
        "eval/program": 480 * done,
        "eval/relaxed": 486 * done,
        "rollout/ep_rew_mean": None if step == 1000 else 400 * done,
        "train/architecture_entropy": 1 - done,
        "train/alpha": done,
        "train/prog_depth_1_prob": 0.5 * (1 - done),
        "train/prog_depth_2_prob": 0.5 * (1 - done),
        "train/prog_depth_3_prob": done,
    }
