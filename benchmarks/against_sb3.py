"""Steps per second of our PPO and DiPRL against the PPO of others: same task, settings and machine, one run.

    python benchmarks/against_sb3.py [--sb3-python PYTHON] [--rejax-python PYTHON]

Settings: 8 environments × 512 steps, minibatch 64, 10 epochs, networks 64 × 64. Stable-Baselines3 (with the CPU build
of PyTorch) and rejax run in processes of their own, so that each may live in another virtual environment. The first
table is of CartPole-v1, which we step in JAX, the second of environments that nobody steps in JAX.
"""

import argparse
import subprocess
import time
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diprl.policy.agent import Agent
    from diprl.train.collectors import Collector
    from diprl.train.engine import Engine, TrainState
    from diprl.train.settings import Settings

SB3 = """
import time
import torch
torch.set_num_threads({threads})
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv
model = PPO("MlpPolicy", make_vec_env("{task}", 8, vec_env_cls={batch}), n_steps=512, batch_size=64, n_epochs=10,
            policy_kwargs=dict(net_arch=[64, 64]), device="cpu")
model.learn(4096)
steps, began = 0, time.perf_counter()
while time.perf_counter() - began < {seconds}:
    model.learn(4096, reset_num_timesteps=False)
    steps += 4096
print(steps / (time.perf_counter() - began))
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
SECONDS = 4.0
"""How long, at least, each measurement outside JAX lasts: whole rollouts with the updates from them."""
OUTSIDE_JAX = ("Hopper-v5", "LunarLander-v3")


def rejax_speed(python: str, rollouts: int = 40) -> float:
    """rejax's steps per second in its best rollout, once compiled."""
    script = REJAX.format(rollouts=rollouts)
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def sb3_speed(
    python: str, task_name: str = "CartPole-v1", ways: tuple[tuple[int, str], ...] = ((1, "Dummy"), (2, "Dummy"))
) -> float:
    """Stable-Baselines3's steps per second after a first rollout, in whichever way (threads, batch) suits it best."""
    fill = partial(SB3.format, seconds=SECONDS, task=task_name)
    scripts = [fill(threads=threads, batch=f"{batch}VecEnv") for threads, batch in ways]
    runs = [subprocess.run([python, "-c", s], capture_output=True, text=True, check=True) for s in scripts]
    return max(float(done.stdout.split()[-1]) for done in runs)


@cache
def engine_of(method: str, task_name: str, settings: "Settings | None") -> "tuple[Engine, Agent]":
    """Compiled once for all turns, with the paper's settings for CartPole unless others are given."""
    import jax.random as jr

    from diprl.methods.presets import preset_settings
    from diprl.methods.registry import find_method
    from diprl.tasks.registry import load_task
    from diprl.train.engine import Engine

    task, make_agent = load_task(task_name), find_method(method).make_agent
    settings = settings or preset_settings("diprl", "paper", "CartPole-v1", task.budget)
    agent = make_agent(task, settings, key=jr.key(0))
    return Engine(task, settings, agent), agent


def begun(method: str, task_name: str, settings: "Settings | None") -> "tuple[Collector, TrainState]":
    """A training after its first rollout, which compiles what it needs."""
    import jax
    import jax.random as jr

    from diprl.runs.trainer import first_state
    from diprl.tasks.batches.choose import make_environments
    from diprl.train.collectors import HostCollector, TwinCollector

    engine, agent = engine_of(method, task_name, settings)
    if engine.twin:
        collector = TwinCollector(engine, engine.settings)
    else:
        environments = make_environments(engine.task, engine.settings.ppo.num_envs)
        collector = HostCollector(engine, engine.settings, environments, 0)
    state, _ = collector.advance(first_state(engine, agent, jr.key(1)))
    return collector, jax.block_until_ready(state)


def our_speed(
    method: str, steps: int = 40 * 4096, task_name: str = "CartPole-v1", settings: "Settings | None" = None
) -> float:
    """Steps per second of the compiled iteration in its best rollout, one seed, after it is compiled."""
    import jax

    collector, state = begun(method, task_name, settings)
    size = engine_of(method, task_name, settings)[0].settings.ppo.rollout_size
    best = 0.0
    for _ in range(steps // size):
        began = time.perf_counter()
        state, _ = jax.block_until_ready(collector.advance(state))
        best = max(best, size / (time.perf_counter() - began))
    return best


def our_host_speed(method: str, task_name: str, settings: "Settings | None" = None) -> float:
    """Steps per second outside JAX, collecting and learning, after a first rollout."""
    import jax

    collector, state = begun(method, task_name, settings)
    size = engine_of(method, task_name, settings)[0].settings.ppo.rollout_size
    rollouts, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        state, _ = jax.block_until_ready(collector.advance(state))
        rollouts += 1
    seconds = time.perf_counter() - began
    collector.close()
    return rollouts * size / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_rivals(parser)
    options = parser.parse_args()
    print("\n".join([*table(options.sb3_python, options.rejax_python), "", *host_table(options.sb3_python)]))


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
    speeds = best_of_turns(ours | others)
    rivals = {name: speeds[name] for name in others}
    heads = ["", "steps/s", *(f"× {name}" for name in rivals)]
    rows = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    for name, speed in speeds.items():
        ratios = [f"{speed / rival:.2f}" for rival in rivals.values()]
        rows.append(f"| {' | '.join([name, f'{speed:,.0f}', *ratios])} |")
    return rows


def best_of_turns(measures: dict[str, Callable[[], float]]) -> dict[str, float]:
    turns = [{name: measure() for name, measure in measures.items()} for _ in range(TURNS)]
    return {name: max(turn[name] for turn in turns) for name in measures}


def host_table(sb3_python: str | None) -> list[str]:
    """The same outside JAX, and the speed at the settings that `diprl train` takes there by default.

    Stable-Baselines3 steps in its own process or in workers, with one thread: two fight over the cores with those.
    """
    from diprl.methods.presets import settings_for
    from diprl.tasks.registry import load_task

    rows = ["| Environment |  | steps/s | × Stable-Baselines3, PPO |", "|---|---|---:|---:|"]
    for name in OUTSIDE_JAX:
        default = settings_for("diprl", "default", load_task(name))
        measures: dict[str, Callable[[], float]] = {
            "diprl, PPO": partial(our_host_speed, "ppo", name),
            "diprl, DiPRL": partial(our_host_speed, "diprl", name),
            "diprl, DiPRL with its defaults": partial(our_host_speed, "diprl", name, default),
        }
        if sb3_python:
            measures["Stable-Baselines3, PPO"] = partial(sb3_speed, sb3_python, name, ((1, "Dummy"), (1, "Subproc")))
        speeds = best_of_turns(measures)
        rival = speeds.get("Stable-Baselines3, PPO", float("nan"))
        rows += [f"| {name} | {who} | {speed:,.0f} | {speed / rival:.2f} |" for who, speed in speeds.items()]
    return rows


if __name__ == "__main__":
    main()
