"""Frozen controllers as numbers: what an export needs of a primitive in order to carry it along."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program import Primitives, Program

Array = NDArray[np.float64]


class Network(Protocol):
    """A controller of a robot's own senses: normalisation, tanh layers, a linear output clipped to bounds."""

    @property
    def name(self) -> str: ...
    @property
    def mean(self) -> Array: ...
    @property
    def std(self) -> Array: ...
    @property
    def layers(self) -> Sequence[tuple[Array, Array]]:
        """(weights (inputs, outputs), bias (outputs,)) from the first layer to the output."""
        ...

    @property
    def low(self) -> Array: ...
    @property
    def high(self) -> Array: ...


def run_all(networks: Sequence[Network], senses: NDArray[Any]) -> Array:
    """The actions (n, networks, actuators) for senses (n, inputs)."""
    actions = []
    for network in networks:
        hidden = (senses - network.mean) / network.std
        for weights, bias in network.layers[:-1]:
            hidden = np.tanh(hidden @ weights + bias)
        weights, bias = network.layers[-1]
        actions.append(np.clip(hidden @ weights + bias, network.low, network.high))
    return np.stack(actions, axis=1)


def matching(program: Program, networks: Sequence[Network] | None) -> tuple[Network, ...]:
    """The networks in the order of the program's primitives; raises where they do not fit it."""
    if not networks:
        return ()
    actions = program.signature.actions
    if not isinstance(actions, Primitives):
        raise DiprlError("primitives were given for a program that blends none: leave them out")
    named = {network.name: network for network in networks}
    missing = [name for name in actions.names if name not in named]
    if missing:
        raise DiprlError(f"the primitives {', '.join(missing)} were not given: pass one network for each")
    found = tuple(named[name] for name in actions.names)
    if len({len(network.mean) for network in found}) > 1:
        raise DiprlError("the primitives read different numbers of senses: they must share one observation")
    if any(len(network.low) != len(actions.low) for network in found):
        raise DiprlError(f"the program blends {len(actions.low)} actuators: its primitives must have as many")
    return found
