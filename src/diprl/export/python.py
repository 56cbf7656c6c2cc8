"""One Python file that imports nothing but `math`: a `metadata` dictionary and `play`."""

import pprint
from collections.abc import Callable, Iterator, Sequence
from math import isinf
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.parity import Check, Written, compare, compare_networks
from diprl.program import Act, Continuous, Discrete, Program, Terminal
from diprl.program.ast import nesting
from diprl.program.json_form import describe_signature
from diprl.program.networks import Network
from diprl.program.text_format import Notation, format_lines

_MAX_NESTING = 90
"""Python refuses a hundred levels of indentation."""
_NOTATION = Notation(repr, " * ", lines={"if": "if {} > 0.0:"}, returning=True)


def to_python(program: Program, primitives: Sequence[Network] | None = None) -> str:
    levels = nesting(program.root)
    if levels > _MAX_NESTING:
        raise DiprlError(f"the program nests {levels} ifs: Python allows {_MAX_NESTING} at most")
    networks = structure.matching(program, primitives)
    title = f"A program for {program.task!r}." if program.task else "A program."
    parts = [f'"""{title.replace(chr(34), "").replace(chr(92), "")}"""']
    parts += ["import math"] if networks else []
    parts.append(f"metadata = {pprint.pformat(_metadata(program), width=100, sort_dicts=False)}")
    parts += ["\n" + part for part in _functions(program, networks)]
    return "\n\n".join(parts) + "\n"


render = structure.one_file("py", to_python)


def load(path: Path) -> SimpleNamespace:
    """What an exported file defines."""
    return SimpleNamespace(**run_path(str(path)))


def check(written: Written) -> list[Check]:
    """Import the written file and let it play every observation."""
    module, samples = load(written.files[0]), written.samples

    def run(function: Callable[..., Any], *inputs: NDArray[Any]) -> NDArray[Any]:
        return np.array([function(*row) for row in zip(*(each.tolist() for each in inputs), strict=True)])

    if samples.primitive_actions is None:
        return [compare("play", written, run(module.play, samples.features))]
    checks = [compare("blend", written, run(module.blend, samples.features, samples.primitive_actions))]
    if samples.senses is not None:
        checks.append(compare_networks("play", written, run(module.play, samples.features, samples.senses)))
    return checks


def _metadata(program: Program) -> dict[str, Any]:
    """What the program reads and does, as in its JSON form."""
    described = describe_signature(program.signature)
    actions = described["actions"]
    found = {"format": "diprl program 1", "task": program.task, "features": described["features"]}
    return found | {"kind": actions.pop("kind"), "actions": actions.pop("names")} | actions


def _functions(program: Program, networks: Sequence[Network]) -> Iterator[str]:
    actions = program.signature.actions
    if isinstance(actions, Discrete):
        yield _function("play(observation)", "The index of the action for one observation.", program)
        return
    yield structure.fixed_text("clip.py.txt").rstrip()
    if isinstance(actions, Continuous):
        yield _function("play(observation)", "The list of outputs for one observation.", program)
        return
    about = "The mix of the primitives' actions, one list per primitive, for one observation of features."
    yield _function("blend(observation, primitive_actions)", about, program)
    weights = "".join(map(_weights, networks))
    yield structure.fill("networks.py.txt", networks=weights).rstrip() if networks else "play = blend"


def _function(header: str, about: str, program: Program) -> str:
    """The definition of the function that holds the program."""
    inputs, root, actions = structure.variables(program), program.root, program.signature.actions
    lines = [f"def {header}:", f'    """{about}"""']
    for index in structure.read_features(root):
        lines.append(f"    {inputs.features[index]} = float(observation[{index}])")
    for index in structure.used_primitives(root):
        lines.append(f"    {inputs.primitives[index]} = primitive_actions[{index}]")

    def leaf(terminal: Terminal) -> list[str]:
        if isinstance(terminal, Act) or isinstance(actions, Discrete):
            return [f"return {terminal.action}"]  # type: ignore[union-attr]
        rows = zip(inputs.action(terminal, _NOTATION), actions.low, actions.high, strict=True)
        return ["return [", *(f"    _clip({value}, {_limit(low)}, {_limit(high)})," for value, low, high in rows), "]"]

    return "\n".join([*lines, *format_lines(root, inputs.features, leaf, _NOTATION, level=1)])


def _limit(value: float) -> str:
    return repr(value) if not isinf(value) else f'float("{value}")'


def _weights(network: Network) -> str:
    """One network as the arguments of `_network` that follow the senses, one per line."""
    layers = [[np.asarray(array, np.float64).T.tolist() for array in layer] for layer in network.layers]
    rows = (network.mean, network.std, network.low, network.high)
    mean, std, low, high = (np.asarray(row, np.float64).tolist() for row in rows)
    lines = [f"        {numbers!r},\n" for numbers in (mean, std, layers, low, high)]
    return f"    {network.name!r}: (\n{''.join(lines).replace('inf', 'math.inf')}    ),\n"
