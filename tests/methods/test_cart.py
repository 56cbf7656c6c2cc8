"""Grown trees against scikit-learn's own predictions and against their programs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from diprl.methods.cart import Tree, grow_classifier, grow_regressor, to_program
from diprl.program.ast import Act, If, terminals
from diprl.program.signature import Continuous, Discrete, Feature, Signature

FEATURES = tuple(Feature(name) for name in ("x", "y", "z"))
CHOICE = Signature(FEATURES, Discrete(("left", "stay", "right")))
THRUST = Signature(FEATURES, Continuous(("main", "side"), (-1.0, -1.0), (1.0, 1.0)))


def states(seed: int, count: int = 400) -> np.ndarray:
    """Coarse numbers, so that many states share a value and thresholds fall between neighbours."""
    return (np.random.default_rng(seed).integers(-20, 20, (count, 3)) / 7).astype(np.float32)


def close_calls(tree: Tree) -> np.ndarray:
    """States on each threshold, and next to it on either side."""
    exact = tree.nodes.threshold.astype(np.float32)
    beside = [np.nextafter(exact, np.float32(side)) for side in (-np.inf, np.inf)]
    return np.repeat(np.concatenate([exact, *beside])[:, None], 3, axis=1)


@given(seed=st.integers(0, 2**16), height=st.integers(1, 6))
def test_a_classifier_its_tree_and_its_program_agree(seed: int, height: int) -> None:
    seen, generator = states(seed), np.random.default_rng(seed)
    actions, weights = generator.integers(0, 3, len(seen)), generator.random(len(seen))
    tree = grow_classifier(seen, actions, weights, height, seed)
    program = to_program(tree, CHOICE, "a task")
    asked = np.concatenate([seen, states(seed + 1), close_calls(tree)])
    original = DecisionTreeClassifier(criterion="entropy", max_depth=height, random_state=seed)
    expected = original.fit(seen, actions, weights).predict(asked)
    np.testing.assert_array_equal(tree.act(asked), expected)
    np.testing.assert_array_equal(program.act_batch(asked), expected)
    assert program.depth <= height + 1


@given(seed=st.integers(0, 2**16))
def test_a_regressor_and_its_program_agree(seed: int) -> None:
    seen = states(seed)
    wanted = np.column_stack([np.sin(seen[:, 0]), seen[:, 1] * seen[:, 2]]).clip(-1.0, 1.0)
    tree = grow_regressor(seen, wanted, 4, seed)
    asked = np.concatenate([seen, close_calls(tree)])
    np.testing.assert_array_equal(to_program(tree, THRUST, "").act_batch(asked), tree.act(asked))


def test_branches_that_end_in_the_same_action_are_joined() -> None:
    seen = states(0)
    actions = np.where(seen[:, 0] > 0.5, 2, 0)
    weights = np.where(np.abs(seen[:, 1]) > 1.0, 5.0, 1.0)
    program = to_program(grow_classifier(seen, actions, weights, 6, 0), CHOICE, "")
    assert program.conditions == 1
    assert terminals(program.root) == [Act(2), Act(0)]
    assert isinstance(program.root, If)


def test_heavy_states_decide_where_a_leaf_must_be_wrong() -> None:
    seen = np.zeros((10, 3), np.float32)
    actions = np.array([1] + [0] * 9)
    weights = np.array([100.0] + [1.0] * 9)
    assert grow_classifier(seen, actions, weights, 3, 0).act(seen[:1]).tolist() == [1]
