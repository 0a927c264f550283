"""Numbering the nodes of a tree depth first, from the parent of each node.

Nothing here is recursive, so that a tree may be as deep as memory allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.files.side_files import first_unusable, shown
from setveil.data.records.labels import label_order, stripped
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CYCLE_SHOWN = 6


class Cycle(BadData):
    """The error about a cycle: nodes that are ancestors of each other."""

    def __init__(self, nodes: Sequence[str], *, file: str | None = None, line: int | None = None) -> None:
        self.nodes = tuple(nodes)
        steps = [shown(node) for node in nodes[:_CYCLE_SHOWN]]
        if len(nodes) > _CYCLE_SHOWN:
            steps.append(f"... ({len(nodes) - _CYCLE_SHOWN:,} more)")
        circle = " -> ".join([*steps, shown(nodes[0])])
        super().__init__(
            f"parents form a cycle: {circle}; expected a tree; remove or correct one of these parents",
            file=file,
            line=line,
        )


def number_nodes(parent_of: Mapping[str, str]) -> dict[str, Any]:
    """Assign depth-first numbers to the nodes; return the fields of a `Hierarchy`."""
    names, above = _rooted(parent_of)
    order = _depth_first(names, above)
    if len(order) < len(names):
        raise Cycle(_cycle(names, above, min(set(range(len(names))).difference(order))))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    parents = np.array(above, dtype=np.int64)[order]
    parents[1:] = place[parents[1:]]
    above = parents.tolist()
    depths, ends = [0] * len(above), list(range(1, len(above) + 1))
    for node in range(1, len(above)):
        depths[node] = depths[above[node]] + 1
    for node in range(len(above) - 1, 0, -1):
        ends[above[node]] = max(ends[above[node]], ends[node])
    nodes = tuple(names[number] for number in order)
    node_ends = np.array(ends, dtype=np.int64)
    is_leaf = node_ends == np.arange(1, len(nodes) + 1)
    leaves_before = offsets_of(is_leaf)
    return {
        "nodes": nodes,
        "leaves": tuple(nodes[v] for v in np.flatnonzero(is_leaf)),
        "parents": parents,
        "depths": np.array(depths, dtype=np.int64),
        "leaf_starts": leaves_before[:-1].copy(),
        "leaf_ends": leaves_before[node_ends],
        "_node_ends": node_ends,
        "_number_of": {name: number for number, name in enumerate(nodes)},
    }


def _rooted(parent_of: Mapping[str, str]) -> tuple[list[str], list[int]]:
    """Return the names, the root last, and the position of each name's parent."""
    if not parent_of:
        raise BadData("a hierarchy needs at least one item")
    number_of = {name: number for number, name in enumerate(parent_of)}
    for parent in parent_of.values():
        number_of.setdefault(parent, len(number_of))
    if wrong := first_unusable(number_of):
        raise BadData(wrong)
    if with_blanks := stripped(list(number_of))[1]:
        raise BadData(
            f"the name {shown(with_blanks[0])} has blanks at its ends; strip them, because labels of items have none"
        )
    above = [number_of[parent] for parent in parent_of.values()]
    tops = len(number_of) - len(above)
    if not tops:
        raise Cycle(_cycle(list(number_of), above, 0))
    if tops > 1:
        stars = "*"
        while stars in number_of:
            stars += "*"
        above.extend([len(number_of)] * tops)
        number_of[stars] = len(number_of)
    return list(number_of), [*above, -1]


def _depth_first(names: Sequence[str], above: Sequence[int]) -> list[int]:
    """Return the positions of the names reachable from the root (the last name), in depth-first order."""
    parents = np.array(above, dtype=np.int64)
    counts = np.bincount(parents[:-1], minlength=len(names))
    rank = np.empty(len(names), dtype=np.int64)
    ranked = 0
    for group in (np.flatnonzero(counts == 0), np.flatnonzero(counts)):  # items first, then inner nodes
        in_order = group[label_order([names[v] for v in group.tolist()])]
        rank[in_order] = np.arange(ranked, ranked + len(group))
        ranked += len(group)
    children = np.lexsort((rank, parents))[1:][
        ::-1
    ].tolist()  # without the root; reversed, because a stack reverses them again
    ends = np.cumsum(counts[::-1])[::-1].tolist()
    starts = [*ends[1:], 0]
    order = []
    waiting = [len(names) - 1]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(children[starts[node] : ends[node]])
    return order


def _cycle(names: Sequence[str], above: Sequence[int], start: int) -> list[str]:
    """Return the cycle reached by following parents from `start`, starting with its last-given node."""
    seen: dict[int, None] = {}
    while start not in seen:
        seen[start] = None
        start = above[start]
    way = list(seen)
    circle = way[way.index(start) :]
    last = circle.index(max(circle))
    return [names[node] for node in circle[last:] + circle[:last]]
