"""C99 without allocation or dependencies: a header and a source, in double and in single precision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isinf
from pathlib import Path

import numpy as np

from diprl.export import c_check, c_main, structure
from diprl.export.c_networks import network_functions
from diprl.export.c_words import RESERVED, comment, literal, literal_single, safe
from diprl.export.networks import Network, matching
from diprl.export.parity import single_precision
from diprl.export.report import Check
from diprl.export.samples import Samples
from diprl.program import Act, Affine, Blend, Continuous, Discrete, If, Node, Primitives, Program, Terminal
from diprl.program.ast import walk


@dataclass(frozen=True)
class Real:
    """One floating-point type: how it is called and how its numbers are written."""

    name: str
    suffix: str
    """Ends the names of functions of this type."""
    number: Callable[[float], str]
    tanh: str


DOUBLE = Real("double", "", literal, "tanh")
SINGLE = Real("float", "_float", literal_single, "tanhf")


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    name = structure.prefix(program)
    return {
        f"{name}.h": header(program, networks),
        f"{name}.c": source(program, networks),
        f"{name}_main.c": c_main.main(program, networks),
    }


def check(
    program: Program, files: Sequence[Path], samples: Samples, networks: Sequence[Network]
) -> list[Check]:
    """Compile the written source and let it play every observation."""
    return c_check.check(program, files, samples, networks, single=fits_single(program, networks))


def to_c(program: Program, primitives: Sequence[Network] | None = None) -> str:
    """Header and source in one text that compiles by itself."""
    networks = matching(program, primitives)
    include = f'#include "{structure.prefix(program)}.h"\n'
    return header(program, networks) + "\n" + source(program, networks).replace(include, "")


def fits_single(program: Program, networks: Sequence[Network] = ()) -> bool:
    """Whether every number of the program is finite as a 32-bit float."""
    numbers = [value for node in walk(single_precision(program.root)) for value in _numbers(node)]
    arrays = [array for network in networks for layer in network.layers for array in layer]
    arrays += [array for network in networks for array in (network.mean, network.std)]
    with np.errstate(all="ignore"):
        return all(map(isfinite, numbers)) and all(
            bool(np.isfinite(np.asarray(array, np.float32)).all()) for array in arrays
        )


def header(program: Program, networks: Sequence[Network] = ()) -> str:
    """The declarations: sizes, action names, status flags and functions."""
    name = structure.prefix(program)
    lines = [comment(f"A program for {program.task}" if program.task else "A program"), *_inputs(program), ""]
    lines += [f"#ifndef {name.upper()}_H", f"#define {name.upper()}_H", ""]
    lines += [*_sizes(program, networks), "", *_flags(name), ""]
    for real in _reals(program, networks):
        lines += [f"{line};" for line in _signatures(program, networks, real)]
    return "\n".join([*lines, "", "#endif"]) + "\n"


def source(program: Program, networks: Sequence[Network] = ()) -> str:
    """The definitions, once per floating-point type."""
    name = structure.prefix(program)
    parts = [f'#include "{name}.h"\n', _PREAMBLE]
    for real in _reals(program, networks):
        if not isinstance(program.signature.actions, Discrete):
            parts.append(_clip(name, real))
        signatures = _signatures(program, networks, real)
        parts += [_status(program, real, signatures[0]), _body(program, real, signatures[1])]
        if networks:
            parts.append(network_functions(name, real, networks, signatures[2]))
    return "\n".join(parts)


def _numbers(node: Node) -> Sequence[float]:
    """The numbers of one node."""
    if isinstance(node, If):
        return (*node.condition.weights, node.condition.bias)
    if isinstance(node, Affine):
        return (*node.bias, *(value for row in node.weights for value in row))
    return node.weights if isinstance(node, Blend) else ()


def _reals(program: Program, networks: Sequence[Network]) -> list[Real]:
    return [DOUBLE, SINGLE] if fits_single(program, networks) else [DOUBLE]


def _inputs(program: Program) -> list[str]:
    """What each entry of the input means, as comments."""
    lines = []
    for index, feature in enumerate(program.signature.features):
        unit = f" [{feature.unit}]" if feature.unit else ""
        bounds = f" in [{feature.low!r}, {feature.high!r}]" if isfinite(feature.high - feature.low) else ""
        meaning = f": {feature.meaning}" if feature.meaning else ""
        lines.append(comment(f"features[{index}]: {feature.name}{unit}{bounds}{meaning}"))
    return lines


def _sizes(program: Program, networks: Sequence[Network]) -> list[str]:
    big, actions = structure.prefix(program).upper(), program.signature.actions
    sizes = {"FEATURES": len(program.signature.features)}
    if not isinstance(actions, Discrete):
        sizes["OUTPUTS" if isinstance(actions, Continuous) else "ACTUATORS"] = len(actions.low)
    if isinstance(actions, Primitives):
        sizes["PRIMITIVES"] = len(actions.names)
    if networks:
        sizes["SENSES"] = len(networks[0].mean)
    lines = [f"#define {big}_{key} {value}" for key, value in sizes.items()]
    names = enumerators(program)
    kind = {Discrete: "action", Continuous: "output", Primitives: "primitive"}[type(actions)]
    entries = ", ".join(f"{word} = {index}" for index, word in enumerate(names))
    return [*lines, "", f"enum {big.lower()}_{kind} {{ {entries} }};"]


def enumerators(program: Program) -> list[str]:
    """One constant per action, output or primitive."""
    big = structure.prefix(program).upper()
    taken = [
        f"{big}_{word}" for word in ("FEATURES", "OUTPUTS", "ACTUATORS", "PRIMITIVES", "SENSES", "H", "OK")
    ]
    taken += [f"{big}_NOT_FINITE", f"{big}_OUT_OF_BOUNDS"]
    return structure.safe_names([f"{big}_{name.upper()}" for name in program.signature.actions.names], taken)


def _flags(name: str) -> list[str]:
    big = name.upper()
    return [
        comment(
            "What a status function returns: zero, or these flags added up. A condition that involves NaN"
        ),
        comment(
            "is false, so that the program still acts as defined; whether to obey it is up to the caller."
        ),
        f"enum {{ {big}_OK = 0, {big}_NOT_FINITE = 1, {big}_OUT_OF_BOUNDS = 2 }};",
    ]


def _signatures(program: Program, networks: Sequence[Network], real: Real) -> list[str]:
    """The functions of one type, without semicolons: status, the program, perhaps the whole controller."""
    name, actions = structure.prefix(program), program.signature.actions
    found = [f"int {name}_status{real.suffix}(const {real.name} *features)"]
    if isinstance(actions, Discrete):
        return [*found, f"int {name}_play{real.suffix}(const {real.name} *features)"]
    if isinstance(actions, Continuous):
        return [*found, f"void {name}_play{real.suffix}(const {real.name} *features, {real.name} *action)"]
    inputs = f"(const {real.name} *features, const {real.name} *primitive_actions, {real.name} *action)"
    found.append(f"void {name}_blend{real.suffix}{inputs}")
    whole = f"void {name}_play{real.suffix}{inputs.replace('primitive_actions', 'senses')}"
    return [*found, whole] if networks else found


def _clip(name: str, real: Real) -> str:
    kind = real.name
    return (
        f"static {kind} {name}_clip{real.suffix}({kind} value, {kind} low, {kind} high)\n{{\n"
        "    return value < low ? low : value > high ? high : value;\n}\n"
    )


def _status(program: Program, real: Real, signature: str) -> str:
    """Flags for input that is not finite or outside of the declared bounds."""
    big = structure.prefix(program).upper()
    lines = [
        f"    int index, flags = {big}_OK;",
        "",
        f"    for (index = 0; index < {big}_FEATURES; index++) {{",
    ]
    lines += [
        "        if (!isfinite(features[index])) {",
        f"            flags |= {big}_NOT_FINITE;",
        "        }",
        "    }",
    ]
    for index, feature in enumerate(program.signature.features):
        tests = [f"features[{index}] < {_limit(feature.low, real)}"] if feature.low != -inf else []
        tests += [f"features[{index}] > {_limit(feature.high, real)}"] if feature.high != inf else []
        if tests:
            lines += [f"    if ({' || '.join(tests)}) {{", f"        flags |= {big}_OUT_OF_BOUNDS;", "    }"]
    return f"{signature}\n{{\n" + "\n".join(lines) + "\n    return flags;\n}\n"


def _body(program: Program, real: Real, signature: str) -> str:
    """The function that holds the program."""
    names = structure.safe_names([*map(safe, program.signature.feature_names)], RESERVED)
    mixed = structure.safe_names([*map(safe, program.signature.actions.names)], {*RESERVED, *names})
    root = program.root if real is DOUBLE else single_precision(program.root)
    reads = structure.read_features(root)
    lines = [f"    const {real.name} {names[index]} = features[{index}];" for index in reads]
    actions = program.signature.actions
    if isinstance(actions, Primitives):
        width = f"{structure.prefix(program).upper()}_ACTUATORS"
        used = structure.used_primitives(root)
        lines += [f"    const {real.name} *{mixed[i]} = primitive_actions + {i} * {width};" for i in used]
    lines += [] if reads else ["    (void)features;"]
    lines.append("")
    for indent, kind, payload in structure.returning(root):
        space = "    " * (indent + 1)
        if kind == "if":
            form = structure.linear(payload.weights, payload.bias, names, real.number)
            lines.append(f"{space}if ({form} > {real.number(0.0)}) {{")
        elif kind == "end":
            lines.append(f"{space}}}")
        else:
            lines += [space + line for line in _leaf(payload, program, real, names, mixed)]
    return f"{signature}\n{{\n" + "\n".join(lines) + "\n}\n"


def _leaf(
    leaf: Terminal, program: Program, real: Real, names: Sequence[str], mixed: Sequence[str]
) -> list[str]:
    if isinstance(leaf, Act):
        return [f"return {enumerators(program)[leaf.action]};"]
    actions = program.signature.actions
    assert not isinstance(actions, Discrete)  # held by the program's constructor
    lines = []
    for entry, (low, high) in enumerate(zip(actions.low, actions.high, strict=True)):
        if isinstance(leaf, Affine):
            form = structure.linear(leaf.weights[entry], leaf.bias[entry], names, real.number)
        else:
            form = structure.linear(leaf.weights, 0.0, [f"{name}[{entry}]" for name in mixed], real.number)
        clip = f"{structure.prefix(program)}_clip{real.suffix}"
        lines.append(f"action[{entry}] = {clip}({form}, {_limit(low, real)}, {_limit(high, real)});")
    return [*lines, "return;"]


def _limit(value: float, real: Real) -> str:
    if isinf(value) or (real is SINGLE and abs(value) > float(np.finfo(np.float32).max)):
        return "(-INFINITY)" if value < 0 else "INFINITY"
    return ("-" if value < 0 else "") + real.number(abs(value))


_PREAMBLE = """#include <float.h>
#include <math.h>

/* Products and sums must round one by one, in the order written: that is what the program means. */
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: it changes what the program decides"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2)
#error "compile for arithmetic in the type itself, such as -msse2 -mfpmath=sse on 32-bit x86"
#endif
"""
