"""What differs between two programs: where they act otherwise, and what that does to the score."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import EVALUATION
from diprl.arena.reference import evaluate_many, program_act, visited_views
from diprl.arena.score import Score, score_of
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.tasks.base import Task


@dataclass(frozen=True)
class Difference:
    """Program b against program a."""

    changed: float
    """Share of the states that a visits in which b acts otherwise."""
    example: dict[str, float] | None
    """One such state by feature name; None where there is none."""
    actions: tuple[str, str] | None
    """What a and b do there."""
    before: Score
    after: Score
    gain: Score
    """Paired differences of return, b less a, on the same episodes."""

    def __str__(self) -> str:
        low, high = self.gain.ci95
        lines = [f"acts otherwise in {self.changed:.1%} of the visited states"]
        if self.example is not None and self.actions is not None:
            state = ", ".join(f"{name} = {value:.4g}" for name, value in self.example.items())
            lines.append(f"for example at {state}: {self.actions[1]} instead of {self.actions[0]}")
        lines += [f"before  {self.before}", f"after   {self.after}"]
        lines.append(f"change  {self.gain.mean:+.2f} (95% interval {low:+.2f} to {high:+.2f}, paired)")
        return "\n".join(lines)


def compare(a: Program, b: Program, task: Task, episodes: int = 100) -> Difference:
    """How b differs from a in behaviour and in score."""
    if a.signature.feature_names != b.signature.feature_names:
        raise DiprlError("the programs read different features, so they cannot be compared")
    views = visited_views(task, a)
    first, second = program_act(task, a)(views), program_act(task, b)(views)
    differs = np.reshape(first != second, (len(views), -1)).any(axis=1)
    returns, _ = evaluate_many(task, [a, b], episodes, EVALUATION.seed)
    example, actions = None, None
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        example = dict(zip(a.signature.feature_names, views[row].tolist(), strict=False))
        actions = (action_name(a, first[row]), action_name(b, second[row]))
    return Difference(
        changed=float(differs.mean()),
        example=example,
        actions=actions,
        before=score_of(returns[0]),
        after=score_of(returns[1]),
        gain=score_of(returns[1] - returns[0]),
    )


def action_name(program: Program, action: NDArray[Any] | np.integer) -> str:
    """An action as a person would say it."""
    names = program.signature.actions.names
    if np.ndim(action) == 0:
        return names[int(action)]
    return "(" + ", ".join(f"{value:.3g}" for value in np.asarray(action)) + ")"
