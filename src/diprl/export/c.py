"""C99 without allocation or dependencies: a header and a source, in double and in single precision."""

from collections.abc import Iterator, Sequence
from math import inf, isfinite

from diprl.export import c_check, structure
from diprl.export.c_networks import network_functions
from diprl.export.c_types import DOUBLE, RESERVED, Real, comment, number_types, valid_name
from diprl.export.networks import Network, matching
from diprl.export.parity import single_precision
from diprl.program import Act, Condition, Continuous, Discrete, Feature, Primitives, Program, Terminal
from diprl.program.evaluate import entry_forms
from diprl.program.linear_text import format_linear
from diprl.program.names import unique_names
from diprl.program.paths import format_lines

check = c_check.check
_FLAG_NAMES = ("OK", "NOT_FINITE", "OUT_OF_BOUNDS")


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    name = structure.prefix(program)
    return {f"{name}.h": header(program, networks), f"{name}.c": source(program, networks)}


def to_c(program: Program, primitives: Sequence[Network] | None = None) -> str:
    """Header and source in one text that compiles by itself."""
    networks = matching(program, primitives)
    include = f'#include "{structure.prefix(program)}.h"\n'
    return header(program, networks) + "\n" + source(program, networks).replace(include, "")


def header(program: Program, networks: Sequence[Network] = ()) -> str:
    """The declarations: sizes, action names, status flags and functions."""
    constant = structure.prefix(program).upper()
    lines = [comment(structure.title(program))]
    lines += [comment(_input(*numbered)) for numbered in enumerate(program.signature.features)]
    lines += ["", f"#ifndef {constant}_H", f"#define {constant}_H", ""]
    lines += [*_sizes(program, networks), "", *_FLAGS.format(constant=constant).splitlines(), ""]
    for real in number_types(program, networks):
        lines += [f"{line};" for line in _signatures(program, networks, real)]
    return "\n".join([*lines, "", "#endif"]) + "\n"


def source(program: Program, networks: Sequence[Network] = ()) -> str:
    """The definitions, once per floating-point type."""
    name = structure.prefix(program)
    parts = [f'#include "{name}.h"\n', _PREAMBLE]
    for real in number_types(program, networks):
        if not isinstance(program.signature.actions, Discrete):
            parts.append(_CLIP.format(real=real.name, name=f"{name}_clip{real.suffix}"))
        signatures = _signatures(program, networks, real)
        parts += [_status(program, real, signatures[0]), _body(program, real, signatures[1])]
        if networks:
            parts.append(network_functions(name, real, networks, signatures[2]))
    return "\n".join(parts)


def _input(index: int, feature: Feature) -> str:
    """What an entry of the input means."""
    unit = f" [{feature.unit}]" if feature.unit else ""
    bounds = f" in [{feature.low!r}, {feature.high!r}]" if isfinite(feature.high - feature.low) else ""
    meaning = f": {feature.meaning}" if feature.meaning else ""
    return f"features[{index}]: {feature.name}{unit}{bounds}{meaning}"


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
    taken = ("FEATURES", "OUTPUTS", "ACTUATORS", "PRIMITIVES", "SENSES", "H", *_FLAG_NAMES)
    names = [prefix + name.upper() for name in program.signature.actions.names]
    return unique_names(names, [prefix + name for name in taken])


def _signatures(program: Program, networks: Sequence[Network], real: Real) -> list[str]:
    """The functions of one type, without semicolons: status, the program, perhaps the whole controller."""
    name, kind, actions = structure.prefix(program), real.name, program.signature.actions
    status = f"int {name}_status{real.suffix}(const {kind} *features)"
    play = f"{name}_play{real.suffix}(const {kind} *features"
    if isinstance(actions, Discrete):
        return [status, f"int {play})"]
    if isinstance(actions, Continuous):
        return [status, f"void {play}, {kind} *action)"]
    blend = f"{name}_blend{real.suffix}(const {kind} *features"
    found = [status, f"void {blend}, const {kind} *primitive_actions, {kind} *action)"]
    return [*found, f"void {play}, const {kind} *senses, {kind} *action)"] if networks else found


def _status(program: Program, real: Real, signature: str) -> str:
    """Flags for input that is not finite or outside of the declared bounds."""
    constant = structure.prefix(program).upper()
    lines = [_FINITE.format(signature=signature, constant=constant)]
    for index, feature in enumerate(program.signature.features):
        tests = [f"features[{index}] < {real.constant(feature.low)}"] if feature.low != -inf else []
        tests += [f"features[{index}] > {real.constant(feature.high)}"] if feature.high != inf else []
        if tests:
            lines += [
                f"    if ({' || '.join(tests)}) {{",
                f"        flags |= {constant}_OUT_OF_BOUNDS;",
                "    }",
            ]
    return "\n".join([*lines, "    return flags;", "}"]) + "\n"


def _body(program: Program, real: Real, signature: str) -> str:
    """The function that holds the program."""
    inputs = structure.variables(program, RESERVED, valid=valid_name)
    root = program.root if real is DOUBLE else single_precision(program.root)
    reads, width = structure.read_features(root), f"{structure.prefix(program).upper()}_ACTUATORS"
    lines = [f"    const {real.name} {inputs.features[index]} = features[{index}];" for index in reads]
    for index in structure.used_primitives(root):
        vector = f"const {real.name} *{inputs.primitives[index]}"
        lines.append(f"    {vector} = primitive_actions + {index} * {width};")
    lines += ["" if reads else "    (void)features;\n"]

    def test(_: str, condition: Condition) -> str:
        form = format_linear(condition.weights, condition.bias, inputs.features, real.notation)
        return f"if ({form} > {real.constant(0.0)}) {{"

    def leaf(terminal: Terminal) -> Iterator[str]:
        return _leaf(terminal, program, real, inputs)

    lines += format_lines(root, test, leaf, {"end": "}"}, level=1, returning=True)
    return "\n".join([signature, "{", *lines, "}"]) + "\n"


def _leaf(leaf: Terminal, program: Program, real: Real, inputs: structure.Variables) -> Iterator[str]:
    actions = program.signature.actions
    if isinstance(leaf, Act) or isinstance(actions, Discrete):
        yield f"return {_enumerators(program)[leaf.action]};"  # type: ignore[union-attr]
        return
    clip = f"{structure.prefix(program)}_clip{real.suffix}"
    forms = entry_forms(leaf, inputs.features, inputs.entries)
    for entry, (form, low, high) in enumerate(zip(forms, actions.low, actions.high, strict=True)):
        value = format_linear(*form, real.notation)
        yield f"action[{entry}] = {clip}({value}, {real.constant(low)}, {real.constant(high)});"
    yield "return;"


_FLAGS = """\
/* What a status function returns: zero, or these flags added up. A condition that involves NaN */
/* is false, so that the program still acts as defined; whether to obey it is up to the caller. */
enum {{ {constant}_OK = 0, {constant}_NOT_FINITE = 1, {constant}_OUT_OF_BOUNDS = 2 }};"""

_CLIP = """\
static {real} {name}({real} value, {real} low, {real} high)
{{
    return value < low ? low : value > high ? high : value;
}}
"""

_FINITE = """\
{signature}
{{
    int index, flags = {constant}_OK;

    for (index = 0; index < {constant}_FEATURES; index++) {{
        if (!isfinite(features[index])) {{
            flags |= {constant}_NOT_FINITE;
        }}
    }}"""

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
