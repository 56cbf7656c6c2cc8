"""Training primitives: PPO on a skill's own task, then the greedy network as a file that programs can blend."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from diprl.errors import unknown
from diprl.methods.acting import agent_act
from diprl.methods.agents import neural_agent
from diprl.methods.base import Job, train_agent
from diprl.policy.agent import Agent
from diprl.policy.mlp import MLPPolicy
from diprl.program.signature import Continuous
from diprl.tasks.base import Task
from diprl.tasks.mujoco.primitive_tasks import primitive_tasks
from diprl.tasks.mujoco.primitives import Primitive
from diprl.train.config import Config
from diprl.train.evaluate import evaluate
from diprl.train.snapshot import Observer

SETTINGS = Config(
    num_envs=64,
    num_steps=128,
    minibatch_size=1024,
    num_epochs=5,
    scale_rewards=True,
    learning_rate=3e-4,
    clip_range_end=0.2,
    entropy_coefficient=0.0,
)
"""PPO for locomotion and manipulation."""

PUSHING: dict[str, Any] = {"learning_rate": 1e-3, "deviation": 0.3}
"""Effort is dear on the table, so loud noise would teach the arm to keep still."""

RUNNING: dict[str, Any] = {"learning_rate": 8e-4}
"""Larger steps find a gait that clears the bars instead of one that stumbles over them."""

TUNED: dict[str, dict[str, Any]] = {
    "cheetah_forward": RUNNING,
    "cheetah_jump": RUNNING,
    "pusher_left": PUSHING,
    "pusher_down": PUSHING,
}
"""Where a primitive wants settings of its own."""


def train_primitive(
    name: str,
    *,
    seed: int = 0,
    total_timesteps: int | None = None,
    checkpoint: Path | None = None,
    observers: tuple[Observer, ...] = (),
    episodes: int = 100,
) -> Primitive:
    """Train one primitive through its budget, going on from its checkpoint, and score it on its own task."""
    task = find_primitive_task(name)()
    config = SETTINGS.with_values(total_timesteps=total_timesteps or task.budget, **TUNED.get(name, {}))
    trained = train_agent(Job(task, "ppo", config, seed, observers, checkpoint), neural_agent, None)
    score = evaluate(task, agent_act(trained), episodes).mean
    command = f"diprl primitives train {name} --seed {seed}"
    if total_timesteps:
        command += f" --total-timesteps {total_timesteps}"
    return greedy_network(trained.agent, task, score, command)


def find_primitive_task(name: str) -> Callable[[], Task]:
    tasks = primitive_tasks()
    if name not in tasks:
        raise unknown("primitive", name, tasks)
    return tasks[name]


def greedy_network(agent: Agent, task: Task, score: float, command: str) -> Primitive:
    """The policy's mean as a frozen controller, with the normalisation and the units of its motors."""
    policy, actions = agent.policy, task.signature.actions
    if not isinstance(policy, MLPPolicy) or not isinstance(actions, Continuous):
        raise TypeError(f"a primitive is a network that moves motors, not {type(policy).__name__}")
    pairs = zip(policy.network.weights, policy.network.biases, strict=True)
    layers = [(np.asarray(weights, np.float64), np.asarray(bias, np.float64)) for weights, bias in pairs]
    reach, centre = np.asarray(policy.scale), np.asarray(policy.centre)
    layers[-1] = (layers[-1][0] * reach, layers[-1][1] * reach + centre)
    return Primitive(
        name=task.name,
        task=task.name,
        score=score,
        command=command,
        mean=np.asarray(agent.normaliser.mean, np.float64),
        std=np.asarray(agent.normaliser.scale, np.float64),
        layers=tuple(layers),
        low=np.asarray(actions.low, np.float64),
        high=np.asarray(actions.high, np.float64),
    )
