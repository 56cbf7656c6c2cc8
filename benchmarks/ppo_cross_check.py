"""Neural PPO against Stable-Baselines3 with the same settings: scores and processor times side by side.

    pip install torch==2.13.0 stable-baselines3        (the CPU build of torch is enough)
    python benchmarks/ppo_cross_check.py [--tasks CartPole-v1 Acrobot-v1 LunarLander-v3] [--seeds 123 321 456]

Both train with the paper's settings and play the same 100 evaluation episodes by their likeliest action.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from diprl.arena.reference import Act, evaluate
from diprl.methods.presets import preset_settings
from diprl.methods.registry import run
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.runs.trainer import acting
from diprl.tasks.base import Task
from diprl.tasks.registry import load_task
from diprl.train.settings import Settings

STEPS = {"CartPole-v1": 200_000, "Acrobot-v1": 500_000, "LunarLander-v3": 1_000_000}
EPISODES = 100


@dataclass(frozen=True)
class Result:
    """One run of one of the two."""

    task: str
    implementation: str
    seed: int
    steps: int
    score: float
    seconds: float
    """Processor time, which other work on the machine does not change."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=list(STEPS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[123, 321, 456])
    parser.add_argument("--steps", type=int, help="steps per run instead of the task's own number")
    parser.add_argument("--out", type=Path, help="write the results here, as JSON lines")
    options = parser.parse_args()
    for name in options.tasks:
        task = load_task(name)
        steps = options.steps or STEPS.get(name, task.budget)
        settings = preset_settings("ppo", "paper", name, steps)
        results = [
            measure(task, implementation, train, settings, seed)
            for implementation, train in (("diprl", train_diprl), ("sb3", train_stable_baselines))
            for seed in options.seeds
        ]
        report(results)
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(result)) + "\n" for result in results)


def measure(
    task: Task, implementation: str, train: Callable[[Task, Settings, int], Act], settings: Settings, seed: int
) -> Result:
    began = time.process_time()
    act = train(task, settings, seed)
    seconds = time.process_time() - began
    score = evaluate(task, act, EPISODES).mean
    return Result(task.name, implementation, seed, settings.ppo.total_timesteps, score, seconds)


def train_diprl(task: Task, settings: Settings, seed: int) -> Act:
    result = run(Session(RunSpec(task.name, "ppo", settings, seed, episodes=1), task))
    assert result.trained is not None
    return acting(task, result.trained, None)


def train_stable_baselines(task: Task, settings: Settings, seed: int) -> Act:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    ppo = settings.ppo
    model = PPO(
        "MlpPolicy",
        make_vec_env(task.reference, n_envs=ppo.num_envs, seed=seed),
        learning_rate=ppo.learning_rate,
        n_steps=ppo.num_steps,
        batch_size=ppo.minibatch_size,
        n_epochs=ppo.num_epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=lambda remaining: ppo.clip_range * remaining,
        ent_coef=ppo.entropy_coefficient,
        vf_coef=ppo.value_coefficient,
        max_grad_norm=ppo.max_grad_norm,
        policy_kwargs={"net_arch": [ppo.hidden_size, ppo.hidden_size]},
        seed=seed,
        device="cpu",
    )
    model.learn(ppo.total_timesteps)
    return lambda views: model.predict(views, deterministic=True)[0]


def report(results: list[Result]) -> None:
    """One line per implementation: every seed, their mean, and the time of a run."""
    for implementation in ("diprl", "sb3"):
        own = [result for result in results if result.implementation == implementation]
        scores = [result.score for result in own]
        each = " ".join(f"{score:9.2f}" for score in scores)
        seconds = float(np.mean([result.seconds for result in own]))
        print(
            f"{own[0].task:<16}{implementation:<7}{own[0].steps:>9,} steps {each}"
            f"   mean {np.mean(scores):9.2f}   {seconds:7.1f} CPU s",
            flush=True,
        )


if __name__ == "__main__":
    main()
