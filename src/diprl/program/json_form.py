"""Programs as JSON: a flat list of nodes, so that no reader needs recursion.

The first node is the root. A node is {"if": form, "then": i, "else": j} with indices of later nodes, or one
of {"act": name}, {"blend": {name: weight}}, {"affine": {output: form}}, where a form is {"weights":
{name: weight}, "bias": number}. Weights that are zero are left out; infinite bounds are null.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from math import inf
from typing import Any

from diprl.errors import ProgramError, listed
from diprl.program.ast import Act, Affine, Blend, Condition, Item, Node, Terminal, assemble, flatten
from diprl.program.check import bounded, canonical_signature
from diprl.program.signature import Actions, Continuous, Discrete, Feature, Primitives, Signature
from diprl.program.tokens import MAX_CHARACTERS, Names

SCHEMA = 1
_MAX_CHARACTERS = 4 * MAX_CHARACTERS
"""JSON takes more characters than text for the same program."""
_ACTIONS = {"discrete": Discrete, "continuous": Continuous, "primitives": Primitives}
_KINDS: dict[Any, Any] = {str: str, float: (float, int, type(None))}
"""What JSON has for a field of a record; fields that are not listed are tuples, which JSON has as lists."""


def to_json(signature: Signature, root: Node, task: str) -> str:
    document = {"schema": SCHEMA, "task": task, **describe_signature(signature), "nodes": _nodes(root, signature)}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def from_json(text: str) -> tuple[Signature, Node, str]:
    """The signature, the root and the task of a JSON document, which must be exactly of the form above."""
    kinds = {"schema": int, "task": str, "features": list, "actions": dict, "nodes": list}
    document = fields_of(_load(text), "the document", kinds)
    if document["schema"] != SCHEMA:
        raise ProgramError(f"schema {document['schema']} is not known: this diprl reads schema {SCHEMA}")
    features = tuple(_read_record(Feature, entry, "a feature") for entry in document["features"])
    signature = canonical_signature(Signature(features, _read_actions(document["actions"])))
    return signature, _read_nodes(document["nodes"], signature), document["task"]


def describe_signature(signature: Signature) -> dict[str, Any]:
    """The features and the actions as JSON has them."""
    kind = type(signature.actions).__name__.lower()
    features = [_describe_record(feature) for feature in signature.features]
    return {"features": features, "actions": {"kind": kind, **_describe_record(signature.actions)}}


def _describe_record(record: Feature | Actions) -> dict[str, Any]:
    """The fields with lists for tuples and None for infinite bounds."""
    return json.loads(json.dumps(asdict(record)), parse_constant=lambda _: None)


def _read_record(record: Any, entry: Any, owner: str) -> Any:
    """The record with exactly the fields that an object has."""
    found = fields_of(entry, owner, {field.name: _KINDS.get(field.type, list) for field in fields(record)})
    return record(**{key: _typed(value, inf if key == "high" else -inf) for key, value in found.items()})


def _typed(value: Any, infinite: float) -> Any:
    """A field's value with tuples for lists and an infinite bound for None."""
    values = [infinite if entry is None else entry for entry in (value if isinstance(value, list) else [value])]
    return tuple(values) if isinstance(value, list) else values[0]


def _read_actions(entry: dict[str, Any]) -> Actions:
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in _ACTIONS:
        raise ProgramError(f"the kind of actions must be one of {', '.join(_ACTIONS)}, not {_describe(kind)}")
    rest = {key: value for key, value in entry.items() if key != "kind"}
    return _read_record(_ACTIONS[kind], rest, "the actions")


def _nodes(root: Node, signature: Signature) -> list[dict[str, Any]]:
    """The nodes, parents first; what follows a terminal is the `else` of the last `if` without one."""
    entries: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for item in flatten(root):
        if entries and "if" not in entries[-1]:
            waiting.pop()["else"] = len(entries)
        if isinstance(item, Condition):
            form = _form(item.weights, item.bias, signature.feature_names)
            entries.append({"if": form, "then": len(entries) + 1, "else": 0})
            waiting.append(entries[-1])
        else:
            entries.append(_terminal(item, signature))
    return entries


def _terminal(leaf: Terminal, signature: Signature) -> dict[str, Any]:
    names = signature.actions.names
    if isinstance(leaf, Act):
        return {"act": names[leaf.action]}
    if isinstance(leaf, Blend):
        return {"blend": _sparse(leaf.weights, names)}
    rows = zip(names, leaf.weights, leaf.bias, strict=True)
    return {"affine": {name: _form(row, bias, signature.feature_names) for name, row, bias in rows}}


def _form(weights: tuple[float, ...], bias: float, names: tuple[str, ...]) -> dict[str, Any]:
    return {"weights": _sparse(weights, names), "bias": bias}


def _sparse(weights: tuple[float, ...], names: tuple[str, ...]) -> dict[str, float]:
    return {name: weight for name, weight in zip(names, weights, strict=True) if weight != 0.0}


def _load(text: str) -> Any:
    if len(text) > _MAX_CHARACTERS:
        raise ProgramError(f"the document is longer than {_MAX_CHARACTERS} characters")
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ProgramError("the document is nested too deeply to be a program") from None
    except ValueError as error:
        raise ProgramError(f"the document is not valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ProgramError("a key appears twice in one object")
    return found


def _refuse(constant: str) -> float:
    raise ProgramError(f"{constant} is not a finite number")


def fields_of(value: Any, owner: str, kinds: dict[str, Any]) -> dict[str, Any]:
    """The value, if it is an object with exactly the given keys and kinds."""
    if not isinstance(value, dict):
        raise ProgramError(f"{owner} must be an object, not {_describe(value)}")
    if value.keys() != kinds.keys():
        missing, extra = (listed(sorted(keys)) for keys in (kinds.keys() - value.keys(), value.keys() - kinds.keys()))
        raise ProgramError(f"{owner} lacks the keys [{missing}] and has the unknown keys [{extra}]")
    for key, kind in kinds.items():
        if not isinstance(value[key], kind) or isinstance(value[key], bool):
            raise ProgramError(f"'{key}' of {owner} must not be {_describe(value[key])}")
    return value


def _describe(value: Any) -> str:
    kind = type(value).__name__
    return kind if isinstance(value, dict | list) else f"{kind} {value!r:.40}"


def _read_nodes(entries: list[Any], signature: Signature) -> Node:
    """Follow the nodes from the root, using each exactly once."""
    unused = set(range(1, len(entries)))
    items = list(bounded(_items(entries, signature, unused)))
    if unused or not items:
        raise ProgramError(f"the nodes do not form one tree: {listed(sorted(unused))} cannot be reached from node 0")
    return assemble(items)


def _items(entries: list[Any], signature: Signature, unused: set[int]) -> Iterator[Item]:
    """Conditions and terminals in printing order, each taken off those that are not used yet."""
    features = dict.fromkeys(signature.feature_names)
    actions = {name: number for number, name in enumerate(signature.actions.names)}
    stack = [0] if entries else []
    while stack:
        position = stack.pop()
        entry = entries[position]
        if not isinstance(entry, dict) or "if" not in entry:
            yield _read_terminal(entry, features, actions)
            continue
        found = fields_of(entry, f"node {position}", {"if": dict, "then": int, "else": int})
        yield Condition(*_read_form(found["if"], features, f"the condition of node {position}"))
        for child in (found["else"], found["then"]):
            if child <= position or child not in unused:
                raise ProgramError(f"node {position} refers to node {child}, which is not a later node of its own")
            unused.remove(child)
            stack.append(child)


def _read_terminal(entry: Any, features: Names, actions: dict[str, int]) -> Terminal:
    kind = next(iter(entry)) if isinstance(entry, dict) and len(entry) == 1 else None
    if kind == "act":
        name = entry["act"]
        if not isinstance(name, str) or name not in actions:
            raise ProgramError(f"action {_describe(name)} is not one of {listed(actions)}")
        return Act(actions[name])
    if kind == "blend":
        return Blend(_read_weights(entry["blend"], actions, "a blend"))
    if kind == "affine":
        rows = fields_of(entry["affine"], "an affine terminal", dict.fromkeys(actions, dict))
        forms = [_read_form(rows[name], features, f"output {name}") for name in actions]
        return Affine(tuple(weights for weights, _ in forms), tuple(bias for _, bias in forms))
    raise ProgramError(f"a node must be one of if, act, blend, affine, not {_describe(entry)}")


def _read_form(entry: Any, names: Names, owner: str) -> tuple[tuple[float, ...], float]:
    found = fields_of(entry, owner, {"weights": dict, "bias": (float, int)})
    return _read_weights(found["weights"], names, owner), found["bias"]


def _read_weights(entry: Any, names: Names, owner: str) -> tuple[float, ...]:
    if not isinstance(entry, dict) or not entry.keys() <= names.keys():
        raise ProgramError(f"the weights of {owner} must be an object with keys among {listed(names)}")
    return tuple(entry.get(name, 0.0) for name in names)
