"""MiniGrid's DoorKey as a task: seven perceptions of the grid instead of its image."""

from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program.signature import Discrete, Feature, Signature
from diprl.tasks.base import Task, Twin
from diprl.tasks.gymnasium_task import gymnasium_task

ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")


def door_key(size: int) -> Task:
    """Fetch the key, unlock the door, reach the goal in a room of size × size cells, walls included."""
    return replace(
        gymnasium_task(partial(make_door_key, size), f"DoorKey-{size}x{size}"),
        signature=Signature(perceptions(size), Discrete(ACTIONS)),
        twin=partial(_twin, size),
        budget=4_000_000,
        paper_score=0.95 if size == 6 else None,
    )


def _twin(size: int) -> Twin:
    from diprl.tasks.doorkey import DoorKey

    return DoorKey(size)


def perceptions(size: int) -> tuple[Feature, ...]:
    """What a DoorKey program may read."""
    furthest = (size - 3) / 4
    towards = "to the key, then the door, then the goal, divided by 4"
    return (
        Feature("carrying_key", low=0, high=1, meaning="1 while the agent carries the key"),
        Feature("door_open", low=0, high=1, meaning="1 while the door is open"),
        Feature("subgoal_ahead", "4 cells", -furthest, furthest, f"cells ahead of the agent {towards}"),
        Feature(
            "subgoal_right", "4 cells", -furthest, furthest, f"cells to the right of the agent {towards}"
        ),
        Feature("front_blocked", low=0, high=1, meaning="1 if the agent cannot move forward"),
        Feature("key_in_front", low=0, high=1, meaning="1 if the agent faces the key"),
        Feature(
            "closed_door_in_front", low=0, high=1, meaning="1 if the agent faces the door, closed or locked"
        ),
    )


def make_door_key(size: int, **kwargs: Any) -> gym.Env[Any, Any]:
    """MiniGrid's own environment, perceived through `DoorKeyPerceptions`."""
    try:
        import minigrid
    except ImportError as error:
        raise DiprlError("DoorKey needs minigrid: install it with: pip install 'diprl[minigrid]'") from error
    identifier = f"MiniGrid-DoorKey-{size}x{size}-v0"
    if identifier not in gym.registry:
        minigrid.register_minigrid_envs()
    return DoorKeyPerceptions(gym.make(identifier, disable_env_checker=True, **kwargs))


class DoorKeyPerceptions(gym.ObservationWrapper[Any, Any, Any]):
    """Replaces MiniGrid's image by the seven numbers, read off its full grid."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        features = perceptions(self.unwrapped.grid.width)  # type: ignore[attr-defined]
        low, high = (np.array([getattr(feature, end) for feature in features]) for end in ("low", "high"))
        self.observation_space = gym.spaces.Box(low.astype(np.float32), high.astype(np.float32))

    def observation(self, observation: Any) -> NDArray[np.float32]:
        room: Any = self.unwrapped
        front = room.grid.get(*room.front_pos)
        kind = front.type if front else "empty"
        things = {thing.type: index for index, thing in enumerate(room.grid.grid) if thing}
        door = room.grid.grid[things["door"]]
        offset = np.array(divmod(things[_subgoal(room, door)], room.grid.width)[::-1]) - room.agent_pos
        return np.array(
            [
                room.carrying is not None,
                door.is_open,
                offset @ room.dir_vec / 4,
                offset @ room.right_vec / 4,
                front is not None and not front.can_overlap(),
                kind == "key",
                kind == "door" and not door.is_open,
            ],
            np.float32,
        )


def _subgoal(room: Any, door: Any) -> str:
    """The goal once the door is open; before that the door if it can be opened now, else the key."""
    if door.is_open:
        return "goal"
    return "key" if door.is_locked and room.carrying is None else "door"
