"""Loops that search itemsets of one size that few records hold while many hold each of their parts: depth first, by records.

Records are distinct and have a weight; their items rise, the rarest first. A level of the search is a set of known items with the records
that hold them, cut down to the items that may still come. Three things keep it small, and none of them misses a set:

- An item that all records of a level hold adds nothing: a set with it has a part that the same records hold.
- An item stays out if it and the rarest others cannot bring the records of the level below k.
- Some records of a level, of weight k together, are its *pivot*: a set of items that all of these hold is not rare, so that only items
  outside are tried first. Copies of one long record are such a pivot, and then nothing of it is searched.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, first_not_below

STEPS, FOUND, LISTED, MORE, CUT, ENDED = 0, 1, 2, 3, 4, 5
"""What a search tells: steps taken, sets found, sets listed; whether larger sets are to be searched, whether there are more than can be
counted, whether it ended before its time."""
MOST = np.int64(1) << np.int64(62)
MOST_PICKED = 16
"""Of how many records a pivot is at most."""
NOBODY = np.int64(-1)


@kernel
def at_least(k, known, size, without, last, offsets, items, weights, list_starts, lists):
    """Tell whether k records hold `last` and the known items but the one at the place `without`; and the steps that took."""
    rarest = last
    for at in range(size):
        item = known[at]
        if at != without and list_starts[item + 1] - list_starts[item] < list_starts[rarest + 1] - list_starts[rarest]:
            rarest = item
    total = 0
    steps = 1
    for at in range(list_starts[rarest], list_starts[rarest + 1]):
        row = lists[at]
        end = offsets[row + 1]
        holds = True
        for other in range(size + 1):
            item = last if other == size else known[other]
            if other == without or item == rarest:
                continue
            steps += 4
            place = first_not_below(items, offsets[row], end, item)
            if place == end or items[place] != item:
                holds = False
                break
        if holds:
            total += weights[row]
            if total >= k:
                return True, steps
    return False, steps


@kernel
def common(k, begin, rows, starts, ends, first, last, held, weights, mark):
    """Mark the items that some records of weight k hold, from the record at `begin` on always the one with most of these next.

    An item that all of them hold has the returned number in `mark`, which is 0 elsewhere before; 0 if there are none. Returns also how many
    items these are, and the steps that took.
    """
    size = ends[begin] - starts[begin]
    weight = weights[rows[begin]]
    for place in range(starts[begin], ends[begin]):
        mark[held[place]] = 1
    picked = 1
    steps = size
    while weight < k and size > 0 and picked < MOST_PICKED:
        best = NOBODY
        size = 0
        for at in range(first, last):
            if ends[at] - starts[at] <= size:
                continue
            both = 0
            steps += ends[at] - starts[at]
            for place in range(starts[at], ends[at]):
                if mark[held[place]] == picked:
                    both += 1
            # A record that was picked before holds them all: it is told by its sign.
            if both > size and rows[at] >= 0 and at != begin:
                size = both
                best = at
        if best < 0:
            break
        weight += weights[rows[best]]
        for place in range(starts[best], ends[best]):
            if mark[held[place]] == picked:
                mark[held[place]] = picked + 1
        picked += 1
        rows[best] = -1 - rows[best]
    for at in range(first, last):
        if rows[at] < 0:
            rows[at] = -1 - rows[at]
    if weight < k:
        size = 0
    return picked, size, steps


@kernel
def search(
    size,
    k,
    offsets,
    items,
    weights,
    list_starts,
    lists,
    list_places,
    supports,
    copies,
    budget,
    for_more,
    exposed,
    sets,
    held_by,
    state,
    control,
):
    """Find the sets of `size` items, 2 or more, that 1 to k - 1 records hold, and k or more each of their parts.

    `copies` tells for how many items of the data an item stands, `exposed` takes note of the records that hold a set. As many sets as
    there is room for are left in `sets`.
    """
    n_items = len(supports)
    count = np.zeros(n_items, np.int64)
    allowed = np.zeros(n_items, np.int64)
    mark = np.zeros(n_items, np.int64)
    seen = np.empty(n_items, np.int64)
    known = np.empty(size, np.int64)
    times = np.empty(size, np.int64)
    largest = np.empty(size, np.int64)
    # Of each level: first and last record, next candidate, end of those to try, end of all, end of the held items.
    tops = np.empty((size + 1, 6), np.int64)
    rows = np.empty(1024, np.int64)
    starts = np.empty(1024, np.int64)
    ends = np.empty(1024, np.int64)
    held = np.empty(1024, np.int64)
    candidates = np.empty(1024, np.int64)
    steps = state[STEPS]
    found = state[FOUND]
    ended = False
    for root in range(n_items):
        # The records of the first level, from behind its item on.
        last = list_starts[root + 1] - list_starts[root]
        while last > len(rows):
            rows, starts, ends = doubled(rows, 0), doubled(starts, 0), doubled(ends, 0)
        held_end = 0
        last = 0
        for at in range(list_starts[root], list_starts[root + 1]):
            row = lists[at]
            length = offsets[row + 1] - list_places[at] - 1
            if length == 0:
                continue
            while held_end + length > len(held):
                held = doubled(held, held_end)
            rows[last] = row
            starts[last] = held_end
            for place in range(list_places[at] + 1, offsets[row + 1]):
                held[held_end] = items[place]
                held_end += 1
            ends[last] = held_end
            last += 1
        first = 0
        weight = supports[root]
        known[0] = root
        times[0] = copies[root]
        depth = 1
        candidates_end = 0
        entering = True
        while depth > 0:
            if entering:
                entering = False
                n_seen = 0
                for at in range(first, last):
                    row_weight = weights[rows[at]]
                    steps += 1 + ends[at] - starts[at]
                    for place in range(starts[at], ends[at]):
                        item = held[place]
                        if allowed[item] == depth - 1:
                            if count[item] == 0:
                                seen[n_seen] = item
                                n_seen += 1
                            count[item] += row_weight
                candidates_start = candidates_end
                to_try = candidates_end
                left = size - depth
                if left == 1:
                    some = False
                    n_often = 0
                    for one in range(n_seen):
                        item = seen[one]
                        if count[item] >= k:
                            if count[item] < weight:
                                n_often += 1
                            continue
                        minimal = True
                        for without in range(depth - 1):
                            minimal, more = at_least(
                                k, known, depth, without, item, offsets, items, weights, list_starts, lists
                            )
                            steps += more
                            if not minimal:
                                break
                        if minimal:
                            some = True
                            mark[item] = 1
                            number = times[depth - 1]
                            if number >= MOST // copies[item] or found >= MOST - number * copies[item]:
                                state[CUT] = 1
                                found = MOST
                            else:
                                found += number * copies[item]
                            if state[LISTED] < len(sets):
                                for at in range(depth):
                                    sets[state[LISTED], at] = known[at]
                                sets[state[LISTED], depth] = item
                                held_by[state[LISTED]] = count[item]
                                state[LISTED] += 1
                        if steps > budget or (found > 0 and steps > for_more) or control[STOP]:
                            ended = True
                            break
                    if n_often > 1:  # a larger set has two more items
                        state[MORE] = 1
                    if some:
                        for at in range(first, last):
                            if not exposed[rows[at]]:
                                for place in range(starts[at], ends[at]):
                                    if mark[held[place]]:
                                        exposed[rows[at]] = True
                                        break
                        for one in range(n_seen):
                            mark[seen[one]] = 0
                else:
                    # The largest misses of the items that may come: how far others can bring the records down at most.
                    n_largest = 0
                    n_often = 0
                    for one in range(n_seen):
                        item = seen[one]
                        if count[item] < k or count[item] == weight or (depth == 1 and count[item] == supports[item]):
                            count[item] = 0
                            continue
                        n_often += 1
                        miss = weight - count[item]
                        if n_largest < left - 1:
                            at = n_largest
                            n_largest += 1
                        elif miss > largest[left - 2]:
                            at = left - 2
                        else:
                            continue
                        while at > 0 and largest[at - 1] < miss:
                            largest[at] = largest[at - 1]
                            at -= 1
                        largest[at] = miss
                    others = 0
                    for at in range(n_largest):
                        others += largest[at]
                    for one in range(n_seen):
                        item = seen[one]
                        if count[item] == 0:
                            continue
                        if count[item] - others >= k:
                            if n_often > left:  # in a larger set more items could
                                state[MORE] = 1
                            continue
                        if candidates_end == len(candidates):
                            candidates = doubled(candidates, candidates_end)
                        candidates[candidates_end] = item
                        candidates_end += 1
                        allowed[item] = depth
                    to_try = candidates_end
                for one in range(n_seen):
                    count[seen[one]] = 0
                if candidates_end > candidates_start:
                    # Cut the records down to the candidates.
                    kept = last
                    longest = NOBODY
                    longest_heavy = NOBODY
                    for at in range(first, last):
                        if kept == len(rows):
                            rows, starts, ends = doubled(rows, kept), doubled(starts, kept), doubled(ends, kept)
                        while held_end + ends[at] - starts[at] > len(held):
                            held = doubled(held, held_end)
                        steps += ends[at] - starts[at]
                        starts[kept] = held_end
                        for place in range(starts[at], ends[at]):
                            if allowed[held[place]] == depth:
                                held[held_end] = held[place]
                                held_end += 1
                        if held_end == starts[kept]:
                            continue
                        rows[kept] = rows[at]
                        ends[kept] = held_end
                        length = held_end - starts[kept]
                        if longest < 0 or length > ends[longest] - starts[longest]:
                            longest = kept
                        if weights[rows[kept]] >= k and (
                            longest_heavy < 0 or length > ends[longest_heavy] - starts[longest_heavy]
                        ):
                            longest_heavy = kept
                        kept += 1
                    first = last
                    last = kept
                    # The pivot: items that all of its records hold come last, and are not tried.
                    picked, shared, more = common(k, longest, rows, starts, ends, first, last, held, weights, mark)
                    steps += more
                    if longest_heavy >= 0 and ends[longest_heavy] - starts[longest_heavy] > shared:
                        for place in range(candidates_start, candidates_end):
                            mark[candidates[place]] = 0
                        picked, shared, more = common(
                            k, longest_heavy, rows, starts, ends, first, last, held, weights, mark
                        )
                        steps += more
                    if shared > 0:
                        to_try = candidates_start
                        for place in range(candidates_start, candidates_end):
                            item = candidates[place]
                            if mark[item] != picked:
                                candidates[place] = candidates[to_try]
                                candidates[to_try] = item
                                to_try += 1
                    for place in range(candidates_start, candidates_end):
                        mark[candidates[place]] = 0
                tops[depth, 0] = first
                tops[depth, 1] = last
                tops[depth, 2] = candidates_start
                tops[depth, 3] = to_try
                tops[depth, 4] = candidates_end
                tops[depth, 5] = held_end
                if steps > budget or (found > 0 and steps > for_more) or control[STOP]:
                    ended = True
            if ended:
                break
            if tops[depth, 2] == tops[depth, 3]:
                # Back to the level above: what was a candidate here is one there.
                for place in range(tops[depth, 3], tops[depth, 4]):
                    allowed[candidates[place]] = depth - 1
                depth -= 1
                if depth > 0:
                    candidates_end = tops[depth, 4]
                    held_end = tops[depth, 5]
                continue
            item = candidates[tops[depth, 2]]
            tops[depth, 2] += 1
            allowed[item] = depth - 1
            weight = 0
            first = tops[depth, 1]
            last = first
            for at in range(tops[depth, 0], tops[depth, 1]):
                steps += 4
                place = first_not_below(held, starts[at], ends[at], item)
                if place == ends[at] or held[place] != item:
                    continue
                if last == len(rows):
                    rows, starts, ends = doubled(rows, last), doubled(starts, last), doubled(ends, last)
                rows[last] = rows[at]
                starts[last] = starts[at]
                ends[last] = ends[at]
                weight += weights[rows[at]]
                last += 1
            known[depth] = item
            times[depth] = MOST if times[depth - 1] > MOST // copies[item] else times[depth - 1] * copies[item]
            depth += 1
            entering = True
        if ended:
            break
        control[DONE] += 1
    state[STEPS] = steps
    state[FOUND] = found
    state[ENDED] = ended
