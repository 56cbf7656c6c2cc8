"""The way from the relaxed policy to the program, scored step by step, outside the training budget."""

from collections.abc import Sequence

import numpy as np

from diprl.arena.episodes import GAP
from diprl.arena.score import Gap
from diprl.extract import depth_probabilities
from diprl.policy.base import HARD, SOFT, Hardness
from diprl.policy.derivation_tree import DerivationTree
from diprl.runs.stage import Trained
from diprl.runs.trainer import Trainer
from diprl.train.loop import one_more

ONE_DEPTH = Hardness(architecture=True)
RUNGS: tuple[Hardness, ...] = (
    SOFT,
    SOFT._replace(greedy=True),
    ONE_DEPTH,
    ONE_DEPTH._replace(greedy=True),
    Hardness(architecture=True, conditions=True),
    HARD,
)
"""From the relaxed policy to the program, sampled and greedy where that differs."""


def measure_gap(trainer: Trainer, trained: Trained) -> Gap:
    """The scores of all rungs on the same starts: on the twin where there is one, else on the reference."""
    episodes = GAP.count(trainer.session.task)
    one_leaf = {"architecture": False, "conditions": False} if tree_of(trained).max_depth == 1 else {}
    rungs = [rung._replace(**one_leaf) for rung in RUNGS]  # where nothing but leaves can harden, most are the same
    scores = {
        rung: trained.player.score(trained.state, trained.temperatures, rung, episodes).mean
        for rung in dict.fromkeys(rungs)
    }
    return gap(trained, [scores[rung] for rung in rungs], advantage_range(trainer, trained))


def advantage_range(trainer: Trainer, trained: Trained) -> float:
    """How far apart the advantages of one more rollout lie, which nothing is learnt from."""
    collector = trainer.collector(trained.settings, trained.engine)
    try:
        return float(one_more(collector, trained.state)["train/advantage_range"])
    finally:
        collector.close()


def gap(trained: Trained, scores: Sequence[float], advantages: float) -> Gap:
    """What each step loses, from the scores of the rungs, and what the theory says about the first of them."""
    relaxed, relaxed_greedy, depth, depth_greedy, conditions, hard = scores
    depths = np.asarray(depth_probabilities(tree_of(trained), trained.temperatures.architecture), np.float64)
    depths = depths / depths.sum()
    entropy = abs(float(sum(p * np.log(p) for p in depths if p > 0)))
    mass = float(1.0 - depths.max())
    return Gap(
        relaxed=relaxed,
        architecture=relaxed - depth,
        condition=depth - conditions,
        terminal=conditions - hard,
        mass=mass,
        entropy=entropy / float(np.log(max(len(depths), 2))),
        bound=float(1.0 - np.exp(-entropy)),
        relaxed_greedy=relaxed_greedy,
        depth_greedy=depth_greedy,
        advantage_range=advantages,
        return_bound=advantages * mass / max(1.0 - trained.settings.ppo.gamma, 1e-9),
    )


def tree_of(trained: Trained) -> DerivationTree:
    tree = trained.agent.policy
    if not isinstance(tree, DerivationTree):
        raise TypeError(f"expected a derivation tree, got {type(tree).__name__}")
    return tree
