"""C99 without allocation: the program, input checks and a fallback; in double, single and fixed point."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from diprl.errors import DiprlError
from diprl.export import c_check, structure
from diprl.export.c_types import DOUBLE, FIXED, Real, comment, number_types
from diprl.export.fixed import fixed_point, whole
from diprl.export.guard import FLAGS, MEANINGS, PLAIN, Guard, Ranges
from diprl.export.parity import single_precision
from diprl.program import Act, Continuous, Discrete, Node, Primitives, Program, Terminal
from diprl.program.names import unique_names
from diprl.program.networks import Network
from diprl.program.signature import outputs
from diprl.program.text_format import described, format_lines

Constant = Callable[[float, int], str]
"""Writes a number that the feature of this index is compared with."""
check = c_check.check


def render(program: Program, networks: Sequence[Network] = (), guard: Guard = PLAIN) -> dict[str, str]:
    """Header and source by name, and those in whole numbers where there are any."""
    name = structure.prefix(program)
    files = {f"{name}.h": header(program, networks), f"{name}.c": source(program, networks, guard)}
    try:
        fixed = fixed_point(program, guard)
    except DiprlError:
        return files
    pairs = zip(program.signature.feature_names, fixed.bits, strict=True)
    told = [f"features[{index}]: {feature} times 2^{bits}" for index, (feature, bits) in enumerate(pairs)]
    for number, margin in enumerate(fixed.margins, 1):
        told.append(f"condition {number} decides as in double where its value is further from zero than {margin:.3g}")
    common = {"name": name, "NAME": name.upper(), "comments": "\n".join(map(comment, told))}
    declared = "\n".join(f"{line};" for line in _signatures(program, (), FIXED))
    files[f"{name}_fixed.h"] = structure.fill("fixed.h", **common, functions=declared)
    written = _functions(program, FIXED, fixed.root, guard, lambda end, index: str(whole(end, fixed.bits[index])))
    return files | {f"{name}_fixed.c": f'#include "{name}_fixed.h"\n\n{written}'}


def render_main(program: Program) -> dict[str, str]:
    """A `main` that reads observations, with the primitives' actions if there are any, and prints what is done."""
    name, discrete = structure.prefix(program), isinstance(program.signature.actions, Discrete)
    text = structure.fill("main.c", name=name, format="%d" if discrete else "%.17g", **call(program, "input"))
    return {f"{name}_main.c": text}


def call(program: Program, place: str) -> dict[str, object]:
    """How `control` is called in double precision with inputs that lie in an array: their number, and its actions."""
    actions, features = program.signature.actions, len(program.signature.features)
    if isinstance(actions, Discrete):
        return {"inputs": features, "outputs": 1, "kind": "int", "given": place}
    mixed = len(actions.names) * len(actions.low) if isinstance(actions, Primitives) else 0
    given = f"{place}, &{place}[{features}]" if mixed else place
    return {"inputs": features + mixed, "outputs": len(actions.low), "kind": "double", "given": given}


def to_c(program: Program, primitives: Sequence[Network] | None = None) -> str:
    """Header and source in one text that compiles by itself."""
    networks = structure.matching(program, primitives)
    include = f'#include "{structure.prefix(program)}.h"\n'
    return header(program, networks) + "\n" + source(program, networks).replace(include, "")


def header(program: Program, networks: Sequence[Network] = ()) -> str:
    """The declarations: sizes, action names, status flags and functions."""
    comments, actions = [structure.title(program)], outputs(program.signature.actions)
    for array, entries in (("features", program.signature.features), ("action", actions)):
        comments += [f"{array}[{i}]: {described(entry)}" for i, entry in enumerate(entries)]
    name, reals = structure.prefix(program), number_types(program, networks)
    flags = [f"#define {name.upper()}_{flag} {bit}U {comment(MEANINGS[flag])}" for flag, bit in FLAGS.items()]
    return structure.fill(
        "header.h",
        name=name,
        NAME=name.upper(),
        comments="\n".join(map(comment, comments)),
        sizes="\n".join(_sizes(program, networks)),
        flags="\n".join(flags),
        functions="\n".join(f"{line};" for real in reals for line in _signatures(program, networks, real)),
    )


def source(program: Program, networks: Sequence[Network] = (), guard: Guard = PLAIN) -> str:
    """The definitions, once per floating-point type."""
    name = structure.prefix(program)
    parts = [structure.fill("source.c", name=name, signature=structure.signature(program))]
    for real in number_types(program, networks):
        root = program.root if real is DOUBLE else single_precision(program.root)
        if not isinstance(program.signature.actions, Discrete):
            parts.append(structure.fill("clip.c", name=name, real=real.name, suffix=real.suffix))
        parts.append(_functions(program, real, root, guard, lambda end, _, write=real.constant: write(end)))
        parts += [_network_functions(name, real, networks, play) for play in _signatures(program, networks, real)[3:]]
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
    entries = ", ".join(f"{constant} = {index}" for index, constant in enumerate(_enumerators(program)))
    return [*lines, "", f"enum {{ {entries} }};"]


def _enumerators(program: Program) -> list[str]:
    """One constant per action, output or primitive."""
    actions = program.signature.actions
    kind = {Discrete: "ACTION", Continuous: "OUTPUT", Primitives: "PRIMITIVE"}[type(actions)]
    return unique_names([f"{structure.prefix(program)}_{kind}_{name}".upper() for name in actions.names])


def _signatures(program: Program, networks: Sequence[Network], real: Real) -> list[str]:
    """The functions of one type, without semicolons: status, the program, the controller with checks, and networks."""
    name, actions, action = structure.prefix(program), program.signature.actions, f"{real.name} *action"

    def function(result: str, verb: str, *more: str) -> str:
        arguments = ", ".join([f"const {real.name} *features", *more])
        return f"{result} {name}_{verb}{real.suffix}({arguments})"

    status = function("unsigned int", "status")
    if isinstance(actions, Discrete):
        return [status, function("int", "play"), function("unsigned int", "control", "int *action")]
    more = [f"const {real.name} *primitive_actions"] if isinstance(actions, Primitives) else []
    program_alone = function("void", "blend" if more else "play", *more, action)
    found = [status, program_alone, function("unsigned int", "control", *more, action)]
    play = function("void", "play", f"const {real.name} *senses", action)
    return [*found, play] if networks else found


def _functions(program: Program, real: Real, root: Node, guard: Guard, constant: Constant) -> str:
    """The definitions of one number type."""
    name, actions = structure.prefix(program), program.signature.actions
    status, act, control = _signatures(program, (), real)[:3]
    chosen, play = guard.action(program), f"{name}_play{real.suffix}(features"
    if isinstance(actions, Discrete):
        fallback, call = [f"*action = {_enumerators(program)[chosen]};"], f"*action = {play})"
    else:
        fallback = [f"action[{entry}] = {real.constant(value)};" for entry, value in enumerate(chosen)]
        mixed = f"{name}_blend{real.suffix}(features, primitive_actions"
        call = f"{mixed if isinstance(actions, Primitives) else play}, action)"
    common = {"name": name, "NAME": name.upper(), "suffix": real.suffix}
    return structure.fill(
        "functions.c",
        **common,
        status=status,
        finite="" if real is FIXED else structure.fill("finite.c", **common),
        tests="".join(_tests(program, guard.watched(program, real is FIXED), constant)) or "    (void)features;\n",
        act=act,
        body="\n".join(_body(program, real, root)),
        control=control,
        fallback="\n".join(f"        {line}" for line in fallback),
        call=call,
    )


def _tests(program: Program, watched: Mapping[str, Ranges], constant: Constant) -> Iterator[str]:
    """A test for each range that is watched."""
    for flag, ranges in watched.items():
        for index, ends in enumerate(ranges):
            pairs = [(sign, end) for sign, end in zip("<>", ends, strict=True) if isfinite(end)]
            sides = [f"(features[{index}] {sign} {constant(end, index)})" for sign, end in pairs]
            if sides:
                test = " || ".join(sides) if len(sides) > 1 else sides[0][1:-1]
                yield structure.fill("test.c", test=test, flag=f"{structure.prefix(program).upper()}_{flag}")


def _body(program: Program, real: Real, root: Node) -> Iterator[str]:
    """The lines of the function that holds the program."""
    name, inputs, reads = structure.prefix(program), structure.variables(program), structure.read_features(root)
    for index in reads:
        yield f"    const {real.term} {inputs.features[index]} = features[{index}];"
    for index in structure.used_primitives(root):
        place = f"&primitive_actions[{index * len(inputs.entries[index])}]"
        yield f"    const {real.name} *{inputs.primitives[index]} = {place};"
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
