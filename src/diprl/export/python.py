"""One Python file that imports nothing but `math`: a `metadata` dictionary and `play`."""

import importlib.util
import keyword
import pprint
from collections.abc import Iterator, Sequence
from math import inf, isinf
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.networks import Network, matching
from diprl.export.parity import compare, compare_networks
from diprl.export.report import Check
from diprl.export.samples import Samples
from diprl.program import Act, Affine, Blend, Continuous, Discrete, Primitives, Program, Terminal
from diprl.program.check import nesting

_MAX_NESTING = 90
"""Python refuses a hundred levels of indentation."""
_RESERVED = frozenset(keyword.kwlist) | {
    "metadata",
    "play",
    "blend",
    "observation",
    "primitive_actions",
    "float",
}
"""Words that no local variable may take."""


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    return {f"{structure.prefix(program)}.py": to_python(program, networks)}


def to_python(program: Program, primitives: Sequence[Network] | None = None) -> str:
    """The whole file as text."""
    if nesting(program.root) > _MAX_NESTING:
        raise DiprlError(
            f"the program nests {nesting(program.root)} ifs: Python allows {_MAX_NESTING} at most"
        )
    networks = matching(program, primitives)
    title = f"A program for {program.task!r}." if program.task else "A program."
    parts = [f'"""{title.replace(chr(34), "").replace(chr(92), "")}"""']
    parts += ["import math"] if networks else []
    parts.append(f"metadata = {pprint.pformat(_metadata(program), width=100, sort_dicts=False)}")
    parts += ["\n" + part for part in _functions(program, networks)]
    return "\n\n".join(parts) + "\n"


def load(path: Path) -> ModuleType:
    """Import an exported file from where it was written."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise DiprlError(f"'{path}' cannot be imported as a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(
    program: Program, files: Sequence[Path], samples: Samples, networks: Sequence[Network]
) -> list[Check]:
    """Import the written file and let it play every observation."""
    module = load(files[0])
    rows: Any = samples.features.tolist()
    if samples.primitive_actions is None:
        return [compare("play", program, samples, np.array([module.play(row) for row in rows]))]
    pairs = zip(rows, samples.primitive_actions.tolist(), strict=True)
    checks = [compare("blend", program, samples, np.array([module.blend(*pair) for pair in pairs]))]
    if samples.senses is not None:
        pairs = zip(rows, samples.senses.tolist(), strict=True)
        found = np.array([module.play(*pair) for pair in pairs])
        checks.append(compare_networks("play", program, samples, networks, found=found))
    return checks


def _metadata(program: Program) -> dict[str, Any]:
    signature, actions = program.signature, program.signature.actions
    features = [
        {"name": f.name, "unit": f.unit, "low": _bound(f.low), "high": _bound(f.high), "meaning": f.meaning}
        for f in signature.features
    ]
    found = {"format": "diprl program 1", "task": program.task, "features": features}
    found |= {"kind": type(actions).__name__.lower(), "actions": list(actions.names)}
    if not isinstance(actions, Discrete):
        found |= {
            "low": [_bound(value) for value in actions.low],
            "high": [_bound(value) for value in actions.high],
        }
    if isinstance(actions, Continuous):
        found["units"] = list(actions.units)
    return found


def _bound(value: float) -> float | None:
    return None if isinf(value) else value


def _functions(program: Program, networks: Sequence[Network]) -> Iterator[str]:
    actions = program.signature.actions
    if not isinstance(actions, Discrete):
        yield _CLIP
    if isinstance(actions, Discrete):
        yield _function("play(observation)", "The index of the action for one observation.", program)
    elif isinstance(actions, Continuous):
        yield _function("play(observation)", "The list of outputs for one observation.", program)
    else:
        words = "The mix of the primitives' actions, one list per primitive, for one observation of features."
        yield _function("blend(observation, primitive_actions)", words, program)
        yield from _network_functions(networks) if networks else ["play = blend"]


def _function(header: str, words: str, program: Program) -> str:
    """The definition of the function that holds the program."""
    names = structure.safe_names(program.signature.feature_names, _RESERVED)
    lines = [f"def {header}:", f'    """{words}"""']
    lines += [
        f"    {names[index]} = float(observation[{index}])" for index in structure.read_features(program.root)
    ]
    mixed = structure.safe_names(program.signature.actions.names, {*_RESERVED, *names})
    if isinstance(program.signature.actions, Primitives):
        lines += [
            f"    {mixed[index]} = primitive_actions[{index}]"
            for index in structure.used_primitives(program.root)
        ]
    for indent, kind, payload in structure.returning(program.root):
        space = "    " * (indent + 1)
        if kind == "if":
            lines.append(f"{space}if {structure.linear(payload.weights, payload.bias, names)} > 0.0:")
        elif kind == "leaf":
            lines += [space + line for line in _leaf(payload, program, names, mixed)]
    return "\n".join(lines)


def _leaf(leaf: Terminal, program: Program, names: Sequence[str], mixed: Sequence[str]) -> list[str]:
    actions = program.signature.actions
    if isinstance(leaf, Act):
        return [f"return {leaf.action}"]
    pairs = [] if isinstance(actions, Discrete) else zip(actions.low, actions.high, strict=True)
    limits = [(_limit(low), _limit(high)) for low, high in pairs]
    if isinstance(leaf, Affine):
        forms = [
            structure.linear(row, bias, names) for row, bias in zip(leaf.weights, leaf.bias, strict=True)
        ]
    else:
        forms = [_mix(leaf, mixed, entry) for entry in range(len(limits))]
    lines = [f"    _clip({form}, {low}, {high})," for form, (low, high) in zip(forms, limits, strict=True)]
    return ["return [", *lines, "]"]


def _mix(leaf: Blend, names: Sequence[str], entry: int) -> str:
    return structure.linear(leaf.weights, 0.0, [f"{name}[{entry}]" for name in names])


def _limit(value: float) -> str:
    return repr(value) if not isinf(value) else f'float("{"inf" if value == inf else "-inf"}")'


def _network_functions(networks: Sequence[Network]) -> Iterator[str]:
    yield _NETWORK
    yield "_networks = [\n" + "".join(_weights(network) for network in networks) + "]"
    yield _PLAY


def _weights(network: Network) -> str:
    """One network as a tuple of its name, normalisation, layers and bounds."""
    layers = "".join(
        f"            (\n                {np.asarray(weights, np.float64).T.tolist()},\n"
        f"                {np.asarray(bias, np.float64).tolist()},\n            ),\n"
        for weights, bias in network.layers
    )
    rows = [np.asarray(row, np.float64).tolist() for row in (network.mean, network.std)]
    bounds = [f"[{', '.join(_limit(float(value)) for value in row)}]" for row in (network.low, network.high)]
    head = f"    (\n        {network.name!r},\n        {rows[0]},\n        {rows[1]},\n        [\n"
    return f"{head}{layers}        ],\n        {bounds[0]},\n        {bounds[1]},\n    ),\n"


_CLIP = """def _clip(value, low, high):
    return low if value < low else high if value > high else value"""

_NETWORK = '''def _network(senses, mean, std, layers, low, high):
    """Normalise, run the tanh layers and the linear output, clip."""
    values = [(value - centre) / scale for value, centre, scale in zip(senses, mean, std)]
    for number, (weights, bias) in enumerate(layers):
        values = [sum(w * v for w, v in zip(row, values)) + b for row, b in zip(weights, bias)]
        if number < len(layers) - 1:
            values = [math.tanh(value) for value in values]
    return [_clip(value, lower, upper) for value, lower, upper in zip(values, low, high)]'''

_PLAY = '''def play(observation, senses):
    """The action for one observation of features and of the robot's own senses."""
    return blend(observation, [_network(senses, *numbers) for _, *numbers in _networks])'''
