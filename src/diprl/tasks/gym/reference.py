"""Reference environments as the rest of the package meets them: arrays out, a program's actions in."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from warnings import catch_warnings, simplefilter

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.tasks.gym.spaces import Masked, with_plain_actions
from diprl.tasks.misdeeds import call, in_words

UNLIMITED = 1_000
"""Steps after which an episode is cut where the environment itself promises no end."""

VECTOR = "a batch of environments: give a single one, of which diprl makes batches itself"

Make = Callable[..., gym.Env[Any, Any]]
Functions = tuple[Callable[[Any], float], ...]
"""A user's own features, each a function of one observation as the environment gives it."""


@dataclass(frozen=True)
class Reference:
    """Makes environments that give arrays, take a program's actions and always end."""

    make: Make
    name: str
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    functions: Functions = ()
    horizon: int = 0
    """Steps after which an episode is cut; 0 where the user does not say."""
    render: Mapping[str, Any] = field(default_factory=dict)
    """How the environment is made to draw itself, where the user says so."""

    def __call__(self, **overrides: Any) -> gym.Env[Any, Any]:
        if self.render and overrides.get("render_mode") == "rgb_array":
            overrides = dict(self.render)
        environment = self.raw(**overrides)
        if self.horizon or time_limit(environment) is None:
            environment = gym.wrappers.TimeLimit(environment, self.horizon or UNLIMITED)
        if not isinstance(environment.observation_space, spaces.Box):
            environment = self._as_arrays(environment)
        environment = with_plain_actions(environment)
        return Masked(environment) if isinstance(environment.action_space, spaces.Discrete) else environment

    def raw(self, **overrides: Any) -> gym.Env[Any, Any]:
        """The environment as its author wrote it; what fails there becomes one sentence."""
        kwargs = {**self.env_kwargs, **overrides}
        try:
            with catch_warnings():
                # Deprecations are the author's business; Box2D crashes where they raise.
                simplefilter("ignore", DeprecationWarning)
                complaint = f"{self.name} could not be made" + (f" with {kwargs}" if kwargs else "")
                environment = call(partial(self.make, **kwargs), complaint=lambda: complaint)
        except DiprlError as error:
            missing = isinstance(error.__cause__, ImportError | gym.error.DependencyNotInstalled)
            if missing and str(error).startswith(complaint):
                raise DiprlError(f"{self.name} cannot be made here: {_remedy(str(error.__cause__))}") from error
            raise
        if isinstance(environment, gym.vector.VectorEnv):
            raise DiprlError(f"{self.name} is {VECTOR}")
        if not isinstance(environment, gym.Env):
            raise DiprlError(f"{self.name} made a {type(environment).__name__}, which is not a gymnasium.Env")
        return environment

    def _as_arrays(self, environment: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        """Flattens observations of several parts, or computes the user's features from them at once."""
        if not self.functions:
            return gym.wrappers.FlattenObservation(environment)
        space = spaces.Box(-np.inf, np.inf, (len(self.functions),), np.float32)
        return gym.wrappers.TransformObservation(environment, partial(evaluate, self.functions), space)


def _remedy(message: str) -> str:
    """The extra of this package that brings what is missing, or the environment's own words."""
    for extra in ("box2d", "mujoco", "minigrid"):
        if extra in message.lower() and "install" in message:
            return f"install it with: pip install 'diprl[{extra}]'"
    return message


def time_limit(environment: gym.Env[Any, Any]) -> int | None:
    """The time limit an environment was made with: Gymnasium's, or its own `max_steps` as in MiniGrid."""
    if environment.spec and environment.spec.max_episode_steps:
        return environment.spec.max_episode_steps
    if environment.has_wrapper_attr("_max_episode_steps"):  # a TimeLimit that its author put there
        return environment.get_wrapper_attr("_max_episode_steps")
    own = getattr(environment.unwrapped, "max_steps", None)
    return own if isinstance(own, int) and own > 0 else None


def evaluate(functions: Functions, observation: Any) -> NDArray[np.float32]:
    return np.array([float(function(observation)) for function in functions], np.float32)


def copies_of(environment: gym.Env[Any, Any]) -> Make:
    """A factory of environments like the given object: from its registration, or by copying it."""
    if environment.spec is not None:
        registered = partial(gym.make, environment.spec, disable_env_checker=True)
        with suppress(Exception):  # a wrapper that Gymnasium cannot rebuild from its arguments
            registered().close()
            return registered
    return partial(_copy, environment)


def _copy(environment: gym.Env[Any, Any], **kwargs: Any) -> gym.Env[Any, Any]:
    name = type(environment).__name__
    if kwargs:
        raise DiprlError(f"{name} is made already, too late for {kwargs}: pass a function that makes it")
    try:
        return deepcopy(environment)
    except Exception as error:
        raise DiprlError(f"{name} cannot be copied ({in_words(error)}): pass a function that makes it") from error
