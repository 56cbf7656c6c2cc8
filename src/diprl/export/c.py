"""C99 without allocation or dependencies: a header and a source, in double and in single precision."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from diprl.export import c_check, structure
from diprl.export.c_types import DOUBLE, RESERVED, Real, comment, number_types, valid_name
from diprl.export.parity import single_precision
from diprl.program import Act, Continuous, Discrete, Primitives, Program, Terminal
from diprl.program.names import unique_names
from diprl.program.networks import Network
from diprl.program.signature import outputs
from diprl.program.text_format import format_lines

check = c_check.check
_TAKEN = ("dense", "clip", "play", "blend", "status")
"""Functions that begin with the program's prefix, beside those of its networks."""


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    name = structure.prefix(program)
    return {f"{name}.h": header(program, networks), f"{name}.c": source(program, networks)}


def render_main(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    """A `main` that reads observations from standard input and prints actions and their status."""
    name, actions = structure.prefix(program), program.signature.actions
    constant, function, extra = name.upper(), "play", f"{name.upper()}_SENSES" if networks else "0"
    if isinstance(actions, Primitives) and not networks:
        function, extra = "blend", f"{constant}_PRIMITIVES * {constant}_ACTUATORS"
    variables, act = "", f'printf("%d", {name}_play(input));'
    if not isinstance(actions, Discrete):
        width, inputs = len(actions.low), "input" if extra == "0" else f"input, input + {constant}_FEATURES"
        variables = f"    double action[{width}];\n    int entry;\n"
        show = f'        for (entry = 0; entry < {width}; entry++) {{\n            printf("%.17g ", action[entry]);'
        act = f"{name}_{function}({inputs}, action);\n{show}\n        }}"
    size = f"{constant}_FEATURES + {extra}"
    return {f"{name}_main.c": structure.fill("main.c", name=name, size=size, variables=variables, act=act)}


def to_c(program: Program, primitives: Sequence[Network] | None = None) -> str:
    """Header and source in one text that compiles by itself."""
    networks = structure.matching(program, primitives)
    include = f'#include "{structure.prefix(program)}.h"\n'
    return header(program, networks) + "\n" + source(program, networks).replace(include, "")


def header(program: Program, networks: Sequence[Network] = ()) -> str:
    """The declarations: sizes, action names, status flags and functions."""
    comments, actions = [structure.title(program)], outputs(program.signature.actions)
    for array, entries in (("features", program.signature.features), ("action", actions)):
        comments += [f"{array}[{i}]: {entry.name}{structure.facts(entry)}" for i, entry in enumerate(entries)]
    reals = number_types(program, networks)
    return structure.fill(
        "header.h",
        NAME=structure.prefix(program).upper(),
        comments="\n".join(map(comment, comments)),
        sizes="\n".join(_sizes(program, networks)),
        functions="\n".join(f"{line};" for real in reals for line in _signatures(program, networks, real)),
    )


def source(program: Program, networks: Sequence[Network] = ()) -> str:
    """The definitions, once per floating-point type."""
    name = structure.prefix(program)
    parts = [structure.fill("source.c", name=name)]
    for real in number_types(program, networks):
        if not isinstance(program.signature.actions, Discrete):
            parts.append(structure.fill("clip.c", name=name, real=real.name, suffix=real.suffix))
        status, act, *play = _signatures(program, networks, real)
        bounds, body = "".join(_bounds(program, real)), "\n".join(_body(program, real))
        parts.append(structure.fill("functions.c", NAME=name.upper(), status=status, bounds=bounds, act=act, body=body))
        parts += [_network_functions(name, real, networks, signature) for signature in play]
    return "\n".join(parts)


def _sizes(program: Program, networks: Sequence[Network]) -> list[str]:
    name, actions = structure.prefix(program), program.signature.actions
    sizes = {"FEATURES": len(program.signature.features)}
    if not isinstance(actions, Discrete):
        sizes["OUTPUTS" if isinstance(actions, Continuous) else "ACTUATORS"] = len(actions.low)
    if isinstance(actions, Primitives):
        sizes["PRIMITIVES"] = len(actions.names)
    if networks:
        sizes["SENSES"] = len(networks[0].mean)
    lines = [f"#define {name.upper()}_{key} {value}" for key, value in sizes.items()]
    kind = {Discrete: "action", Continuous: "output", Primitives: "primitive"}[type(actions)]
    entries = ", ".join(f"{constant} = {index}" for index, constant in enumerate(_enumerators(program)))
    return [*lines, "", f"enum {name}_{kind} {{ {entries} }};"]


def _enumerators(program: Program) -> list[str]:
    """One constant per action, output or primitive."""
    prefix = structure.prefix(program).upper() + "_"
    taken = ["FEATURES", "OUTPUTS", "ACTUATORS", "PRIMITIVES", "SENSES", "H", "OK", "NOT_FINITE", "OUT_OF_BOUNDS"]
    names = [prefix + name.upper() for name in program.signature.actions.names]
    return unique_names(names, [prefix + name for name in taken])


def _signatures(program: Program, networks: Sequence[Network], real: Real) -> list[str]:
    """The functions of one type, without semicolons: status, the program, perhaps the whole controller."""
    name, actions, action = structure.prefix(program), program.signature.actions, f"{real.name} *action"

    def function(result: str, verb: str, *more: str) -> str:
        arguments = ", ".join([f"const {real.name} *features", *more])
        return f"{result} {name}_{verb}{real.suffix}({arguments})"

    status = function("int", "status")
    if isinstance(actions, Discrete):
        return [status, function("int", "play")]
    if isinstance(actions, Continuous):
        return [status, function("void", "play", action)]
    blend = function("void", "blend", f"const {real.name} *primitive_actions", action)
    play = function("void", "play", f"const {real.name} *senses", action)
    return [status, blend, play] if networks else [status, blend]


def _bounds(program: Program, real: Real) -> Iterator[str]:
    """A test for each feature that has a bound."""
    flag = f"{structure.prefix(program).upper()}_OUT_OF_BOUNDS"
    for index, feature in enumerate(program.signature.features):
        tests = [f"features[{index}] < {real.constant(feature.low)}"] if feature.low != -inf else []
        tests += [f"features[{index}] > {real.constant(feature.high)}"] if feature.high != inf else []
        if tests:
            yield f"    if ({' || '.join(tests)}) {{\n        flags |= {flag};\n    }}\n"


def _body(program: Program, real: Real) -> Iterator[str]:
    """The lines of the function that holds the program."""
    name, inputs = structure.prefix(program), structure.variables(program, RESERVED, valid=valid_name)
    root = program.root if real is DOUBLE else single_precision(program.root)
    reads = structure.read_features(root)
    for index in reads:
        yield f"    const {real.name} {inputs.features[index]} = features[{index}];"
    for index in structure.used_primitives(root):
        vector = f"const {real.name} *{inputs.primitives[index]}"
        yield f"    {vector} = primitive_actions + {index} * {name.upper()}_ACTUATORS;"
    yield "" if reads else "    (void)features;\n"
    actions, names = program.signature.actions, _enumerators(program)

    def leaf(terminal: Terminal) -> Iterator[str]:
        if isinstance(terminal, Act) or isinstance(actions, Discrete):
            yield f"return {names[terminal.action]};"  # type: ignore[union-attr]
            return
        rows = zip(inputs.action(terminal, real.notation), actions.low, actions.high, strict=True)
        for entry, (value, low, high) in enumerate(rows):
            clipped = f"{name}_clip{real.suffix}({value}, {real.constant(low)}, {real.constant(high)})"
            yield f"action[{entry}] = {clipped};"
        yield "return;"

    yield from format_lines(root, inputs.features, leaf, real.notation, level=1)


def _network_functions(name: str, real: Real, networks: Sequence[Network], signature: str) -> str:
    """Tables, the dense layer, one function per network, and `play`, which runs all of them and blends."""
    common = {"name": name, "NAME": name.upper(), "real": real.name, "suffix": real.suffix}
    parts, calls = [structure.fill("dense.c", **common)], ""
    labels = unique_names([network.name for network in networks], _TAKEN)
    for number, (label, network) in enumerate(zip(labels, networks, strict=True)):
        owner = f"{name}_{label}{real.suffix}"
        tables = network.arrays().items()
        parts.append("".join(_table(f"{owner}_{key}", real, values.T) for key, values in tables))
        parts.append(_function(common | {"owner": owner}, real, network))
        calls += f"    {owner}(senses, primitive_actions + {number} * {name.upper()}_ACTUATORS);\n"
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
