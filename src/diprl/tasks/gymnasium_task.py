"""Any Gymnasium environment as a task: names from the user, from what is known of the id, or generic ones."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from keyword import iskeyword
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program.signature import Actions, Feature, Signature
from diprl.tasks.base import Layout, Task
from diprl.tasks.names import known_names
from diprl.tasks.spaces import PlainActions, actions_of, features_of

UNLIMITED = 10_000
"""Steps after which an episode is cut where the environment itself promises no end."""

FeatureFunction = tuple[str, str, Callable[[Any], float]]
"""A feature of the user's own: name, unit, function of one observation."""

Make = Callable[..., gym.Env[Any, Any]]


def registered_task(identifier: str, **options: Any) -> Task:
    """The task of a registered Gymnasium id; options as for `gymnasium_task`."""
    return gymnasium_task(partial(gym.make, identifier, disable_env_checker=True), identifier, **options)


def gymnasium_task(
    make: Make,
    name: str,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    feature_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    features: Sequence[FeatureFunction] | None = None,
) -> Task:
    """A task around `make`, whose environments then give arrays and take a program's actions."""
    environment = _make(make, name, dict(env_kwargs or {}))
    if features and feature_names:
        raise DiprlError("pass either `features` or `feature_names`: features bring their own names")
    signature = Signature(
        _own_features(features) if features else _features(environment.observation_space, name),
        _actions(environment.action_space, name),
    )
    horizon = _horizon(environment)
    space = environment.observation_space
    environment.close()
    size = len(signature.features)
    task = Task(
        name=name,
        signature=signature,
        reference=partial(_reference, make, name, dict(env_kwargs or {})),
        horizon=horizon or UNLIMITED,
        layout=Layout(features=size, critic=size),
        view=UserView(space, tuple(row[2] for row in features)) if features else flat_view,
    )
    return renamed(task, feature_names, action_names)


def _make(make: Make, name: str, kwargs: Mapping[str, Any]) -> gym.Env[Any, Any]:
    """Calls the user's factory; what fails there becomes one sentence."""
    try:
        environment = make(**kwargs)
    except gym.error.DependencyNotInstalled as error:
        raise DiprlError(f"{name} needs a package that is not installed: {_remedy(str(error))}") from error
    except (TypeError, gym.error.Error) as error:
        raise DiprlError(f"{name} could not be made with {dict(kwargs)}: {error}") from error
    if not isinstance(environment, gym.Env):
        raise DiprlError(f"{name}: the factory returned {type(environment).__name__}, not a gymnasium.Env")
    return environment


def _remedy(message: str) -> str:
    """The extra of this package that brings what Gymnasium misses, or Gymnasium's own words."""
    for extra in ("box2d", "mujoco", "minigrid"):
        if extra in message.lower():
            return f"install it with: pip install 'diprl[{extra}]'"
    return message


def _reference(make: Make, name: str, env_kwargs: Mapping[str, Any], **overrides: Any) -> gym.Env[Any, Any]:
    """One environment that gives arrays, takes a program's actions and always ends."""
    environment = _make(make, name, {**env_kwargs, **overrides})
    if _horizon(environment) is None:
        environment = gym.wrappers.TimeLimit(environment, UNLIMITED)
    if not isinstance(environment.observation_space, spaces.Box):
        environment = gym.wrappers.FlattenObservation(environment)
    action_space = environment.action_space
    if isinstance(action_space, spaces.Discrete) and action_space.start == 0:
        return environment
    return PlainActions(environment)


def _horizon(environment: gym.Env[Any, Any]) -> int | None:
    """The time limit an environment was made with: Gymnasium's, or MiniGrid's own."""
    registered = environment.spec.max_episode_steps if environment.spec else None
    return registered or getattr(environment.unwrapped, "max_steps", None)


def renamed(task: Task, feature_names: Sequence[str] | None, action_names: Sequence[str] | None) -> Task:
    """The same task under the user's names, where given."""
    features, actions = task.signature.features, task.signature.actions
    if feature_names:
        features = _relabelled(features, feature_names)
    if action_names:
        _check_names("action", action_names, len(actions.names))
        actions = replace(actions, names=tuple(action_names))
    return replace(task, signature=Signature(features, actions))


def _relabelled(features: Sequence[Feature], names: Sequence[str]) -> tuple[Feature, ...]:
    _check_names("feature", names, len(features))
    return tuple(replace(feature, name=name) for feature, name in zip(features, names, strict=True))


def _own_features(functions: Sequence[FeatureFunction]) -> tuple[Feature, ...]:
    _check_names("feature", [name for name, _, _ in functions], len(functions))
    return tuple(Feature(name, unit, meaning="computed from the observation") for name, unit, _ in functions)


def _features(space: gym.Space[Any], identifier: str) -> tuple[Feature, ...]:
    """The observation's entries under known names with units, else under generic ones."""
    entries = features_of(space)
    known = known_names(identifier)
    if not known or len(known.features) != len(entries):
        return entries
    labels = zip(entries, known.features, known.units, strict=True)
    return tuple(replace(entry, name=name, unit=unit) for entry, name, unit in labels)


def _actions(space: gym.Space[Any], identifier: str) -> Actions:
    """The actions under known names, else under generic ones."""
    actions = actions_of(space)
    known = known_names(identifier)
    if not known or len(known.actions) != len(actions.names):
        return actions
    return replace(actions, names=known.actions)


def _check_names(kind: str, names: Sequence[str], size: int) -> None:
    if len(names) != size:
        raise DiprlError(f"{kind}_names has {len(names)} entries, but the environment has {size} {kind}s")
    if len(set(names)) != size:
        raise DiprlError(f"{kind}_names repeats a name: {', '.join(names)}")
    for label in names:
        if not label.isidentifier() or iskeyword(label):
            raise DiprlError(f"'{label}' cannot be the name of a {kind}: use letters, digits and _")


def flat_view(observations: NDArray[Any]) -> NDArray[np.float32]:
    """A batch of observations as a batch of vectors."""
    return np.asarray(observations, np.float32).reshape(len(observations), -1)


@dataclass(frozen=True)
class UserView:
    """Evaluates the user's features row by row, on the observation as the environment gives it."""

    space: gym.Space[Any]
    functions: tuple[Callable[[Any], float], ...]

    def __call__(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        rows = [self._native(row) for row in observations]
        return np.array([[function(row) for function in self.functions] for row in rows], np.float32)

    def _native(self, row: NDArray[Any]) -> Any:
        return row if isinstance(self.space, spaces.Box) else spaces.unflatten(self.space, row)


def copies_of(environment: gym.Env[Any, Any]) -> Make:
    """A factory of environments like the given object: from its registration, or by copying it."""
    if environment.spec is not None:
        return partial(gym.make, environment.spec)
    return partial(_copy, environment)


def _copy(environment: gym.Env[Any, Any], **kwargs: Any) -> gym.Env[Any, Any]:
    name = type(environment.unwrapped).__name__
    if kwargs:
        raise DiprlError(f"{name} is made already, too late for {kwargs}: pass a function that makes it")
    try:
        return deepcopy(environment)
    except Exception as error:
        raise DiprlError(f"{name} cannot be copied ({error}): pass a function that makes it") from error
