"""What differs between two programs: where they act otherwise, and what that does to the score."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.arena.reference import Act, evaluate, program_act, views_of
from diprl.arena.score import Score, score_of
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.signature import Discrete, action_range
from diprl.tasks.base import Task

ALIKE = 0.01
"""Continuous actions that differ by less than this part of their range count as the same."""


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
    """How b differs from a: in which of the visited states it acts differently, and what that does to the score.

    Both play the same episodes, so that the difference has a narrow interval; `print` shows all of it.
    """
    if a.signature.feature_names != b.signature.feature_names:
        raise DiprlError("the programs read different features, so they cannot be compared")
    contest = Contest(task, program_act(task, a), episodes)
    views, first, second = contest.views, contest.actions, program_act(task, b)(contest.views)
    differs = contest.differs(second)
    after = contest.enter(program_act(task, b))
    example, actions = None, None
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        example = dict(zip(a.signature.feature_names, views[row].tolist(), strict=False))
        actions = (action_name(a, first[row]), action_name(b, second[row]))
    return Difference(
        changed=float(differs.mean()),
        example=example,
        actions=actions,
        before=contest.score,
        after=after.score,
        gain=after.gain,
    )


class Entry(NamedTuple):
    """How one policy does beside the first."""

    score: Score
    gain: Score
    """Paired differences of return, its own less the first's, on the same episodes."""
    alike: float
    """Share of the states that the first visits in which it acts the same."""


class Contest:
    """Policies beside a first one: on the same episodes, and in the states that the first visits."""

    def __init__(self, task: Task, first: Act, episodes: int) -> None:
        self.task, self.episodes = task, episodes
        self.views = views_of(task, first)
        self.actions = first(self.views)
        self.score = evaluate(task, first, episodes)

    def enter(self, act: Act) -> Entry:
        score = evaluate(self.task, act, self.episodes)
        gain = score_of(np.subtract(score.returns, self.score.returns))
        return Entry(score, gain, 1.0 - float(self.differs(act(self.views)).mean()))

    def differs(self, actions: NDArray[Any]) -> NDArray[np.bool_]:
        """In which of the states these actions are others than the first's."""
        kind = self.task.signature.actions
        allowed = 0.0 if isinstance(kind, Discrete) else 2 * ALIKE * np.array(action_range(kind)[1])
        apart = np.abs(np.asarray(actions, np.float64) - np.asarray(self.actions, np.float64)) > allowed
        return np.any(np.reshape(apart, (len(self.views), -1)), axis=1)


def action_name(program: Program, action: NDArray[Any] | np.integer) -> str:
    """An action as a person would say it."""
    names = program.signature.actions.names
    if np.ndim(action) == 0:
        return names[int(action)]
    return "(" + ", ".join(f"{value:.3g}" for value in np.asarray(action)) + ")"
