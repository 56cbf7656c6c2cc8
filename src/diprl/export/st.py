"""An IEC 61131-3 function block in Structured Text, for programmable logic controllers."""

import operator
import re
from collections.abc import Iterator, Sequence
from math import isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.guard import FLAGS, MEANINGS, PLAIN, UNUSABLE, Guard
from diprl.export.parity import Check, Written, compare
from diprl.program import Act, Continuous, Discrete, Feature, Program, Terminal, signature
from diprl.program.names import unique_names
from diprl.program.networks import Network
from diprl.program.text_format import Notation, format_lines

Values = dict[str, NDArray[Any]]
Mask = NDArray[np.bool_]

_COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_TEST = re.compile(r"(IF|ELSIF) (.+) THEN")
_COMPARISONS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
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
    flags = int((found["status"] != written.guard.status(program, samples.features)).sum())
    return [compare("interpreted", written, action, guarded=True), Check("status", len(samples), flags)]


def to_st(program: Program, guard: Guard = PLAIN) -> str:
    """The function block as text; primitives' actions are inputs of it."""
    inputs, outputs = _variables(program)
    given = [_number(*pair) for pair in zip(inputs.features, program.signature.features, strict=True)]
    given += [_array(name, len(entries)) for name, entries in zip(inputs.primitives, inputs.entries, strict=True)]
    fallback = np.atleast_1d(guard.action(program)).tolist()
    instead = [f"{name} := {_signed(value)};" for name, value in zip(outputs, fallback, strict=True)]
    body = [*_statements(program, inputs, outputs), *_clips(program, outputs)]
    tests = _tests(program, guard, inputs.features)
    return structure.fill(
        "function_block.st",
        title=_plain(structure.title(program)),
        block="".join(part.capitalize() for part in structure.prefix(program).split("_")),
        inputs=_indented(given),
        outputs=_indented(_declarations(program, outputs)),
        flags=_indented([f"   {bit} {MEANINGS[flag]}" for flag, bit in FLAGS.items()]),
        signature=structure.signature(program),
        checks="\n".join(test for flag, test in tests.items() if flag & UNUSABLE),
        warnings="".join(f"{test}\n" for flag, test in tests.items() if not flag & UNUSABLE),
        fallback=_indented(instead),
        body=_indented(body),
    )


def render(program: Program, networks: Sequence[Network] = (), guard: Guard = PLAIN) -> dict[str, str]:
    return {f"{structure.prefix(program)}.st": to_st(program, guard)}


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _tests(program: Program, guard: Guard, features: Sequence[str]) -> dict[int, str]:
    """By flag: a test for what is not finite, and one for each kind of range."""
    largest = number(float(np.finfo(np.float64).max))
    finite = " AND\n    ".join(f"({name} >= -{largest}) AND ({name} <= {largest})" for name in features)
    kinds = [("NOT_FINITE", f"NOT ({finite})")]
    for flag, ranges in guard.watched(program):
        pairs = zip(features, ranges, strict=False)
        sides = [(name, sign, end) for name, (low, high) in pairs for sign, end in (("<", low), (">", high))]
        tests = [f"({name} {sign} {_signed(float(end))})" for name, sign, end in sides if not isinf(end)]
        kinds += [(flag, " OR\n    ".join(tests))] if tests else []
    return {FLAGS[flag]: f"IF {test} THEN\n    status := status + {FLAGS[flag]};\nEND_IF;" for flag, test in kinds}


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
    """Inputs and outputs by name."""
    actions = program.signature.actions
    if isinstance(actions, Continuous):
        return structure.variables(program, _names), _names(actions.names, "out_")
    if isinstance(actions, Discrete):
        return structure.variables(program, _names), ["chosen_action"]
    return structure.variables(program, _names), [f"blended_action[{entry}]" for entry in range(len(actions.low))]


def _names(names: Sequence[str], prefix: str) -> list[str]:
    """Names without doubled or trailing underscores, which the standard forbids, that differ in more than case."""
    return unique_names([re.sub("_+", "_", prefix + name).rstrip("_") for name in names], fold=str.lower)


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
    return ("-" if value < 0.0 else "") + (number(abs(value)) if isinstance(value, float) else str(abs(value)))


def _plain(text: str) -> str:
    """Text that cannot end a comment."""
    return re.sub(r"[^ -~]", " ", text).replace("*", " * ").strip()


def _execute(text: str, values: Values, count: int) -> Values:
    """The variables after the body of a function block has run on `count` observations side by side."""
    values = dict(values)
    body = _COMMENT.sub("", text).rsplit("END_VAR", 1)[-1].removesuffix("END_FUNCTION_BLOCK\n")
    body = re.sub(r" (AND|OR)\n +", r" \1 ", body)
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
        taken = waiting & _holds(match[2], values, len(active))
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


def _holds(text: str, values: Values, count: int) -> Mask:
    """One comparison, several with OR between them, or NOT before several with AND."""
    found = []
    for comparison in re.findall(r"\(([^()]+)\)", text) or [text]:
        left, sign, right = comparison.rsplit(" ", 2)
        found.append(_COMPARISONS[sign](_linear(left, values, count), float(right)))
    return ~np.all(found, axis=0) if text.startswith("NOT ") else np.any(found, axis=0)


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
