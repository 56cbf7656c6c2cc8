"""The networks that an export carries along with a program that blends them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program import Primitives, Program
from diprl.program.networks import Network


def run_all(networks: Sequence[Network], senses: NDArray[Any]) -> NDArray[np.float64]:
    """The actions (n, networks, actuators) for senses (n, inputs)."""
    return np.stack([network.actions(senses) for network in networks], axis=1)


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
