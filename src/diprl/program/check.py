"""What makes a program valid, and the one form in which its numbers are kept."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import fsum, inf, isfinite, isnan
from operator import index
from typing import Any

from diprl.errors import LONGEST_NAME, ProgramError
from diprl.program.ast import Act, Affine, Blend, Condition, Item, Node, assemble, flatten, nesting
from diprl.program.names import is_identifier
from diprl.program.signature import Actions, Continuous, Discrete, Primitives, Signature

MAX_NESTING = 200
"""How many `if`s may stand inside each other's `then` branches; chains of `elif` are not limited."""
MAX_NAMES = 10_000
"""How many features, actions or actuators there may be."""
MAX_NUMBERS = 1_000_000
"""How many numbers a program may hold, zeros included: a short text can ask for very many of them."""
_TOO_MANY = f"more than {MAX_NUMBERS} numbers: use fewer conditions or features"


def canonical_signature(signature: Signature) -> Signature:
    """The same signature with Python floats; raises where a name or a bound cannot be used."""
    _check_names("feature", signature.feature_names)
    features = []
    for feature in signature.features:
        if not isinstance(feature.unit, str) or not isinstance(feature.meaning, str):
            raise ProgramError(f"the unit and the meaning of feature '{feature.name}' must be text")
        low, high = _interval(feature.low, feature.high, feature.name)
        features.append(replace(feature, low=low, high=high))
    if not features:
        raise ProgramError("a signature needs at least one feature")
    actions = _canonical_actions(signature.actions)
    if isinstance(actions, Continuous) and len(actions.names) * len(features) > MAX_NUMBERS:
        raise ProgramError(f"{len(actions.names)} outputs of {len(features)} features take {_TOO_MANY}")
    return Signature(tuple(features), actions)


def canonical_root(root: Node, signature: Signature) -> Node:
    """The same tree with Python floats and no negative zeros; raises where it does not fit the signature."""
    root = assemble(_canonical_item(item, signature) for item in bounded(flatten(root)))
    if nesting(root) > MAX_NESTING:
        raise ProgramError(f"the program nests more than {MAX_NESTING} ifs inside each other: flatten it with elif")
    return root


def bounded(items: Iterable[Item]) -> Iterator[Item]:
    """The same conditions and terminals, until they hold more numbers than a program may."""
    numbers = 0
    for item in items:
        numbers += sum(map(len, item.weights)) if isinstance(item, Affine) else len(getattr(item, "weights", ()))
        if numbers > MAX_NUMBERS:
            raise ProgramError(f"the conditions and actions of the program take {_TOO_MANY}")
        yield item


def _canonical_actions(actions: Actions) -> Actions:
    kind, count = type(actions).__name__, len(actions.names)
    _check_names("action", actions.names)
    if not count:
        raise ProgramError(f"{kind} actions need at least one name")
    if isinstance(actions, Discrete):
        return Discrete(tuple(actions.names))
    lows, highs = len(actions.low), len(actions.high)
    if lows > MAX_NAMES:
        raise ProgramError(f"the actions have {lows} entries, more than the {MAX_NAMES} that a program can have")
    if not lows or lows != highs:
        raise ProgramError(f"{kind} actions have {lows} low and {highs} high bounds: give one of each per entry")
    pairs = zip(actions.low, actions.high, strict=True)
    low, high = zip(*(_interval(*pair, f"{kind} action") for pair in pairs), strict=True)
    if isinstance(actions, Primitives):
        return replace(actions, low=low, high=high)
    if count != lows:
        raise ProgramError(f"{count} outputs have {lows} bounds: give one pair per output")
    if actions.units and len(actions.units) != count:
        raise ProgramError(f"{count} outputs have {len(actions.units)} units: give one per output, or none")
    if not all(isinstance(unit, str) for unit in actions.units):
        raise ProgramError("the units of outputs must be text")
    return replace(actions, low=low, high=high, units=actions.units if any(actions.units) else ())


def _check_names(kind: str, names: Sequence[str]) -> None:
    if len(names) > MAX_NAMES:
        raise ProgramError(f"{len(names)} {kind} names are more than the {MAX_NAMES} that a program can have")
    for name in names:
        if not isinstance(name, str) or not is_identifier(name):
            shown = f"{name!s:.{LONGEST_NAME}}"
            raise ProgramError(f"{kind} name '{shown}' is not an identifier: rename it, for instance with identifier()")
    twice, count = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:
        raise ProgramError(f"{kind} name '{twice:.{LONGEST_NAME}}' is used twice: give each its own name")


def _interval(low: Any, high: Any, owner: str) -> tuple[float, float]:
    low, high = _float(low, f"a bound of {owner}"), _float(high, f"a bound of {owner}")
    if isnan(low) or isnan(high):
        raise ProgramError(f"a bound of {owner} is not a number")
    if low > high or low == inf or high == -inf:
        raise ProgramError(f"the bounds of {owner} are [{low}, {high}]: the low one must not exceed the high one")
    return low, high


def _canonical_item(item: Item, signature: Signature) -> Item:
    actions, features = signature.actions, len(signature.features)
    if isinstance(item, Condition):
        return Condition(_row(item.weights, features, "a condition"), _number(item.bias, "a condition's bias"))
    if isinstance(item, Act) and isinstance(actions, Discrete):
        return Act(_action(item.action, len(actions.names)))
    if isinstance(item, Affine) and isinstance(actions, Continuous):
        return _canonical_affine(item, len(actions.names), features)
    if isinstance(item, Blend) and isinstance(actions, Primitives):
        weights = _row(item.weights, len(actions.names), "a blend", "primitives")
        if min(weights) < 0.0 or abs(fsum(weights) - 1.0) > 1e-9:
            raise ProgramError(f"blend weights {weights!s:.80} must be non-negative and sum to one")
        return Blend(weights)
    raise ProgramError(f"a terminal of kind {type(item).__name__} does not fit {type(actions).__name__} actions")


def _action(action: Any, count: int) -> int:
    try:
        number = index(action)
    except TypeError:
        raise ProgramError(f"an action must be an index, not {action!r}") from None
    if not 0 <= number < count:
        raise ProgramError(f"action {number} is out of range: the signature names {count} actions")
    return number


def _canonical_affine(leaf: Affine, outputs: int, features: int) -> Affine:
    counts = len(leaf.weights), len(leaf.bias)
    if counts != (outputs, outputs):
        raise ProgramError(f"an affine terminal has {counts[0]} rows and {counts[1]} biases for {outputs} outputs")
    rows = tuple(_row(row, features, "an affine terminal") for row in leaf.weights)
    return Affine(rows, tuple(_number(value, "an affine terminal's bias") for value in leaf.bias))


def _row(values: Sequence[float], count: int, owner: str, of: str = "features") -> tuple[float, ...]:
    if len(values) != count:
        raise ProgramError(f"{owner} has {len(values)} weights for {count} {of}")
    return tuple(_number(value, f"a weight of {owner}") for value in values)


def _number(value: Any, owner: str) -> float:
    number = _float(value, owner)
    if not isfinite(number):
        raise ProgramError(f"{owner} is {number}: every number of a program must be finite")
    return number


def _float(value: Any, owner: str) -> float:
    try:
        if not isinstance(value, str | bool):
            return float(value) + 0.0  # turns -0.0 into 0.0, so that equal programs also print and act alike
    except OverflowError:
        raise ProgramError(f"{owner} is too large to be a number") from None
    except (TypeError, ValueError):
        pass
    raise ProgramError(f"{owner} must be a number, not {value!r:.40}")
