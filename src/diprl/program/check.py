"""What makes a program valid, and the one form in which its numbers are kept."""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum, inf, isfinite, isnan
from operator import index
from typing import Any

from diprl.errors import ProgramError
from diprl.program.ast import Act, Affine, Blend, Condition, If, Node, Terminal, rebuild
from diprl.program.names import is_identifier
from diprl.program.signature import Actions, Continuous, Discrete, Feature, Signature

MAX_NESTING = 200
"""How many `if`s may stand inside each other's `then` branches; chains of `elif` are not limited."""


def canonical_signature(signature: Signature) -> Signature:
    """The same signature with Python floats; raises where a name or a bound cannot be used."""
    features = tuple(
        replace(feature, low=_bound(feature.low, feature.name), high=_bound(feature.high, feature.name))
        for feature in signature.features
    )
    if not features:
        raise ProgramError("a signature needs at least one feature")
    _check_names("feature", [feature.name for feature in features])
    for feature in features:
        _check_interval(feature.name, feature.low, feature.high)
        _check_words(feature)
    return Signature(features, _canonical_actions(signature.actions))


def canonical_root(root: Node, signature: Signature) -> Node:
    """The same tree with Python floats and no negative zeros; raises where it does not fit the signature."""
    features = len(signature.features)
    root = rebuild(
        root,
        lambda condition: _canonical_condition(condition, features),
        lambda terminal: _canonical_terminal(terminal, signature),
    )
    if nesting(root) > MAX_NESTING:
        raise ProgramError(
            f"the program nests more than {MAX_NESTING} ifs inside each other: flatten it with elif"
        )
    return root


def nesting(root: Node) -> int:
    """How many `if`s stand inside each other's `then` branches, which is how far the text is indented."""
    deepest, stack = 0, [(root, 0)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        if isinstance(node, If):
            stack += [(node.then, level + 1), (node.orelse, level)]
    return deepest


def _canonical_actions(actions: Actions) -> Actions:
    kind = type(actions).__name__
    _check_names("action", list(actions.names))
    if not actions.names:
        raise ProgramError(f"{kind} actions need at least one name")
    if isinstance(actions, Discrete):
        return Discrete(tuple(actions.names))
    low = tuple(_bound(value, kind) for value in actions.low)
    high = tuple(_bound(value, kind) for value in actions.high)
    if not low or len(low) != len(high):
        raise ProgramError(
            f"{kind} actions have {len(low)} low and {len(high)} high bounds: give one of each per entry"
        )
    for lower, upper in zip(low, high, strict=True):
        _check_interval(f"{kind} action", lower, upper)
    if not isinstance(actions, Continuous):
        return replace(actions, low=low, high=high)
    _check_outputs(actions)
    return replace(actions, low=low, high=high, units=actions.units if any(actions.units) else ())


def _check_outputs(actions: Continuous) -> None:
    if len(actions.names) != len(actions.low):
        raise ProgramError(
            f"{len(actions.names)} outputs have {len(actions.low)} bounds: give one pair per output"
        )
    if actions.units and len(actions.units) != len(actions.names):
        raise ProgramError(
            f"{len(actions.names)} outputs have {len(actions.units)} units: give one per output, or none"
        )
    if not all(isinstance(unit, str) for unit in actions.units):
        raise ProgramError("the units of outputs must be text")


def _check_words(feature: Feature) -> None:
    if not isinstance(feature.unit, str) or not isinstance(feature.meaning, str):
        raise ProgramError(f"the unit and the meaning of feature '{feature.name}' must be text")


def _check_names(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if not isinstance(name, str) or not is_identifier(name):
            raise ProgramError(
                f"{kind} name '{name}' is not an identifier: rename it, for instance with identifier()"
            )
    if len(set(names)) != len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ProgramError(f"{kind} name '{twice}' is used twice: give each its own name")


def _check_interval(name: str, low: float, high: float) -> None:
    if low > high or low == inf or high == -inf:
        raise ProgramError(
            f"the bounds of {name} are [{low}, {high}]: the low one must not exceed the high one"
        )


def _canonical_condition(condition: Condition, features: int) -> Condition:
    return Condition(
        _row(condition.weights, features, "a condition"), _number(condition.bias, "a condition's bias")
    )


def _canonical_terminal(node: Terminal, signature: Signature) -> Terminal:
    actions = signature.actions
    if isinstance(node, Act) and isinstance(actions, Discrete):
        return Act(_action(node.action, len(actions.names)))
    if isinstance(node, Affine) and isinstance(actions, Continuous):
        return _canonical_affine(node, len(actions.names), len(signature.features))
    if isinstance(node, Blend) and not isinstance(actions, Discrete | Continuous):
        return _canonical_blend(node, len(actions.names))
    raise ProgramError(
        f"a terminal of kind {type(node).__name__} does not fit {type(actions).__name__} actions"
    )


def _action(action: Any, count: int) -> int:
    try:
        number = index(action)
    except TypeError:
        raise ProgramError(f"an action must be an index, not {action!r}") from None
    if not 0 <= number < count:
        raise ProgramError(f"action {number} is out of range: the signature names {count} actions")
    return number


def _canonical_affine(node: Affine, outputs: int, features: int) -> Affine:
    if len(node.weights) != outputs or len(node.bias) != outputs:
        raise ProgramError(
            f"an affine terminal has {len(node.weights)} rows and {len(node.bias)} biases "
            f"for {outputs} outputs"
        )
    rows = tuple(_row(row, features, "an affine terminal") for row in node.weights)
    return Affine(rows, tuple(_number(value, "an affine terminal's bias") for value in node.bias))


def _canonical_blend(node: Blend, primitives: int) -> Blend:
    weights = _row(node.weights, primitives, "a blend", "primitives")
    if min(weights) < 0.0 or abs(fsum(weights) - 1.0) > 1e-9:
        raise ProgramError(f"blend weights {weights} must be non-negative and sum to one")
    return Blend(weights)


def _row(values: Sequence[float], count: int, owner: str, of: str = "features") -> tuple[float, ...]:
    if len(values) != count:
        raise ProgramError(f"{owner} has {len(values)} weights for {count} {of}")
    return tuple(_number(value, f"a weight of {owner}") for value in values)


def _number(value: Any, owner: str) -> float:
    number = _float(value, owner)
    if not isfinite(number):
        raise ProgramError(f"{owner} is {number}: every number of a program must be finite")
    return number + 0.0  # turns -0.0 into 0.0, so that equal programs also print and act alike


def _bound(value: Any, owner: str) -> float:
    number = _float(value, f"a bound of {owner}")
    if isnan(number):
        raise ProgramError(f"a bound of {owner} is not a number")
    return number + 0.0


def _float(value: Any, owner: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ProgramError(f"{owner} must be a number, not {value!r:.40}") from None
