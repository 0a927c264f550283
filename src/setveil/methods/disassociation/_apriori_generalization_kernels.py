# mypy: ignore-errors
# (Numba infers the types)
"""Loops that count sets of nodes of a cut, and find sets that fewer than k records hold.

Rows are distinct contents. A row lists *ranks*, which rise and are numbered along the tree: a node is an interval of ranks. Here, a node
of the cut is known by the first one of its ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, first_not_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

ZERO, ONE = np.int64(0), np.int64(1)
"""Where a loop starts to count what it hands on: a 0 that is written out would compile what takes it a second time."""


class Rows(NamedTuple):
    """Rows of ranks, how many records have each, and the rows that hold rank r: `lists[starts[r]:starts[r + 1]]`."""

    offsets: NDArray[np.int64]
    ranks: NDArray[np.int64]
    weights: NDArray[np.int64]
    starts: NDArray[np.int64]
    lists: NDArray[np.int64]


class Cut(NamedTuple):
    """The node of each rank, and for each node where its ranks end."""

    node_of: NDArray[np.int64]
    end_of: NDArray[np.int64]


class Room(NamedTuple):
    """Room of a search; all but `found` is 0 before and after it."""

    level: NDArray[np.int64]
    """By row: how many of the chosen nodes it holds, counted from the first one on."""
    count: NDArray[np.int64]
    """By depth and node: how many records hold it among those that hold the chosen nodes."""
    same: NDArray[np.bool_]
    """By depth and node: whether it is in the same of these records as a node that was chosen next before."""
    found: NDArray[np.int64]
    """The nodes of a rare set without the first one."""


class Path(NamedTuple):
    """The nodes that a search has chosen, one per depth from 1 on."""

    rows: NDArray[np.int64]
    """The rows that hold the nodes up to a depth: those from `tops[depth - 1]` to before `tops[depth]`."""
    tops: NDArray[np.int64]
    totals: NDArray[np.int64]
    """By depth: how many records these rows are."""
    chosen: NDArray[np.int64]
    following: NDArray[np.int64]
    """By depth: the next rank to examine."""
    touched: NDArray[np.int64]
    """The nodes that were counted last."""


@kernel
def records_with(firsts, ends, rows, level):
    """Count the records that hold a rank of each of these intervals. `level` is room for a number per row, 0 everywhere."""
    offsets, ranks, weights, starts, lists = rows
    rarest = 0
    for at in range(1, len(firsts)):
        if starts[ends[at]] - starts[firsts[at]] < starts[ends[rarest]] - starts[firsts[rarest]]:
            rarest = at
    total = 0
    for place in range(starts[firsts[rarest]], starts[ends[rarest]]):
        row = lists[place]
        if level[row] != 0:
            continue
        level[row] = 1
        holds = True
        for at in range(len(firsts)):
            if at != rarest:
                found = first_not_below(ranks, offsets[row], offsets[row + 1], firsts[at])
                if found == offsets[row + 1] or ranks[found] >= ends[at]:
                    holds = False
                    break
        if holds:
            total += weights[row]
    for place in range(starts[firsts[rarest]], starts[ends[rarest]]):
        level[lists[place]] = 0
    return total


@kernel
def rare_set_with(node, border, size, k, rows, cut, room, control):
    """Find the first set of `size` nodes, 2 at least, with this one, that some records hold, but fewer than k; return if there is one.

    Its other nodes, which begin at the rank `border` or behind it, are in `room.found`. Every smaller set must be in k records or in none.

    A node that is in all records with those before it is in no such set with them, since the set would be rare without it. Of nodes that
    are in the same records among them the first stands for all. The row sets of the path shrink with its depth, `level` of a row is the
    depth of the last one that it is in, and `count` is 0 beyond the depth of the path.
    """
    ranks_end = len(cut.node_of)
    path = Path(
        np.empty(2 * len(rows.weights) + 16, np.int64),
        np.zeros(size + 1, np.int64),
        np.zeros(size + 1, np.int64),
        np.zeros(size + 1, np.int64),
        np.zeros(size + 1, np.int64),
        np.empty(ranks_end, np.int64),
    )
    _choose_first(node, border, rows, cut, room.level, path)
    level, count, same, following, tops = room.level, room.count, room.same, path.following, path.tops
    depth = ONE
    is_new, is_found = True, False
    while depth > 0:
        if is_new:
            touched = _count_nodes(depth, rows, cut, count, path)
            is_found = _examine(depth, size, k, touched, room, path)
        other = ranks_end if control[STOP] != 0 or is_found else following[depth]
        while other < ranks_end and (
            count[depth, other] == 0 or count[depth, other] == path.totals[depth] or same[depth, other]
        ):
            other += 1
        is_new = other < ranks_end
        if is_new:
            while 2 * tops[depth] - tops[depth - 1] > len(path.rows):
                longer = doubled(path.rows, tops[depth])
                path = Path(longer, tops, path.totals, path.chosen, following, path.touched)
            _choose(depth, other, rows, cut, room, path)
            depth += 1
            continue
        for at in range(tops[depth - 1], tops[depth]):
            level[path.rows[at]] = depth - 1
        if following[depth] <= ranks_end:
            for other in range(ranks_end):
                count[depth, other] = 0
                same[depth, other] = False
        depth -= 1
    return is_found


@kernel
def _choose_first(node, border, rows, cut, level, path):
    """Begin a path with the rows of a node."""
    weights, lists, listed = rows.weights, rows.lists, path.rows
    top, total = ZERO, ZERO
    for place in range(rows.starts[node], rows.starts[cut.end_of[node]]):
        row = lists[place]
        if level[row] == 0:
            level[row] = 1
            listed[top] = row
            top += 1
            total += weights[row]
    path.tops[1], path.totals[1], path.following[1] = top, total, border


@kernel
def _count_nodes(depth, rows, cut, count, path):
    """Count the records of the path that hold each following node; return how many nodes were touched."""
    offsets, ranks, weights = rows.offsets, rows.ranks, rows.weights
    node_of, listed, touched, counts = cut.node_of, path.rows, path.touched, count[depth]
    border = path.following[depth]
    used = ZERO
    for at in range(path.tops[depth - 1], path.tops[depth]):
        row = listed[at]
        before = -1
        for place in range(first_not_below(ranks, offsets[row], offsets[row + 1], border), offsets[row + 1]):
            other = node_of[ranks[place]]
            if other != before:
                before = other
                if counts[other] == 0:
                    touched[used] = other
                    used += 1
                counts[other] += weights[row]
    return used


@kernel
def _examine(depth, size, k, used, room, path):
    """Look for a rare node if it completes a set; forget the counts if no set from here on can be rare. Return whether a set is found."""
    count, same, touched = room.count, room.same, path.touched
    total = path.totals[depth]
    ranks_end = count.shape[1]
    lowest, least = total, ranks_end
    for at in range(used):
        other = touched[at]
        lowest = min(lowest, count[depth, other])
        if count[depth, other] < k:
            least = min(least, other)
        if depth > 1 and count[depth, other] == total == count[depth - 1, other]:
            same[depth - 1, other] = True
    is_last = depth == size - 1
    is_found = is_last and least < ranks_end
    if is_found:
        path.chosen[size] = least
        for at in range(2, size + 1):
            room.found[at - 2] = path.chosen[at]
    # Each further node takes away at most what it lacks.
    if is_last or total - (size - depth) * (total - lowest) >= k:
        for at in range(used):
            count[depth, touched[at]] = 0
        path.following[depth] = ranks_end + 1  # nothing left to examine, and nothing to clear
    return is_found


@kernel
def _choose(depth, other, rows, cut, room, path):
    """Lengthen the path by a node: list the rows that hold it, by its list or by the rows of the path, whichever is shorter."""
    offsets, ranks, lists, level, listed = rows.offsets, rows.ranks, rows.lists, room.level, path.rows
    first, last, end = path.tops[depth - 1], path.tops[depth], cut.end_of[other]
    begin_list, end_list = rows.starts[other], rows.starts[end]
    top = last
    if end_list - begin_list < last - first:
        for place in range(begin_list, end_list):
            row = lists[place]
            if level[row] == depth:
                level[row] = depth + 1
                listed[top] = row
                top += 1
    else:
        for at in range(first, last):
            row = listed[at]
            place = first_not_below(ranks, offsets[row], offsets[row + 1], other)
            if place < offsets[row + 1] and ranks[place] < end:
                level[row] = depth + 1
                listed[top] = row
                top += 1
    path.following[depth] = other + 1
    path.chosen[depth + 1] = other
    path.tops[depth + 1] = top
    path.totals[depth + 1] = room.count[depth, other]
    path.following[depth + 1] = end
