"""Primitives in C: their weights as constant tables, and one function that runs them and blends."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from diprl.export import structure
from diprl.export.networks import Network

if TYPE_CHECKING:
    from diprl.export.c import Real


def network_functions(name: str, real: "Real", networks: Sequence[Network], signature: str) -> str:
    """Tables, the dense layer, one function per network, and `play`, which runs all of them and blends."""
    parts = [_dense(name, real)]
    labels = structure.safe_names(
        [network.name for network in networks], ("dense", "clip", "play", "blend", "status")
    )
    for label, network in zip(labels, networks, strict=True):
        parts += [_tables(f"{name}_{label}{real.suffix}", real, network), _run(name, label, real, network)]
    return "\n".join([*parts, _play(name, real, labels, signature)])


def _dense(name: str, real: "Real") -> str:
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


def _tables(owner: str, real: "Real", network: Network) -> str:
    tables: dict[str, Any] = {
        "mean": network.mean,
        "std": network.std,
        "low": network.low,
        "high": network.high,
    }
    for number, (weights, bias) in enumerate(network.layers):
        tables |= {f"weights_{number}": np.asarray(weights).T, f"bias_{number}": bias}
    return "".join(_table(f"{owner}_{key}", real, values) for key, values in tables.items())


def _table(name: str, real: "Real", values: Any) -> str:
    numbers = [_signed(value, real) for value in np.asarray(values, np.float64).ravel().tolist()]
    rows = [", ".join(numbers[start : start + 6]) for start in range(0, len(numbers), 6)]
    return f"static const {real.name} {name}[] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def _signed(value: float, real: "Real") -> str:
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return ("-" if value < 0 else "") + real.number(abs(value))


def _run(name: str, label: str, real: "Real", network: Network) -> str:
    """The function of one network; its layers alternate between two buffers."""
    kind, owner = real.name, f"{name}_{label}{real.suffix}"
    widths = [len(network.mean), *(len(bias) for _, bias in network.layers)]
    size, outputs = max(widths), widths[-1]
    lines = [f"    {kind} first[{size}], second[{size}];", "    int index;", ""]
    lines += [f"    for (index = 0; index < {widths[0]}; index++) {{"]
    lines += [f"        first[index] = (senses[index] - {owner}_mean[index]) / {owner}_std[index];", "    }"]
    source, target = "first", "second"
    for number, (inputs, width) in enumerate(pairwise(widths)):
        tables = f"{owner}_weights_{number}, {owner}_bias_{number}"
        lines.append(f"    {name}_dense{real.suffix}({tables}, {inputs}, {width}, {source}, {target});")
        if number < len(network.layers) - 1:
            lines += [f"    for (index = 0; index < {width}; index++) {{"]
            lines += [f"        {target}[index] = {real.tanh}({target}[index]);", "    }"]
        source, target = target, source
    lines += [f"    for (index = 0; index < {outputs}; index++) {{"]
    clip = f"{name}_clip{real.suffix}({source}[index], {owner}_low[index], {owner}_high[index])"
    lines += [f"        action[index] = {clip};", "    }"]
    head = f"static void {owner}(const {kind} *senses, {kind} *action)\n{{\n"
    return head + "\n".join(lines) + "\n}\n"


def _play(name: str, real: "Real", labels: Sequence[str], signature: str) -> str:
    width = f"{name.upper()}_ACTUATORS"
    calls = [
        f"    {name}_{label}{real.suffix}(senses, primitive_actions + {index} * {width});"
        for index, label in enumerate(labels)
    ]
    lines = [f"    {real.name} primitive_actions[{name.upper()}_PRIMITIVES * {width}];", "", *calls]
    lines.append(f"    {name}_blend{real.suffix}(features, primitive_actions, action);")
    return f"{signature}\n{{\n" + "\n".join(lines) + "\n}\n"
