"""How a trained agent acts by itself, without being a program."""

import numpy as np
from numpy.typing import NDArray

from diprl.methods.base import Trained
from diprl.policy.base import HARD, Hardness
from diprl.program.signature import Discrete
from diprl.train.evaluate import Act
from diprl.train.validate import pad_rows

FEWEST_ROWS = 32


def agent_act(trained: Trained, hardness: Hardness = HARD, seed: int = 0) -> Act:
    """The agent's actions, as hard as asked for, within the bounds; a soft agent draws its noise from the seed."""
    state, generator = trained.state, np.random.default_rng(seed)
    actions = trained.engine.task.signature.actions

    def act(views: NDArray[np.float32]) -> NDArray:
        noise = generator.random((len(views), trained.engine.noise_size), dtype=np.float32)
        rows = compiled_rows(len(views))
        chosen = trained.validator.compiled_act(
            state.vector,
            state.normaliser,
            trained.temperatures,
            hardness,
            pad_rows(views, rows),
            pad_rows(noise, rows),
        )
        chosen = np.asarray(chosen)[: len(views)]
        return chosen if isinstance(actions, Discrete) else np.clip(chosen, actions.low, actions.high)

    return act


def compiled_rows(count: int) -> int:
    """The next power of two, so that a few compilations serve batches of any size."""
    return max(FEWEST_ROWS, 1 << (count - 1).bit_length())
