"""Decision trees over single features, grown by scikit-learn and written as programs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.errors import optional
from diprl.program import Program
from diprl.program.ast import Act, Affine, Condition, If, Node, Terminal, merge_branches
from diprl.program.signature import Discrete, Signature


class Tree(NamedTuple):
    """A tree that scikit-learn has grown, and what it does at each of its nodes."""

    nodes: Any
    """scikit-learn's arrays; a row goes left where its feature is at most the threshold."""
    output: NDArray[Any]
    """An action's index or an action vector per node; only leaves are asked for theirs."""

    def act(self, views: NDArray[np.float32]) -> NDArray[Any]:
        return self.output[self.nodes.apply(views)]


def grow_classifier(
    features: NDArray[np.float32], actions: NDArray[np.int64], weights: NDArray[np.float64], height: int, seed: int
) -> Tree:
    """A tree that chooses among actions; mistakes count by their weights."""
    grower = scikit_learn_trees().DecisionTreeClassifier(criterion="entropy", max_depth=height, random_state=seed)
    grower.fit(features, actions, weights)
    return Tree(grower.tree_, grower.classes_[np.argmax(grower.tree_.value[:, 0, :], axis=-1)])


def grow_regressor(features: NDArray[np.float32], actions: NDArray[np.floating[Any]], height: int, seed: int) -> Tree:
    """A tree whose leaves hold action vectors; all outputs share its conditions."""
    grower = scikit_learn_trees().DecisionTreeRegressor(max_depth=height, random_state=seed)
    grower.fit(features, actions)
    return Tree(grower.tree_, grower.tree_.value[:, :, 0])


def scikit_learn_trees() -> Any:
    """The optional dependency, or what to install."""
    return optional("sklearn.tree", "VIPER needs scikit-learn: install it with: pip install 'diprl[viper]'")


def to_program(tree: Tree, signature: Signature, task: str) -> Program:
    """The tree as nested conditions; branches that end in the same action are joined.

    A condition `1 · x − threshold > 0` is exactly the tree's `x > threshold` for every 32-bit x, since a difference of
    64-bit numbers is zero only where they are equal.
    """
    grown, width = tree.nodes, len(signature.features)
    nodes: dict[int, Node] = {}
    for index in reversed(range(grown.node_count)):  # scikit-learn numbers parents before their children
        if grown.children_left[index] < 0:
            nodes[index] = _leaf(signature, tree.output[index])
            continue
        weights = np.arange(width) == grown.feature[index]
        condition = Condition(tuple(weights.astype(float).tolist()), 0.0 - float(grown.threshold[index]))
        nodes[index] = If(condition, nodes[grown.children_right[index]], nodes[grown.children_left[index]])
    return Program(signature, merge_branches(nodes[0]), task)


def _leaf(signature: Signature, output: Any) -> Terminal:
    if isinstance(signature.actions, Discrete):
        return Act(int(output))
    no_slopes = (0.0,) * len(signature.features)
    return Affine((no_slopes,) * len(output), tuple(map(float, output)))
