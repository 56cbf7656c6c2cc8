"""MiniGrid's DoorKey, perceived as seven numbers instead of an image."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from diprl.errors import optional
from diprl.tasks.twins.table import door_key_signature


def make_door_key(size: int, **kwargs: Any) -> gym.Env[Any, Any]:
    """MiniGrid's own environment, perceived through `DoorKeyPerceptions`."""
    minigrid = optional("minigrid", "DoorKey needs minigrid: install it with: pip install 'diprl[minigrid]'")
    identifier = f"MiniGrid-DoorKey-{size}x{size}-v0"
    if identifier not in gym.registry:
        minigrid.register_minigrid_envs()
    return DoorKeyPerceptions(gym.make(identifier, disable_env_checker=True, **kwargs))


class DoorKeyPerceptions(gym.ObservationWrapper[Any, Any, Any]):
    """Replaces MiniGrid's image by the seven numbers, read off its full grid."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        features = door_key_signature(self.unwrapped.grid.width).features  # type: ignore[attr-defined]
        low, high = (np.array([getattr(feature, end) for feature in features]) for end in ("low", "high"))
        self.observation_space = gym.spaces.Box(low.astype(np.float32), high.astype(np.float32))

    def observation(self, observation: Any) -> NDArray[np.float32]:
        room: Any = self.unwrapped
        front = room.grid.get(*room.front_pos)
        kind = front.type if front else "empty"
        things = {thing.type: index for index, thing in enumerate(room.grid.grid) if thing}
        door = room.grid.grid[things["door"]]
        offset = np.array(divmod(things[_subgoal(room, door)], room.grid.width)[::-1]) - room.agent_pos
        perceptions = (
            room.carrying is not None,
            door.is_open,
            offset @ room.dir_vec / 4,
            offset @ room.right_vec / 4,
            front is not None and not front.can_overlap(),
            kind == "key",
            kind == "door" and not door.is_open,
        )
        return np.array(perceptions, np.float32)


def _subgoal(room: Any, door: Any) -> str:
    """The goal once the door is open; before that the door if it can be opened now, else the key."""
    if door.is_open:
        return "goal"
    return "key" if door.is_locked and room.carrying is None else "door"
