"""An IEC 61131-3 function block in Structured Text, for programmable logic controllers."""

import re
from collections.abc import Iterator, Sequence
from math import isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.parity import Check, Written, compare
from diprl.program import Act, Continuous, Discrete, Feature, Primitives, Program, Terminal, signature
from diprl.program.names import unique_names
from diprl.program.text_format import Notation, format_lines

Values = dict[str, NDArray[Any]]
Mask = NDArray[np.bool_]

_RESERVED = frozenset(structure.fixed_text("reserved.st.txt").split())
_COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_TEST = re.compile(r"(IF|ELSIF) (.+) ([<>]) (\S+) THEN")
_ASSIGNMENT = re.compile(r"(\S+) := (.+);")


def check(written: Written) -> list[Check]:
    """Interpret the written file, statement by statement."""
    program, samples = written.program, written.samples
    inputs, outputs = _variables(program)
    values = dict(zip(inputs.features, samples.features.T, strict=True))
    if samples.primitive_actions is not None:
        for names, actions in zip(inputs.entries, samples.primitive_actions.transpose(1, 2, 0), strict=True):
            values |= dict(zip(names, actions, strict=True))
    found = _execute(written.files[0].read_text(encoding="utf-8"), values, len(samples))
    action = np.stack([found[name] for name in outputs], axis=1)
    if isinstance(program.signature.actions, Discrete):
        action = action[:, 0].astype(np.int64)
    return [compare("interpreted", written, action)]


def to_st(program: Program) -> str:
    """The function block as text; primitives' actions are inputs of it."""
    inputs, outputs = _variables(program)
    given = [_number(*pair) for pair in zip(inputs.features, program.signature.features, strict=True)]
    given += [_array(name, len(entries)) for name, entries in zip(inputs.primitives, inputs.entries, strict=True)]
    return structure.fill(
        "function_block.st",
        title=_plain(structure.title(program)),
        block="".join(part.capitalize() for part in structure.prefix(program).split("_")),
        inputs="\n".join(f"    {line}" for line in given),
        outputs="\n".join(f"    {line}" for line in _declarations(program, outputs)),
        body="\n".join([*_statements(program, inputs, outputs), *_clips(program, outputs)]),
    )


render = structure.one_file("st", lambda program, _: to_st(program))


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
        return [_number(*pair) for pair in zip(outputs, signature.outputs(actions), strict=True)]
    return [_array(outputs[0].split("[")[0], len(outputs))]


def _number(name: str, feature: Feature) -> str:
    """The declaration of a number, with its unit, range and meaning."""
    facts = _plain(structure.facts(feature).removeprefix(":"))
    return f"{name} : LREAL;" + (f" (* {facts} *)" if facts else "")


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
    return re.sub(r"[^ -~]", " ", text).replace("*", " * ").strip()


def _execute(text: str, values: Values, count: int) -> Values:
    """The variables after the body of a function block has run on `count` observations side by side."""
    values = dict(values)
    body = _COMMENT.sub("", text).rsplit("END_VAR", 1)[-1].removesuffix("END_FUNCTION_BLOCK\n")
    active: Mask = np.ones(count, bool)
    stack: list[tuple[Mask, Mask]] = []
    with np.errstate(all="ignore"):
        for line in filter(None, map(str.strip, body.splitlines())):
            active = _statement(line, values, active, stack)
    if stack:
        raise DiprlError("the Structured Text ends inside of an IF")
    return values


def _statement(line: str, values: Values, active: Mask, stack: list[tuple[Mask, Mask]]) -> Mask:
    """Run one line; the stack holds for each open IF who entered it and who has taken no branch yet."""
    if match := _TEST.fullmatch(line):
        if match[1] == "IF":
            stack.append((active, active))
        outer, waiting = stack[-1]
        left, right = _linear(match[2], values, len(active)), float(match[4])
        taken = waiting & (left > right if match[3] == ">" else left < right)
        stack[-1] = (outer, waiting & ~taken)
        return taken
    if line == "ELSE":
        return stack[-1][1]
    if line == "END_IF;":
        return stack.pop()[0]
    if match := _ASSIGNMENT.fullmatch(line):
        before = values.get(match[1], np.zeros(len(active)))
        values[match[1]] = np.where(active, _linear(match[2], values, len(active)), before)
        return active
    raise DiprlError(f"this is no Structured Text that the exporter writes: '{line}'")


def _linear(text: str, values: Values, count: int) -> NDArray[Any]:
    """Add the terms of a linear form from left to right."""
    total: Any = None
    for term in text.replace(" - ", " + -").split(" + "):
        *weight, name = term.removeprefix("-").split(" * ")
        value: Any = values[name] if name in values else np.full(count, float(name))
        value = float(weight[0]) * value if weight else value
        value = -value if term.startswith("-") else value
        total = value if total is None else total + value
    return total
