"""What the printers of all target languages share: fixed text, what a program uses, and safe names for it.

Every name that a user gave begins with a prefix here, and no other name in the emitted code does: so that no word of
any language, macro or function can be meant.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from string import Template

from diprl.errors import DiprlError
from diprl.program import Affine, Blend, Node, Primitives, Program
from diprl.program.ast import flatten, number_rows
from diprl.program.evaluate import entry_forms
from diprl.program.names import identifier
from diprl.program.networks import Network
from diprl.program.text_format import Notation, format_linear


def title(program: Program) -> str:
    """What a file says that it holds."""
    return f"A program for {program.task}" if program.task else "A program"


def prefix(program: Program) -> str:
    """A name for files and functions, from the task; with an underscore, so that no header has it."""
    name = identifier(program.task).lower()[:60].rstrip("_")
    if not program.task:
        return "program"
    return name if "_" in name and name not in sys.stdlib_module_names else f"{name}_program"


def signature(program: Program) -> str:
    """The fingerprint of a program: the SHA-256 of its JSON form."""
    return sha256(program.to_json().encode()).hexdigest()


def fixed_text(file: str, room: str = "export") -> str:
    """A file of a room's templates as it is."""
    return (files(f"diprl.{room}") / "templates" / file).read_text(encoding="utf-8")


def fill(file: str, room: str = "export", /, **values: object) -> str:
    """A file of a room's templates with its $names replaced."""
    return Template(fixed_text(file, room)).substitute(values)


def one_file(suffix: str, text: Callable[..., str | bytes]) -> Callable[..., dict[str, str | bytes]]:
    """What renders a program as a single file; `text` takes the program and the networks that it blends."""
    return lambda program, networks=(), guard=None: {f"{prefix(program)}.{suffix}": text(program, networks)}


def printable(text: str, keep: str = "") -> str:
    """Text without control characters, so that it stays on its line, but for those to keep."""
    return "".join(each if each.isprintable() or each in keep else " " for each in text)


def read_features(root: Node) -> list[int]:
    """Indices of the features that a tree reads at all."""
    items = [item for item in flatten(root) if not isinstance(item, Blend)]
    return _used_columns([row[:-1] for item in items for row in number_rows(item)])


def used_primitives(root: Node) -> list[int]:
    """Indices of the primitives that some terminal blends."""
    return _used_columns([item.weights for item in flatten(root) if isinstance(item, Blend)])


def _used_columns(rows: Sequence[Sequence[float]]) -> list[int]:
    return [index for index, column in enumerate(zip(*rows, strict=True)) if any(column)]


def prefixed(names: Sequence[str], prefix: str) -> list[str]:
    """The names, each of which no other name in the emitted code can be."""
    return [prefix + name for name in names]


@dataclass(frozen=True)
class Variables:
    """What a function calls its inputs."""

    features: list[str]
    primitives: list[str]
    """Vectors, one per primitive; empty where the program blends none."""
    entries: list[list[str]]
    """For each primitive, its entries."""

    def action(self, leaf: Affine | Blend, notation: Notation) -> list[str]:
        """An expression for each entry of the action, before it is clipped."""
        return [format_linear(*form, notation) for form in entry_forms(leaf, self.features, self.entries)]


def variables(program: Program, names: Callable[[Sequence[str], str], list[str]] = prefixed) -> Variables:
    """Names for the features and the primitives of a program; `names` puts a prefix before them."""
    actions = program.signature.actions
    features = names(program.signature.feature_names, "in_")
    primitives = names(actions.names, "mix_") if isinstance(actions, Primitives) else []
    width = range(len(actions.low)) if isinstance(actions, Primitives) else ()
    return Variables(features, primitives, [[f"{name}[{entry}]" for entry in width] for name in primitives])


def matching(program: Program, networks: Sequence[Network] | None) -> tuple[Network, ...]:
    """The networks in the order of the program's primitives; raises where they do not fit it."""
    if not networks:
        return ()
    actions = program.signature.actions
    if not isinstance(actions, Primitives):
        raise DiprlError("primitives were given for a program that blends none: leave them out")
    named = {network.name: network for network in networks}
    missing = [name for name in actions.names if name not in named]
    if missing:
        raise DiprlError(f"the primitives {', '.join(missing)} were not given: pass one network for each")
    found = tuple(named[name] for name in actions.names)
    if len({len(network.mean) for network in found}) > 1:
        raise DiprlError("the primitives read different numbers of senses: they must share one observation")
    if any(len(network.low) != len(actions.low) for network in found):
        raise DiprlError(f"the program blends {len(actions.low)} actuators: its primitives must have as many")
    return found
