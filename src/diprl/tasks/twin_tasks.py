"""The tasks that have a compiled twin, described without Gymnasium, so that they train where only JAX is installed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError, unknown
from diprl.program.signature import Discrete, Feature, Signature
from diprl.tasks.base import Layout, Task, Twin
from diprl.tasks.names import known_names

DOOR_KEY_ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
DOOR_KEY_SIZES = {5: 0.955, 6: 0.966, 8: 0.972}
"""The grids, each with the mean return that counts as solved (all-knowing agents get 0.969 on 6 x 6)."""


@dataclass(frozen=True)
class Entry:
    """What a twin itself does not say about its task."""

    signature: Signature
    twin: Callable[[], Twin]
    horizon: int
    budget: int
    paper_score: float | None = None
    solved_return: float | None = None
    potential: Callable[[Any], Any] | None = None


def twin_task(name: str) -> Task:
    """A task to train on its twin alone; it has no reference environment."""
    if name not in TWIN_TASKS:
        raise unknown("task with a twin", name, TWIN_TASKS)
    entry = TWIN_TASKS[name]
    features = len(entry.signature.features)
    return Task(
        name=name,
        signature=entry.signature,
        reference=partial(_no_reference, name),
        horizon=entry.horizon,
        layout=Layout(features, features),
        view=flat_view,
        twin=entry.twin,
        potential=entry.potential,
        budget=entry.budget,
        paper_score=entry.paper_score,
        solved_return=entry.solved_return,
    )


def flat_view(observations: NDArray[Any]) -> NDArray[np.float32]:
    """A batch of observations as a batch of vectors."""
    return np.asarray(observations, np.float32).reshape(len(observations), -1)


def _no_reference(name: str, **_: Any) -> Any:
    raise DiprlError(f"this {name} has no reference environment: load it by its name with Gymnasium installed")


def _control_signature(name: str, actions: int, *bounds: float) -> Signature:
    """Known names with symmetric or given bounds, each rounded to 32 bits as environments state them."""
    names = known_names(name, len(bounds), actions)
    if names is None:
        raise ValueError(f"no names are known for {name}")
    limits = [float(np.float32(bound)) for bound in bounds]
    entries = zip(names.features, names.units, limits, strict=True)
    return Signature(tuple(Feature(n, u, -limit, limit) for n, u, limit in entries), Discrete(names.actions))


def _mountain_car_signature() -> Signature:
    """The valley is not symmetric."""
    symmetric = _control_signature("MountainCar-v0", 3, 1.2, 0.07)
    position, velocity = symmetric.features
    ends = Feature(position.name, position.unit, position.low, float(np.float32(0.6)))
    return Signature((ends, velocity), symmetric.actions)


def door_key_signature(size: int) -> Signature:
    """What a DoorKey program may read and do in a room of size × size cells."""
    furthest = (size - 3) / 4
    towards = "to the key, then the door, then the goal, divided by 4"
    features = (
        Feature("carrying_key", low=0, high=1, meaning="1 while the agent carries the key"),
        Feature("door_open", low=0, high=1, meaning="1 while the door is open"),
        Feature("subgoal_ahead", "4 cells", -furthest, furthest, f"cells ahead of the agent {towards}"),
        Feature("subgoal_right", "4 cells", -furthest, furthest, f"cells to the right of the agent {towards}"),
        Feature("front_blocked", low=0, high=1, meaning="1 if the agent cannot move forward"),
        Feature("key_in_front", low=0, high=1, meaning="1 if the agent faces the key"),
        Feature("closed_door_in_front", low=0, high=1, meaning="1 if the agent faces the door, closed or locked"),
    )
    return Signature(features, Discrete(DOOR_KEY_ACTIONS))


def _classic(name: str) -> Twin:
    from diprl.tasks import classic

    return getattr(classic, name)()


def _door_key(size: int) -> Twin:
    from diprl.tasks.doorkey import DoorKey

    return DoorKey(size)


def _mountain_car_potential(views: Any) -> Any:
    from diprl.tasks.classic import mountain_car_potential

    return mountain_car_potential(views)


TWIN_TASKS: dict[str, Entry] = {
    "CartPole-v1": Entry(
        _control_signature("CartPole-v1", 2, 4.8, inf, 24 * 2 * pi / 360, inf),
        partial(_classic, "CartPole"),
        500,
        2_000_000,
        500.0,
        solved_return=500.0,
    ),
    "Acrobot-v1": Entry(
        _control_signature("Acrobot-v1", 3, 1, 1, 1, 1, 4 * pi, 9 * pi),
        partial(_classic, "Acrobot"),
        500,
        2_000_000,
        -79.93,
    ),
    "MountainCar-v0": Entry(
        _mountain_car_signature(),
        partial(_classic, "MountainCar"),
        200,
        2_000_000,
        -110.79,
        potential=_mountain_car_potential,
    ),
    **{
        f"DoorKey-{size}x{size}": Entry(
            signature=door_key_signature(size),
            twin=partial(_door_key, size),
            horizon=10 * size**2,
            budget=4_000_000,
            paper_score=0.95 if size == 6 else None,
            solved_return=solved,
        )
        for size, solved in DOOR_KEY_SIZES.items()
    },
}
