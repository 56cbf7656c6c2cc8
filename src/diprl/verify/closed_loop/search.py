"""Looks for a proof: the start box is followed step by step, and cut in two where that fails, again and again."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from diprl.program.ast import If
from diprl.system.processes import end_with_parent
from diprl.verify.closed_loop.explore import Explored, Search, explore
from diprl.verify.closed_loop.sets import Array, boxes, joined
from diprl.verify.exact.question import Undecided

_MOST_PIECES = 50_000
_TOGETHER = 64
"""Pieces that are handed to the processes at once."""
_SETS = (1, 12)
"""How many sets may enclose one piece's states at a step, tried in turn."""
_TOO_WIDE = "the sets are too wide, however small the start is cut"
Progress = Callable[[float, str], None]
"""Is told the share of the start box that is done, and what is going on."""


class Piece(NamedTuple):
    """A part of the start box, and where in the tree of parts it is."""

    low: Array
    high: Array
    share: float
    tree: list[Any]
    index: int


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    nodes: dict[str, Any] | None
    """The sets of a proof, for the certificate."""
    share: float
    """How much of the start box is proved."""
    steps: int
    """How many steps are enclosed from the whole start box."""
    pieces: int
    stopped: str = ""
    """Why it ended, if not with a proof."""


def search(task: Search, processes: int, progress: Progress) -> Found:
    """Follow the whole start box, then cut whatever fails, until all is proved or the time is up.

    In what order pieces are tried does not depend on the processes, so neither does the proof.
    """
    tree, proofs, done, steps, pieces = [None], list[Explored](), 0.0, 0, 1
    waiting = [Piece(np.array(task.claim.start.low), np.array(task.claim.start.high), 1.0, tree, 0)]
    try:
        with ExitStack() as stack:
            run: Any = map
            while waiting:
                batch, waiting = waiting[:_TOGETHER], waiting[_TOGETHER:]
                if len(batch) > 1 and processes > 1 and run is map:
                    pool = ProcessPoolExecutor(processes, get_context("spawn"), end_with_parent)
                    run = stack.enter_context(pool).map
                sides = [(piece.low, piece.high) for piece in batch]
                for piece, explored in zip(batch, run(partial(follow, task), sides), strict=True):
                    steps = steps if pieces > 1 else explored.steps
                    if explored.sets is None:
                        waiting += _halves(piece, task.scales)
                        pieces += 1
                    else:
                        piece.tree[piece.index] = sum(len(proof.time) for proof in proofs)
                        proofs.append(explored)
                        done += piece.share
                    progress(done, f"{pieces} pieces of the start box")
                if pieces > _MOST_PIECES:
                    raise Undecided(_TOO_WIDE)
    except Undecided as reason:
        return Found(None, done, steps, pieces, str(reason))
    except np.linalg.LinAlgError:
        return Found(None, done, steps, pieces, "the numbers are too large or too small")
    return Found(_nodes(proofs) | {"start": tree[0]}, 1.0, task.claim.steps or 0, pieces)


@np.errstate(all="ignore")
def follow(task: Search, sides: tuple[Array, Array]) -> Explored:
    """Explore from one piece, by one set at a step and then by more."""
    found, alone = Explored(-1), not isinstance(task.loop.program.root, If)  # then one set is all there is
    for most in _SETS[:1] if alone else _SETS[1:] if task.claim.goal else _SETS:
        tried = explore(task, boxes(sides[0][None], sides[1][None]), most)
        if tried.sets is not None:
            return tried
        found = max(found, tried, key=lambda one: one.steps)
    return found


def _halves(piece: Piece, scales: Array) -> list[Piece]:
    """Cut the side that is longest in scaled units."""
    side = int(np.argmax((piece.high - piece.low) / scales))
    middle = float(piece.low[side] + piece.high[side]) / 2.0
    if not piece.low[side] < middle < piece.high[side]:
        raise Undecided(_TOO_WIDE)
    low, high = piece.low.copy(), piece.high.copy()
    low[side] = high[side] = middle
    tree: list[Any] = [side, middle, None, None]
    piece.tree[piece.index] = tree
    return [Piece(piece.low, high, piece.share / 2.0, tree, 2), Piece(low, piece.high, piece.share / 2.0, tree, 3)]


def _nodes(proofs: list[Explored]) -> dict[str, Any]:
    """The sets of all pieces as plain data."""
    edges, before = list[list[int]](), 0
    for proof in proofs:
        edges += [[before + source, leaf, before + target] for source, leaf, target in proof.edges]
        before += len(proof.time)
    sets = joined([proof.sets for proof in proofs if proof.sets is not None])
    plain = {"rows": sets.rows.tolist(), "low": sets.low.tolist(), "high": sets.high.tolist()}
    return plain | {"time": [time for proof in proofs for time in proof.time], "edges": edges}
