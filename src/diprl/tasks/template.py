"""A task file to fill in, written after a look at the environment."""

import os
from collections.abc import Mapping
from contextlib import closing
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program.signature import Continuous
from diprl.tasks.base import Task
from diprl.tasks.origin import is_file

EPISODES, STEPS = 5, 300
"""How long is looked: random episodes, and steps of each at most."""

TEXT = """\
# What diprl should know about {source}. Fill in names, units and meanings; all but the first entry may go.
# Train with: diprl train {file}

environment = {environment}
{env_kwargs}
{horizon}
total_timesteps = {budget:_}  # the budget of a training run
# render = {{ render_mode = "rgb_array" }}  # keyword arguments with which the environment draws itself

must_use = []  # features that a program has to read
may_not_use = []  # features that it must not read

{actions}

# One line for each number of the observation, in its order. After them, formulas over the names above:
# speed = {{ formula = "sqrt(vx^2 + vy^2)", unit = "m/s", meaning = "speed over ground" }}
[features]
{features}
"""


def file_name(source: str) -> str:
    """What a task file about this environment is called: tank.toml for tank.py:Tank."""
    where, _, name = source.rpartition(":")
    return f"{Path(where).stem if is_file(source) else (where or name).replace('/', '_')}.toml".lower()


def task_file(task: Task, source: str, out: Path, env_kwargs: Mapping[str, Any]) -> str:
    """The text of a task file that is to lie at `out`."""
    origin, limit = task.origin, "the environment sets no limit itself" if task.note else "what the environment says"
    environment = source
    if origin is not None and is_file(origin.source):
        environment = Path(os.path.relpath(origin.folder, out.resolve().parent), origin.source).as_posix()
    kwargs = ", ".join(f"{name} = {_value(value)}" for name, value in env_kwargs.items())
    horizon = f"horizon = {task.horizon}  # steps after which an episode is cut; {limit}"
    return TEXT.format(
        source=source,
        file=out,
        environment=_value(environment),
        env_kwargs=f"env_kwargs = {{ {kwargs} }}" if kwargs else "# env_kwargs = { size = 3 }",
        horizon=horizon if task.note else f"# {horizon}",
        budget=task.budget,
        actions=_actions(task),
        features="\n".join(_features(task)),
    )


def _actions(task: Task) -> str:
    actions = task.signature.actions
    if not isinstance(actions, Continuous):
        return f"actions = [{', '.join(map(_value, actions.names))}]  # in the order of their numbers"
    units = actions.units or [""] * len(actions.names)
    rows = zip(actions.names, units, actions.low, actions.high, strict=True)
    lines = [f"{name} = {{ unit = {_value(unit)}{_range(low, high)} }}" for name, unit, low, high in rows]
    return "\n".join(["[actions]  # in the order of the action's numbers", *lines])


def _features(task: Task) -> list[str]:
    """A line for each feature, with what was seen of it."""
    seen = random_views(task)
    lines = []
    for feature, low, high in zip(task.signature.features, seen.min(axis=0), seen.max(axis=0), strict=False):
        facts = f"unit = {_value(feature.unit)}{_range(feature.low, feature.high)}, meaning = {_value(feature.meaning)}"
        lines.append(f"{feature.name} = {{ {facts} }}  # seen: {low:.4g} to {high:.4g}")
    return lines


def random_views(task: Task) -> NDArray[np.float32]:
    """What random actions meet in a few episodes."""
    seen = []
    with closing(task.reference()) as environment:
        environment.action_space.seed(0)
        for seed in range(EPISODES):
            observation, ended, steps = environment.reset(seed=seed)[0], False, 0
            while not ended and steps < STEPS:
                seen.append(np.asarray(observation))
                observation, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
                ended, steps = terminated or truncated, steps + 1
    return task.view(np.array(seen))


def _range(low: float, high: float) -> str:
    """The range where one is known, in as few digits as name the same 32-bit numbers."""
    if (low, high) == (-inf, inf):
        return ""
    shown = [str(np.float32(end)) if np.float32(end) == end and isfinite(end) else str(end) for end in (low, high)]
    return f", range = [{', '.join(shown)}]"


def _value(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, str):
        plain = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{"".join(letter if letter.isprintable() else " " for letter in plain)}"'
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_value(str(key))} = {_value(each)}' for key, each in value.items())} }}"
    return str(value).lower() if isinstance(value, bool) else repr(value)
