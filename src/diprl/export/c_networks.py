"""Networks in C: tables, a dense layer, one function each, and `play`, which runs all of them and blends."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from diprl.export import structure
from diprl.export.c_types import Real
from diprl.program.networks import Network


def network_functions(name: str, real: Real, networks: Sequence[Network], signature: str) -> str:
    """All that the controller of a program and its networks needs; `signature` is that of `play`."""
    common = {"name": name, "NAME": name.upper(), "real": real.name, "suffix": real.suffix}
    parts, calls = [structure.fill("dense.c", **common)], ""
    for number, network in enumerate(networks):
        owner = f"{name}_mix_{network.name}{real.suffix}"
        tables = network.arrays().items()
        parts.append("".join(_table(f"{owner}_{key}", real, values.T) for key, values in tables))
        parts.append(_function(common | {"owner": owner}, real, network))
        calls += f"    {owner}(senses, &primitive_actions[{number * len(network.low)}]);\n"
    return "\n".join([*parts, structure.fill("play.c", **common, signature=signature, calls=calls)])


def _table(name: str, real: Real, values: Any) -> str:
    numbers = [real.constant(value) for value in np.asarray(values, np.float64).ravel().tolist()]
    rows = [", ".join(numbers[start : start + 6]) for start in range(0, len(numbers), 6)]
    return f"static const {real.name} {name}[] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def _function(common: dict[str, str], real: Real, network: Network) -> str:
    """The function of one network; its layers alternate between two buffers."""
    widths = [len(network.mean), *(len(bias) for _, bias in network.layers)]
    layers, source, target = "", "first", "second"
    dense = "    {name}_dense{suffix}({owner}_weights_{{0}}, {owner}_bias_{{0}}, ".format(**common)
    for number, (inputs, units) in enumerate(pairwise(widths)):
        layers += f"{dense.format(number)}{inputs}, {units}, {source}, {target});\n"
        if number < len(network.layers) - 1:
            loop = f"    for (index = 0; index < {units}; index++) {{\n"
            layers += f"{loop}        {target}[index] = {real.tanh}({target}[index]);\n    }}\n"
        source, target = target, source
    sizes = {"widest": max(widths), "inputs": widths[0], "outputs": widths[-1]}
    return structure.fill("network.c", **common, **sizes, layers=layers, result=source)
