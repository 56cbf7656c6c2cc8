"""Decision trees over single features, grown by scikit-learn and written as programs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.ast import Act, Affine, Condition, If, Node, Terminal, merge_branches
from diprl.program.signature import Discrete, Signature


@dataclass(frozen=True)
class Tree:
    """A grown tree, one entry per node; a leaf leads back to itself, so that all rows descend alike."""

    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    at_most: NDArray[np.intp]
    """Where a row goes whose feature is at most the threshold."""
    above: NDArray[np.intp]
    output: NDArray[Any]
    """An action's index or an action vector per node; only leaves are asked for theirs."""
    height: int

    def act(self, views: NDArray[np.float32]) -> NDArray[Any]:
        node, rows = np.zeros(len(views), np.intp), np.arange(len(views))
        for _ in range(self.height):
            low = views[rows, self.feature[node]] <= self.threshold[node]
            node = np.where(low, self.at_most[node], self.above[node])
        return self.output[node]


def grow_classifier(
    features: NDArray[np.float32],
    actions: NDArray[np.int64],
    weights: NDArray[np.float64],
    height: int,
    seed: int,
) -> Tree:
    """A tree that chooses among actions; mistakes count by their weights."""
    growers = scikit_learn_trees()
    grower = growers.DecisionTreeClassifier(criterion="entropy", max_depth=height, random_state=seed)
    grower.fit(features, actions, weights)
    return _tree(grower, grower.classes_[np.argmax(grower.tree_.value[:, 0, :], axis=-1)])


def grow_regressor(features: NDArray[np.float32], actions: NDArray[np.floating[Any]], height: int, seed: int) -> Tree:
    """A tree whose leaves hold action vectors; all outputs share its conditions."""
    grower = scikit_learn_trees().DecisionTreeRegressor(max_depth=height, random_state=seed)
    grower.fit(features, actions)
    return _tree(grower, grower.tree_.value[:, :, 0])


def scikit_learn_trees() -> Any:
    """The optional dependency, or what to install."""
    try:
        from sklearn import tree
    except ImportError as error:
        raise DiprlError("VIPER needs scikit-learn: install it with: pip install 'diprl[viper]'") from error
    return tree


def _tree(grower: Any, output: NDArray[Any]) -> Tree:
    grown, own = grower.tree_, np.arange(grower.tree_.node_count)
    leaf = grown.children_left < 0
    return Tree(
        feature=np.where(leaf, 0, grown.feature),
        threshold=np.asarray(grown.threshold),
        at_most=np.where(leaf, own, grown.children_left),
        above=np.where(leaf, own, grown.children_right),
        output=output,
        height=int(grown.max_depth),
    )


def to_program(tree: Tree, signature: Signature, task: str) -> Program:
    """The tree as nested conditions; branches that end in the same action are joined.

    A condition `1 · x − threshold > 0` is exactly the tree's `x > threshold` for every 32-bit x, since a difference of
    64-bit numbers is zero only where they are equal.
    """
    width = len(signature.features)
    nodes: dict[int, Node] = {}
    for index in reversed(range(len(tree.feature))):  # scikit-learn numbers parents before their children
        if tree.at_most[index] == index:
            nodes[index] = _leaf(signature, tree.output[index])
            continue
        weights = np.arange(width) == tree.feature[index]
        condition = Condition(tuple(weights.astype(float).tolist()), 0.0 - float(tree.threshold[index]))
        nodes[index] = If(condition, nodes[tree.above[index]], nodes[tree.at_most[index]])
    return Program(signature, merge_branches(nodes[0]), task)


def _leaf(signature: Signature, output: Any) -> Terminal:
    if isinstance(signature.actions, Discrete):
        return Act(int(output))
    no_slopes = (0.0,) * len(signature.features)
    return Affine((no_slopes,) * len(output), tuple(map(float, output)))
