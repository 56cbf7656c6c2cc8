"""Looks for a proof: pieces of the start box are followed step by step, and those that fail are cut and tried again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.explore import Anchors, Search, explore
from diprl.verify.closed_loop.graph import Graph, Piece, nodes_of
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.closed_loop.rows import Rows
from diprl.verify.closed_loop.sets import Array, boxes, widened
from diprl.verify.closed_loop.simulate import Simulated
from diprl.verify.exact.question import Deadline, Undecided

_MOST_PIECES = 50_000
_TOGETHER = 512
"""Pieces that are followed at once."""
_GROWTH = (1.1, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 35.0, 60.0, 100.0, 200.0, 400.0, 1000.0)
"""How much larger than where the loop settles a set is tried that is never left."""
_SHARE, _LONGEST = 0.25, 30.0
"""How much of the time, and how many seconds at most, are spent on such sets."""
_SETS = (1, 12)
"""How many sets may enclose one piece's states at a step, tried in turn."""
Progress = Callable[[float, str], None]
"""Is told the share of the start box that is done, and what is going on."""


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    nodes: dict[str, Any] | None
    """The sets of a proof, for the certificate."""
    share: float
    """How much of the start box is proved."""
    steps: int
    """How many steps are enclosed from every start, for the piece that got least far."""
    pieces: int
    stopped: str = ""
    """Why it ended, if not with a proof."""


def search(loop: Loop, claim: Claim, simulated: Simulated, deadline: Deadline, progress: Progress) -> Found:
    """Follow the whole start box, then cut whatever fails, until all is proved or the time is up."""
    task = Search(loop, claim, simulated.ranges, deadline, Graph(), [])
    whole = Piece(np.array(claim.start.low), np.array(claim.start.high))
    waiting, done, pieces, least = [(whole, 1.0)], 0.0, 1, -1
    try:
        while waiting:
            if pieces == (1 if claim.steps is None else 2):
                find_absorbers(task, simulated.settled, progress)
            batch, waiting = waiting[:_TOGETHER], waiting[_TOGETHER:]
            reached = _follow(task, [piece for piece, _ in batch])
            for (piece, share), steps in zip(batch, reached, strict=True):
                if piece.root >= 0:
                    done += share
                    continue
                least = steps if pieces == 1 else max(least, 0)
                halves = piece.split(task.scales)
                if halves is None or pieces >= _MOST_PIECES:
                    return Found(None, done, least, pieces, "the sets are too wide, however small the start is cut")
                waiting += [(half, share / 2.0) for half in halves]
                pieces += 1
            progress(done, f"{pieces} pieces of the start box")
    except Undecided as reason:
        return Found(None, done, least, pieces, str(reason))
    except np.linalg.LinAlgError:
        return Found(None, done, least, pieces, "the numbers are too large or too small")
    return Found(nodes_of(whole, task.graph), 1.0, claim.steps or 0, pieces)


def _follow(task: Search, pieces: Sequence[Piece]) -> list[int]:
    """Explore from some pieces; those that succeed keep their set. Gives how many steps each was followed."""
    reached = [0] * len(pieces)
    for most in _SETS if not task.claim.goal else _SETS[1:]:
        left = [index for index, piece in enumerate(pieces) if piece.root < 0]
        if not left:
            break
        start = boxes(np.array([pieces[index].low for index in left]), np.array([pieces[index].high for index in left]))
        outcome = explore(task, start, most)
        for number, index in enumerate(left):
            reached[index] = max(reached[index], int(outcome.steps[number]))
            if outcome.proved[number]:
                pieces[index].root = int(outcome.roots[number])
    return reached


def find_absorbers(task: Search, settled: Array, progress: Progress) -> None:
    """Look for sets that are never left, around the states in which the loop settles, from small to large."""
    claim = task.claim
    if claim.goal or claim.switches is not None or (claim.steps is not None and claim.since):
        return
    share = min(task.deadline.remaining() * _SHARE, _LONGEST)
    forever = replace(task, claim=replace(claim, steps=None), deadline=Deadline(share))
    around = boxes(settled.min(axis=1)[None], settled.max(axis=1)[None] + 1e-9)
    try:
        rows = Rows(task.loop, task.scales, {}).settled(around)
    except np.linalg.LinAlgError:
        return
    values = rows @ settled
    middle, half = (values.min(axis=1) + values.max(axis=1)) / 2.0, np.ptp(values, axis=1) / 2.0
    floor = 1e-4 * np.abs(rows) @ task.scales
    wide = np.outer(_GROWTH, np.maximum(half, floor))
    candidates = widened(np.broadcast_to(rows, (len(wide), *rows.shape)), middle - wide, middle + wide)
    try:
        outcome = explore(forever, candidates, 1, claim.since)
    except (Undecided, np.linalg.LinAlgError):
        return
    for number in np.flatnonzero(outcome.proved).tolist():
        part = slice(number, number + 1)
        task.absorbers.append(Anchors(outcome.roots[part], candidates[part], claim.since, np.zeros(0, int)))
    progress(0.0, f"found {len(task.absorbers)} sets that are never left")
