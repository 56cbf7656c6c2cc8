"""An IEC 61131-3 function block in Structured Text, for programmable logic controllers."""

import re
from collections.abc import Iterator, Sequence
from math import isinf

import numpy as np

from diprl.export import structure
from diprl.export.networks import Network
from diprl.export.parity import Check, Written, compare
from diprl.export.st_run import execute
from diprl.program import Act, Continuous, Discrete, Primitives, Program, Terminal
from diprl.program.linear_text import Notation
from diprl.program.names import unique_names
from diprl.program.text_format import format_lines

_RESERVED = frozenset(structure.fixed_text("reserved.st.txt").split())


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
    units = [_plain(feature.unit) for feature in program.signature.features]
    given = [f"{name} : LREAL;{unit and f' (* {unit} *)'}" for name, unit in zip(inputs.features, units, strict=True)]
    given += [_array(name, len(entries)) for name, entries in zip(inputs.primitives, inputs.entries, strict=True)]
    return structure.fill(
        "function_block.st",
        title=_plain(structure.title(program)),
        block="".join(part.capitalize() for part in structure.prefix(program).split("_")),
        inputs="\n".join(f"    {line}" for line in given),
        outputs="\n".join(f"    {line}" for line in _declarations(program, outputs)),
        body="\n".join([*_statements(program, inputs, outputs), *_clips(program, outputs)]),
    )


def number(value: float) -> str:
    """A literal with the decimal point that the standard asks for.

    >>> number(1e-05), number(2.5)
    ('1.0E-05', '2.5')
    """
    mantissa, _, exponent = repr(value).partition("e")
    mantissa += "" if "." in mantissa else ".0"
    return f"{mantissa}E{exponent}" if exponent else mantissa


_LINES = {"if": "IF {} > 0.0 THEN", "elif": "ELSIF {} > 0.0 THEN", "else": "ELSE", "end": "END_IF;"}
_NOTATION = Notation(number, " * ", lines=_LINES)


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
        return [f"{outputs[0]} : DINT; (* {names} *)"]
    if isinstance(actions, Continuous):
        return [f"{name} : LREAL;" for name in outputs]
    return [_array(outputs[0].split("[")[0], len(outputs))]


def _array(name: str, length: int) -> str:
    return f"{name} : ARRAY[0..{length - 1}] OF LREAL;"


def _statements(program: Program, inputs: structure.Variables, outputs: Sequence[str]) -> Iterator[str]:
    def leaf(terminal: Terminal) -> list[str]:
        values = [str(terminal.action)] if isinstance(terminal, Act) else inputs.action(terminal, _NOTATION)
        return [f"{name} := {value};" for name, value in zip(outputs, values, strict=True)]

    return format_lines(program.root, inputs.features, leaf, _NOTATION)


def _clips(program: Program, outputs: Sequence[str]) -> Iterator[str]:
    """Limits as plain comparisons, since LIMIT need not pass on what is not a number."""
    actions = program.signature.actions
    if isinstance(actions, Discrete):
        return
    for name, low, high in zip(outputs, actions.low, actions.high, strict=True):
        for sign, limit in (("<", low), (">", high)):
            if not isinf(limit):
                yield from (f"IF {name} {sign} {_signed(limit)} THEN", f"    {name} := {_signed(limit)};", "END_IF;")


def _signed(value: float) -> str:
    return ("-" if value < 0.0 else "") + number(abs(value))


def _plain(text: str) -> str:
    """Text that cannot end a comment."""
    return re.sub(r"[^ -~]|[*()]", " ", text).strip()
