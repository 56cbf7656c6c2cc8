"""C99 without allocation: the program, input checks and a fallback; in double, single and fixed point."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from diprl.errors import DiprlError
from diprl.export import c_check, structure
from diprl.export.c_networks import network_functions
from diprl.export.c_types import DOUBLE, FIXED, Real, comment, number_types
from diprl.export.fixed import FixedPoint, Scaled, fixed_point, whole
from diprl.export.guard import FLAGS, MEANINGS, PLAIN, Guard
from diprl.export.parity import single_precision
from diprl.program import Act, Continuous, Discrete, Node, Primitives, Program, Terminal
from diprl.program.names import unique_names
from diprl.program.networks import Network
from diprl.program.signature import outputs
from diprl.program.text_format import format_lines

check = c_check.check


def render(program: Program, networks: Sequence[Network] = (), guard: Guard = PLAIN) -> dict[str, str]:
    """Header and source by name, and those in whole numbers where the ranges of all features are known."""
    name = structure.prefix(program)
    files = {f"{name}.h": header(program, networks), f"{name}.c": source(program, networks, guard)}
    try:
        fixed = fixed_point(program, guard)
    except DiprlError:
        return files
    return files | _render_fixed(program, guard, fixed)


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
        parts += _Writer(program, real, root, guard).functions(networks)
    return "\n".join(parts)


def _render_fixed(program: Program, guard: Guard, fixed: FixedPoint) -> dict[str, str]:
    name, features = structure.prefix(program), program.signature.features
    lines = [
        f"features[{i}]: {entry.name}: times 2^{fixed.feature_bits[i]}, rounded" for i, entry in enumerate(features)
    ]
    for number, margin in enumerate(fixed.margins, 1):
        lines.append(f"condition {number} decides as in double where its value is further from zero than {margin:.3g}")
    for entry, output in enumerate(outputs(program.signature.actions)):
        off = f"off by at most {fixed.output_errors[entry]:.3g} on the same branch"
        lines.append(f"action[{entry}]: {output.name}: times 2^{fixed.output_bits[entry]}, {off}")
    functions = "\n".join(f"{line};" for line in _signatures(program, (), FIXED))
    common = {"name": name, "NAME": name.upper(), "comments": "\n".join(map(comment, lines))}
    text = "\n".join(_Writer(program, FIXED, fixed.root, guard, fixed).functions())
    return {
        f"{name}_fixed.h": structure.fill("fixed.h", **common, functions=functions),
        f"{name}_fixed.c": f'#include "{name}_fixed.h"\n\n{text}',
    }


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
    mixed, senses = f"const {real.name} *primitive_actions", f"const {real.name} *senses"

    def function(result: str, verb: str, *more: str) -> str:
        arguments = ", ".join([f"const {real.name} *features", *more])
        return f"{result} {name}_{verb}{real.suffix}({arguments})"

    status = function("unsigned int", "status")
    if isinstance(actions, Discrete):
        return [status, function("int", "play"), function("unsigned int", "control", "int *action")]
    more = [mixed] if isinstance(actions, Primitives) else []
    play = function("void", "blend" if more else "play", *more, action)
    found = [status, play, function("unsigned int", "control", *more, action)]
    return [*found, function("void", "play", senses, action)] if networks else found


@dataclass(frozen=True)
class _Writer:
    """Writes the functions of one number type."""

    program: Program
    real: Real
    root: Node
    guard: Guard
    fixed: FixedPoint | None = None

    def functions(self, networks: Sequence[Network] = ()) -> Iterator[str]:
        program, real, name = self.program, self.real, structure.prefix(self.program)
        common = {"name": name, "NAME": name.upper(), "real": real.name, "term": real.term, "suffix": real.suffix}
        if not isinstance(program.signature.actions, Discrete):
            yield structure.fill("clip.c", **common, cast=f"({real.name})" if real is FIXED else "")
        status, act, control, *play = _signatures(program, networks, real)
        tests = ("\n" if real is FIXED else structure.fill("finite.c", **common)) + "".join(self.tests())
        fallback, call = self.control()
        yield structure.fill(
            "functions.c",
            **common,
            status=status,
            act=act,
            control=control,
            tests=tests if tests.strip() else "\n    (void)features;\n",
            body="\n".join(self.body()),
            fallback=fallback,
            call=call,
        )
        yield from (network_functions(name, real, networks, signature) for signature in play)

    def constant(self, value: float, bits: int) -> str:
        """A number of this type; `bits` counts for fixed-point numbers only."""
        return str(whole(value, bits)) if self.fixed else self.real.constant(value)

    def tests(self) -> Iterator[str]:
        """A test for each range that is watched."""
        bits = self.fixed.feature_bits if self.fixed else (0,) * len(self.program.signature.features)
        read = structure.read_features(self.root)
        for flag, ranges in self.guard.watched(self.program, fixed=self.fixed is not None):
            for index, ends in enumerate(ranges):
                if self.fixed and index not in read:
                    continue
                pairs = [pair for pair in zip("<>", ends, strict=True) if isfinite(pair[1])]
                sides = [f"(features[{index}] {sign} {self.constant(end, bits[index])})" for sign, end in pairs]
                if sides:
                    test = " || ".join(sides) if len(sides) > 1 else sides[0][1:-1]
                    yield structure.fill("test.c", test=test, flag=f"{structure.prefix(self.program).upper()}_{flag}")

    def body(self) -> Iterator[str]:
        """The lines of the function that holds the program."""
        real, inputs = self.real, structure.variables(self.program)
        reads = structure.read_features(self.root)
        for index in reads:
            cast = f"({real.term})" if real is FIXED else ""
            yield f"    const {real.term} {inputs.features[index]} = {cast}features[{index}];"
        for index in structure.used_primitives(self.root):
            place = f"&primitive_actions[{index * len(inputs.entries[index])}]"
            yield f"    const {real.name} *{inputs.primitives[index]} = {place};"
        yield "" if reads else "    (void)features;\n"
        yield from format_lines(self.root, inputs.features, self.leaf, real.notation, level=1)

    def leaf(self, terminal: Terminal) -> Iterator[str]:
        actions, inputs = self.program.signature.actions, structure.variables(self.program)
        if isinstance(terminal, Act) or isinstance(actions, Discrete):
            yield f"return {_enumerators(self.program)[terminal.action]};"  # type: ignore[union-attr]
            return
        values = inputs.action(terminal, self.real.notation)
        if isinstance(terminal, Scaled):
            values = [f"({value}) / INT64_C({by})" for value, by in zip(values, terminal.divisors, strict=True)]
        clip = f"{structure.prefix(self.program)}_clip{self.real.suffix}"
        for entry, value in enumerate(values):
            yield f"action[{entry}] = {clip}({value}, {self.ends(entry)});"
        yield "return;"

    def ends(self, entry: int) -> str:
        """The bounds of an entry of the action."""
        actions: Any = self.program.signature.actions
        return ", ".join(self.constant(end[entry], self.bits(entry)) for end in (actions.low, actions.high))

    def bits(self, entry: int) -> int:
        return self.fixed.output_bits[entry] if self.fixed else 0

    def control(self) -> tuple[str, str]:
        """What to do with an observation that cannot be used, and with one that can."""
        name, actions, chosen = (
            structure.prefix(self.program),
            self.program.signature.actions,
            self.guard.action(self.program),
        )
        if isinstance(actions, Discrete):
            return (
                f"        *action = {_enumerators(self.program)[chosen]};",
                f"*action = {name}_play{self.real.suffix}(features)",
            )
        lines = [f"        action[{i}] = {self.constant(value, self.bits(i))};" for i, value in enumerate(chosen)]
        call = (
            "blend{}(features, primitive_actions, action)"
            if isinstance(actions, Primitives)
            else "play{}(features, action)"
        )
        return "\n".join(lines), f"{name}_{call.format(self.real.suffix)}"
