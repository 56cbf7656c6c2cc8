"""An IEC 61131-3 function block in Structured Text, for programmable logic controllers."""

import re
from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from diprl.export import structure
from diprl.export.networks import Network
from diprl.export.parity import compare
from diprl.export.report import Check, Written
from diprl.export.st_run import execute
from diprl.program import Act, Condition, Continuous, Discrete, Primitives, Program, Terminal
from diprl.program.evaluate import entry_forms
from diprl.program.linear_text import Notation, format_linear
from diprl.program.names import unique_names
from diprl.program.paths import format_lines

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


def check(written: Written) -> list[Check]:
    """Interpret the written file, statement by statement."""
    program, samples = written.program, written.samples
    inputs, outputs = _variables(program)
    values = dict(zip(inputs.features, samples.features.T, strict=True))
    if samples.primitive_actions is not None:
        for names, actions in zip(inputs.entries, samples.primitive_actions.transpose(1, 2, 0), strict=True):
            values |= dict(zip(names, actions, strict=True))
    found = execute(written.files[0].read_text(encoding="utf-8"), values, len(samples))
    action = np.stack([found[name] for name in outputs], axis=1)
    if isinstance(program.signature.actions, Discrete):
        action = action[:, 0].astype(np.int64)
    return [compare("interpreted", written, action)]


def to_st(program: Program) -> str:
    """The function block as text; primitives' actions are inputs of it."""
    inputs, outputs = _variables(program)
    block = "".join(part.capitalize() for part in structure.prefix(program).split("_"))
    lines = [f"(* {_plain(structure.title(program))}."]
    lines += ["   A comparison with a value that is not a number must be FALSE, as in IEC 60559. *)"]
    lines += [f"FUNCTION_BLOCK FB_{block}", "VAR_INPUT"]
    for name, feature in zip(inputs.features, program.signature.features, strict=True):
        unit = f" (* {_plain(feature.unit)} *)" if _plain(feature.unit) else ""
        lines.append(f"    {name} : LREAL;{unit}")
    for name, entries in zip(inputs.primitives, inputs.entries, strict=True):
        lines.append(f"    {name} : ARRAY[0..{len(entries) - 1}] OF LREAL;")
    lines += ["END_VAR", "VAR_OUTPUT", *_declarations(program, outputs), "END_VAR", ""]
    lines += _statements(program, inputs, outputs)
    return "\n".join([*lines, *_clips(program, outputs), "END_FUNCTION_BLOCK"]) + "\n"


def number(value: float) -> str:
    """A literal with the decimal point that the standard asks for.

    >>> number(1e-05), number(2.5)
    ('1.0E-05', '2.5')
    """
    mantissa, _, exponent = repr(value).partition("e")
    mantissa += "" if "." in mantissa else ".0"
    return f"{mantissa}E{exponent}" if exponent else mantissa


_NOTATION = Notation(number, " * ")


def _variables(program: Program) -> tuple[structure.Variables, list[str]]:
    """Inputs and outputs by name, different in more than upper case."""
    actions = program.signature.actions
    inputs = structure.variables(program, _RESERVED, str.lower, _valid)
    names = actions.names if isinstance(actions, Continuous) else ("chosen_action",)
    names = ("blended",) if isinstance(actions, Primitives) else names
    taken = {*_RESERVED, *inputs.features, *inputs.primitives}
    outputs = unique_names([_valid(name) for name in names], taken, str.lower)
    if isinstance(actions, Primitives):
        outputs = [f"{outputs[0]}[{entry}]" for entry in range(len(actions.low))]
    return inputs, outputs


def _valid(name: str) -> str:
    """A name without doubled, leading or trailing underscores, which the standard forbids."""
    plain = re.sub("_+", "_", name).strip("_") or "v"
    return plain if not plain[0].isdigit() else f"v{plain}"


def _declarations(program: Program, outputs: Sequence[str]) -> list[str]:
    actions = program.signature.actions
    if isinstance(actions, Discrete):
        names = ", ".join(f"{index} {name}" for index, name in enumerate(actions.names))
        return [f"    {outputs[0]} : DINT; (* {names} *)"]
    if isinstance(actions, Continuous):
        return [f"    {name} : LREAL;" for name in outputs]
    return [f"    {outputs[0].split('[')[0]} : ARRAY[0..{len(outputs) - 1}] OF LREAL;"]


def _statements(program: Program, inputs: structure.Variables, outputs: Sequence[str]) -> Iterator[str]:
    def test(keyword: str, condition: Condition) -> str:
        form = format_linear(condition.weights, condition.bias, inputs.features, _NOTATION)
        return f"{'IF' if keyword == 'if' else 'ELSIF'} {form} > 0.0 THEN"

    def leaf(terminal: Terminal) -> list[str]:
        if isinstance(terminal, Act):
            return [f"{outputs[0]} := {terminal.action};"]
        forms = zip(outputs, entry_forms(terminal, inputs.features, inputs.entries), strict=True)
        return [f"{name} := {format_linear(*form, _NOTATION)};" for name, form in forms]

    return format_lines(program.root, test, leaf, {"else": "ELSE", "end": "END_IF;"})


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
