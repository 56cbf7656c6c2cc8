"""Looks for a proof: pieces of the start box are followed step by step, and those that fail are cut and tried again."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from diprl.system.processes import end_with_parent
from diprl.verify.closed_loop.explore import NEW, Anchor, Explored, Search, explore
from diprl.verify.closed_loop.sets import Array, Indices, Sets, boxes, joined, widened
from diprl.verify.exact.question import Deadline, Undecided

_MOST_PIECES = 50_000
_JOBS, _SMALLEST, _LARGEST = 4, 32, 512
"""Into how many jobs the waiting pieces are divided, and how many pieces a job has."""
_GROWTH = (1.1, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 35.0, 60.0, 100.0, 200.0, 400.0, 1000.0)
"""How much larger than where the loop settles a set is tried that is never left."""
_SHARE, _LONGEST, _BRIEF = 0.25, 30.0, 5.0
"""How much of the time is spent on such sets, and how many seconds at most if a claim is for ever, or has an end."""
_SETS = (1, 12)
"""How many sets may enclose one piece's states at a step, tried in turn."""
Progress = Callable[[float, str], None]
"""Is told the share of the start box that is done, and what is going on."""


@dataclass
class Draft:
    """A proof in the making: all sets, when they are met, which are cut in two, and where branches lead."""

    sets: list[Sets] = field(default_factory=list)
    time: list[Indices] = field(default_factory=list)
    splits: dict[int, tuple[int, float, int, int]] = field(default_factory=dict)
    """Of sets that are parts of the start: along which state, where, and the numbers of the halves."""
    edges: list[Indices] = field(default_factory=lambda: [np.zeros((0, 3), int)])
    size: int = 0

    def add(self, sets: Sets, time: Any = 0) -> Indices:
        """Add sets and give their numbers."""
        self.sets.append(sets)
        self.time.append(np.broadcast_to(time, len(sets)))
        self.size += len(sets)
        return np.arange(self.size - len(sets), self.size)

    def take(self, found: Explored) -> None:
        """Add what an exploration proved."""
        moved = found.edges + np.where(found.edges >= NEW, self.size - NEW, 0)
        self.edges.append(moved)
        self.add(found.sets, found.time)

    def nodes(self) -> dict[str, Any]:
        """The sets of the proof as plain data for a certificate."""
        sets, time, edges = joined(self.sets), np.concatenate(self.time), np.concatenate(self.edges)
        kept = np.zeros(self.size, bool)
        kept[[number for number in self._pieces() if number not in self.splits]] = True
        while not kept[reached := edges[kept[edges[:, 0]], 2]].all():
            kept[reached] = True
        place, edges = np.cumsum(kept) - 1, edges[kept[edges[:, 0]]]
        return {
            "rows": sets.rows[kept].tolist(),
            "low": sets.low[kept].tolist(),
            "high": sets.high[kept].tolist(),
            "time": time[kept].tolist(),
            "start": self._start(place),
            "edges": np.stack([place[edges[:, 0]], edges[:, 1], place[edges[:, 2]]], axis=1).tolist(),
        }

    def _pieces(self) -> list[int]:
        """The start box and all its parts, the larger ones first."""
        found = [0]
        for number in found:  # which grows while it is read
            found += self.splits[number][2:] if number in self.splits else ()
        return found

    def _start(self, place: Indices) -> Any:
        """How the start box is cut, as nested lists around the numbers of sets."""
        trees: dict[int, Any] = {}
        for number in reversed(self._pieces()):
            side, middle, *halves = self.splits.get(number, (0, 0.0))
            trees[number] = [side, middle, *(trees[half] for half in halves)] if halves else int(place[number])
        return trees[0]


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


class Piece(NamedTuple):
    """A part of the start box that is not proved yet."""

    low: Array
    high: Array
    number: int
    share: float


def search(task: Search, settled: Array, processes: int, progress: Progress) -> Found:
    """Follow the whole start box, then cut whatever fails, until all is proved or the time is up.

    How pieces are divided into jobs does not depend on the processes, so neither does the proof.
    """
    claim, draft = task.claim, Draft()
    waiting, done, steps, pieces = [Piece(np.array(claim.start.low), np.array(claim.start.high), 0, 1.0)], 0.0, 0, 1
    draft.add(_sets(waiting))
    try:
        with ExitStack() as stack:
            run: Any = map
            while waiting:
                if pieces == (1 if claim.steps is None else 2):
                    task = replace(task, absorbers=find_absorbers(task, settled, draft))
                size = min(max(-(-len(waiting) // _JOBS), _SMALLEST), _LARGEST)
                jobs = [waiting[at : at + size] for at in range(0, len(waiting), size)][:_JOBS]
                waiting = waiting[size * len(jobs) :]
                if len(jobs) > 1 and processes > 1 and run is map:
                    pool = ProcessPoolExecutor(processes, get_context("spawn"), end_with_parent)
                    run = stack.enter_context(pool).map
                for job, explored in zip(jobs, run(partial(follow, task), jobs), strict=True):
                    for found in explored:
                        draft.take(found)
                    done += sum(piece.share for piece, fine in zip(job, explored[-1].proved, strict=True) if fine)
                    failed = [piece for piece, fine in zip(job, explored[-1].proved, strict=True) if not fine]
                    steps = steps if pieces > 1 else int(max(found.steps[0] for found in explored))
                    for piece in failed:
                        waiting += _halves(piece, task.scales, draft)
                    pieces += len(failed)
                if pieces > _MOST_PIECES:
                    raise Undecided("the sets are too wide, however small the start is cut")
                progress(done, f"{pieces} pieces of the start box, {len(waiting)} to do")
    except Undecided as reason:
        return Found(None, done, steps, pieces, str(reason))
    except np.linalg.LinAlgError:
        return Found(None, done, steps, pieces, "the numbers are too large or too small")
    return Found(draft.nodes(), 1.0, claim.steps or 0, pieces)


@np.errstate(all="ignore")
def follow(task: Search, pieces: Sequence[Piece]) -> list[Explored]:
    """Explore from some pieces, by few sets and then by more; the last exploration knows all that are proved."""
    found, proved = list[Explored](), np.zeros(len(pieces), bool)
    for most in _SETS[1:] if task.claim.goal else _SETS:
        left = [piece for piece, fine in zip(pieces, proved, strict=True) if not fine]
        explored = explore(task, _sets(left), np.array([piece.number for piece in left]), most)
        proved[~proved] = explored.proved
        found.append(replace(explored, proved=proved.copy()))
        if proved.all():
            break
    return found


def _sets(pieces: Sequence[Piece]) -> Sets:
    return boxes(np.array([piece.low for piece in pieces]), np.array([piece.high for piece in pieces]))


def _halves(piece: Piece, scales: Array, draft: Draft) -> list[Piece]:
    """Cut the side that is longest in scaled units."""
    side = int(np.argmax((piece.high - piece.low) / scales))
    middle = (piece.low[side] + piece.high[side]) / 2.0
    if not piece.low[side] < middle < piece.high[side]:
        raise Undecided("the sets are too wide, however small the start is cut")
    low, high = piece.low.copy(), piece.high.copy()
    low[side] = high[side] = middle
    halves = [(piece.low, high), (low, piece.high)]
    numbers = draft.add(boxes(np.array([piece.low, low]), np.array([high, piece.high]))).tolist()
    draft.splits[piece.number] = (side, float(middle), *numbers)
    return [Piece(*half, number, piece.share / 2.0) for half, number in zip(halves, numbers, strict=True)]


def find_absorbers(task: Search, settled: Array, draft: Draft) -> tuple[Anchor, ...]:
    """Look for sets that are never left, around the states in which the loop settles, from small to large."""
    claim = task.claim
    if claim.goal or (claim.steps is not None and claim.since):
        return ()
    longest = _LONGEST if claim.steps is None else _BRIEF
    deadline = Deadline(min(task.deadline.remaining() * _SHARE, longest))
    try:
        candidates = _candidates(task, settled)
        numbers = draft.add(candidates, claim.since)
        forever = replace(task, claim=replace(claim, steps=None), deadline=deadline)
        found = explore(forever, candidates, numbers, 1, claim.since)
    except (Undecided, np.linalg.LinAlgError):
        return ()
    draft.take(found)
    return tuple(
        Anchor(candidates[at : at + 1], numbers[at : at + 1], claim.since) for at in np.flatnonzero(found.proved)
    )


def _candidates(task: Search, settled: Array) -> Sets:
    """Larger and larger sets around some states."""
    low, high = settled.min(axis=1), settled.max(axis=1) + 1e-9
    modes = task.loop.modes_across((low + high) / 2.0, np.diag(high - low) / 2.0, task.scales)
    rows = np.diag(1.0 / task.scales) if modes is None else modes.at(0)
    values = rows @ settled
    middle, half = (values.min(axis=1) + values.max(axis=1)) / 2.0, np.ptp(values, axis=1) / 2.0
    wide = np.outer(_GROWTH, np.maximum(half, 1e-4 * np.abs(rows) @ task.scales))
    return widened(np.broadcast_to(rows, (len(wide), *rows.shape)), middle - wide, middle + wide)
