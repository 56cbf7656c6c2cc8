"""What primitives achieve without conditions: each one alone, and the best blend that never changes."""

from itertools import product

from diprl.arena.episodes import BLENDS
from diprl.arena.reference import evaluate_program
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.ast import Blend
from diprl.program.signature import Primitives
from diprl.tasks.base import Task

GRID = {2: 20, 3: 6, 4: 4}
"""Parts into which the shares are divided, by the number of primitives."""


def primitive_names(task: Task) -> tuple[str, ...]:
    actions = task.signature.actions
    if not isinstance(actions, Primitives):
        raise DiprlError(f"{task.name} has no primitives to compare with")
    return actions.names


def single_primitives(task: Task) -> dict[str, Program]:
    """A program for each primitive that runs it and nothing else."""
    names = primitive_names(task)
    return {name: constant(task, [float(name == other) for other in names]) for name in names}


def best_blends(task: Task, episodes: int = BLENDS.on_reference) -> dict[str, Program]:
    """The best constant blend by return and, where the task says what success is, by success rate.

    All candidates of a grid over the shares play the same validation episodes.
    """
    count = len(primitive_names(task))
    candidates = [constant(task, shares) for shares in share_grid(count, GRID.get(count, 3))]
    scores = [evaluate_program(task, each, episodes, BLENDS.seed) for each in candidates]
    values: dict[str, list[tuple[float, ...]]] = {"return": [(score.mean,) for score in scores]}
    if "is_success" in scores[0].extra:
        values["success"] = [(score.extra["is_success"], score.mean) for score in scores]
    return {f"best blend by {what}": candidates[value.index(max(value))] for what, value in values.items()}


def share_grid(count: int, parts: int) -> list[list[float]]:
    """Every way to divide 1 into `count` shares that are multiples of 1/parts."""
    divided = [shares for shares in product(range(parts + 1), repeat=count) if sum(shares) == parts]
    return [[share / parts for share in shares] for shares in divided]


def constant(task: Task, shares: list[float]) -> Program:
    return Program(task.signature, Blend(tuple(shares)), task.name)
