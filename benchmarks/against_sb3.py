"""Steps per second of our PPO and DiPRL against Stable-Baselines3's PPO: same task, settings and machine, one run.

    python benchmarks/against_sb3.py [--sb3-python PYTHON]

Settings: CartPole-v1, 8 environments × 512 steps, minibatch 64, 10 epochs, networks 64 × 64. Stable-Baselines3 runs in
a process of its own, so that it may live in another virtual environment (with the CPU build of PyTorch).
"""

import argparse
import subprocess
import sys
import time

SB3 = """
import time
import torch
torch.set_num_threads({threads})
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
model = PPO("MlpPolicy", make_vec_env("CartPole-v1", 8), n_steps=512, batch_size=64, n_epochs=10,
            policy_kwargs=dict(net_arch=[64, 64]), device="cpu")
model.learn(4096)
began = time.perf_counter()
model.learn({steps})
print({steps} / (time.perf_counter() - began))
"""


def sb3_speed(python: str, steps: int = 4 * 4096) -> float:
    """Stable-Baselines3's steps per second, after a first rollout, with the number of threads that suits it best."""
    scripts = [SB3.format(steps=steps, threads=threads) for threads in (1, 2)]
    runs = [subprocess.run([python, "-c", s], capture_output=True, text=True, check=True) for s in scripts]
    return max(float(done.stdout.split()[-1]) for done in runs)


def our_speed(method: str, steps: int = 40 * 4096) -> float:
    """Steps per second of the compiled iteration, one seed, after it is compiled."""
    import jax
    import jax.random as jr
    import numpy as np

    from diprl.methods.base import first_state
    from diprl.methods.presets import PAPER
    from diprl.methods.registry import find_method
    from diprl.tasks.registry import load_task
    from diprl.train.engine import Engine

    task, config, make_agent = load_task("CartPole-v1"), PAPER, find_method(method).agent
    agent = make_agent(task, config, key=jr.key(0))
    engine = Engine(task, config, agent)
    state, hyper = first_state(engine, agent, jr.key(1)), config.hyper()
    state, _ = engine.compiled_iteration(state, hyper, np.float32(500))
    jax.block_until_ready(state)
    began = time.perf_counter()
    for _ in range(steps // config.rollout_size):
        state, _ = engine.compiled_iteration(state, hyper, np.float32(500))
    jax.block_until_ready(state)
    return steps / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sb3-python", default=sys.executable, help="a Python that has Stable-Baselines3")
    options = parser.parse_args()
    reference = sb3_speed(options.sb3_python)
    print(f"{'Stable-Baselines3 PPO':24} {reference:10,.0f} steps/s      1.0 ×")
    for method, title in (("ppo", "diprl PPO"), ("diprl", "diprl DiPRL")):
        speed = our_speed(method)
        print(f"{title:24} {speed:10,.0f} steps/s {speed / reference:8.1f} ×")


if __name__ == "__main__":
    main()
