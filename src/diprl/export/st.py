"""An IEC 61131-3 function block in Structured Text, for programmable logic controllers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isinf
from textwrap import dedent

import numpy as np

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.guard import FLAGS, MEANINGS, PLAIN, UNUSABLE, Guard
from diprl.export.parity import Check, Written, compare
from diprl.program import Act, Continuous, Discrete, Feature, Program, Signature, Terminal
from diprl.program.names import unique_names
from diprl.program.networks import Network
from diprl.program.signature import outputs as outputs_of
from diprl.program.text_format import Notation, described, format_lines
from diprl.program.text_parse import parse_body

_BEGIN, _END = "(* The program: *)\n", "    (* Limits of the outputs: *)"
_READING = (
    (r"^( *)IF ", r"\1if "),
    (r"^( *)ELSIF ", r"\1elif "),
    (r"^( *)ELSE$", r"\1else:"),
    (r"^ *END_IF;\n", ""),
    (r" THEN$", ":"),
    (r"^( *\S+) := (.*);$", r"\1 = \2"),
)
"""How the lines of a function block read as a program."""


def check(written: Written) -> list[Check]:
    """Read the program back from the function block, and run it."""
    text, samples = written.files[0].read_text(encoding="utf-8"), written.samples
    loaded = read_program(written.program, text)
    return [compare("read back", written, loaded.act_batch(samples.features, samples.primitive_actions))]


def read_program(program: Program, text: str) -> Program:
    """The program that a function block holds; `program` says what its names stand for."""
    (inputs, outputs), actions = _variables(program), program.signature.actions
    body = dedent(text.partition(_BEGIN)[2].partition(_END)[0])
    for pattern, words in _READING:
        body = re.sub(pattern, words, body, flags=re.MULTILINE)
    body = re.sub(r"\bchosen_action = (\d+)$", lambda found: actions.names[int(found[1])], body, flags=re.MULTILINE)
    pairs = zip(program.signature.features, inputs.features, strict=True)
    features = tuple(replace(feature, name=name) for feature, name in pairs)
    names = outputs if isinstance(actions, Continuous) else inputs.primitives or actions.names
    signature = Signature(features, replace(actions, names=tuple(names)))
    roots = {parse_body(_entry(body, entry), signature) for entry in range(max(1, len(inputs.entries and outputs)))}
    if len(roots) != 1:
        raise DiprlError("the entries of a blend differ in the function block")
    return program.with_root(roots.pop())


def _entry(body: str, entry: int) -> str:
    """The text with one entry of each blend alone."""
    blends = re.sub(rf"^ *blended_action\[(?!{entry}\]).*\n", "", body, flags=re.MULTILINE)
    return blends.replace(f"blended_action[{entry}] = ", "").replace(f"[{entry}]", "")


def to_st(program: Program, guard: Guard = PLAIN) -> str:
    """The function block as text; primitives' actions are inputs of it."""
    inputs, outputs = _variables(program)
    given = [_number(*pair) for pair in zip(inputs.features, program.signature.features, strict=True)]
    given += [_array(name, len(entries)) for name, entries in zip(inputs.primitives, inputs.entries, strict=True)]
    fallback = np.atleast_1d(guard.action(program)).tolist()
    instead = [f"{name} := {_signed(value)};" for name, value in zip(outputs, fallback, strict=True)]
    tests = _tests(program, guard, inputs.features)

    def leaf(terminal: Terminal) -> list[str]:
        values = [str(terminal.action)] if isinstance(terminal, Act) else inputs.action(terminal, _NOTATION)
        return [f"{name} := {value};" for name, value in zip(outputs, values, strict=True)]

    statements = format_lines(program.root, inputs.features, leaf, _NOTATION)
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
        body=_indented([*statements, _END.strip(), *_clips(program, outputs)]),
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
    for flag, ranges in guard.watched(program).items():
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
        return [_number(*pair) for pair in zip(outputs, outputs_of(actions), strict=True)]
    return [_array(outputs[0].split("[")[0], len(outputs))]


def _number(name: str, feature: Feature) -> str:
    """The declaration of a number, with its unit, range and meaning."""
    facts = _plain(described(replace(feature, name="")).removeprefix(":"))
    return f"{name} : LREAL;" + (f" (* {facts} *)" if facts else "")


def _array(name: str, length: int) -> str:
    return f"{name} : ARRAY[0..{length - 1}] OF LREAL;"


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
