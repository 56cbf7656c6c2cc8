"""Steps per second of our PPO and DiPRL against the PPO of others: same task, settings and machine, one run.

    python benchmarks/against_sb3.py [--sb3-python PYTHON] [--rejax-python PYTHON]

Settings: CartPole-v1, 8 environments × 512 steps, minibatch 64, 10 epochs, networks 64 × 64. Stable-Baselines3
(with the CPU build of PyTorch) and rejax run in processes of their own, so that each may live in another virtual
environment.
"""

import argparse
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diprl.train.settings import Settings

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


REJAX = """
import time
import jax
from rejax import PPO
agent = dict(activation="tanh", hidden_layer_sizes=(64, 64))
ppo = PPO.create(env="CartPole-v1", num_envs=8, num_steps=512, num_minibatches=64, num_epochs=10, agent_kwargs=agent)
state, advance = jax.jit(ppo.init_state)(jax.random.PRNGKey(0)), jax.jit(ppo.train_iteration)
state = jax.block_until_ready(advance(state))
best = 0.0
for _ in range({rollouts}):
    began = time.perf_counter()
    state = jax.block_until_ready(advance(state))
    best = max(best, 4096 / (time.perf_counter() - began))
print(best)
"""


TURNS = 3
"""How often each one is measured."""


def rejax_speed(python: str, rollouts: int = 40) -> float:
    """rejax's steps per second in its best rollout, once compiled."""
    script = REJAX.format(rollouts=rollouts)
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def sb3_speed(python: str, steps: int = 4 * 4096) -> float:
    """Stable-Baselines3's steps per second, after a first rollout, with the number of threads that suits it best."""
    scripts = [SB3.format(steps=steps, threads=threads) for threads in (1, 2)]
    runs = [subprocess.run([python, "-c", s], capture_output=True, text=True, check=True) for s in scripts]
    return max(float(done.stdout.split()[-1]) for done in runs)


def our_speed(
    method: str, steps: int = 40 * 4096, task_name: str = "CartPole-v1", settings: "Settings | None" = None
) -> float:
    """Steps per second of the compiled iteration in its best rollout, one seed, after it is compiled."""
    import jax
    import jax.random as jr
    import numpy as np

    from diprl.methods.presets import preset_settings
    from diprl.methods.registry import find_method
    from diprl.runs.trainer import first_state
    from diprl.tasks.registry import load_task
    from diprl.train.engine import Engine

    task, make_agent = load_task(task_name), find_method(method).make_agent
    settings = settings or preset_settings("diprl", "paper", task_name, task.budget)
    agent = make_agent(task, settings, key=jr.key(0))
    engine = Engine(task, settings, agent)
    state, numbers = first_state(engine, agent, jr.key(1)), settings.numbers()
    state, _ = engine.compiled_iteration(state, numbers, np.float32(500))
    jax.block_until_ready(state)
    best = 0.0
    for _ in range(steps // settings.ppo.rollout_size):
        began = time.perf_counter()
        state, _ = engine.compiled_iteration(state, numbers, np.float32(500))
        jax.block_until_ready(state)
        best = max(best, settings.ppo.rollout_size / (time.perf_counter() - began))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_rivals(parser)
    options = parser.parse_args()
    print("\n".join(table(options.sb3_python, options.rejax_python)))


def add_rivals(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sb3-python", help="a Python that has Stable-Baselines3")
    parser.add_argument("--rejax-python", help="a Python that has rejax")


def table(sb3_python: str | None, rejax_python: str | None) -> list[str]:
    """A Markdown table of our methods against whichever rivals there are.

    All take turns, and each one's best counts: on a shared machine the speed of the moment varies by a tenth.
    """
    ours = {"diprl, PPO": lambda: our_speed("ppo"), "diprl, DiPRL": lambda: our_speed("diprl")}
    others = {}
    if sb3_python:
        others["Stable-Baselines3, PPO"] = lambda: sb3_speed(sb3_python)
    if rejax_python:
        others["rejax, PPO"] = lambda: rejax_speed(rejax_python)
    turns = [{name: measure() for name, measure in (ours | others).items()} for _ in range(TURNS)]
    speeds = {name: max(turn[name] for turn in turns) for name in ours | others}
    rivals = {name: speeds[name] for name in others}
    heads = ["", "steps/s", *(f"× {name}" for name in rivals)]
    rows = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    for name, speed in speeds.items():
        ratios = [f"{speed / rival:.2f}" for rival in rivals.values()]
        rows.append(f"| {' | '.join([name, f'{speed:,.0f}', *ratios])} |")
    return rows


if __name__ == "__main__":
    main()
