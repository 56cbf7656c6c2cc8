"""What is not ours in our tables: random actions, and PPO of others in a process and perhaps a Python of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diprl.arena.episodes import EVALUATION
from diprl.arena.reference import evaluate, random_act
from diprl.arena.score import score_of
from diprl.errors import DiprlError
from diprl.runs.result import Result, command, provenance
from diprl.runs.spec import RunSpec
from diprl.tasks.base import Task

SB3_PPO = "sb3-ppo"
"""Stable-Baselines3's PPO with its defaults."""
RANDOM = "random"
"""Actions drawn evenly from all that there are."""
PYTHON = "DIPRL_SB3_PYTHON"


def sb3_ppo(spec: RunSpec, task: Task) -> Result:
    """Train and score on the environment itself, on the episodes that all our scores are measured on."""
    began, script = time.monotonic(), Path(__file__).with_name("sb3_ppo.py")  # beside modules that -I hides from it
    numbers = (task.horizon, spec.settings.ppo.total_timesteps, spec.seed, EVALUATION.seed, spec.episodes)
    arguments = [os.environ.get(PYTHON, sys.executable), "-I", str(script), task.name, *map(str, numbers)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise DiprlError(f"{SB3_PPO} failed: {reason} ({PYTHON} names a Python that has stable-baselines3)")
    told = json.loads(done.stdout.splitlines()[-1])
    return Result(
        spec=spec,
        program=None,
        score=score_of(np.array(told["returns"])),
        steps={"training": told["steps"]},
        versions=told["versions"],
        command=command(),
        wall_seconds=round(time.monotonic() - began, 3),
    )


def at_random(spec: RunSpec, task: Task) -> Result:
    """What actions earn that nobody has learnt."""
    score = evaluate(task, random_act(task, spec.seed), spec.episodes)
    return Result(spec, None, score, steps={}, **provenance())


RIVALS: dict[str, Callable[[RunSpec, Task], Result]] = {RANDOM: at_random, SB3_PPO: sb3_ppo}
