"""What a task file says about an environment: names, units, ranges, formulas, limits; and a task described so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError, check_known
from diprl.program.check import canonical_signature
from diprl.program.formula import Formula, parse_formula
from diprl.program.names import is_identifier
from diprl.program.signature import Actions, Continuous, Feature, Signature, outputs
from diprl.system.files import is_number
from diprl.tasks.base import Task, View, ViewLayout


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
    def names_only(self) -> bool:
        """Whether a compiled twin of the environment is still one."""
        return not (self.env_kwargs or self.horizon or self.render or any(self.formulas))


def _is_steps(value: Any) -> bool:
    return is_number(value) and 1 <= value < 1e15 and value % 1 == 0


def _is_range(ends: Any) -> bool:
    known = isinstance(ends, list) and len(ends) == 2 and all(end is None or is_number(end) for end in ends)
    return known and bool(np.less(*Entry(range=ends).bounds(0.0, 0.0)))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "text in quotes": ("environment unit meaning formula", lambda value: isinstance(value, str)),
    "a table such as { size = 3 }": ("env_kwargs render features", lambda value: isinstance(value, dict)),
    "a whole number of steps": ("horizon total_timesteps", _is_steps),
    "a list of names, none of them twice": ("must_use may_not_use", _are_names),
    "a list of names or a table": ("actions", lambda value: isinstance(value, dict) or _are_names(value)),
    "[low, high] with low below high": ("range", _is_range),
}
"""What the values of some keys have to be, in words and as a check."""
_RULES = {key: (words, fits) for words, (keys, fits) in _KINDS.items() for key in keys.split()}


def read_description(content: Mapping[str, Any]) -> Description:
    """Check all that can be checked without the environment; errors name the key."""
    _check(content, Description, "the task file")
    actions = content.get("actions", {})
    actions = {name: {} for name in actions} if isinstance(actions, list) else actions
    tables = {"actions": actions, "features": content.get("features", {})}
    said = Description(**{**content, **{name: _entries(table, name) for name, table in tables.items()}})
    if twice := sorted(set(said.must_use) & set(said.may_not_use)):
        raise DiprlError(f"must_use and may_not_use both list '{twice[0]}': take it out of one")
    _ = said.formulas  # raises where one cannot be read
    return said


def _check(content: Any, record: type, owner: str) -> None:
    known = [item.name for item in fields(record)]
    for key, value in content.items():
        check_known(f"key in {owner}", known, key)
        words, fits = _RULES[key]
        if not fits(value):
            raise DiprlError(f"{key} in {owner} must be {words}, not {value!r:.60}")


def _entries(content: Mapping[str, Any], owner: str) -> dict[str, Entry]:
    """What is said by name, under `features` or `actions`."""
    for name, said in content.items():
        if not is_identifier(name):
            raise DiprlError(f"'{name}' in {owner} cannot be a name in a program: use ASCII letters, digits and _")
        if not isinstance(said, dict):
            raise DiprlError(f'{owner}.{name} must be a table such as {{ unit = "m" }}, not {said!r:.60}')
        _check(said, Entry, f"{owner}.{name}")
    return {name: Entry(**said) for name, said in content.items()}


@dataclass(frozen=True)
class ComputedView:
    """Views with formulas among the entries of the observation."""

    entries: View
    names: tuple[str, ...]
    formulas: tuple[Formula | None, ...]

    def __call__(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        given = self.entries(observations)
        rest, columns = iter(given.astype(np.float64).T), dict[str, NDArray[np.float64]]()
        for name, formula in zip(self.names, self.formulas, strict=True):
            columns[name] = next(rest) if formula is None else np.broadcast_to(formula(columns), len(given))
            if formula is not None and (wrong := ~np.isfinite(columns[name]) & np.isfinite(given).all(axis=1)).any():
                raise DiprlError(f"{name} = {formula.text} is not finite for the observation {given[wrong][0]}")
        return np.stack(list(columns.values()), axis=1).astype(np.float32)


def described_task(task: Task, said: Description) -> Task:
    """The task with what its file says about names, units, ranges and budget."""
    actions = _actions(task.signature.actions, said.actions)
    signature = canonical_signature(Signature(_features(task.signature.features, said.features), actions))
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
        counts = f"{given} lines without a formula, but the observation has {len(observed)} numbers"
        raise DiprlError(f"features has {counts}: list them all, in their order")
    rest, features = iter(observed), []
    for name, entry in said.items():
        known = Feature(name, meaning=f"computed as {entry.formula}") if entry.formula else next(rest)
        unit = known.unit if entry.unit is None else entry.unit
        words = [known.meaning] * bool(entry.formula or not entry.meaning) + [entry.meaning] * bool(entry.meaning)
        features.append(Feature(name, unit, *entry.bounds(known.low, known.high), "; ".join(words)))
    return tuple(features or observed)


def _actions(actions: Actions, said: Mapping[str, Entry]) -> Actions:
    if not said:
        return actions
    if len(said) != len(actions.names):
        raise DiprlError(f"actions lists {len(said)}, but the environment has {len(actions.names)}: list them all")
    if not isinstance(actions, Continuous):
        if spoken := [name for name, entry in said.items() if entry != Entry()]:
            raise DiprlError(f"the action '{spoken[0]}' is a choice without unit and range: list the names alone")
        return replace(actions, names=tuple(said))
    described = []
    for (name, entry), known in zip(said.items(), outputs(actions), strict=True):
        least, most = entry.bounds(known.low, known.high)
        if not known.low <= least < most <= known.high:
            within = f"[{known.low:g}, {known.high:g}], as in the environment"
            raise DiprlError(f"the range of {name} must lie within {within}")
        described.append((name, least, most, entry.unit or known.unit))
    return Continuous(*zip(*described, strict=True))


def _indices(chosen: Sequence[str], names: Sequence[str], key: str) -> tuple[int, ...]:
    check_known(f"feature in {key}", names, *chosen)
    return tuple(names.index(name) for name in chosen)
