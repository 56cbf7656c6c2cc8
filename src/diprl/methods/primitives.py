"""Training primitives, and what they achieve without conditions: each one alone, and the best constant blend."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from diprl.arena.episodes import BLENDS
from diprl.arena.reference import evaluate_program
from diprl.arena.score import Score
from diprl.errors import DiprlError, check_known
from diprl.methods.agents import neural_agent
from diprl.methods.presets import changed, preset_settings
from diprl.methods.registry import run
from diprl.policy.agent import Agent
from diprl.policy.mlp import MLPPolicy
from diprl.program import Program
from diprl.program.ast import Blend
from diprl.program.networks import Network
from diprl.program.signature import Continuous, Primitives
from diprl.runs.folder import CONFIG, MODEL
from diprl.runs.observers import Observer
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.runs.trainer import load_trained
from diprl.tasks.base import Task
from diprl.tasks.mujoco.primitive_tasks import primitive_tasks
from diprl.tasks.mujoco.primitives import Primitive

GRID = {2: 20, 3: 6, 4: 4}
"""Parts into which the shares are divided, by the number of primitives."""


def train_primitive(
    name: str,
    folder: Path,
    *,
    seed: int = 0,
    total_timesteps: int | None = None,
    observers: tuple[Observer, ...] = (),
    episodes: int = 100,
) -> Primitive:
    """Train one primitive in its run folder, going on with what is there, and score it on its own task."""
    task = find_primitive_task(name)()
    budget = {"total_timesteps": total_timesteps} if total_timesteps else {}
    settings = changed(preset_settings("ppo", "default", name, task.budget), **budget)
    spec = RunSpec(task.name, "ppo", settings, seed, episodes)
    result = run(Session(spec, task, folder, (folder / CONFIG).exists(), observers))
    trained = result.trained or load_trained(folder / MODEL, task, spec, neural_agent)
    command = f"diprl primitives train {name} --seed {seed}"
    if total_timesteps:
        command += f" --total-timesteps {total_timesteps}"
    return Primitive(greedy_network(trained.agent, task), task.name, result.score.mean, command)


def find_primitive_task(name: str) -> Callable[[], Task]:
    tasks = primitive_tasks()
    check_known("primitive", tasks, name)
    return tasks[name]


def greedy_network(agent: Agent, task: Task) -> Network:
    """The policy's mean as a frozen controller, with the normalisation and the units of its motors."""
    policy, actions = agent.policy, task.signature.actions
    if not isinstance(policy, MLPPolicy) or not isinstance(actions, Continuous):
        raise TypeError(f"a primitive is a network that moves motors, not {type(policy).__name__}")
    pairs = zip(policy.network.weights, policy.network.biases, strict=True)
    layers = [(np.asarray(weights, np.float64), np.asarray(bias, np.float64)) for weights, bias in pairs]
    reach, centre = np.asarray(policy.scale), np.asarray(policy.centre)
    layers[-1] = (layers[-1][0] * reach, layers[-1][1] * reach + centre)
    rows = (agent.normaliser.mean, agent.normaliser.scale, actions.low, actions.high)
    mean, std, low, high = (np.asarray(row, np.float64) for row in rows)
    return Network(task.name, mean, std, tuple(layers), low, high)


def primitive_names(task: Task) -> tuple[str, ...]:
    actions = task.signature.actions
    if not isinstance(actions, Primitives):
        raise DiprlError(f"{task.name} has no primitives to compare with")
    return actions.names


def single_primitives(task: Task) -> dict[str, Program]:
    """A program for each primitive that runs it and nothing else."""
    names = primitive_names(task)
    return {name: constant(task, [float(name == other) for other in names]) for name in names}


def best_blends(task: Task, episodes: int = BLENDS.on_reference) -> dict[str, Program]:
    """The best constant blend by return and, where the task says what success is, by success rate.

    All candidates of a grid over the shares play the same validation episodes.
    """
    count = len(primitive_names(task))
    candidates = [constant(task, shares) for shares in share_grid(count, GRID.get(count, 3))]
    scores = [evaluate_program(task, each, episodes, BLENDS.seed) for each in candidates]
    values: dict[str, list[tuple[float, ...]]] = {"return": [(score.mean,) for score in scores]}
    if "is_success" in scores[0].extra:
        values["success"] = [(score.extra["is_success"], score.mean) for score in scores]
    return {f"best blend by {what}": candidates[value.index(max(value))] for what, value in values.items()}


def chance(score: Score, others: Sequence[Score]) -> dict[str, float]:
    """How likely chance alone makes a score better than each of the others, which played the same episodes.

    Returns are compared in pairs (Student's test), numbers of successes by Fisher's exact test. The largest counts.
    """
    from scipy.stats import fisher_exact, ttest_rel

    different = [other.returns for other in others if not np.array_equal(score.returns, other.returns)]
    tests = [ttest_rel(score.returns, returns, alternative="greater") for returns in different]
    equal = [1.0] * (len(others) - len(tests))
    found = {"p_return": max([*equal, *(float(test.pvalue) for test in tests)])}
    if "is_success" in score.extra:
        count = len(score.returns)
        tables = [[(each, count - each) for each in map(successes, (score, other))] for other in others]
        exact: list[Any] = [fisher_exact(table, alternative="greater") for table in tables]
        found["p_success"] = max(float(test.pvalue) for test in exact)
    return found


def successes(score: Score) -> int:
    return round(score.extra["is_success"] * len(score.returns))


def share_grid(count: int, parts: int) -> list[list[float]]:
    """Every way to divide 1 into `count` shares that are multiples of 1/parts."""
    divided = [shares for shares in product(range(parts + 1), repeat=count) if sum(shares) == parts]
    return [[share / parts for share in shares] for shares in divided]


def constant(task: Task, shares: list[float]) -> Program:
    return Program(task.signature, Blend(tuple(shares)), task.name)
