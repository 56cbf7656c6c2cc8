"""What emitted controllers watch: whether an observation can be used, and whether it is like those seen or proved."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program import Discrete, Program
from diprl.program.evaluate import clip

Ranges = tuple[tuple[float, float], ...]
"""Low and high of each feature; empty where nothing is known."""
FLAGS = {"NOT_FINITE": 1, "OUT_OF_BOUNDS": 2, "UNSEEN": 4, "UNPROVED": 8}
"""What a status is the sum of."""
UNUSABLE = FLAGS["NOT_FINITE"] | FLAGS["OUT_OF_BOUNDS"]
"""With these flags, the fallback acts instead of the program."""
MEANINGS = {
    "NOT_FINITE": "a feature is infinite or not a number",
    "OUT_OF_BOUNDS": "a feature is outside of the bounds that its sensor promises",
    "UNSEEN": "a feature is outside of the range in which the program was tried",
    "UNPROVED": "a feature is outside of the box for which properties were proved",
}


@dataclass(frozen=True)
class Guard:
    """What surrounds a program in a controller."""

    fallback: int | tuple[float, ...] | None = None
    """The action for observations that cannot be used; None is the first action, or outputs next to zero."""
    seen: Ranges = ()
    proved: Ranges = ()
    limits: Ranges = ()
    """Where fixed-point numbers have to work; empty for the bounds of the features."""

    def action(self, program: Program) -> Any:
        """The fallback as an index, or as a number for each entry of the action."""
        actions = program.signature.actions
        if self.fallback is not None or isinstance(actions, Discrete):
            return self.fallback or 0
        return tuple(clip(0.0, low, high) for low, high in zip(actions.low, actions.high, strict=True))

    def watched(self, program: Program, fixed: bool = False) -> dict[str, Ranges]:
        """The ranges behind each flag."""
        bounds = tuple((feature.low, feature.high) for feature in program.signature.features)
        return {"OUT_OF_BOUNDS": (fixed and self.limits) or bounds, "UNSEEN": self.seen, "UNPROVED": self.proved}

    def control(
        self, program: Program, features: NDArray[Any], actions: NDArray[Any], whole: Callable[..., Any] | None = None
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """What controllers do where the program has these actions, and their status; `whole` is for fixed point."""
        flags = np.where(np.isfinite(features).all(axis=1), 0, FLAGS["NOT_FINITE"])
        for flag, ranges in self.watched(program, whole is not None).items():
            if ranges:
                ends = np.array(ranges).T
                low, high = whole(ends) if whole else ends.astype(features.dtype)
                flags |= FLAGS[flag] * ((features < low) | (features > high)).any(axis=1)
        unusable, chosen = (flags & UNUSABLE) > 0, np.asarray(self.action(program), actions.dtype)
        return np.where(unusable if actions.ndim == 1 else unusable[:, None], chosen, actions), flags


PLAIN = Guard()
"""Nothing is known but the bounds of the features."""
