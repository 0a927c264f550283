# mypy: ignore-errors
# (Numba infers the types)
"""Loops that count sets of nodes of a cut, and find sets that fewer than k records hold.

Rows are distinct contents, `weights` tells how many records have each. A row lists *ranks*, which rise and are numbered along the tree: a
node is an interval of ranks. `node_of` gives for each rank the first one of its node of the cut, by which the node is known here, and
`end_of` for this one where the node ends. The rows that hold a rank are listed in `lists`, from `starts` on.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.control import STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, first_not_below

ZERO = np.int64(0)
"""Where a loop starts to count what it hands on: a 0 that is written out would compile what takes it a second time."""


@kernel
def records_with(firsts, ends, offsets, ranks, weights, starts, lists, level):
    """Count the records that hold a rank of each of these intervals. `level` is room for a number a row, 0 everywhere."""
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
def rare_set_with(
    node, border, size, k, offsets, ranks, weights, starts, lists, node_of, end_of, level, count, same, found, control
):
    """Find the first set of `size` nodes, 2 at least, with this one, that some records hold, but fewer than k; tell if there is one.

    Its other nodes, which begin at the rank `border` or behind it, are left in `found`. Every smaller set must be in k records or in none.
    `level` is room for a number a row, `count` and `same` for one a rank and node of the set: all are 0 before and after.

    A node that is in all records with those before it is in no such set with them, since the set would be rare without it. Of nodes that
    are in the same records among them the first stands for all.
    """
    ranks_end = len(node_of)
    cleared = ranks_end + 1  # what follows where nothing is left to look at, and nothing to clear
    rows = np.empty(2 * len(weights) + 16, np.int64)
    touched = np.empty(ranks_end, np.int64)
    tops = np.zeros(size + 1, np.int64)  # where the rows of each depth end
    totals = np.zeros(size + 1, np.int64)  # how many records these are
    chosen = np.zeros(size + 1, np.int64)
    following = np.zeros(size + 1, np.int64)  # the next rank to look at
    top = ZERO
    for place in range(starts[node], starts[end_of[node]]):
        row = lists[place]
        if level[row] == 0:
            level[row] = 1
            rows[top] = row
            top += 1
            totals[1] += weights[row]
    tops[1] = top
    following[1] = border
    depth = 1
    entering = True
    is_found = False
    while depth > 0:
        if entering:
            entering = False
            n_touched = 0
            for at in range(tops[depth - 1], tops[depth]):
                row = rows[at]
                before = -1
                for place in range(
                    first_not_below(ranks, offsets[row], offsets[row + 1], following[depth]), offsets[row + 1]
                ):
                    other = node_of[ranks[place]]
                    if other != before:
                        before = other
                        if count[depth, other] == 0:
                            touched[n_touched] = other
                            n_touched += 1
                        count[depth, other] += weights[row]
            lowest = totals[depth]
            least = ranks_end
            for at in range(n_touched):
                other = touched[at]
                lowest = min(lowest, count[depth, other])
                if count[depth, other] < k:
                    least = min(least, other)
                if depth > 1 and count[depth, other] == totals[depth] == count[depth - 1, other]:
                    same[depth - 1, other] = True
            last = depth == size - 1
            if last and least < ranks_end:
                is_found = True
                chosen[depth + 1] = least
                for at in range(2, size + 1):
                    found[at - 2] = chosen[at]
            # So many more nodes take away at most what each of them lacks.
            if last or is_found or totals[depth] - (size - depth) * (totals[depth] - lowest) >= k:
                for at in range(n_touched):
                    count[depth, touched[at]] = 0
                following[depth] = cleared
        other = following[depth]
        if control[STOP] != 0 or is_found:
            other = max(other, ranks_end)
        while other < ranks_end and (
            count[depth, other] == 0 or count[depth, other] == totals[depth] or same[depth, other]
        ):
            other += 1
        if other < ranks_end:
            following[depth] = other + 1
            first, last_place, end = tops[depth - 1], tops[depth], end_of[other]
            entries = starts[end] - starts[other]
            while last_place + min(entries, last_place - first) > len(rows):
                rows = doubled(rows, last_place)
            top = last_place
            if entries < last_place - first:
                for place in range(starts[other], starts[end]):
                    row = lists[place]
                    if level[row] == depth:
                        level[row] = depth + 1
                        rows[top] = row
                        top += 1
            else:
                for at in range(first, last_place):
                    row = rows[at]
                    place = first_not_below(ranks, offsets[row], offsets[row + 1], other)
                    if place < offsets[row + 1] and ranks[place] < end:
                        level[row] = depth + 1
                        rows[top] = row
                        top += 1
            depth += 1
            chosen[depth] = other
            tops[depth] = top
            totals[depth] = count[depth - 1, other]
            following[depth] = end
            entering = True
        else:
            for at in range(tops[depth - 1], tops[depth]):
                level[rows[at]] = depth - 1
            if following[depth] != cleared:
                for other in range(ranks_end):
                    count[depth, other] = 0
                    same[depth, other] = False
            depth -= 1
    return is_found
