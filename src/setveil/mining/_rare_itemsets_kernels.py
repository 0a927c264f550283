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
from setveil.mining._pivot_kernels import END, ROW, START, cut_down, more_spans, put_last

STEPS, FOUND, LISTED, MORE, CUT, ENDED, NOTED = 0, 1, 2, 3, 4, 5, 6
"""What a search tells: steps taken, sets found, sets listed; whether larger sets are to be searched, whether there are more than can be
counted, whether it ended before its time."""
MOST = np.int64(1) << np.int64(62)
ZERO, ONE = np.int64(0), np.int64(1)
"""Where a loop starts to count what it hands on: a number that is written out would compile what takes it a second time."""


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
def is_over(budget, for_more, state, control):
    """Tell whether the search should end."""
    return state[STEPS] > budget or (state[FOUND] > 0 and state[STEPS] > for_more) or control[STOP] != 0


@kernel
def note_rare(
    k,
    known,
    depth,
    times,
    weight,
    seen,
    n_seen,
    count,
    copies,
    offsets,
    items,
    weights,
    list_starts,
    lists,
    budget,
    for_more,
    mark,
    sets,
    held_by,
    state,
    control,
):
    """Count, list and mark the items seen that make the known ones a minimal rare set; tell whether the search should end."""
    n_often = 0
    for one in range(n_seen):
        item = seen[one]
        if count[item] >= k:
            if count[item] < weight:
                n_often += 1
            continue
        minimal = True
        for without in range(depth - 1):
            minimal, more = at_least(k, known, depth, without, item, offsets, items, weights, list_starts, lists)
            state[STEPS] += more
            if not minimal:
                break
        if minimal:
            mark[item] = 1
            state[NOTED] = 1
            number = times[depth - 1]
            if number >= MOST // copies[item] or state[FOUND] >= MOST - number * copies[item]:
                state[CUT] = 1
                state[FOUND] = MOST
            else:
                state[FOUND] += number * copies[item]
            if state[LISTED] < len(sets):
                for at in range(depth):
                    sets[state[LISTED], at] = known[at]
                sets[state[LISTED], depth] = item
                held_by[state[LISTED]] = count[item]
                state[LISTED] += 1
        if is_over(budget, for_more, state, control):
            return True
    if n_often > 1:  # a larger set has two more items
        state[MORE] = 1
    return False


@kernel
def expose(first, last, spans, held, mark, exposed):
    """Take note of the records at hand that hold a marked item."""
    for at in range(first, last):
        if not exposed[spans[at, ROW]]:
            for place in range(spans[at, START], spans[at, END]):
                if mark[held[place]]:
                    exposed[spans[at, ROW]] = True
                    break


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
    spans = np.empty((1024, 3), np.int64)
    held = np.empty(1024, np.int64)
    candidates = np.empty(1024, np.int64)
    ended = False
    for root in range(n_items):
        # The records of the first level, from behind its item on.
        held_end, last, first = ZERO, ZERO, ZERO
        room = 0
        for at in range(list_starts[root], list_starts[root + 1]):
            room += offsets[lists[at] + 1] - list_places[at]
        while room > len(held):
            held = doubled(held, ZERO)
        while room > len(spans):
            spans = more_spans(spans, ZERO)
        for at in range(list_starts[root], list_starts[root + 1]):
            row = lists[at]
            length = offsets[row + 1] - list_places[at] - 1
            if length == 0:
                continue
            spans[last, ROW] = row
            spans[last, START] = held_end
            for place in range(list_places[at] + 1, offsets[row + 1]):
                held[held_end] = items[place]
                held_end += 1
            spans[last, END] = held_end
            last += 1
        weight = supports[root]
        known[0] = root
        times[0] = copies[root]
        depth = ONE
        candidates_end = ZERO
        entering = True
        while depth > 0:
            if entering:
                entering = False
                n_seen = ZERO
                for at in range(first, last):
                    row_weight = weights[spans[at, ROW]]
                    state[STEPS] += 1 + spans[at, END] - spans[at, START]
                    for place in range(spans[at, START], spans[at, END]):
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
                    ended = note_rare(
                        k,
                        known,
                        depth,
                        times,
                        weight,
                        seen,
                        n_seen,
                        count,
                        copies,
                        offsets,
                        items,
                        weights,
                        list_starts,
                        lists,
                        budget,
                        for_more,
                        mark,
                        sets,
                        held_by,
                        state,
                        control,
                    )
                    if state[NOTED]:
                        state[NOTED] = 0
                        expose(first, last, spans, held, mark, exposed)
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
                    while candidates_end + n_often > len(candidates):
                        candidates = doubled(candidates, candidates_end)
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
                        candidates[candidates_end] = item
                        candidates_end += 1
                        allowed[item] = depth
                    to_try = candidates_end
                for one in range(n_seen):
                    count[seen[one]] = 0
                if candidates_end > candidates_start:
                    # Cut the records down to the candidates.
                    room = 0
                    for at in range(first, last):
                        room += spans[at, END] - spans[at, START]
                    while held_end + room > len(held):
                        held = doubled(held, held_end)
                    while last + 2 * (last - first) > len(spans):  # and for those of the next level
                        spans = more_spans(spans, last)
                    state[STEPS] += room
                    kept, held_end, longest, heavy = cut_down(
                        k, depth, first, last, held_end, spans, held, weights, allowed
                    )
                    first = last
                    last = kept
                    to_try, more = put_last(
                        k,
                        longest,
                        heavy,
                        first,
                        last,
                        spans,
                        held,
                        weights,
                        candidates,
                        candidates_start,
                        candidates_end,
                        mark,
                    )
                    state[STEPS] += more
                tops[depth, 0] = first
                tops[depth, 1] = last
                tops[depth, 2] = candidates_start
                tops[depth, 3] = to_try
                tops[depth, 4] = candidates_end
                tops[depth, 5] = held_end
                ended = ended or is_over(budget, for_more, state, control)
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
                state[STEPS] += 4
                place = first_not_below(held, spans[at, START], spans[at, END], item)
                if place == spans[at, END] or held[place] != item:
                    continue
                spans[last, ROW] = spans[at, ROW]
                spans[last, START] = spans[at, START]
                spans[last, END] = spans[at, END]
                weight += weights[spans[at, ROW]]
                last += 1
            known[depth] = item
            times[depth] = MOST if times[depth - 1] > MOST // copies[item] else times[depth - 1] * copies[item]
            depth += 1
            entering = True
        if ended:
            break
        control[DONE] += 1
    state[ENDED] = ended
