"""Reads a specification: a task, a box and a list of properties, checked against one program's signature."""

from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from pathlib import Path

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.signature import Continuous
from diprl.verify.constraint import Box, Constraint, bounds_of
from diprl.verify.fields import (
    Fields,
    read_box,
    read_constraints,
    read_count,
    read_index,
    read_indices,
    read_interval,
    read_number,
    read_positive,
    read_scales,
    read_state,
    read_text,
)
from diprl.verify.spec import (
    Actions,
    Branches,
    Equivalent,
    MonotoneOutput,
    Never,
    NeverSwitches,
    Property,
    Robust,
    Safe,
    Spec,
    Symmetric,
)
from diprl.verify.tree import Listing, Mapping, Scalar, SpecError, Tree, read_tree

_MAX_BYTES = 4_000_000


@dataclass(frozen=True)
class _Setting:
    """What the readers of single properties need to know."""

    program: Program
    box: Box
    folder: Path

    @property
    def features(self) -> tuple[str, ...]:
        return self.program.signature.feature_names

    @property
    def actions(self) -> tuple[str, ...]:
        return self.program.signature.actions.names

    @property
    def continuous(self) -> bool:
        return isinstance(self.program.signature.actions, Continuous)


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
    box = bounds_of(program.signature)
    names = program.signature.feature_names
    box = fields.take("box", lambda tree: read_box(tree, box, names), box)
    task = fields.take("task", read_text, program.task)
    timeout = fields.take("timeout", read_positive, 10.0)
    listing = fields.required("properties")
    fields.finish()
    if not isinstance(listing, Listing) or not listing.items:
        raise SpecError(f"line {listing.line}: 'properties:' must be a list with at least one property")
    setting = _Setting(program, box, Path(folder))
    properties = tuple(_property(item, number, setting) for number, item in enumerate(listing.items, 1))
    return Spec(properties, task, timeout, box)


def _property(tree: Tree, number: int, setting: _Setting) -> Property:
    fields = Fields(tree, "a property")
    kinds = list(_READERS)
    kind = kinds[read_index(fields.required("kind"), kinds, "a kind of property")]
    name = fields.take("name", read_text, f"property {number}")
    if kind == "safe":
        fields.take("within", lambda tree: _refuse(tree, "'safe' has 'start:' instead of 'within:'"), None)
    box = fields.take("within", lambda tree: read_box(tree, setting.box, setting.features), setting.box)
    found = _READERS[kind](fields, name, replace(setting, box=box))
    fields.finish()
    return found


def _refuse(tree: Tree, sentence: str) -> None:
    raise SpecError(f"line {tree.line}: {sentence}")


def _branches(fields: Fields, name: str, setting: _Setting) -> Property:
    return Branches(name, setting.box)


def _actions(fields: Fields, name: str, setting: _Setting) -> Property:
    if setting.continuous:
        return Actions(name, setting.box, outputs=fields.take("outputs", partial(_ranges, setting), ()))
    only = fields.take("only", lambda tree: read_indices(tree, setting.actions, "an action name"), None)
    return Actions(name, setting.box, only)


def _ranges(setting: _Setting, tree: Tree) -> tuple[tuple[int, float, float], ...]:
    if not isinstance(tree, Mapping):
        raise SpecError(f"line {tree.line}: expected output names with intervals")
    return tuple(
        (read_index(Scalar(key, tree.lines[key], 1), setting.actions, "an output"), *read_interval(entry))
        for key, entry in tree.entries.items()
    )


def _never(fields: Fields, name: str, setting: _Setting) -> Property:
    tree = fields.required("action")
    if setting.continuous:
        (action,) = read_constraints(tree, setting.actions, "an output name")
    else:
        action = read_index(tree, setting.actions, "an action name")
    when = fields.take("when", partial(_conditions, setting), ())
    return Never(name, setting.box, action, when)


def _conditions(setting: _Setting, tree: Tree) -> tuple[Constraint, ...]:
    return read_constraints(tree, setting.features, "a feature name")


def _monotone(fields: Fields, name: str, setting: _Setting) -> Property:
    feature = read_index(fields.required("feature"), setting.features, "a feature name")
    if setting.continuous:
        output = read_index(fields.required("output"), setting.actions, "an output")
        directions = ["never falls", "never rises"]
        rising = read_index(fields.required("direction"), directions, "a direction") == 0
        return MonotoneOutput(name, setting.box, feature, output, rising)
    before = read_index(fields.required("never_from"), setting.actions, "an action name")
    after = read_index(fields.required("to"), setting.actions, "an action name")
    if before == after:
        raise SpecError(f"line {fields.line}: 'never_from:' and 'to:' must be different actions")
    return NeverSwitches(name, setting.box, feature, before, after)


def _robust(fields: Fields, name: str, setting: _Setting) -> Property:
    state = read_state(fields.required("at"), setting.features)
    if not setting.box.contains(state):
        raise SpecError(f"line {fields.line}: the state of 'at:' lies outside of the box")
    norms = ("max", "sum")
    norm = norms[fields.take("norm", lambda tree: read_index(tree, norms, "a norm"), 0)]
    at_least = fields.take("at_least", read_positive, None)
    return Robust(name, setting.box, state, _scales(fields, setting), norm, at_least)


def _scales(fields: Fields, setting: _Setting) -> tuple[float, ...]:
    ones = (1.0,) * len(setting.features)
    return fields.take("scales", lambda tree: read_scales(tree, setting.features), ones)


def _equivalent(fields: Fields, name: str, setting: _Setting) -> Property:
    tree = fields.required("to")
    other = Program.load(setting.folder / read_text(tree))
    ours, theirs = setting.program.signature, other.signature
    if theirs.feature_names != ours.feature_names or theirs.actions != ours.actions:
        raise SpecError(f"line {tree.line}: {read_text(tree)} has other features or actions than the program")
    near = fields.take("near", lambda tree: read_state(tree, setting.features), _middle(setting.box))
    tolerance = fields.take("tolerance", read_number, 0.0)
    if not 0.0 <= tolerance < inf:
        raise SpecError(f"line {fields.line}: 'tolerance:' must not be negative or infinite")
    return Equivalent(name, setting.box, other, tolerance, near, _scales(fields, setting))


def _middle(box: Box) -> tuple[float, ...]:
    """The centre of the box; where a side is infinite, the point of it nearest to zero."""
    centre = [low / 2 + high / 2 for low, high in zip(box.low, box.high, strict=True)]
    return box.clamp([value if isfinite(value) else 0.0 for value in centre])


def _symmetric(fields: Fields, name: str, setting: _Setting) -> Property:
    everything = tuple(range(len(setting.features)))
    negate = fields.take("negate", lambda tree: read_indices(tree, setting.features, "a feature name"), everything)
    mirror = tuple(range(len(setting.actions)))
    if not setting.continuous:
        mirror = _mirror(fields.required("mirror"), setting)
    return Symmetric(name, setting.box, negate, mirror)


def _mirror(tree: Tree, setting: _Setting) -> tuple[int, ...]:
    """The mirror image of every action; those not mentioned are their own."""
    if not isinstance(tree, Mapping):
        raise SpecError(f"line {tree.line}: expected pairs of actions, such as left: right")
    mirror = list(range(len(setting.actions)))
    for key, entry in tree.entries.items():
        source = read_index(Scalar(key, tree.lines[key], 1), setting.actions, "an action name")
        mirror[source] = read_index(entry, setting.actions, "an action name")
    if sorted(mirror) != list(range(len(mirror))):
        raise SpecError(f"line {tree.line}: 'mirror:' must give every action exactly one mirror image")
    return tuple(mirror)


def _safe(fields: Fields, name: str, setting: _Setting) -> Property:
    start = read_box(fields.required("start"), bounds_of(setting.program.signature), setting.features)
    if not start.finite:
        raise SpecError(f"line {fields.line}: 'start:' must give an interval for every feature")
    steps = read_count(fields.required("steps"))
    return Safe(name, start, steps, _conditions(setting, fields.required("always")))


_READERS = {
    "branches": _branches,
    "actions": _actions,
    "never": _never,
    "monotone": _monotone,
    "robust": _robust,
    "equivalent": _equivalent,
    "symmetric": _symmetric,
    "safe": _safe,
}
