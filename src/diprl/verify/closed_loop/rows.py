"""Chooses the rows of sets: along the images, or across the condition at which a loop chatters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from diprl.program.ast import Act, Affine, Condition, Terminal
from diprl.program.evaluate import linear, terminal_at, vector
from diprl.verify.closed_loop.loop import Loop, conditions_along
from diprl.verify.closed_loop.sets import Array, Modes, Sets, modes_across, modes_of
from diprl.verify.plants.plant import clipped


@dataclass(frozen=True, eq=False)
class Rows:
    """What rows are chosen by."""

    loop: Loop
    scales: Array
    modes: dict[Condition, Modes | None]
    """Found so far."""
    time: int = 0

    def across(self, parent: Sets) -> Array | None:
        """Rows for images of a set that lies across a condition at which the action changes."""
        plant = self.loop.plant
        centre, spread = parent.centre[0], np.abs(parent.generators[0]).sum(axis=1)
        features = plant.observed(centre[:, None])[:, 0].tolist()
        gradients = _gradients(lambda states: plant.seen(list(states)), centre, self.scales)

        def distance(condition: Condition) -> float:
            across = float(np.abs(np.array(condition.weights) @ gradients) @ spread)
            return abs(linear(condition.weights, condition.bias, features)) / max(across, 1e-300)

        met = sorted(conditions_along(self.loop.program, features), key=lambda one: distance(one[0]))
        for condition, taken, other in met[:3]:
            if taken == other:
                continue
            if condition not in self.modes:
                normal = np.array(condition.weights) @ gradients
                slopes = _gradients(lambda states, leaf=taken: self._moved(leaf, states), centre, self.scales)
                jump = np.subtract(*(self._moved(leaf, centre[:, None])[:, 0] for leaf in (taken, other)))
                self.modes[condition] = modes_across(jump, normal, slopes, self.scales)
            modes = self.modes[condition]
            if modes is not None:
                return modes.at(self.time)
        return None

    def settled(self, around: Sets) -> Array:
        """Rows for a set in which the loop settles: across a condition, or by the modes of the loop itself."""
        rows = self.across(around)
        if rows is not None:
            return rows
        centre = around.centre[0]
        features = self.loop.plant.observed(centre[:, None])[:, 0].tolist()
        leaf = terminal_at(self.loop.program.root, features)
        return modes_of(_gradients(lambda states: self._moved(leaf, states), centre, self.scales), self.scales).at(0)

    def _moved(self, leaf: Terminal, states: Array) -> Array:
        """Where states go under one leaf, with unknowns in their middle."""
        plant = self.loop.plant
        if isinstance(leaf, Act):
            inputs = np.repeat(np.array(plant.choices[leaf.action])[:, None], states.shape[1], axis=1)
        else:
            assert isinstance(leaf, Affine)  # held by the plant's `misfit`
            bounds = clipped(plant, self.loop.program)
            inputs = np.array([vector(leaf, row, *bounds) for row in plant.observed(states).T.tolist()]).T
        unknowns = np.array([[(one.low + one.high) / 2.0] for one in plant.unknowns]).reshape(-1, 1)
        return plant.next_states(states, inputs, np.repeat(unknowns, states.shape[1], axis=1))


def _gradients(function: Callable[[Array], Any], centre: Array, scales: Array) -> Array:
    """How values change with states, by differences: [value, state]."""
    step = 1e-5 * scales
    moved = np.concatenate([centre[:, None] + np.diag(step), centre[:, None] - np.diag(step)], axis=1)
    with np.errstate(all="ignore"):
        values = np.stack([np.broadcast_to(row, moved.shape[1:]) for row in function(moved)])
    return (values[:, : len(centre)] - values[:, len(centre) :]) / (2.0 * step)
