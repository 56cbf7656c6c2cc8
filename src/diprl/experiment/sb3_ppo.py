"""Stable-Baselines3's PPO with its own defaults: trains, plays, prints one JSON document.

Needs nothing of diprl, so that any Python with Stable-Baselines3 can run it:

    python sb3_ppo.py TASK HORIZON STEPS SEED FIRST_EPISODE EPISODES
"""

import json
import sys
from importlib import import_module
from importlib.metadata import version

import gymnasium as gym


def main(name: str, horizon: int, steps: int, seed: int, first: int, episodes: int) -> None:
    learner = import_module("stable_baselines3").PPO  # not needed by anybody else

    def make() -> gym.Env:
        environment = gym.make(name)
        limited = environment.spec is not None and environment.spec.max_episode_steps
        return environment if limited else gym.wrappers.TimeLimit(environment, horizon)

    model = learner("MlpPolicy", make(), seed=seed, device="cpu").learn(steps)
    environment, returns = make(), []
    for episode in range(first, first + episodes):
        view, _ = environment.reset(seed=episode)
        total, done = 0.0, False
        while not done:
            action, _ = model.predict(view, deterministic=True)
            view, reward, terminated, truncated, _ = environment.step(action if action.ndim else action.item())
            total, done = total + float(reward), terminated or truncated
        returns.append(total)
    versions = {package: version(package) for package in ("stable-baselines3", "torch", "gymnasium")}
    print(json.dumps({"returns": returns, "steps": model.num_timesteps, "versions": versions}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
