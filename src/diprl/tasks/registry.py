"""The tasks by name, and the one door where a name, an id, an environment or a factory becomes a task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import gymnasium as gym

from diprl.errors import LONGEST_NAME, DiprlError, nearest
from diprl.program import Primitives, Program
from diprl.program.networks import Network
from diprl.tasks.base import Task
from diprl.tasks.description import described_task, read_description
from diprl.tasks.gym.reference import VECTOR, copies_of
from diprl.tasks.gym.task import FeatureFunction, gymnasium_task, registered_task, renamed
from diprl.tasks.mujoco.tasks import mujoco_tasks
from diprl.tasks.origin import Origin, named_by_user
from diprl.tasks.own import OwnEnvironment, check_allowed, code_file, remember
from diprl.tasks.twins.table import TWIN_TASKS

OWN_IDS = "diprl/"
"""What the ids of this package's Gymnasium environments begin with; the task of the same name adds primitives."""

Source = str | Origin | gym.Env[Any, Any] | Callable[..., gym.Env[Any, Any]]


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
FAMILIES = {
    "minigrid": ("MiniGrid-", "BabyAI-"),
    "highway_env": ("highway-", "merge-", "roundabout-", "parking-", "intersection-", "racetrack-"),
    "gymnasium_robotics": ("Fetch", "HandReach", "AdroitHand", "FrankaKitchen", "PointMaze", "AntMaze"),
}
"""How the ids begin that other packages register."""


def load_task(
    source: Source,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    feature_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    features: Sequence[FeatureFunction] | None = None,
) -> Task:
    """The task behind a name, an id, `FILE.py:Class`, `module:Id`, a task file, an environment or a factory.

    >>> load_task("CartPole-v1").signature.feature_names
    ('cart_position', 'cart_velocity', 'pole_angle', 'pole_angular_velocity')

    With `env_kwargs` or `features` a named task is the plain environment of the same id, since what its
    compiled twin and its shaping assume no longer holds.
    """
    options: dict[str, Any] = {"feature_names": feature_names, "action_names": action_names, "features": features}
    if isinstance(source, str):
        source = named_by_user(source)
    if isinstance(source, Origin):
        return _task_of_origin(source, env_kwargs, options)
    if isinstance(source, gym.Env) or callable(source):
        make = copies_of(source) if isinstance(source, gym.Env) else source
        return gymnasium_task(make, env_kwargs=env_kwargs, **options)
    if isinstance(source, gym.vector.VectorEnv):
        raise DiprlError(f"{type(source).__name__} is {VECTOR}")
    kind = type(source).__name__
    raise DiprlError(f"a task is a name, an environment or a function that makes one, not {kind}")


def _task_of_origin(origin: Origin, env_kwargs: Mapping[str, Any] | None, options: dict[str, Any]) -> Task:
    """The task that a user named, or that a run folder says it was trained on, with what its task file says."""
    said, name = read_description(origin.described), _full_name(origin.source)
    if name in TASKS and said.names_only and not env_kwargs and not options["features"]:
        task = renamed(_built_in(name), options["feature_names"], options["action_names"])
        return replace(described_task(task, said), origin=origin) if said.environment else task
    options |= {"env_kwargs": {**said.env_kwargs, **(env_kwargs or {})}, "said": said}
    if not origin.own:
        task = registered_task(_registered_id(origin.source), **options)
        return replace(task, origin=origin) if said.environment else task
    if not origin.named:
        check_allowed(origin)
    task = gymnasium_task(OwnEnvironment(origin.source, origin.folder), **options)
    if origin.named and (file := code_file(origin)):
        remember(file, origin.source)  # so that run folders may ask for it
    return replace(task, origin=origin)


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
    """The id that Gymnasium knows a name by."""
    identifier = name if name in gym.registry else _full_name(name)
    if identifier in TASKS and identifier not in gym.registry:
        raise DiprlError(f"{name} takes no env_kwargs and no features: pass an environment or a Gymnasium id")
    if identifier not in gym.registry:
        near = nearest(name, sorted({*TASKS, *gym.registry}), count=3)
        hint = f"did you mean {', '.join(near)}?" if near else "diprl tasks lists those that are built in"
        if module := next((module for module, starts in FAMILIES.items() if name.startswith(starts)), None):
            hint = f"the package {module} brings it: once it is installed, name it {module}:{name}"
        raise DiprlError(f"unknown task '{name:.{LONGEST_NAME}}': {hint}; name one of your own as FILE.py:Class")
    return identifier


def networks_of(program: Program) -> tuple[Network, ...]:
    """One network per primitive of the program; none where it blends none, or none that ship with diprl."""
    name = _full_name(program.task)
    if name not in TASKS or not isinstance(program.signature.actions, Primitives):
        return ()
    load = _built_in(name).networks
    return load() if load else ()
