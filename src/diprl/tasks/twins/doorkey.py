"""MiniGrid's DoorKey in JAX: the whole grid is nine integers."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
OPEN, CLOSED, LOCKED = range(3)
ELSEWHERE = -1
"""Both coordinates of the key while the agent carries it."""


class DoorKeyState(NamedTuple):
    """Columns (x) and rows (y) counted from the top left; directions right, down, left, up are 0 to 3."""

    x: Array
    y: Array
    direction: Array
    key_x: Array
    key_y: Array
    door: Array
    door_y: Array
    wall_x: Array
    """The column of the wall that splits the room, and of the door in it."""
    steps: Array


class Front(NamedTuple):
    """The cell that the agent faces, and which of the things that matter it holds."""

    x: Array
    y: Array
    wall: Array
    key: Array
    door: Array
    goal: Array


@dataclass(frozen=True)
class DoorKey:
    """Fetch the key, unlock the door, reach the goal; `size` counts the outer walls."""

    size: int = 6
    reset_size: int = 5

    @property
    def horizon(self) -> int:
        return 10 * self.size**2

    def reset(self, uniform: Array) -> DoorKeyState:
        """The layout MiniGrid draws: agent and key on different cells left of the splitting wall."""
        wall_x = 2 + _choice(uniform[0], self.size - 4)
        cells = (wall_x - 1) * (self.size - 2)
        agent = _choice(uniform[1], cells)
        key = _choice(uniform[2], cells - 1)
        x, y = self._position(agent)
        key_x, key_y = self._position(key + (key >= agent))
        return DoorKeyState(
            x=x,
            y=y,
            direction=_choice(uniform[3], 4),
            key_x=key_x,
            key_y=key_y,
            door=jnp.int32(LOCKED),
            door_y=1 + _choice(uniform[4], self.size - 3),
            wall_x=wall_x,
            steps=jnp.int32(0),
        )

    def observe(self, state: DoorKeyState) -> Array:
        """Carrying, door open, subgoal ahead and right, front blocked, key and closed door in front."""
        front = self._front(state)
        subgoal_x, subgoal_y = self._subgoal(state)
        ahead_x, ahead_y = front.x - state.x, front.y - state.y
        offset_x, offset_y = subgoal_x - state.x, subgoal_y - state.y
        perceptions = (
            state.key_x == ELSEWHERE,
            state.door == OPEN,
            (offset_x * ahead_x + offset_y * ahead_y) / 4,
            (offset_y * ahead_x - offset_x * ahead_y) / 4,
            _blocked(state, front),
            front.key,
            front.door & (state.door != OPEN),
        )
        return jnp.stack([jnp.asarray(perception, jnp.float32) for perception in perceptions])

    def step(self, state: DoorKeyState, action: Array) -> tuple[DoorKeyState, Array, Array]:
        front = self._front(state)
        carrying = state.key_x == ELSEWHERE
        moves = (action == FORWARD) & ~_blocked(state, front)
        picks = (action == PICK_UP) & front.key
        drops = (action == DROP) & carrying & ~(front.wall | front.door | front.goal)
        toggles = (action == TOGGLE) & front.door & (carrying | (state.door != LOCKED))
        turn = jnp.where(action == RIGHT, 1, jnp.where(action == LEFT, 3, 0))
        following = state._replace(
            x=jnp.where(moves, front.x, state.x),
            y=jnp.where(moves, front.y, state.y),
            direction=(state.direction + turn) & 3,
            key_x=jnp.where(picks, ELSEWHERE, jnp.where(drops, front.x, state.key_x)),
            key_y=jnp.where(picks, ELSEWHERE, jnp.where(drops, front.y, state.key_y)),
            door=jnp.where(toggles, jnp.where(state.door == OPEN, CLOSED, OPEN), state.door),
            steps=state.steps + 1,
        )
        arrived = moves & front.goal
        return following, jnp.where(arrived, 1.0 - 0.9 * (following.steps / self.horizon), 0.0), arrived

    def _position(self, cell: Array) -> tuple[Array, Array]:
        """Column and row of a cell of the left room, counted down the columns."""
        rows = jnp.int32(self.size - 2)
        return 1 + lax.div(cell, rows), 1 + lax.rem(cell, rows)

    def _front(self, state: DoorKeyState) -> Front:
        vertical = (state.direction & 1) == 1
        x = state.x + jnp.where(vertical, 0, 1 - state.direction)
        y = state.y + jnp.where(vertical, 2 - state.direction, 0)
        edge, corner = self.size - 1, self.size - 2
        middle, doorway = x == state.wall_x, y == state.door_y
        return Front(
            x=x,
            y=y,
            wall=(x == 0) | (x == edge) | (y == 0) | (y == edge) | (middle & ~doorway),
            key=(x == state.key_x) & (y == state.key_y),
            door=middle & doorway,
            goal=(x == corner) & (y == corner),
        )

    def _subgoal(self, state: DoorKeyState) -> tuple[Array, Array]:
        """The goal once the door is open; before that the door if it can be opened now, else the key."""
        goal, fetch = state.door == OPEN, (state.door == LOCKED) & (state.key_x != ELSEWHERE)
        corner = self.size - 2
        x = jnp.where(goal, corner, jnp.where(fetch, state.key_x, state.wall_x))
        y = jnp.where(goal, corner, jnp.where(fetch, state.key_y, state.door_y))
        return x, y


def _blocked(state: DoorKeyState, front: Front) -> Array:
    """Whether moving forward would leave the agent where it is."""
    return front.wall | front.key | (front.door & (state.door != OPEN))


def _choice(uniform: Array, count: Array | int) -> Array:
    """One of 0 … count − 1; the minimum guards against a product that rounds up to count."""
    return jnp.minimum(jnp.int32(uniform * count), count - 1)
