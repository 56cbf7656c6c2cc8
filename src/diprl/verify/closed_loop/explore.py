"""Follows a set of states step by step until all that is claimed about it is certain, or something is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from diprl.verify.closed_loop.loop import Claim, Images, Loop
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

_ANCHORS = {16, 64, 256, 1024}
"""Steps at which sets are made wider, so that later ones may come back into them."""
_WIDER = 0.02
_MOST_SETS, _LONGEST = 1_000, 2_000
"""Sets of one step, and steps, beyond which nothing is expected to be proved any more."""


@dataclass(frozen=True, eq=False)
class Search:
    """What a search is about."""

    loop: Loop
    claim: Claim
    scales: Array
    """How far each state ranges."""
    deadline: Deadline


@dataclass(frozen=True, eq=False)
class Explored:
    """The sets that a start leads to, or how many steps were enclosed before something was not certain."""

    steps: int
    sets: Sets | None = None
    """The first one is the start; None where nothing is proved."""
    time: Sequence[int] = ()
    edges: Sequence[tuple[int, int, int]] = ()
    """Which set leads by which leaf to which set."""


def explore(task: Search, start: Sets, most: int) -> Explored:
    """Follow a start by at most so many sets a step, while that is possible."""
    returning = not task.claim.goal  # then a set that lies in an earlier one needs no further steps
    front, numbers, made, time = start, np.array([0]), [start], [0]
    anchors, edges = [(start, 0, 0)] if returning else [], list[tuple[int, int, int]]()
    modes: dict[tuple[int, ...], Modes | None] = {}
    for step in count():
        task.deadline.remaining()
        going = _judged(task, front, step)
        if going is None or len(front) > _MOST_SETS or step > _LONGEST:
            return Explored(step - 1)
        front, numbers = front[going], numbers[going]
        if not len(front):
            return Explored(step, joined(made), time, edges)
        images = task.loop.images(front, task.claim.always if step >= task.claim.since else (), task.deadline)
        if not (images.safe & np.isfinite(images.states.low + images.states.high).all(axis=0)).all():
            return Explored(step)
        wider = _WIDER if returning and step in _ANCHORS else 0.0
        sets, owner = _enclosed(task, front, images, most, wider, modes, step)
        target = _earlier(task.claim, anchors, sets, step)
        new = target < 0
        target[new] = len(time) + np.arange(new.sum())
        edges += zip(numbers[images.parents].tolist(), images.leaf.tolist(), target[owner].tolist(), strict=True)
        front, numbers = sets[new], target[new]
        made.append(front)
        time += [step + 1] * len(front)
        anchors += [(front[at : at + 1], numbers[at], step + 1) for at in range(len(front))] if wider else []
    raise AssertionError  # never: the steps are counted without end


def _judged(task: Search, sets: Sets, step: int) -> Flags | None:
    """Which sets have to be followed further; None where something claimed is not certain."""
    loop, claim = task.loop, task.claim
    states = loop.forms(sets.centre, sets.generators)
    over = loop.certain(claim.goal, states) if claim.goal else np.full(len(sets), step == claim.steps)
    good = loop.certain(claim.always, states) if step >= claim.since else np.ones(len(sets), bool)
    if claim.goal:
        return ~over if (over | (good & (step != claim.steps))).all() else None
    for end in loop.plant.ends:
        over |= loop.certain([end], states)
    return ~over if good.all() else None


def _earlier(claim: Claim, anchors: Sequence[tuple[Sets, int, int]], sets: Sets, step: int) -> Indices:
    """For each new set, an earlier one around it, or −1."""
    found = np.full(len(sets), -1)
    for anchor, number, time in anchors:
        if time >= min(step + 1, claim.since):
            found[contained(sets, anchor)] = number
    return found


def _enclosed(
    task: Search,
    front: Sets,
    images: Images,
    most: int,
    wider: float,
    modes: dict[tuple[int, ...], Modes | None],
    step: int,
) -> tuple[Sets, Indices]:
    """Sets around images, and which set is around which: one each, or one for all if they are too many.

    States that count stay apart.
    """
    counted = [index for index, state in enumerate(task.loop.plant.states) if state in COUNTED]
    rows, owner = turned_rows(np.swapaxes(images.states.slopes, 0, 1), task.scales), np.arange(len(images.parents))
    if len(images.parents) > most:
        owner = np.unique(np.round(images.states.centre[counted]).T, axis=0, return_inverse=True)[1].ravel()
    for group in range(owner.max() + 1):
        members = np.flatnonzero(owner == group)
        if len(members) == 1:
            continue
        leaves = tuple(np.unique(images.leaf[members]).tolist())
        if leaves not in modes:
            parent = front[images.parents[members[:1]]]
            modes[leaves] = task.loop.modes_across(parent.centre[0], parent.generators[0], task.scales)
        widest = members[np.argmax((images.states.spread[:, members] / task.scales[:, None]).sum(axis=0))]
        shared = modes[leaves]
        rows[members] = rows[widest] if shared is None else shared.at(step)
    low, high = ranges(rows, images.states)
    order = np.argsort(owner, kind="stable")
    begins = np.searchsorted(owner[order], np.arange(owner.max() + 1))
    low, high = np.minimum.reduceat(low[order], begins), np.maximum.reduceat(high[order], begins)
    return widened(rows[order[begins]], low, high, wider), owner
