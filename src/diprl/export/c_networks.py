"""Primitives in C: their weights as constant tables, and one function that runs them and blends."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from diprl.export import structure
from diprl.export.c_types import Real
from diprl.export.networks import Network
from diprl.program.names import unique_names

_TAKEN = ("dense", "clip", "play", "blend", "status")
"""Other functions that begin with the program's prefix."""


def network_functions(name: str, real: Real, networks: Sequence[Network], signature: str) -> str:
    """Tables, the dense layer, one function per network, and `play`, which runs all of them and blends."""
    common = {"name": name, "NAME": name.upper(), "real": real.name, "suffix": real.suffix}
    parts, calls = [structure.fill("dense.c", **common)], ""
    labels = unique_names([network.name for network in networks], _TAKEN)
    for number, (label, network) in enumerate(zip(labels, networks, strict=True)):
        owner = f"{name}_{label}{real.suffix}"
        parts += [_tables(owner, real, network), _function(common | {"owner": owner}, real, network)]
        calls += f"    {owner}(senses, primitive_actions + {number} * {name.upper()}_ACTUATORS);\n"
    return "\n".join([*parts, structure.fill("play.c", **common, signature=signature, calls=calls)])


def _tables(owner: str, real: Real, network: Network) -> str:
    tables: dict[str, Any] = {key: getattr(network, key) for key in ("mean", "std", "low", "high")}
    for number, (weights, bias) in enumerate(network.layers):
        tables |= {f"weights_{number}": np.asarray(weights).T, f"bias_{number}": bias}
    return "".join(_table(f"{owner}_{key}", real, values) for key, values in tables.items())


def _table(name: str, real: Real, values: Any) -> str:
    numbers = [real.constant(value) for value in np.asarray(values, np.float64).ravel().tolist()]
    rows = [", ".join(numbers[start : start + 6]) for start in range(0, len(numbers), 6)]
    return f"static const {real.name} {name}[] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def _function(common: dict[str, str], real: Real, network: Network) -> str:
    """The function of one network; its layers alternate between two buffers."""
    widths = [len(network.mean), *(len(bias) for _, bias in network.layers)]
    layers, source, target = "", "first", "second"
    for number, (inputs, outputs) in enumerate(pairwise(widths)):
        tables = "{owner}_weights_{0}, {owner}_bias_{0}".format(number, **common)
        layers += (
            "    {name}_dense{suffix}".format(**common) + f"({tables}, {inputs}, {outputs}, {source}, {target});\n"
        )
        if number < len(network.layers) - 1:
            loop = f"    for (index = 0; index < {outputs}; index++) {{\n"
            layers += f"{loop}        {target}[index] = {real.tanh}({target}[index]);\n    }}\n"
        source, target = target, source
    sizes = {"widest": max(widths), "inputs": widths[0], "outputs": widths[-1]}
    return structure.fill("network.c", **common, **sizes, layers=layers, result=source)
