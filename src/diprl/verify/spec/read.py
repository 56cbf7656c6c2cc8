"""Reads a specification: a task, a box and a list of properties, checked against one program's signature."""

from dataclasses import dataclass, replace
from pathlib import Path

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.verify.exact.box import Box, bounds_of
from diprl.verify.properties import READERS, Property
from diprl.verify.spec.fields import Fields, read_index, read_positive, read_text
from diprl.verify.spec.scope import Scope
from diprl.verify.spec.tree import Listing, SpecError, Tree, read_tree

_MAX_BYTES = 4_000_000


@dataclass(frozen=True)
class Spec:
    """What to ask of one program."""

    properties: tuple[Property, ...]
    task: str = ""
    """The environment in which witnesses are replayed and whose dynamics close the loop."""
    timeout: float = 10.0
    """Seconds for each property."""
    box: Box | None = None
    """Where properties are examined unless they say otherwise."""

    def __post_init__(self) -> None:
        if not self.timeout > 0.0:
            raise SpecError(f"the time limit must be a number of seconds above zero, not {self.timeout}")


def load_spec(path: str | Path, program: Program) -> Spec:
    """Read a specification from a file; errors name the file and, where they can, the line."""
    path = Path(path)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise SpecError("the file is too large to be a specification")
        return parse_spec(path.read_bytes().decode("utf-8"), program, path.parent)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is not text in UTF-8") from None
    except DiprlError as error:
        raise SpecError(f"{path}: {error}") from None


def parse_spec(text: str, program: Program, folder: str | Path = ".") -> Spec:
    """Read a specification; `folder` is where the other programs that it names are looked for."""
    fields = Fields(read_tree(text), "a specification")
    scope = Scope(program, bounds_of(program.signature), Path(folder))
    scope = replace(scope, box=fields.take("box", scope.inner_box, scope.box))
    task = fields.take("task", read_text, program.task)
    timeout = fields.take("timeout", read_positive, 10.0)
    listing = fields.required("properties")
    fields.finish()
    if not isinstance(listing, Listing) or not listing.items:
        raise SpecError(f"line {listing.line}: 'properties:' must be a list with at least one property")
    properties = tuple(_property(item, number, scope) for number, item in enumerate(listing.items, 1))
    return Spec(properties, task, timeout, scope.box)


def _property(tree: Tree, number: int, scope: Scope) -> Property:
    fields = Fields(tree, "a property")
    kinds = list(READERS)
    kind = kinds[fields.need("kind", lambda tree: read_index(tree, kinds, "a kind of property"))]
    name = fields.take("name", read_text, f"property {number}")
    if kind == "safe":
        fields.refuse("within", "'safe' has 'start:' instead of 'within:'")
    box = fields.take("within", scope.inner_box, scope.box)
    found = READERS[kind](fields, name, replace(scope, box=box))
    fields.finish()
    return found
