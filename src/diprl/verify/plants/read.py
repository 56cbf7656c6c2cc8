"""Reads plant files; every mistake becomes one sentence with its line."""

from collections.abc import Collection, Sequence
from importlib.resources import files
from math import isfinite
from pathlib import Path

from diprl.errors import DiprlError
from diprl.program.formula import ARGUMENTS, CONSTANTS, Comparison, Formula, parse_comparison, parse_formula
from diprl.program.names import identifier
from diprl.verify.exact.linear import Box
from diprl.verify.plants.flow import INTEGRABLE, METHODS
from diprl.verify.plants.plant import Named, Plant, Unknown
from diprl.verify.spec.asked import Entries, read_count, read_interval, read_list, read_number, read_positive, read_text
from diprl.verify.spec.tree import SpecError, Tree, read_tree

BUILT_IN = ("CartPole-v1", "MountainCar-v0", "Pendulum-v1", "Acrobot-v1")
"""Environments whose plants come with the package."""
_MAX_BYTES = 1_000_000
_LONGEST_SUBSTEP = 0.1
"""In which samples are cut unless the file says otherwise, where true solutions are enclosed."""


def plant_of(task: str) -> Plant | None:
    """The plant of an environment, where it comes with the package."""
    if task not in BUILT_IN:
        return None
    text = files("diprl.verify.plants").joinpath(f"{task}.yaml").read_text(encoding="utf-8")
    return parse_plant(text, task)


def load_plant(path: str | Path) -> Plant:
    """Read a plant from a file; errors name the file and the line."""
    path = Path(path)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise SpecError("the file is too large to be a plant")
        return parse_plant(path.read_bytes().decode("utf-8"), path.stem)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is not text in UTF-8") from None
    except DiprlError as error:
        raise SpecError(f"{path}: {error}") from None


def parse_plant(text: str, name: str = "plant") -> Plant:
    """Read the text of a plant file."""
    tree = read_tree(text)
    entries = Entries(tree, "a plant")
    states = entries.take("states", lambda listing: read_list(listing, _new_name))
    inputs, choices, low, high = entries.take("actions", _actions)
    fixed, unknown = entries.take("parameters", lambda mapping: _numbers(mapping, constant=True), ((), ()))
    _, disturbances = entries.take("disturbances", lambda mapping: _numbers(mapping, constant=False), ((), ()))
    unknowns = (*unknown, *disturbances)
    constants = dict(fixed)
    names = [*states, *inputs, *constants, *(one.name for one in unknowns)]
    define = entries.take("define", lambda mapping: _formulas(mapping, names, grow=True), ())
    _check_unique(tree, [*names, *(one for one, _ in define)])
    everything = [*names, *(one for one, _ in define)]
    rates = entries.take("rates", lambda mapping: _formulas(mapping, everything), ())
    following = entries.take("next", lambda mapping: _formulas(mapping, everything), ())
    seen = [*states, *constants]
    sample = entries.take("sample", read_positive, 1.0)
    plain = tuple((state, Formula(state, (state,))) for state in states)
    plant = Plant(
        name,
        states,
        inputs,
        entries.take("features", lambda mapping: _formulas(mapping, seen, known=False), plain),
        rates,
        following,
        entries.take("after", lambda mapping: _formulas(mapping, names), ()),
        define,
        choices,
        low,
        high,
        fixed,
        unknowns,
        sample,
        entries.take("substeps", read_count, min(1 + int(sample / _LONGEST_SUBSTEP), 1000)),
        entries.choice("method", list(METHODS), "a method of integration", list(METHODS).index("exact")),
        entries.choice("observed", ("float64", "float32"), "a kind of number", 0) == "float32",
        entries.take("start", lambda mapping: read_state_box(mapping, states), None),
        entries.take("ends", lambda listing: read_comparisons(listing, seen), ()),
        entries.take("environment", read_text, ""),
        entries.take("reward", lambda entry: parse_formula(read_text(entry), names, entry.line, entry.column), None),
    )
    entries.finish()
    _check_equations(tree, plant)
    return plant


def read_state_box(tree: Tree, states: Sequence[str], around: Box | None = None) -> Box:
    """An interval for every state; those that are not given are as in the box around them."""
    rows = {key: read_interval(entry) for key, (_, entry) in _mapping(tree).items()}
    for key, (place, _) in _mapping(tree).items():
        if key not in states:
            raise place.error(f"'{key:.40}' is not a state: known: {', '.join(states)}")
    sides = [(around.low[index], around.high[index]) if around else None for index in range(len(states))]
    found = [rows.get(state, side) for state, side in zip(states, sides, strict=True)]
    complete = [side for side in found if side is not None and isfinite(side[0]) and isfinite(side[1])]
    if len(complete) < len(found):
        raise tree.error(f"give an interval for every state: {', '.join(states)}")
    return Box(tuple(side[0] for side in complete), tuple(side[1] for side in complete))


def read_comparisons(tree: Tree, names: Collection[str]) -> tuple[Comparison, ...]:
    """One comparison of formulas per item."""
    return read_list(tree, lambda item: parse_comparison(read_text(item), names, item.line, item.column))


def _mapping(tree: Tree) -> dict[str, tuple[Tree, Tree]]:
    if not isinstance(tree.value, dict):
        raise tree.error("expected names with values, such as {name: …}")
    return tree.value


def _new_name(tree: Tree) -> str:
    name = read_text(tree)
    if identifier(name) != name or name in ARGUMENTS or name in CONSTANTS:
        raise tree.error(f"'{name:.40}' cannot be a name here: use letters, digits and _, and no function's name")
    return name


def _numbers(tree: Tree, constant: bool) -> tuple[tuple[tuple[str, float], ...], tuple[Unknown, ...]]:
    """Numbers by name, and intervals."""
    fixed, unknown = [], []
    for name, entry in _mapping(tree).values():
        low, high = read_interval(entry)
        if not isfinite(low) or not isfinite(high):
            raise entry.error("every number must be finite")
        if low == high and constant:
            fixed.append((_new_name(name), low))
        else:
            unknown.append(Unknown(_new_name(name), low, high, constant))
    return tuple(fixed), tuple(unknown)


def _formulas(tree: Tree, names: Collection[str], grow: bool = False, known: bool = True) -> Named:
    """Formulas by name; with `grow`, each may use those before it; with `known`, these are names that exist."""
    found: list[tuple[str, Formula]] = []
    for place, entry in _mapping(tree).values():
        name = _new_name(place)
        if known and not grow and name not in names:
            raise place.error(f"'{name:.40}' is not a state")
        usable = [*names, *(one for one, _ in found)] if grow else names
        found.append((name, parse_formula(read_text(entry), usable, entry.line, entry.column)))
    return tuple(found)


_Actions = tuple[tuple[str, ...], tuple[tuple[float, ...], ...], tuple[float, ...], tuple[float, ...]]


def _actions(tree: Tree) -> _Actions:
    """Inputs: each with bounds, or each with its value for every discrete action."""
    rows = [(_new_name(name), entry) for name, entry in _mapping(tree).values()]
    inputs = tuple(name for name, _ in rows)
    if not rows:
        raise tree.error("a plant needs at least one input under 'actions:'")
    if all(isinstance(entry.value, dict) for _, entry in rows):
        labels = [list(_mapping(entry)) for _, entry in rows]
        if any(row != labels[0] for row in labels) or not labels[0]:
            raise tree.error("every input needs a value for the same actions, in the same order")
        columns = [[read_number(value) for _, value in _mapping(entry).values()] for _, entry in rows]
        if not all(isfinite(value) for column in columns for value in column):
            raise tree.error("every number must be finite")
        return inputs, tuple(zip(*columns, strict=True)), (), ()
    sides = [read_interval(entry) for _, entry in rows]
    return inputs, (), tuple(low for low, _ in sides), tuple(high for _, high in sides)


def _check_unique(tree: Tree, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise tree.error(f"'{name:.40}' is named twice")


def _check_equations(tree: Tree, plant: Plant) -> None:
    """Every state has one equation, and what is integrated exactly has a known series."""
    given = [name for name, _ in (*plant.rates, *plant.following)]
    for state in plant.states:
        if given.count(state) != 1:
            raise tree.error(f"'{state}' needs one equation, under 'next:' or under 'rates:'")
    if len(given) > len(plant.states) or {name for name, _ in plant.after} - set(plant.states):
        raise tree.error("'next:', 'rates:' and 'after:' are about states only")
    if plant.rates and plant.method == "exact":
        used = {name for _, formula in (*plant.rates, *plant.define) for name in formula.functions}
        if used - INTEGRABLE:
            raise tree.error(f"'{min(used - INTEGRABLE)}' cannot be used in 'rates:' with method: exact")
