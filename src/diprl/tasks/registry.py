"""The tasks by name, and the one door where a name, an id, an environment or a factory becomes a task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import Any

import gymnasium as gym

from diprl.errors import LONGEST_NAME, DiprlError, unknown
from diprl.program import Primitives, Program
from diprl.program.networks import Network
from diprl.tasks.base import Task
from diprl.tasks.gym.reference import copies_of
from diprl.tasks.gym.task import FeatureFunction, gymnasium_task, registered_task, renamed
from diprl.tasks.mujoco.tasks import mujoco_tasks
from diprl.tasks.twins.table import TWIN_TASKS

OWN_IDS = "diprl/"
"""What the ids of this package's Gymnasium environments begin with; the task of the same name adds primitives."""

Source = str | gym.Env[Any, Any] | Callable[..., gym.Env[Any, Any]]


def _with_twin(name: str) -> Task:
    """A task that trains on its twin, if the environment that scores it can be made here."""
    TWIN_TASKS[name].reference().close()
    return TWIN_TASKS[name]


def _lunar_lander() -> Task:
    """Land between two flags with three engines."""
    task = registered_task("LunarLander-v3")
    return replace(task, envpool="LunarLander-v3", budget=4_000_000, paper_score=260.21)


TASKS: dict[str, Callable[[], Task]] = {
    **{name: partial(_with_twin, name) for name in TWIN_TASKS},
    "LunarLander-v3": _lunar_lander,
    **mujoco_tasks(),
}


def load_task(
    source: Source,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    feature_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    features: Sequence[FeatureFunction] | None = None,
) -> Task:
    """The task behind a task's name, a Gymnasium id, `module:Id`, an environment object or a factory.

    With `env_kwargs` or `features` a named task is the plain environment of the same id, since what its
    compiled twin and its shaping assume no longer holds.
    """
    if isinstance(source, str) and _full_name(source) in TASKS and not env_kwargs and not features:
        return renamed(_built_in(_full_name(source)), feature_names, action_names)
    options = (env_kwargs, feature_names, action_names, features)
    if isinstance(source, str):
        return registered_task(_registered_id(source), *options)
    if isinstance(source, gym.Env):
        return gymnasium_task(copies_of(source), None, *options)
    if callable(source):
        return gymnasium_task(source, None, *options)
    kind = type(source).__name__
    raise DiprlError(f"a task is a name, an environment or a function that makes one, not {kind}")


@cache
def _built_in(name: str) -> Task:
    """A built-in task, made once: what is compiled for a task is kept with it."""
    return TASKS[name]()


def _full_name(name: str) -> str:
    """The task that a name without its version means, such as LunarLander for LunarLander-v3, or one of our own ids."""
    if name.startswith(OWN_IDS):
        return name.removeprefix(OWN_IDS).rpartition("-v")[0]
    return next((task for task in TASKS if task.rpartition("-v")[0] == name), name)


def _registered_id(name: str) -> str:
    """A registered id, after importing the module that `module:Id` names."""
    module, _, bare = name.rpartition(":")
    if module:
        try:
            import_module(module)
        except ImportError as error:
            raise DiprlError(f"the module '{module}' cannot be imported: {error}") from error
    identifier = bare if bare in gym.registry else _full_name(bare)
    if identifier in TASKS and identifier not in gym.registry:
        raise DiprlError(f"{name} takes no env_kwargs and no features: pass an environment or a Gymnasium id")
    if identifier not in gym.registry:
        raise unknown("task", name, {*TASKS, *gym.registry}, see="diprl tasks")
    return identifier


def refuse_module(name: Any) -> str:
    """A task's name as a file gives it, refused where it asks for a module to be imported: that would run code."""
    if not isinstance(name, str):
        raise DiprlError(f"a task's name must be text, not {type(name).__name__}")
    if ":" in name:
        shown = name[:LONGEST_NAME]
        raise DiprlError(
            f"the file names the environment '{shown}', whose module would run: if you trust it, name it yourself"
        )
    return name


def networks_of(program: Program) -> tuple[Network, ...]:
    """One network per primitive of the program; none where it blends none, or none that ship with diprl."""
    name = _full_name(program.task)
    if name not in TASKS or not isinstance(program.signature.actions, Primitives):
        return ()
    load = _built_in(name).networks
    return load() if load else ()
