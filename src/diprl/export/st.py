"""An IEC 61131-3 function block in Structured Text, for programmable logic controllers."""

import re
from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np

from diprl.export import structure
from diprl.export.networks import Network
from diprl.export.parity import compare
from diprl.export.report import Check
from diprl.export.samples import Samples
from diprl.export.st_run import execute
from diprl.program import Act, Affine, Continuous, Discrete, Primitives, Program, Terminal

_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """abs action and any array at begin bool by byte case char configuration constant date dint do dt
        dword else elsif end exit exp false for from function if in input int interface internal limit ln log
        lreal lword max method min mod mux namespace not null of on or output overlap private program
        protected
        public real ref repeat resource return sel sin cos tan sqrt shl shr sint step string struct super task
        then this time to tod transition true type udint uint ulint until usint using var via while with word
        wstring xor chosen r_edge f_edge rol ror move add sub mul div expt asin acos atan trunc round""",
    )
)


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    return {f"{structure.prefix(program)}.st": to_st(program)}


def check(
    program: Program, files: Sequence[Path], samples: Samples, networks: Sequence[Network]
) -> list[Check]:
    """Interpret the written file, statement by statement."""
    features, mixed, outputs = _names(program)
    values = dict(zip(features, samples.features.T, strict=True))
    if samples.primitive_actions is not None:
        for index, name in enumerate(mixed):
            for entry in range(samples.primitive_actions.shape[2]):
                values[f"{name}[{entry}]"] = samples.primitive_actions[:, index, entry]
    found = execute(files[0].read_text(encoding="utf-8"), values, len(samples))
    action = np.stack([found[name] for name in outputs], axis=1)
    if isinstance(program.signature.actions, Discrete):
        action = action[:, 0].astype(np.int64)
    return [compare("interpreted", program, samples, action)]


def to_st(program: Program) -> str:
    """The function block as text; primitives' actions are inputs of it."""
    features, mixed, outputs = _names(program)
    block = "".join(word.capitalize() for word in structure.prefix(program).split("_"))
    lines = [f"(* {_plain(f'A program for {program.task}' if program.task else 'A program')}."]
    lines += ["   A comparison with a value that is not a number must be FALSE, as in IEC 60559. *)"]
    lines += [f"FUNCTION_BLOCK FB_{block}", "VAR_INPUT"]
    for name, feature in zip(features, program.signature.features, strict=True):
        unit = f" (* {_plain(feature.unit)} *)" if _plain(feature.unit) else ""
        lines.append(f"    {name} : LREAL;{unit}")
    lines += [*_primitive_inputs(program, mixed), "END_VAR", "VAR_OUTPUT", *_outputs(program), "END_VAR", ""]
    lines += _statements(program, features, mixed, outputs)
    return "\n".join([*lines, *_clips(program, outputs), "END_FUNCTION_BLOCK"]) + "\n"


def number(value: float) -> str:
    """A literal with the decimal point that the standard asks for.

    >>> number(1e-05), number(2.5)
    ('1.0E-05', '2.5')
    """
    mantissa, _, exponent = repr(value).partition("e")
    mantissa += "" if "." in mantissa else ".0"
    return f"{mantissa}E{exponent}" if exponent else mantissa


def _names(program: Program) -> tuple[list[str], list[str], list[str]]:
    """Names of the features, of the primitives and of the outputs, different in more than upper case."""
    actions = program.signature.actions
    features = _safe(program.signature.feature_names, ())
    mixed = _safe(actions.names, features) if isinstance(actions, Primitives) else []
    if isinstance(actions, Continuous):
        return features, mixed, _safe(actions.names, features)
    if isinstance(actions, Discrete):
        return features, mixed, _safe(["chosen_action"], features)
    base = _safe(["blended"], (*features, *mixed))[0]
    return features, mixed, [f"{base}[{entry}]" for entry in range(len(actions.low))]


def _safe(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Names without doubled, leading or trailing underscores, which the standard forbids."""
    plain = [re.sub("_+", "_", name).strip("_") or "v" for name in names]
    plain = [name if not name[0].isdigit() else f"v{name}" for name in plain]
    return structure.safe_names(plain, {*_RESERVED, *taken}, str.lower)


def _primitive_inputs(program: Program, mixed: Sequence[str]) -> list[str]:
    actions = program.signature.actions
    if not isinstance(actions, Primitives):
        return []
    return [f"    {name} : ARRAY[0..{len(actions.low) - 1}] OF LREAL;" for name in mixed]


def _outputs(program: Program) -> list[str]:
    actions, outputs = program.signature.actions, _names(program)[2]
    if isinstance(actions, Discrete):
        names = ", ".join(f"{index} {name}" for index, name in enumerate(actions.names))
        return [f"    {outputs[0]} : DINT; (* {names} *)"]
    if isinstance(actions, Continuous):
        return [f"    {name} : LREAL;" for name in outputs]
    return [f"    {outputs[0].split('[')[0]} : ARRAY[0..{len(outputs) - 1}] OF LREAL;"]


def _statements(
    program: Program, features: Sequence[str], mixed: Sequence[str], outputs: Sequence[str]
) -> list[str]:
    lines = []
    for indent, kind, payload in structure.chained(program.root):
        space = "    " * indent
        if kind in ("if", "elif"):
            word = "IF" if kind == "if" else "ELSIF"
            form = structure.linear(payload.weights, payload.bias, features, number)
            lines.append(f"{space}{word} {form} > 0.0 THEN")
        elif kind == "leaf":
            lines += [f"{space}{line}" for line in _leaf(payload, features, mixed, outputs)]
        else:
            lines.append(space + ("ELSE" if kind == "else" else "END_IF;"))
    return lines


def _leaf(leaf: Terminal, features: Sequence[str], mixed: Sequence[str], outputs: Sequence[str]) -> list[str]:
    if isinstance(leaf, Act):
        return [f"{outputs[0]} := {leaf.action};"]
    if isinstance(leaf, Affine):
        rows = zip(outputs, leaf.weights, leaf.bias, strict=True)
        return [f"{name} := {structure.linear(row, bias, features, number)};" for name, row, bias in rows]
    lines = []
    for entry, name in enumerate(outputs):
        parts = [f"{primitive}[{entry}]" for primitive in mixed]
        lines.append(f"{name} := {structure.linear(leaf.weights, 0.0, parts, number)};")
    return lines


def _clips(program: Program, outputs: Sequence[str]) -> list[str]:
    """Limits as plain comparisons, since LIMIT need not pass on what is not a number."""
    actions, lines = program.signature.actions, []
    if isinstance(actions, Discrete):
        return []
    for name, low, high in zip(outputs, actions.low, actions.high, strict=True):
        if low != -inf:
            lines += [f"IF {name} < {_signed(low)} THEN", f"    {name} := {_signed(low)};", "END_IF;"]
        if high != inf:
            lines += [f"IF {name} > {_signed(high)} THEN", f"    {name} := {_signed(high)};", "END_IF;"]
    return lines


def _signed(value: float) -> str:
    return ("-" if value < 0.0 else "") + number(abs(value))


def _plain(text: str) -> str:
    """Text that cannot end a comment."""
    return re.sub(r"[^ -~]|[*()]", " ", text).strip()
