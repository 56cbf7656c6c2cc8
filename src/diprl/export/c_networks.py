"""Primitives in C: their weights as constant tables, and one function that runs them and blends."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from diprl.export.c_types import Real
from diprl.export.networks import Network
from diprl.program.names import unique_names

_TAKEN = ("dense", "clip", "play", "blend", "status")
"""Other functions that begin with the program's prefix."""


def network_functions(name: str, real: Real, networks: Sequence[Network], signature: str) -> str:
    """Tables, the dense layer, one function per network, and `play`, which runs all of them and blends."""
    parts = [_dense(name, real)]
    labels = unique_names([network.name for network in networks], _TAKEN)
    for label, network in zip(labels, networks, strict=True):
        parts += [_tables(f"{name}_{label}{real.suffix}", real, network), _run(name, label, real, network)]
    return "\n".join([*parts, _play(name, real, labels, signature)])


def _dense(name: str, real: Real) -> str:
    kind = real.name
    return f"""static void {name}_dense{real.suffix}(const {kind} *weights, const {kind} *bias, int inputs,
    int outputs, const {kind} *input, {kind} *output)
{{
    int row, column;

    for (row = 0; row < outputs; row++) {{
        {kind} total = weights[row * inputs] * input[0];
        for (column = 1; column < inputs; column++) {{
            total += weights[row * inputs + column] * input[column];
        }}
        output[row] = total + bias[row];
    }}
}}
"""


def _tables(owner: str, real: Real, network: Network) -> str:
    tables: dict[str, Any] = {key: getattr(network, key) for key in ("mean", "std", "low", "high")}
    for number, (weights, bias) in enumerate(network.layers):
        tables |= {f"weights_{number}": np.asarray(weights).T, f"bias_{number}": bias}
    return "".join(_table(f"{owner}_{key}", real, values) for key, values in tables.items())


def _table(name: str, real: Real, values: Any) -> str:
    numbers = [real.constant(value) for value in np.asarray(values, np.float64).ravel().tolist()]
    rows = [", ".join(numbers[start : start + 6]) for start in range(0, len(numbers), 6)]
    return f"static const {real.name} {name}[] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def _run(name: str, label: str, real: Real, network: Network) -> str:
    """The function of one network; its layers alternate between two buffers."""
    owner = f"{name}_{label}{real.suffix}"
    widths = [len(network.mean), *(len(bias) for _, bias in network.layers)]
    lines = [f"    {real.name} first[{max(widths)}], second[{max(widths)}];", "    int index;", ""]
    lines += _loop(widths[0], f"first[index] = (senses[index] - {owner}_mean[index]) / {owner}_std[index]")
    source, target = "first", "second"
    for number, (inputs, width) in enumerate(pairwise(widths)):
        tables = f"{owner}_weights_{number}, {owner}_bias_{number}"
        lines.append(f"    {name}_dense{real.suffix}({tables}, {inputs}, {width}, {source}, {target});")
        if number < len(network.layers) - 1:
            lines += _loop(width, f"{target}[index] = {real.tanh}({target}[index])")
        source, target = target, source
    limits = f"{owner}_low[index], {owner}_high[index]"
    lines += _loop(widths[-1], f"action[index] = {name}_clip{real.suffix}({source}[index], {limits})")
    return _function(f"static void {owner}(const {real.name} *senses, {real.name} *action)", lines)


def _play(name: str, real: Real, labels: Sequence[str], signature: str) -> str:
    width = f"{name.upper()}_ACTUATORS"
    lines = [f"    {real.name} primitive_actions[{name.upper()}_PRIMITIVES * {width}];", ""]
    for index, label in enumerate(labels):
        lines.append(f"    {name}_{label}{real.suffix}(senses, primitive_actions + {index} * {width});")
    lines.append(f"    {name}_blend{real.suffix}(features, primitive_actions, action);")
    return _function(signature, lines)


def _loop(count: int, statement: str) -> list[str]:
    return [f"    for (index = 0; index < {count}; index++) {{", f"        {statement};", "    }"]


def _function(signature: str, lines: Sequence[str]) -> str:
    return "\n".join([signature, "{", *lines, "}"]) + "\n"
