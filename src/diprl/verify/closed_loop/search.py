"""Looks for a proof: the start box is followed step by step, and cut in two where that fails, again and again."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from diprl.program.ast import If
from diprl.system.processes import end_with_parent
from diprl.verify.closed_loop.forms import Array
from diprl.verify.closed_loop.loop import Claim, Images, Loop
from diprl.verify.closed_loop.sets import Flags, Indices, Modes, Sets, boxes, contained, ranges, turned_rows, widened
from diprl.verify.exact.question import Deadline, Undecided
from diprl.verify.plants.plant import COUNTED

_ANCHORS = {16, 64, 256, 1024}
"""Steps at which sets are made wider, so that later ones may come back into them."""
_WIDER = 0.02
_MOST_SETS, _LONGEST = 1_000, 2_000
"""Sets of one step, and steps, beyond which nothing is expected to be proved any more."""
_MOST_PIECES = 50_000
_TOGETHER = 64
"""Pieces that are handed to the processes at once."""
_SETS = (1, 12)
"""How many sets may enclose one piece's states at a step, tried in turn."""
_TOO_WIDE = "the sets are too wide, however small the start is cut"
Known = dict[tuple[int, ...], Modes | None]
"""The rows that were found for images along some leaves."""
Progress = Callable[[float, str], None]
"""Is told the share of the start box that is done, and what is going on."""


@dataclass(frozen=True, eq=False)
class Explored:
    """The sets that a start leads to, or how many steps were enclosed before something was not certain."""

    steps: int
    sets: Sets | None = None
    """The first one is the start; None where nothing is proved."""
    time: Sequence[int] = ()
    edges: Sequence[tuple[int, int, int]] = ()
    """Which set leads by which leaf to which set."""


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


@dataclass(frozen=True, eq=False)
class Search:
    """What a search for a proof is about, and the search."""

    loop: Loop
    claim: Claim
    scales: Array
    """How far each state ranges."""
    deadline: Deadline

    def proof(self, processes: int, progress: Progress) -> Found:
        """Follow the whole start box, then cut whatever fails, until all is proved or the time is up.

        In what order pieces are tried does not depend on the processes, so neither does the proof.
        """
        tree, proofs, done, steps, pieces = [None], list[Explored](), 0.0, 0, 1
        waiting = [Piece(np.array(self.claim.start.low), np.array(self.claim.start.high), 1.0, tree, 0)]
        try:
            with ExitStack() as stack:
                run: Any = map
                while waiting:
                    batch, waiting = waiting[:_TOGETHER], waiting[_TOGETHER:]
                    if len(batch) > 1 and processes > 1 and run is map:
                        pool = ProcessPoolExecutor(processes, get_context("spawn"), end_with_parent)
                        run = stack.enter_context(pool).map
                    sides = [(piece.low, piece.high) for piece in batch]
                    for piece, explored in zip(batch, run(self.follow, sides), strict=True):
                        steps = steps if pieces > 1 else explored.steps
                        if explored.sets is None:
                            waiting += _halves(piece, self.scales)
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
        return Found(_nodes(proofs) | {"start": tree[0]}, 1.0, self.claim.steps or 0, pieces)

    @np.errstate(all="ignore")
    def follow(self, sides: tuple[Array, Array]) -> Explored:
        """Explore from one piece, by one set at a step and then by more."""
        found, alone = Explored(-1), not isinstance(self.loop.program.root, If)  # then one set is all there is
        for most in _SETS[:1] if alone else _SETS[1:] if self.claim.goal else _SETS:
            tried = self.explore(boxes(sides[0][None], sides[1][None]), most)
            if tried.sets is not None:
                return tried
            found = max(found, tried, key=lambda one: one.steps)
        return found

    def explore(self, start: Sets, most: int) -> Explored:
        """Follow a start by at most so many sets a step, while that is possible."""
        returning = not self.claim.goal  # then a set that lies in an earlier one needs no further steps
        front, numbers, made, time = start, np.array([0]), [start], [0]
        anchors, edges = [(start, 0, 0)] if returning else [], list[tuple[int, int, int]]()
        modes: Known = {}
        for step in count():
            self.deadline.remaining()
            going = self._judged(front, step)
            if going is None or len(front) > _MOST_SETS or step > _LONGEST:
                return Explored(step - 1)
            front, numbers = front[going], numbers[going]
            if not len(front):
                return Explored(step, Sets.joined(made), time, edges)
            images = self.loop.images(front, self.claim.always if step >= self.claim.since else (), self.deadline)
            if not (images.safe & np.isfinite(images.states.low + images.states.high).all(axis=0)).all():
                return Explored(step)
            wider = _WIDER if returning and step in _ANCHORS else 0.0
            sets, owner = self._enclosed(front, images, most, wider, modes, step)
            target = self._earlier(anchors, sets, step)
            new = target < 0
            target[new] = len(time) + np.arange(new.sum())
            edges += zip(numbers[images.parents].tolist(), images.leaf.tolist(), target[owner].tolist(), strict=True)
            front, numbers = sets[new], target[new]
            made.append(front)
            time += [step + 1] * len(front)
            anchors += [(front[at : at + 1], numbers[at], step + 1) for at in range(len(front))] if wider else []
        raise AssertionError  # never: the steps are counted without end

    def _earlier(self, anchors: Sequence[tuple[Sets, int, int]], sets: Sets, step: int) -> Indices:
        """For each new set, an earlier one around it, or −1."""
        found = np.full(len(sets), -1)
        for anchor, number, time in anchors:
            if time >= min(step + 1, self.claim.since):
                found[contained(sets, anchor)] = number
        return found

    def _judged(self, sets: Sets, step: int) -> Flags | None:
        """Which sets have to be followed further; None where something claimed is not certain."""
        loop, claim = self.loop, self.claim
        states = loop.forms(sets.centre, sets.generators)
        over = loop.certain(claim.goal, states) if claim.goal else np.full(len(sets), step == claim.steps)
        good = loop.certain(claim.always, states) if step >= claim.since else np.ones(len(sets), bool)
        if claim.goal:
            return ~over if (over | (good & (step != claim.steps))).all() else None
        for end in loop.plant.ends:
            over |= loop.certain([end], states)
        return ~over if good.all() else None

    def _enclosed(
        self, front: Sets, images: Images, most: int, wider: float, modes: Known, step: int
    ) -> tuple[Sets, Indices]:
        """Sets around images, and which set is around which: one each, or one for all if they are too many.

        States that count stay apart.
        """
        counted = [index for index, state in enumerate(self.loop.plant.states) if state in COUNTED]
        rows, owner = turned_rows(np.swapaxes(images.states.slopes, 0, 1), self.scales), np.arange(len(images.parents))
        if len(images.parents) > most:
            owner = np.unique(np.round(images.states.centre[counted]).T, axis=0, return_inverse=True)[1].ravel()
        for group in range(owner.max() + 1):
            members = np.flatnonzero(owner == group)
            if len(members) == 1:
                continue
            leaves = tuple(np.unique(images.leaf[members]).tolist())
            if leaves not in modes:
                parent = front[images.parents[members[:1]]]
                modes[leaves] = self.loop.modes_across(parent.centre[0], parent.generators[0], self.scales)
            widest = members[np.argmax((images.states.spread[:, members] / self.scales[:, None]).sum(axis=0))]
            shared = modes[leaves]
            rows[members] = rows[widest] if shared is None else shared.at(step)
        low, high = ranges(rows, images.states)
        order = np.argsort(owner, kind="stable")
        begins = np.searchsorted(owner[order], np.arange(owner.max() + 1))
        low, high = np.minimum.reduceat(low[order], begins), np.maximum.reduceat(high[order], begins)
        return widened(rows[order[begins]], low, high, wider), owner


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
    sets = Sets.joined([proof.sets for proof in proofs if proof.sets is not None])
    plain = {"rows": sets.rows.tolist(), "low": sets.low.tolist(), "high": sets.high.tolist()}
    return plain | {"time": [time for proof in proofs for time in proof.time], "edges": edges}
