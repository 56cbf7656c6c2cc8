"""An environment that does one thing wrong: `misbehaving:Misbehaving-v0` with the fault and its moment as arguments.

A fault happens while the environment is made, in its third reset or step, or when it is closed; what it is,
`FAULTS` says by name. `PARTS` are wrong answers, given in the third step or reset.
"""

import ctypes
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from typing import Any

import gymnasium as gym
import numpy as np


class Bad(BaseException):
    """No `Exception`, so that careless handlers let it through."""


class Mute(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("mute")

    __repr__ = __str__


def throw(error: BaseException) -> Any:
    raise error


def sleep_for_ever() -> None:
    while True:
        time.sleep(1.0)


def swallow_for_ever() -> None:
    """Hangs, and swallows every attempt to interrupt it."""
    while True:
        with suppress(BaseException):
            time.sleep(1.0)


def recurse(depth: int = 0) -> int:
    return recurse(depth + 1) + 1


FAULTS: dict[str, Callable[[], Any]] = {
    "raises": lambda: throw(ZeroDivisionError("division by zero")),
    "raises a key": lambda: throw(KeyError("x")),
    "raises an OSError": lambda: throw(OSError(28, "No space left on device")),
    "raises EOFError": lambda: throw(EOFError()),
    "raises StopIteration": lambda: throw(StopIteration()),
    "raises GeneratorExit": lambda: throw(GeneratorExit()),
    "raises a BaseException": lambda: throw(Bad("bad")),
    "raises MemoryError": lambda: throw(MemoryError()),
    "raises what cannot be printed": lambda: throw(Mute()),
    "raises many lines": lambda: throw(ValueError("\n".join(["a line"] * 10_000))),
    "raises a terminal escape": lambda: throw(ValueError("\x1b[2J\x1b]0;owned\x07")),
    "recurses": recurse,
    "exits with 0": lambda: sys.exit(0),
    "exits with a message": lambda: sys.exit("goodbye"),
    "leaves with 0": lambda: os._exit(0),
    "leaves with 3": lambda: os._exit(3),
    "kills itself": lambda: os.kill(os.getpid(), 9),
    "crashes": lambda: ctypes.string_at(0),
    "hangs": sleep_for_ever,
    "hangs and swallows": swallow_for_ever,
    "hangs outside Python": lambda: deque(repeat(0), 0),  # never looks at signals, never lets go of the interpreter
    "prints": lambda: [print("{not json", flush=True), sys.stdout.write("]" * 100_000)],
    "closes standard output": lambda: os.close(1),
}
MOMENTS = ("make", "reset", "step", "close")
PARTS: dict[str, Any] = {
    "observation of None": ("observation", None),
    "observation of NaN": ("observation", np.full(2, np.nan, np.float32)),
    "observation of another shape": ("observation", np.zeros(3, np.float32)),
    "observation of text": ("observation", np.array(["a", "b"])),
    "observation of objects": ("observation", np.array([object(), object()])),
    "ragged observation": ("observation", [[1.0], [1.0, 2.0]]),
    "huge observation": ("observation", np.full(2, 1e300)),
    "complex observation": ("observation", np.zeros(2, complex)),
    "reward of None": ("reward", None),
    "reward of text": ("reward", "much"),
    "reward of NaN": ("reward", float("nan")),
    "infinite reward": ("reward", float("inf")),
    "huge reward": ("reward", 1e300),
    "two rewards": ("reward", np.zeros(2)),
    "integer reward without end": ("reward", 10**400),
    "terminated twice": ("terminated", np.array([True, False])),
    "truncated of text": ("truncated", np.array(["a", "b"])),
    "no tuple": ("all", None),
    "four parts": ("all", (np.zeros(2, np.float32), 0.0, False, {})),
}
"""What the third step gives instead: a part of its answer by name, or all of it."""
INFOS: dict[str, Any] = {
    "no info": None,
    "info of text": "x",
    "info with text": {"distance": "far", "is_success": "yes"},
    "info with None": {"distance": None, "is_success": None},
    "info with NaN": {"distance": float("nan"), "is_success": float("inf")},
    "info with arrays": {"distance": np.zeros(3), "is_success": [1]},
    "info with objects": {"distance": object(), "is_success": lambda: 1},
}
"""Reports that are none; they must not disturb a run."""
SPACES: dict[str, Any] = {
    "observation space of None": ("observation_space", None),
    "observation space of text": ("observation_space", gym.spaces.Text(5)),
    "endless observation space": ("observation_space", gym.spaces.Box(0, 1, (100_000,))),
    "empty observation space": ("observation_space", gym.spaces.Box(0, 1, (0,))),
    "action space of None": ("action_space", None),
    "endless action space": ("action_space", gym.spaces.Discrete(10**9)),
    "odd action space": ("action_space", gym.spaces.Sequence(gym.spaces.Discrete(2))),
}
CASES = [f"{fault}: {moment}" for fault in FAULTS for moment in MOMENTS] + [
    *PARTS,
    *INFOS,
    *SPACES,
]  # more than a hundred
HARMLESS = {f"prints: {moment}" for moment in MOMENTS} | {*INFOS}
"""Cases that a run should simply survive."""


class Misbehaving(gym.Env[Any, Any]):
    """Shows a random number and the steps made; does its one wrong thing when its moment has come."""

    observation_space = gym.spaces.Box(0.0, 100.0, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, case: str, render_mode: str | None = None) -> None:
        self.fault, _, self.moment = case.partition(": ")
        self.resets = self.steps = self.count = 0
        if self.fault in SPACES:
            name, space = SPACES[self.fault]
            setattr(self, name, space)
        self.misbehave("make", 0)

    def misbehave(self, moment: str, number: int) -> None:
        if self.moment == moment and number in (0, 3):
            FAULTS[self.fault]()

    def observation(self) -> Any:
        return np.array([self.np_random.random(), self.count], np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.resets, self.count = self.resets + 1, 0
        self.misbehave("reset", self.resets)
        return self.observation(), {}

    def step(self, action: Any) -> Any:
        self.steps, self.count = self.steps + 1, self.count + 1
        self.misbehave("step", self.steps)
        parts = {
            "observation": self.observation(), "reward": 1.0, "terminated": self.count >= 5, "truncated": False,
            "info": INFOS.get(self.fault, {}),
        }  # fmt: skip
        part, value = PARTS.get(self.fault, ("", None)) if self.steps == 3 else ("", None)
        if part == "all":
            return value
        return tuple((parts | ({part: value} if part else {})).values())

    def close(self) -> None:
        self.misbehave("close", 0)


gym.register("Misbehaving-v0", Misbehaving, max_episode_steps=100)
