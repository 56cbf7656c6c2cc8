"""Gymnasium's spaces in a program's terms: named features to read, named actions to choose from, allowed ones."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import inf, prod
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from diprl.errors import DiprlError
from diprl.program.names import identifier, unique_identifiers
from diprl.program.signature import Actions, Continuous, Discrete, Feature

MOST_FEATURES = 512
MOST_ACTIONS, MOST_COMBINATIONS = 1000, 64
REMEDY = "wrap it so that it gives a few numbers, or pass `features` in Python: (name, unit, function of it) for each"


def features_of(space: gym.Space[Any]) -> tuple[Feature, ...]:
    """One feature per number of a flattened observation, in Gymnasium's order of flattening."""
    features = tuple(islice(_features(space, ""), MOST_FEATURES + 1))
    if len(features) > MOST_FEATURES:
        many = f"{spaces.flatdim(space)} numbers, more than the {MOST_FEATURES} a readable program can name"
        raise DiprlError(f"the observation has {many}: {REMEDY}")
    names = unique_identifiers([feature.name for feature in features])
    return tuple(replace(feature, name=name) for feature, name in zip(features, names, strict=True))


def _features(space: gym.Space[Any], name: str) -> Iterator[Feature]:
    match space:
        case spaces.Dict():
            for key, part in space.spaces.items():
                yield from _features(part, _joined(name, str(key)))
        case spaces.Tuple():
            for index, part in enumerate(space.spaces):
                yield from _features(part, _joined(name, f"part{index}"))
        case spaces.Discrete():
            for value in range(int(space.start), int(space.start + space.n)):
                yield Feature(_joined(name or "state", f"is {value}"), low=0.0, high=1.0)
        case spaces.MultiDiscrete():
            for index, (count, start) in enumerate(zip(space.nvec.flat, space.start.flat, strict=True)):
                part = spaces.Discrete(int(count), start=int(start))
                yield from _features(part, _joined(name or "state", str(index)))
        case spaces.Box() if space.dtype == np.uint8 and len(space.shape) == 3:
            image = f"an image of shape {space.shape}, which no condition can read"
            raise DiprlError(f"the observation is {image}: {REMEDY}")
        case spaces.Box() | spaces.MultiBinary():
            yield from _number_features(space, name)
        case _:
            raise DiprlError(f"an observation of type {type(space).__name__} is not numbers: {REMEDY}")


def _joined(name: str, key: str) -> str:
    """An identifier for a part of an observation, such as `arm_angle`."""
    return identifier(f"{name}_{key}" if name else key)


def _number_features(space: spaces.Box | spaces.MultiBinary, name: str) -> Iterator[Feature]:
    size = prod(space.shape)
    low, high = np.zeros(size), np.ones(size)
    if isinstance(space, spaces.Box):
        low, high = space.low.ravel(), space.high.ravel()
    for index in range(size):
        label = f"{name}_{index}" if name and size > 1 else name or f"x{index}"
        yield Feature(label, low=_bound(low[index]), high=_bound(high[index]))


def _bound(value: Any) -> float:
    """A bound as a float; the largest float32, which many environments write for 'none', is infinite."""
    number = float(value) + 0.0
    return number if abs(number) < 1e30 else inf if number > 0 else -inf


def actions_of(space: gym.Space[Any]) -> Actions:
    """The actions of a program for an action space, with generic names."""
    if isinstance(space, spaces.Discrete | spaces.Box) and (count := int(spaces.flatdim(space))) > MOST_ACTIONS:
        raise DiprlError(f"there are {count} actions, more than the {MOST_ACTIONS} that a program can name")
    match space:
        case spaces.Discrete():
            return Discrete(tuple(f"action{value + int(space.start)}" for value in range(int(space.n))))
        case spaces.MultiDiscrete() | spaces.MultiBinary():
            combinations = product(*(range(count) for count in _counts(space)))
            return Discrete(tuple("set_" + "_".join(map(str, values)) for values in combinations))
        case spaces.Box():
            names = tuple(f"a{index}" for index in range(prod(space.shape)))
            low, high = (tuple(map(_bound, bounds.ravel())) for bounds in (space.low, space.high))
            return Continuous(names, low, high)
        case _:
            remedy = "wrap the environment so that it takes Discrete, MultiDiscrete or Box actions"
            raise DiprlError(f"actions of type {type(space).__name__} are not supported: {remedy}")


def _counts(space: spaces.MultiDiscrete | spaces.MultiBinary) -> tuple[int, ...]:
    """How many values each part of a joint choice has, if all combinations can be named."""
    counts = [2] * prod(space.shape) if isinstance(space, spaces.MultiBinary) else space.nvec.ravel().tolist()
    if prod(counts) > MOST_COMBINATIONS:
        many = f"{prod(counts)} combinations, more than the {MOST_COMBINATIONS} a program can name"
        raise DiprlError(f"the joint actions have {many}: wrap the environment so that it takes one Discrete action")
    return tuple(counts)


def native_action(space: gym.Space[Any], action: Any) -> Any:
    """What an environment with one of the spaces above receives for an index counted from 0, or a vector to clip."""
    match space:
        case spaces.Discrete():
            return int(action) + int(space.start)
        case spaces.MultiDiscrete() | spaces.MultiBinary():
            values = np.array(np.unravel_index(int(action), _counts(space)), space.dtype).reshape(space.shape)
            return values + space.start if isinstance(space, spaces.MultiDiscrete) else values
        case spaces.Box():
            return np.clip(np.reshape(action, space.shape), space.low, space.high).astype(space.dtype)


def with_plain_actions(environment: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """An environment that takes a program's actions: indices from 0, or flat vectors that are clipped."""
    space = environment.action_space
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return environment
    if isinstance(space, spaces.Box):
        plain = spaces.Box(space.low.ravel(), space.high.ravel(), dtype=space.dtype.type)
    else:
        plain = spaces.Discrete(len(actions_of(space).names))
    return gym.wrappers.TransformAction(environment, partial(native_action, space), plain)


class Masked(gym.Wrapper[Any, Any, Any, Any]):
    """Takes the next allowed action, in their order and from the last to the first, instead of a forbidden one.

    An environment forbids actions for the moment by `info["action_mask"]`, as Taxi does.

    So a forbidden action never reaches the environment, in training or when a program is scored. Code that runs the
    program elsewhere must do the same.
    """

    def __init__(self, environment: gym.Env[Any, Any]) -> None:
        super().__init__(environment)
        self.count = len(actions_of(environment.action_space).names)
        self.allowed: np.ndarray | None = None

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        begun = self.env.reset(**options)
        self.allowed = self.mask(begun[-1])
        return begun

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        step = self.env.step(action if self.allowed is None else next_allowed(int(action), self.allowed))
        self.allowed = self.mask(step[-1])
        return step

    def mask(self, info: Any) -> np.ndarray | None:
        """One truth value for each action; whatever else has that name was not meant for us."""
        mask = info.get("action_mask") if isinstance(info, dict) else None
        return mask if isinstance(mask, np.ndarray) and mask.shape == (self.count,) else None


def next_allowed(action: int, allowed: np.ndarray) -> int:
    """The action itself if it is allowed, or if the mask allows none; else the next one that is.

    >>> next_allowed(4, np.array([0, 1, 1, 0, 0, 0]))
    1
    """
    after = [*range(action, len(allowed)), *range(action)]
    return next((each for each in after if allowed[each]), action)
