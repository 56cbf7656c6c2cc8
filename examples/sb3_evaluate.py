"""Use Stable-Baselines3's tools on a program: models and programs have its `predict`."""

from pathlib import Path

import gymnasium as gym
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

from diprl import Program

program = Program.load(Path(__file__).parent / "cartpole.txt")
environment = Monitor(gym.make("CartPole-v1"))
mean, deviation = evaluate_policy(program, environment, n_eval_episodes=20)
print(f"{mean:.1f} ± {deviation:.1f}")
