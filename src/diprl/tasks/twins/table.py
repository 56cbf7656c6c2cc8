"""The tasks that have a compiled twin, described without Gymnasium, so that they train where only JAX is installed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from math import inf, pi
from typing import Any

import numpy as np

from diprl.errors import optional
from diprl.program.signature import Discrete, Feature, Signature
from diprl.tasks.base import Task, ViewLayout, flat_view
from diprl.tasks.names import names_of

CLASSIC, DOOR_KEY = "diprl.tasks.twins.classic", "diprl.tasks.twins.doorkey"
DOOR_KEY_ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
DOOR_KEY_SIZES = {5: 0.955, 6: 0.966, 8: 0.972}
"""The grids, each with the mean return that counts as solved (all-knowing agents get 0.969 on 6 x 6)."""


def called(module: str, name: str, *arguments: Any, **options: Any) -> Any:
    """The result of a function in a module that is imported now: JAX and Gymnasium load when they are needed."""
    return getattr(import_module(module), name)(*arguments, **options)


def _task(name: str, signature: Signature, make: Callable[..., Any], **facts: Any) -> Task:
    """A task whose conditions read the whole observation; `make` makes the plain environment that scores it."""
    features = len(signature.features)
    reference, layout = partial(_reference, name, make), ViewLayout(features, features)
    return Task(name, signature, reference, layout=layout, view=flat_view, **facts)


def _reference(name: str, make: Callable[..., Any], **overrides: Any) -> Any:
    lacking = f"{name} is scored in Gymnasium: install it with: pip install gymnasium"
    return optional("diprl.tasks.gym.reference", lacking).Reference(make, name)(**overrides)


def _control(name: str, horizon: int, bounds: Sequence[float | tuple[float, float]], **facts: Any) -> Task:
    """One of Gymnasium's classic control tasks; a bound is the largest magnitude of a feature, or low and high."""
    kind = name.partition("-")[0]
    features, actions = names_of(kind)[0]
    ranges = zip(features, map(_rounded, bounds), strict=True)
    named = tuple(replace(feature, low=low, high=high) for feature, (low, high) in ranges)
    return _task(
        name,
        Signature(named, Discrete(actions)),
        partial(called, "gymnasium", "make", name, disable_env_checker=True),
        twin=partial(called, CLASSIC, kind),
        horizon=horizon,
        budget=2_000_000,
        **facts,
    )


def _rounded(bound: float | tuple[float, float]) -> tuple[float, float]:
    """Low and high, rounded to 32 bits as environments state them."""
    low, high = bound if isinstance(bound, tuple) else (-bound, bound)
    return float(np.float32(low)), float(np.float32(high))


def door_key_signature(size: int) -> Signature:
    """What a DoorKey program may read and do in a room of size × size cells."""
    furthest = (size - 3) / 4
    cells = partial(Feature, unit="4 cells", low=-furthest, high=furthest)
    yes_or_no = partial(Feature, low=0, high=1)
    towards = "to the key, then the door, then the goal, divided by 4"
    features = (
        yes_or_no("carrying_key", meaning="1 while the agent carries the key"),
        yes_or_no("door_open", meaning="1 while the door is open"),
        cells("subgoal_ahead", meaning=f"cells ahead of the agent {towards}"),
        cells("subgoal_right", meaning=f"cells to the right of the agent {towards}"),
        yes_or_no("front_blocked", meaning="1 if the agent cannot move forward"),
        yes_or_no("key_in_front", meaning="1 if the agent faces the key"),
        yes_or_no("closed_door_in_front", meaning="1 if the agent faces the door, closed or locked"),
    )
    return Signature(features, Discrete(DOOR_KEY_ACTIONS))


def _door_key(size: int, solved_return: float) -> Task:
    """Fetch the key, unlock the door, reach the goal in a room of size × size cells, walls included."""
    return _task(
        f"DoorKey-{size}x{size}",
        door_key_signature(size),
        partial(called, "diprl.tasks.gym.doorkey", "make_door_key", size),
        twin=partial(called, DOOR_KEY, "DoorKey", size),
        horizon=10 * size**2,
        budget=4_000_000,
        paper_score=0.95 if size == 6 else None,
        solved_return=solved_return,
    )


CART_POLE_BOUNDS = [4.8, inf, 24 * 2 * pi / 360, inf]
POTENTIAL = partial(called, CLASSIC, "mountain_car_potential")
TWIN_TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        _control("CartPole-v1", 500, CART_POLE_BOUNDS, paper_score=500.0, solved_return=500.0),
        _control("Acrobot-v1", 500, [1, 1, 1, 1, 4 * pi, 9 * pi], paper_score=-79.93),
        _control("MountainCar-v0", 200, [(-1.2, 0.6), 0.07], paper_score=-110.79, potential=POTENTIAL),
        *(_door_key(size, solved_return) for size, solved_return in DOOR_KEY_SIZES.items()),
    )
}
