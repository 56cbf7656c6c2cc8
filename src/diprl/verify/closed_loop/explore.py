"""Follows sets of states step by step until all that is claimed about them is certain, or something is not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.forms import Form
from diprl.verify.closed_loop.graph import Graph
from diprl.verify.closed_loop.loop import Image, Loop
from diprl.verify.closed_loop.rows import Rows
from diprl.verify.closed_loop.sets import Array, Indices, Sets, contained, ranges, turned_rows, widened
from diprl.verify.exact.question import Deadline

_ANCHORS = {16, 64, 256, 1024}
"""Steps at which sets are made wider, so that later ones may come back into them."""
_WIDER = 0.02
_MOST_SETS = 60_000
_LONGEST = 2_000
"""Steps after which nothing is expected to come back any more."""


@dataclass(frozen=True)
class Outcome:
    """Which pieces are proved, and how many steps of each were enclosed."""

    proved: NDArray[np.bool_]
    steps: NDArray[np.int64]
    roots: Indices
    """The sets of the graph in which they begin."""


@dataclass(frozen=True, eq=False)
class Anchors:
    """Sets of the graph into which later ones may come back."""

    nodes: Indices
    sets: Sets
    time: int
    index: Indices
    """Which of them belongs to a piece, or −1."""


def anchored(nodes: Indices, sets: Sets, time: int, piece: Indices, pieces: int) -> Anchors:
    index = np.full(pieces, -1)
    index[piece] = np.arange(len(piece))
    return Anchors(nodes, sets, time, index)


@dataclass(frozen=True, eq=False)
class Search:
    """What a search is about, and what it has drawn."""

    loop: Loop
    claim: Claim
    scales: Array
    deadline: Deadline
    graph: Graph
    absorbers: list[Anchors]
    """Sets from which all that is claimed is certain already."""

    @property
    def may_return(self) -> bool:
        """Whether a set that lies in an earlier one needs no further steps."""
        return not self.claim.goal and self.claim.switches is None


@dataclass(frozen=True, eq=False)
class Children:
    """The images of one step, all branches together."""

    parents: Indices
    """Positions among the sets that were stepped."""
    leaf: Indices
    label: Indices
    states: list[Form]

    def __getitem__(self, index: "Indices | NDArray[np.bool_]") -> "Children":
        states = [Form(form.centre[index], form.slopes[index], form.error[index]) for form in self.states]
        return Children(self.parents[index], self.leaf[index], self.label[index], states)


@dataclass(frozen=True, eq=False)
class Front:
    """The sets of one step, with their numbers in the graph, their pieces, last actions and switches so far."""

    sets: Sets
    nodes: Indices
    piece: Indices
    label: Indices
    switches: Indices

    def __getitem__(self, index: "Indices | NDArray[np.bool_]") -> "Front":
        rows = (self.nodes[index], self.piece[index], self.label[index], self.switches[index])
        return Front(self.sets[index], *rows)


def explore(task: Search, start: Sets, most: int, begin: int = 0) -> Outcome:
    """Follow each piece by at most so many sets a step; `begin` is the step at which it starts."""
    count_of = len(start)
    failed, steps = np.zeros(count_of, bool), np.zeros(count_of, np.int64)
    piece, label, switches = np.arange(count_of), np.full(count_of, -1), np.zeros(count_of, int)
    roots = task.graph.add(start, time=begin, label=label, count=switches)
    front, rows = Front(start, roots, piece, label, switches), Rows(task.loop, task.scales, {})
    anchors = [anchored(roots, start, begin, piece, count_of)] if task.may_return else []
    for time in count(begin):
        task.deadline.remaining()
        going, wrong = _judged(task.loop, task.claim, front.sets, front.switches, time)
        failed[front.piece[wrong]] = True
        steps[front.piece[~wrong & ~failed[front.piece]]] = time
        front = front[going & ~failed[front.piece]]
        if not len(front.sets):
            break
        if len(front.sets) > _MOST_SETS or time > _LONGEST:
            failed[front.piece] = True
            break
        children = _images(task, front, time, failed)
        if not len(children.parents):
            break
        wider = _WIDER if task.may_return and time in _ANCHORS else 0.0
        front = _advanced(task, front, children, replace(rows, time=time), most, wider, anchors)
        if wider:
            anchors.append(anchored(front.nodes, front.sets, time + 1, front.piece, count_of))
    return Outcome(~failed, steps, roots)


def _images(task: Search, front: Front, time: int, failed: NDArray[np.bool_]) -> Children:
    """Where the sets go; pieces whose images are unbounded or unsafe on the way are marked as failed."""
    with np.errstate(all="ignore"):
        images = list(task.loop.images(front.sets))
        for image in images:
            unsafe = ~_safe_tube(task.loop, task.claim, image, time)
            failed[front.piece[image.parents[unsafe]]] = True
    children = _gathered(images)
    bounded = np.all([np.isfinite(form.centre) & np.isfinite(form.spread) for form in children.states], axis=0)
    failed[front.piece[children.parents[~bounded]]] = True
    return children[~failed[front.piece[children.parents]]]


def _advanced(
    task: Search, front: Front, children: Children, rows: Rows, most: int, wider: float, anchors: Sequence[Anchors]
) -> Front:
    """Enclose images by sets, draw them into the graph, and keep those that are not in an earlier set already."""
    parents, time = children.parents, rows.time
    counted = task.claim.switches is not None
    changed = (front.label[parents] >= 0) & (front.label[parents] != children.label)
    switches = front.switches[parents] + changed if counted else np.zeros_like(children.leaf)
    labels = children.label if counted else np.full_like(children.leaf, -1)
    keys = np.stack([front.piece[parents], labels, switches])
    made, owner = _enclosed(rows, children, keys, front.sets, most, wider)
    keys = keys[:, np.unique(owner, return_index=True)[1]]
    target = _back(task, anchors, made, keys[0], time)
    new = target < 0
    fresh = task.graph.add(made[new], time=time + 1, label=keys[1][new], count=keys[2][new])
    target[new] = fresh
    task.graph.connect(front.nodes[parents], children.leaf, target[owner])
    return Front(made[new], fresh, *keys[:, new])


def _judged(
    loop: Loop, claim: Claim, sets: Sets, switches: Indices, time: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which sets have to be followed further, and about which something claimed is not certain."""
    states = loop.forms(sets)
    over = np.zeros(len(sets), bool)
    for end in loop.plant.ends:
        over |= loop.certain([end], states)
    reached = loop.certain(claim.goal, states) if claim.goal else np.zeros(len(sets), bool)
    wrong = np.zeros(len(sets), bool)
    if time >= claim.since:
        wrong = ~loop.certain(claim.always, states) & ~reached
    if claim.switches is not None:
        wrong |= switches > claim.switches
    last = time == claim.steps
    if claim.goal:
        return ~reached & ~wrong, wrong | (~reached & last)
    return ~(over | last) & ~wrong, wrong


def _safe_tube(loop: Loop, claim: Claim, image: Image, time: int) -> NDArray[np.bool_]:
    """Whether what is claimed holds during the step as well."""
    safe = np.ones(len(image.parents), bool)
    if time >= claim.since and claim.always:
        for tube in image.tubes:
            safe &= loop.certain(claim.always, tube)
    return safe


def _gathered(images: Sequence[Image]) -> Children:
    def column(index: int) -> Form:
        forms = [image.states[index] for image in images]
        return Form(
            *(np.concatenate([getattr(form, name) for form in forms]) for name in ("centre", "slopes", "error"))
        )

    parents = np.concatenate([image.parents for image in images])
    leaf = np.repeat([image.leaf for image in images], [len(image.parents) for image in images])
    label = np.repeat([image.label for image in images], [len(image.parents) for image in images])
    return Children(parents, leaf, label, [column(index) for index in range(len(images[0].states))])


def _enclosed(
    choice: Rows, children: Children, keys: Indices, parents: Sets, most: int, wider: float
) -> tuple[Sets, Indices]:
    """Sets around images, and which set is around which: one each, or one for all that belong together if too many."""
    _, pieces, counts = np.unique(keys[0], return_inverse=True, return_counts=True)
    rows = turned_rows(children.states, choice.scales)
    groups = np.arange(len(pieces))
    many = np.flatnonzero(counts[pieces] > most)
    if len(many):
        groups[many] = len(pieces) + np.unique(keys[:, many], axis=1, return_inverse=True)[1].ravel()
    _, owner, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.argsort(owner, kind="stable")
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    _share_rows(choice, children, rows, order, begins, sizes, parents)
    low, high = ranges(rows, children.states)
    low, high = np.minimum.reduceat(low[order], begins), np.maximum.reduceat(high[order], begins)
    return widened(rows[order[begins]], low, high, *([wider] if wider else [])), owner


def _share_rows(
    choice: Rows, children: Children, rows: Array, order: Indices, begins: Indices, sizes: Indices, parents: Sets
) -> None:
    """Give the images of each group the same rows: those across the condition between them, or those of the widest."""
    spread = np.sum([form.spread / scale for form, scale in zip(children.states, choice.scales, strict=True)], axis=0)
    known: dict[tuple[int, ...], Array | None] = {}
    for begin, size in zip(begins[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        members = order[begin : begin + size]
        leaves = tuple(sorted(set(children.leaf[members].tolist())))
        if leaves not in known:
            known[leaves] = choice.across(parents[children.parents[members[:1]]])
        shared = known[leaves]
        rows[members] = rows[members[np.argmax(spread[members])]] if shared is None else shared


def _back(task: Search, anchors: Sequence[Anchors], made: Sets, pieces: Indices, time: int) -> Indices:
    """For each new set, an earlier one around it, or −1."""
    found, soonest = np.full(len(made), -1), min(time + 1, task.claim.since)
    latest = time + 1 if task.claim.steps is not None else time + 10**9
    for anchor in anchors:
        if anchor.time >= soonest:
            index = anchor.index[pieces]
            there = np.flatnonzero(index >= 0)
            inside = there[contained(made[there], anchor.sets[index[there]])]
            found[inside] = anchor.nodes[index[inside]]
    for absorber in task.absorbers:
        if soonest <= absorber.time <= latest:
            found[contained(made, absorber.sets)] = absorber.nodes[0]
    return found
