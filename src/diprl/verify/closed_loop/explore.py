"""Follows sets of states step by step until all that is claimed about them is certain, or something is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.loop import Images, Loop
from diprl.verify.closed_loop.sets import (
    Array,
    Flags,
    Indices,
    Modes,
    Sets,
    contained,
    joined,
    ranges,
    turned_rows,
    widened,
)
from diprl.verify.exact.question import Deadline
from diprl.verify.plants.plant import COUNTED

NEW = 2**40
"""Sets that an exploration makes are numbered from here on."""
_ANCHORS = {16, 64, 256, 1024}
"""Steps at which sets are made wider, so that later ones may come back into them."""
_WIDER = 0.02
_MOST_SETS = 60_000
_LONGEST = 2_000
"""Steps after which nothing is expected to come back any more."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """A set for each piece, or one for all, into which later sets may come back."""

    sets: Sets
    numbers: Indices
    time: int


@dataclass(frozen=True, eq=False)
class Search:
    """What a search is about."""

    loop: Loop
    claim: Claim
    scales: Array
    """How far each state ranges."""
    deadline: Deadline
    absorbers: tuple[Anchor, ...] = ()
    """Sets from which all that is claimed is certain already."""


@dataclass(frozen=True, eq=False)
class Front:
    """The sets of one step, with their numbers and the pieces of the start box that they come from."""

    sets: Sets
    numbers: Indices
    piece: Indices

    def __getitem__(self, index: Flags) -> "Front":
        return Front(self.sets[index], self.numbers[index], self.piece[index])


@dataclass(frozen=True, eq=False)
class Explored:
    """What an exploration came to: pieces that are proved, with the sets that prove them."""

    proved: Flags
    steps: Indices
    """How many steps of each piece are enclosed."""
    sets: Sets
    """Those that were made, numbered from NEW on."""
    time: Indices
    edges: Indices
    """Rows of set, leaf, and the set that it leads to."""


def explore(task: Search, start: Sets, numbers: Indices, most: int, begin: int = 0) -> Explored:
    """Follow each piece by at most so many sets a step; `begin` is the step at which it starts."""
    pieces, made = len(start), [Front(start[:0], numbers[:0], numbers[:0])]
    failed, steps = np.zeros(pieces, bool), np.zeros(pieces, int)
    front, edges = Front(start, numbers, np.arange(pieces)), [np.zeros((0, 4), int)]
    modes: dict[Any, Modes | None] = {}
    returning = not task.claim.goal  # then a set that lies in an earlier one needs no further steps
    anchors = [*task.absorbers, *([Anchor(start, numbers, begin)] if returning else [])]
    for time in count(begin):
        task.deadline.remaining()
        going, wrong = _judged(task, front.sets, time)
        failed[front.piece[wrong]] = True
        steps[front.piece[~wrong & ~failed[front.piece]]] = time
        front = front[going & ~failed[front.piece]]
        if not len(front.sets):
            break
        if len(front.sets) > _MOST_SETS or time > _LONGEST:
            failed[front.piece] = True
            break
        images = _images(task, front, time, failed)
        if not len(images.parents):
            break
        wider = _WIDER if returning and time in _ANCHORS else 0.0
        sets, owner = _enclosed(task, front, images, most, wider, modes, time)
        piece = front.piece[images.parents[np.unique(owner, return_index=True)[1]]]
        target = _earlier(task.claim, anchors, sets, piece, time)
        new = target < 0
        target[new] = NEW + sum(len(one.sets) for one in made) + np.arange(new.sum())
        edges.append(np.stack([front.numbers[images.parents], images.leaf, target[owner], piece[owner]], axis=1))
        front = Front(sets[new], target[new], piece[new])
        made.append(front)
        if wider:
            anchors.append(_anchor(front, start, time + 1))
    return _proved(~failed, steps, made, np.concatenate(edges), begin)


def _proved(proved: Flags, steps: Indices, made: Sequence[Front], edges: Indices, begin: int) -> Explored:
    """Only what belongs to pieces that are proved, numbered anew."""
    sets, piece = joined([one.sets for one in made]), np.concatenate([one.piece for one in made])
    time = np.repeat(np.arange(begin, begin + len(made)), [len(one.sets) for one in made])
    kept, edges = proved[piece], edges[proved[edges[:, 3]], :3]
    place = NEW + np.cumsum(kept) - 1
    for column in (0, 2):
        own = edges[:, column] >= NEW
        edges[own, column] = place[edges[own, column] - NEW]
    return Explored(proved, steps, sets[kept], time[kept], edges)


def _anchor(front: Front, start: Sets, time: int) -> Anchor:
    """The last set of every piece; a piece that has none gets one that nothing lies in."""
    rows, low, high, numbers = start.rows.copy(), start.low + np.inf, start.high - np.inf, np.full(len(start), -1)
    rows[front.piece], low[front.piece], high[front.piece] = front.sets.rows, front.sets.low, front.sets.high
    numbers[front.piece] = front.numbers
    return Anchor(Sets(rows, low, high), numbers, time)


def _earlier(claim: Claim, anchors: Sequence[Anchor], sets: Sets, piece: Indices, time: int) -> Indices:
    """For each new set, an earlier one around it, or −1."""
    found, soonest = np.full(len(sets), -1), min(time + 1, claim.since)
    for anchor in anchors:
        if soonest <= anchor.time <= (time + 1 if claim.steps is not None else np.inf):
            index = np.minimum(piece, len(anchor.numbers) - 1)
            inside = contained(sets, anchor.sets[index])
            found[inside] = anchor.numbers[index[inside]]
    return found


def _images(task: Search, front: Front, time: int, failed: Flags) -> Images:
    """Where the sets go; pieces whose images are unbounded, or unsafe on the way, are marked as failed."""
    claimed = task.claim.always if time >= task.claim.since else ()
    with np.errstate(all="ignore"):
        images = task.loop.images(front.sets, claimed, task.deadline)
        fine = images.safe & np.isfinite(images.states.low + images.states.high).all(axis=0)
    failed[front.piece[images.parents[~fine]]] = True
    return images[~failed[front.piece[images.parents]]]


def _judged(task: Search, sets: Sets, time: int) -> tuple[Flags, Flags]:
    """Which sets have to be followed further, and about which something claimed is not certain."""
    loop, claim = task.loop, task.claim
    states = loop.forms(sets.centre, sets.generators)
    good = loop.certain(claim.always, states) if time >= claim.since else np.ones(len(sets), bool)
    if claim.goal:
        reached = loop.certain(claim.goal, states)
        wrong = ~reached & (~good | (time == claim.steps))
        return ~reached & ~wrong, wrong
    over = np.full(len(sets), time == claim.steps)
    for end in loop.plant.ends:
        over |= loop.certain([end], states)
    return good & ~over, ~good


def _enclosed(
    task: Search, front: Front, images: Images, most: int, wider: float, modes: dict[Any, Modes | None], time: int
) -> tuple[Sets, Indices]:
    """Sets around images, and which set is around which: one each, or one for all of a piece if they are too many.

    States that count stay apart.
    """
    _, pieces, counts = np.unique(front.piece[images.parents], return_inverse=True, return_counts=True)
    counted = [index for index, state in enumerate(task.loop.plant.states) if state in COUNTED]
    alike = np.unique(np.vstack([pieces, np.round(images.states.centre[counted])]), axis=1, return_inverse=True)[1]
    groups = np.where(counts[pieces] > most, alike.ravel(), len(pieces) + np.arange(len(pieces)))
    _, owner, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order, begins = np.argsort(owner, kind="stable"), np.cumsum(sizes) - sizes
    rows = turned_rows(np.swapaxes(images.states.slopes, 0, 1), task.scales)
    for begin, size in zip(begins[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        members = order[begin : begin + size]
        widest = members[np.argmax((images.states.spread[:, members] / task.scales[:, None]).sum(axis=0))]
        leaves = tuple(sorted(set(images.leaf[members].tolist())))
        if leaves not in modes:
            parent = front.sets[images.parents[members[:1]]]
            modes[leaves] = task.loop.modes_across(parent.centre[0], parent.generators[0], task.scales)
        shared = modes[leaves]
        rows[members] = rows[widest] if shared is None else shared.at(time)
    low, high = ranges(rows, images.states)
    low, high = np.minimum.reduceat(low[order], begins), np.maximum.reduceat(high[order], begins)
    return widened(rows[order[begins]], low, high, wider), owner
