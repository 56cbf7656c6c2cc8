"""Reads plant files; every mistake becomes one sentence with its line."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from diprl.program.formula import ARGUMENTS, Formula
from diprl.program.names import is_identifier
from diprl.verify.exact.linear import Box, State
from diprl.verify.plants.plant import COUNTED, Plant, Unknown
from diprl.verify.spec import Entries, Tree, read_file, read_tree

BUILT_IN = ("CartPole-v1", "MountainCar-v0", "Pendulum-v1", "Acrobot-v1")
"""Environments whose plants come with the package."""
_LONGEST_SUBSTEP = 0.02
"""In which samples are cut unless the file says otherwise, where true solutions are enclosed."""
_TAKEN = {*ARGUMENTS, *COUNTED, "pi", "action_taken", "any"}
"""Names that mean something already; others begin with held_ and sent_."""


def plant_of(task: str) -> Plant | None:
    """The plant of an environment, where it comes with the package."""
    if task not in BUILT_IN:
        return None
    text = files("diprl.verify.plants").joinpath(f"{task}.yaml").read_text(encoding="utf-8")
    return parse_plant(text, task)


def load_plant(path: Path) -> Plant:
    """Read a plant from a file; errors name the file and the line."""
    return read_file(path, lambda text: parse_plant(text, path.stem))


def parse_plant(text: str, name: str = "plant") -> Plant:
    tree = read_tree(text)
    asked = Entries(tree, "a plant")
    states = asked.take("states", lambda listing: listing.items(_new_name))
    inputs = asked.take("actions", _entries)
    parameters = asked.take("parameters", _intervals, {})
    disturbances = asked.take("disturbances", _intervals, {})
    constants = {one: low for one, (low, high) in parameters.items() if low == high}
    unknowns = [Unknown(one, *side, True) for one, side in parameters.items() if one not in constants]
    unknowns += [Unknown(one, *side, False) for one, side in disturbances.items()]
    names = [*states, *inputs, *constants, *(one.name for one in unknowns)]
    shown, used, define = [*states, *constants], list(names), dict[str, Formula]()
    for one, entry in asked.take("define", _entries, {}).items():
        define[one] = entry.formula(used)
        used.append(one)
    for one in used:
        if used.count(one) > 1:
            raise tree.error(f"'{one:.40}' is named twice")

    def formulas(key: str, known: Sequence[str] = used, **default: Formula) -> dict[str, Formula]:
        return asked.take(key, lambda tree: tree.mapping(_new_name, lambda entry: entry.formula(known)), default)

    sample = asked.take("sample", Tree.positive, 1.0)
    plant = Plant(
        name,
        states,
        tuple(inputs),
        formulas("features", shown, **{state: Formula(state, (state,)) for state in states}),
        formulas("rates"),
        formulas("next"),
        formulas("after", names),
        define,
        *_actions(tree, inputs),
        constants,
        tuple(unknowns),
        sample,
        asked.take("substeps", Tree.count, min(1 + int(sample / _LONGEST_SUBSTEP), 1000)),
        asked.choice("method", ("exact", "euler", "rk4"), "a method of integration", "exact"),
        asked.choice("observed", ("float64", "float32"), "a kind of number", "float64") == "float32",
        asked.take("start", lambda mapping: read_start(mapping, states), None),
        asked.take("ends", lambda listing: listing.comparisons(shown), ()),
        asked.take("environment", Tree.text, ""),
    )
    asked.finish()
    _check_equations(tree, plant)
    return plant


def read_start(tree: Tree, states: Sequence[str], around: Box | None = None) -> Box:
    """An interval for every state; those that are not given are as in the box around them."""
    sides = _intervals(tree)
    for state, (place, _) in tree.entries().items():
        if state not in states:
            raise place.error(f"'{state:.40}' is not a state: known: {', '.join(states)}")
    if around is not None:
        sides = dict(zip(states, zip(around.low, around.high, strict=True), strict=True)) | sides
    if len(sides) < len(states):
        raise tree.error(f"give an interval for every state: {', '.join(states)}")
    return Box(tuple(sides[state][0] for state in states), tuple(sides[state][1] for state in states))


def _new_name(tree: Tree) -> str:
    name = tree.text()
    if not is_identifier(name) or name in _TAKEN or name.startswith(("held_", "sent_")):
        raise tree.error(f"'{name:.40}' cannot be a name here: use letters, digits and _, and no name that is taken")
    return name


def _intervals(tree: Tree) -> dict[str, tuple[float, float]]:
    return tree.mapping(_new_name, lambda entry: entry.interval(finite=True))


def _entries(tree: Tree) -> dict[str, Tree]:
    return tree.mapping(_new_name, lambda entry: entry)


def _actions(tree: Tree, inputs: dict[str, Tree]) -> tuple[tuple[State, ...], State, State]:
    """The inputs' values for every discrete action, or their bounds."""
    if not inputs:
        raise tree.error("a plant needs at least one input under 'actions:'")
    if all(isinstance(entry.value, dict) for entry in inputs.values()):
        labels = [list(entry.entries()) for entry in inputs.values()]
        if any(row != labels[0] for row in labels) or not labels[0]:
            raise tree.error("every input needs a value for the same actions, in the same order")
        columns = [[value.number(finite=True) for _, value in entry.entries().values()] for entry in inputs.values()]
        return tuple(zip(*columns, strict=True)), (), ()
    low, high = zip(*(entry.interval() for entry in inputs.values()), strict=True)
    return (), low, high


def _check_equations(tree: Tree, plant: Plant) -> None:
    """Every state has one equation, and differential equations have solutions."""
    given = [*plant.rates, *plant.following]
    for name in (*given, *plant.after):
        if name not in plant.states:
            raise tree.error(f"'{name}' is not a state, and has an equation")
    for state in plant.states:
        if given.count(state) != 1:
            raise tree.error(f"'{state}' needs one equation, under 'next:' or under 'rates:'")
    used = {call for formula in (*plant.rates.values(), *plant.define.values()) for call in formula.calls}
    if plant.solved and used & {"where", "sign", "wrap"}:
        raise tree.error("where, sign and wrap jump, and cannot be used in 'rates:' with method: exact")
