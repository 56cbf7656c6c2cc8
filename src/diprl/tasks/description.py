"""What a task file says about an environment: names, units, ranges, formulas, limits; and a task described so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError, unknown
from diprl.program.names import is_identifier
from diprl.program.signature import Actions, Continuous, Feature, Signature
from diprl.tasks.base import Task, View, ViewLayout
from diprl.tasks.formula import Formula, parse_formula


@dataclass(frozen=True)
class Entry:
    """What is said about one feature or one output; None and empty where nothing is said."""

    unit: str | None = None
    range: Sequence[float | None] | None = None
    """Low and high; None or infinite where there is no bound."""
    meaning: str = ""
    formula: str = ""
    """How a feature is computed from those above it; empty for an entry of the observation."""

    def bounds(self, low: float, high: float) -> tuple[float, float]:
        """The range that is given, or the one that the environment promises."""
        if self.range is not None:
            low, high = (none if end is None else end for end, none in zip(self.range, (-inf, inf), strict=True))
        return float(low), float(high)


@dataclass(frozen=True)
class Description:
    """A task file as data; all but the environment may be left out."""

    environment: str = ""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    horizon: float | None = None
    """Steps after which an episode is cut, if the environment does not end it before."""
    total_timesteps: float | None = None
    render: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments with which the environment draws itself."""
    must_use: Sequence[str] = ()
    may_not_use: Sequence[str] = ()
    actions: Mapping[str, Entry] = field(default_factory=dict)
    features: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def formulas(self) -> tuple[Formula | None, ...]:
        """One per feature; None for an entry of the observation."""
        names = list(self.features)
        return tuple(
            parse_formula(entry.formula, names[:index], name) if entry.formula else None
            for index, (name, entry) in enumerate(self.features.items())
        )

    @property
    def output_ranges(self) -> bool:
        return any(entry.range for entry in self.actions.values())

    @property
    def names_only(self) -> bool:
        """Whether a compiled twin of the environment is still one."""
        return not (self.env_kwargs or self.horizon or self.render or any(self.formulas) or self.output_ranges)


Rules = Mapping[str, tuple[Callable[[Any], bool], str]]
"""For each key that may be there, what its value has to be, as a check and in words."""


def _is_range(ends: Any) -> bool:
    known = isinstance(ends, list) and len(ends) == 2 and all(end is None or _is_number(end) for end in ends)
    return known and np.less(*Entry(range=ends).bounds(0.0, 0.0))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_names(value: Any) -> bool:
    texts = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return texts and len(set(value)) == len(value)


_TEXT = (lambda value: isinstance(value, str), "text in quotes")
_TABLE = (lambda value: isinstance(value, dict), 'a table such as { unit = "m", range = [0, 2] }')
_STEPS = (lambda value: _is_number(value) and 1 <= value < 1e15 and value % 1 == 0, "a whole number of steps")
_NAMES = (_are_names, "a list of names, none of them twice")
_ACTIONS = (lambda value: isinstance(value, dict) or _are_names(value), "a list of names, or a table of outputs")
_RANGE = (_is_range, "[low, high] with low below high")
_FILE: Rules = {
    "environment": _TEXT,
    "env_kwargs": _TABLE,
    "horizon": _STEPS,
    "total_timesteps": _STEPS,
    "render": _TABLE,
    "must_use": _NAMES,
    "may_not_use": _NAMES,
    "actions": _ACTIONS,
    "features": _TABLE,
}
_ENTRY: Rules = {"unit": _TEXT, "range": _RANGE, "meaning": _TEXT, "formula": _TEXT}


def read_description(content: Mapping[str, Any]) -> Description:
    """Check all that can be checked without the environment; errors name the key."""
    _check(content, _FILE, "the task file")
    actions = content.get("actions", {})
    actions = {name: {} for name in actions} if isinstance(actions, list) else actions
    entries = {"actions": _entries(actions, "actions"), "features": _entries(content.get("features", {}), "features")}
    said = Description(**content | entries)
    if twice := sorted(set(said.must_use) & set(said.may_not_use)):
        raise DiprlError(f"must_use and may_not_use both list '{twice[0]}': take it out of one")
    assert said.formulas is not None  # they parse
    return said


def _check(content: Mapping[str, Any], rules: Rules, owner: str) -> None:
    for key, value in content.items():
        if key not in rules:
            raise unknown(f"key in {owner}", key, rules)
        fits, words = rules[key]
        if not fits(value):
            raise DiprlError(f"{key} in {owner} must be {words}, not {value!r:.60}")


def _entries(content: Mapping[str, Any], owner: str) -> dict[str, Entry]:
    """What is said by name, under `features` or `actions`."""
    _check(content, dict.fromkeys(content, _TABLE), owner)
    for name, said in content.items():
        if not is_identifier(name):
            raise DiprlError(f"'{name}' in {owner} cannot be a name in a program: use ASCII letters, digits and _")
        _check(said, _ENTRY, f"{owner}.{name}")
    return {name: Entry(**said) for name, said in content.items()}


@dataclass(frozen=True)
class ComputedView:
    """Views with formulas among the entries of the observation."""

    entries: View
    names: tuple[str, ...]
    formulas: tuple[Formula | None, ...]

    def __call__(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        given = self.entries(observations)
        rest, columns = iter(given.astype(np.float64).T), list[NDArray[np.float64]]()
        for name, formula in zip(self.names, self.formulas, strict=True):
            columns.append(next(rest) if formula is None else formula(columns))
            wrong = ~np.isfinite(columns[-1]) & np.isfinite(given).all(axis=1)
            if formula is not None and wrong.any():
                state = [f"{known} = {column[wrong][0]:g}" for known, column in zip(self.names, columns, strict=False)]
                raise DiprlError(f"{name} = {formula.text} is not a finite number where {', '.join(state[:-1])}")
        return np.stack(columns, axis=1).astype(np.float32)


def described_task(task: Task, said: Description) -> Task:
    """The task with what its file says about names, units, ranges and budget."""
    actions = _actions(task.signature.actions, said.actions)
    signature = Signature(_features(task.signature.features, said.features), actions)
    names, formulas = signature.feature_names, said.formulas
    task = replace(
        task,
        signature=signature,
        budget=int(said.total_timesteps or task.budget),
        required=_indices(said.must_use, names, "must_use"),
        forbidden=_indices(said.may_not_use, names, "may_not_use"),
    )
    if not any(formulas):
        return task
    return replace(task, view=ComputedView(task.view, names, formulas), layout=ViewLayout(len(names), len(names)))


def _features(observed: Sequence[Feature], said: Mapping[str, Entry]) -> tuple[Feature, ...]:
    """The features in the order of the file, each entry of the observation with what is said about it."""
    given = sum(not entry.formula for entry in said.values())
    if said and given != len(observed):
        raise DiprlError(
            f"features has {given} lines without a formula, but the observation has {len(observed)} numbers: "
            "list them all, in their order"
        )
    rest = iter(observed)
    computed = (Feature(name, meaning=f"computed as {entry.formula}") for name, entry in said.items())
    pairs = [(known if entry.formula else next(rest), entry) for known, entry in zip(computed, said.values())]
    return tuple(_feature(name, *pair) for name, pair in zip(said, pairs, strict=True)) or tuple(observed)


def _feature(name: str, known: Feature, entry: Entry) -> Feature:
    unit = known.unit if entry.unit is None else entry.unit
    meaning = f"{known.meaning}; {entry.meaning}" if entry.formula and entry.meaning else entry.meaning or known.meaning
    return Feature(name, unit, *entry.bounds(known.low, known.high), meaning)


def _actions(actions: Actions, said: Mapping[str, Entry]) -> Actions:
    if not said:
        return actions
    if len(said) != len(actions.names):
        raise DiprlError(f"actions lists {len(said)}, but the environment has {len(actions.names)}: list them all")
    if not isinstance(actions, Continuous):
        if spoken := [name for name, entry in said.items() if entry != Entry()]:
            raise DiprlError(f"the action '{spoken[0]}' is a choice without unit and range: list the names alone")
        return replace(actions, names=tuple(said))
    rows = zip(said.items(), actions.low, actions.high, actions.units or [""] * len(said), strict=True)
    outputs = [
        (name, *_output_range(name, entry, low, high), entry.unit or unit) for (name, entry), low, high, unit in rows
    ]
    return Continuous(*zip(*outputs, strict=True))


def _output_range(name: str, entry: Entry, low: float, high: float) -> tuple[float, float]:
    least, most = entry.bounds(low, high)
    if not low <= least < most <= high:
        raise DiprlError(
            f"the range of {name} must lie within [{low:g}, {high:g}], which is what the environment takes"
        )
    return least, most


def _indices(chosen: Sequence[str], names: Sequence[str], key: str) -> tuple[int, ...]:
    for name in chosen:
        if name not in names:
            raise unknown(f"feature in {key}", name, names)
    return tuple(names.index(name) for name in chosen)
