"""Run folders with known content, written without training."""

import json
from pathlib import Path
from typing import Any

from diprl import runs
from diprl.program import Program, parse

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
CLUMSY = PROGRAM.edit(swap=True)
"""A program that drops the pole at once, for tests that play it only by the way."""


def write_run(folder: Path, seed: int = 0, mean: float = 480.0, program: Program = PROGRAM) -> Path:
    """A finished run of three snapshots."""
    folder.mkdir(parents=True)
    runs.write_json(folder / runs.CONFIG, header(seed))
    runs.write_json(folder / runs.RESULT, result(seed, mean))
    lines = [json.dumps(metrics(step)) + "\n" for step in (1000, 2000, 3000)]
    (folder / runs.METRICS_JSONL).write_text("".join(lines))
    program.save(folder / runs.PROGRAM_JSON)
    return folder


def header(seed: int) -> dict[str, Any]:
    return {
        "task": "CartPole-v1",
        "method": "diprl",
        "preset": "default",
        "seed": seed,
        "env_kwargs": {},
        "settings": {"total_timesteps": 3000, "max_depth": 3},
        "versions": {"python": "3.11.0", "diprl": "0.1.0"},
        "command": ["diprl", "train", "CartPole-v1", "--seed", str(seed), "--out", "a folder"],
    }


def result(seed: int, mean: float) -> dict[str, Any]:
    return {
        "seed": seed,
        "score": {"mean": mean, "std": 12.0, "ci95": [mean - 8.0, mean + 8.0], "episodes": 10},
        "returns": [mean - 12.0, mean + 12.0] * 5,
        "relaxed_score": mean + 6.0,
        "gap": {"architecture": 1.0, "condition": 5.0, "terminal": 0.0, "total": 6.0},
        "steps": 3000,
        "wall_seconds": 4.0,
        "depths": [
            {"depth": 1, "conditions": 0, "coefficients": 0, "score": 9.0, "gap": 477.0, "picked": False},
            {"depth": 3, "conditions": 2, "coefficients": 6, "score": mean, "gap": 6.0, "picked": True},
        ],
    }


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
