"""The graph of sets that a search draws, and the certificate that is read off it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.verify.closed_loop.sets import Array, Indices, Sets, boxes, joined

Numbers = Any
"""A whole number for each of some sets, or one for all."""


@dataclass
class Graph:
    """Sets with the step at which they are met, and where each branch of the program leads from them."""

    parts: list[Sets] = field(default_factory=list)
    columns: dict[str, list[Indices]] = field(default_factory=lambda: {"time": [], "label": [], "count": []})
    edges: list[Array] = field(default_factory=list)
    """Rows of source, leaf, target."""
    size: int = 0

    def add(self, sets: Sets, **numbers: Numbers) -> Indices:
        """Add sets and give their numbers."""
        self.parts.append(sets)
        for name, column in self.columns.items():
            column.append(np.broadcast_to(np.asarray(numbers[name]), len(sets)))
        self.size += len(sets)
        return np.arange(self.size - len(sets), self.size)

    def connect(self, sources: Indices, leaf: Numbers, targets: Indices) -> None:
        self.edges.append(np.stack(np.broadcast_arrays(sources, leaf, targets)))


@dataclass
class Piece:
    """A part of the start box: proved from a set of the graph, or cut in two."""

    low: Array
    high: Array
    root: int = -1
    """The set of the graph from which it is proved."""
    halves: tuple["Piece", "Piece"] | None = None

    def split(self, scales: Array) -> "tuple[Piece, Piece] | None":
        """Cut the side that is longest in scaled units; None where there is nothing to cut."""
        side = int(np.argmax((self.high - self.low) / scales))
        middle = (self.low[side] + self.high[side]) / 2.0
        if not self.low[side] < middle < self.high[side]:
            return None
        low, high = self.low.copy(), self.high.copy()
        low[side] = high[side] = middle
        self.halves = Piece(self.low, high), Piece(low, self.high)
        return self.halves


def nodes_of(whole: Piece, graph: Graph) -> dict[str, Any]:
    """The sets of a proof as plain data: the first is the start box, then its parts, then what they lead to."""
    pieces = [whole]
    for piece in pieces:  # which grows while it is read
        pieces += piece.halves or ()
    position = {id(piece): index for index, piece in enumerate(pieces)}
    splits = [[position[id(one)], *(position[id(half)] for half in one.halves)] for one in pieces if one.halves]
    cut = [piece for piece in pieces if piece.halves]
    outer = boxes(
        np.array([piece.low for piece in cut] or [whole.low])[: len(cut)],
        np.array([piece.high for piece in cut] or [whole.high])[: len(cut)],
    )
    edges = np.concatenate(graph.edges, axis=1) if graph.edges else np.zeros((3, 0), int)
    kept = _reachable(graph.size, [piece.root for piece in pieces if not piece.halves], edges)
    roots = np.array([piece.root for piece in pieces if not piece.halves])
    kept[roots] = False
    place = np.cumsum(kept) - 1 + len(pieces)
    place[roots] = [position[id(piece)] for piece in pieces if not piece.halves]
    everything = joined(graph.parts)
    columns = {name: np.concatenate(column) for name, column in graph.columns.items()}
    order = np.argsort([position[id(piece)] for piece in (*cut, *(piece for piece in pieces if not piece.halves))])
    first = joined([outer, everything[roots]])[order]
    found = joined([first, everything[kept]])
    used = kept[edges[0]] | np.isin(edges[0], roots)
    filled = {name: np.full(len(pieces), -1 if name == "label" else 0) for name in columns}
    return {
        "rows": found.rows.tolist(),
        "low": found.low.tolist(),
        "high": found.high.tolist(),
        **{name: np.concatenate([filled[name], column[kept]]).tolist() for name, column in columns.items()},
        "splits": splits,
        "edges": np.stack([place[edges[0][used]], edges[1][used], place[edges[2][used]]], axis=1).tolist(),
    }


def _reachable(size: int, roots: list[int], edges: Array) -> NDArray[np.bool_]:
    """Which sets are reached from the roots."""
    found = np.zeros(size, bool)
    found[roots] = True
    while True:
        new = edges[2][found[edges[0]]]
        if found[new].all():
            return found
        found[new] = True
