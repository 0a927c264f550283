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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, first_not_below
from setveil.mining._pivot_kernels import END, ROW, START, Held, cut_down, more_spans, put_last

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS, FOUND, LISTED, MORE, CUT, ENDED, NOTED = 0, 1, 2, 3, 4, 5, 6
"""What a search tells: steps taken, sets found, sets listed; whether larger sets are to be searched, whether there are more than can be
counted, whether it ended before its time."""
FIRST, LAST, OCCURRENCES, NEXT, UNTRIED, LAST_CANDIDATE, HELD_END = 0, 1, 2, 3, 4, 5, 6
"""The numbers of a level: its first record and the end of its records, how many items these hold when it is entered, the next candidate,
the end of those to try, the end of all candidates, the end of the held items. Level 0 has the last two only."""
MOST = np.int64(1) << np.int64(62)
ZERO, ONE = np.int64(0), np.int64(1)
"""Where a loop starts to count what it hands on: a number that is written out would compile what takes it a second time."""


class Records(NamedTuple):
    """Distinct records, for each item the records that hold it and where, its support, and for how many items of the data it stands."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    weights: NDArray[np.int64]
    starts: NDArray[np.int64]
    lists: NDArray[np.int64]
    places: NDArray[np.int64]
    supports: NDArray[np.int64]
    copies: NDArray[np.int64]


class Limits(NamedTuple):
    """The size of a set, how many records do not make it rare, and the steps: of all, and once a set is found."""

    size: int
    k: int
    budget: int
    for_more: int


class Found(NamedTuple):
    """Which records hold a rare set, the sets listed, how many records hold each, and what the search tells."""

    exposed: NDArray[np.bool_]
    sets: NDArray[np.int64]
    held_by: NDArray[np.int64]
    state: NDArray[np.int64]


class Path(NamedTuple):
    """Of each depth the known item, and of those up to it: for how many sets of the data they stand, and the weight of their records."""

    known: NDArray[np.int64]
    times: NDArray[np.int64]
    weights: NDArray[np.int64]


class Stack(NamedTuple):
    """The numbers of each level, the records at hand of all levels, what is left of their items, and the candidates of all levels."""

    levels: NDArray[np.int64]
    spans: NDArray[np.int64]
    held: NDArray[np.int64]
    candidates: NDArray[np.int64]


class Room(NamedTuple):
    """A number per item: how much of the level holds it, down to which depth it is allowed, a mark, those seen; and the largest misses."""

    count: NDArray[np.int64]
    allowed: NDArray[np.int64]
    mark: NDArray[np.int64]
    seen: NDArray[np.int64]
    largest: NDArray[np.int64]


@kernel
def at_least(k, known, size, without, last, records):
    """Tell whether k records hold `last` and the known items but the one at the place `without`; and the steps that took."""
    offsets, items, starts = records.offsets, records.items, records.starts
    rarest = last
    for at in range(size):
        item = known[at]
        if at != without and starts[item + 1] - starts[item] < starts[rarest + 1] - starts[rarest]:
            rarest = item
    total = 0
    steps = 1
    for at in range(starts[rarest], starts[rarest + 1]):
        row = records.lists[at]
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
            total += records.weights[row]
            if total >= k:
                return True, steps
    return False, steps


@kernel
def is_over(limits, state, control):
    """Tell whether the search should end."""
    return state[STEPS] > limits.budget or (state[FOUND] > 0 and state[STEPS] > limits.for_more) or control[STOP] != 0


@kernel
def note_rare(depth, n_seen, records, limits, path, room, found, control):
    """Count, list and mark the items seen that make the known ones a minimal rare set; tell whether the search should end."""
    known, count, seen, copies, state = path.known, room.count, room.seen, records.copies, found.state
    k, number, weight = limits.k, path.times[depth - 1], path.weights[depth - 1]
    n_often = 0
    for one in range(n_seen):
        item = seen[one]
        if count[item] >= k:
            if count[item] < weight:
                n_often += 1
            continue
        minimal = True
        for without in range(depth - 1):
            minimal, more = at_least(k, known, depth, without, item, records)
            state[STEPS] += more
            if not minimal:
                break
        if minimal:
            room.mark[item] = 1
            state[NOTED] = 1
            if number >= MOST // copies[item] or state[FOUND] >= MOST - number * copies[item]:
                state[CUT] = 1
                state[FOUND] = MOST
            else:
                state[FOUND] += number * copies[item]
            if state[LISTED] < len(found.sets):
                for at in range(depth):
                    found.sets[state[LISTED], at] = known[at]
                found.sets[state[LISTED], depth] = item
                found.held_by[state[LISTED]] = count[item]
                state[LISTED] += 1
        if is_over(limits, state, control):
            return True
    if n_often > 1:  # a larger set has two more items
        state[MORE] = 1
    return False


@kernel
def expose(depth, n_seen, stack, room, exposed):
    """Take note of the records of a level that hold a marked item, and take the marks away."""
    spans, mark = stack.spans, room.mark
    for at in range(stack.levels[depth, FIRST], stack.levels[depth, LAST]):
        if not exposed[spans[at, ROW]]:
            for place in range(spans[at, START], spans[at, END]):
                if mark[stack.held[place]]:
                    exposed[spans[at, ROW]] = True
                    break
    for one in range(n_seen):
        mark[room.seen[one]] = 0


@kernel
def room_to_begin(records):
    """Return how many records, and how many items behind it in these, the first level of an item has at most."""
    offsets, starts, lists, places = records.offsets, records.starts, records.lists, records.places
    n_spans, n_held = ONE, ONE
    for root in range(len(starts) - 1):
        size = ZERO
        for at in range(starts[root], starts[root + 1]):
            size += offsets[lists[at] + 1] - places[at] - 1
        n_spans = max(n_spans, starts[root + 1] - starts[root])
        n_held = max(n_held, size)
    return n_spans, n_held


@kernel
def with_room(stack, n_spans, n_held, n_candidates):
    """Return the stack with room for these numbers of records, held items and candidates."""
    spans, held, candidates = stack.spans, stack.held, stack.candidates
    while n_spans > len(spans):
        spans = more_spans(spans, len(spans))
    while n_held > len(held):
        held = doubled(held, len(held))
    while n_candidates > len(candidates):
        candidates = doubled(candidates, len(candidates))
    return Stack(stack.levels, spans, held, candidates)


@kernel
def begin(root, records, stack, path):
    """Write the first level: the records that hold an item, from behind it on."""
    offsets, items, lists, places = records.offsets, records.items, records.lists, records.places
    spans, held, levels = stack.spans, stack.held, stack.levels
    n_spans = 0
    end = 0
    for at in range(records.starts[root], records.starts[root + 1]):
        row = lists[at]
        if offsets[row + 1] == places[at] + 1:
            continue
        spans[n_spans, ROW] = row
        spans[n_spans, START] = end
        for place in range(places[at] + 1, offsets[row + 1]):
            held[end] = items[place]
            end += 1
        spans[n_spans, END] = end
        n_spans += 1
    levels[0, LAST_CANDIDATE] = 0
    levels[0, HELD_END] = end
    levels[1, FIRST] = 0
    levels[1, LAST] = n_spans
    levels[1, OCCURRENCES] = end
    path.known[0] = root
    path.times[0] = records.copies[root]
    path.weights[0] = records.supports[root]


@kernel
def count_items(depth, weights, stack, room):
    """Count how much of a level holds each item that is allowed; return how many items were seen."""
    spans, held, count, allowed, seen = stack.spans, stack.held, room.count, room.allowed, room.seen
    n_seen = ZERO
    for at in range(stack.levels[depth, FIRST], stack.levels[depth, LAST]):
        weight = weights[spans[at, ROW]]
        for place in range(spans[at, START], spans[at, END]):
            item = held[place]
            if allowed[item] == depth - 1:
                if count[item] == 0:
                    seen[n_seen] = item
                    n_seen += 1
                count[item] += weight
    return n_seen


@kernel
def largest_misses(depth, n_seen, limits, supports, path, room):
    """Forget the items seen that may not come; return how many may, and how far others beside one of them can bring the records down.

    The second is the sum of the largest numbers of records of the level that an item misses.
    """
    count, seen, largest = room.count, room.seen, room.largest
    weight = path.weights[depth - 1]
    most = limits.size - depth - 1
    n_largest = 0
    n_often = 0
    for one in range(n_seen):
        item = seen[one]
        if count[item] < limits.k or count[item] == weight or (depth == 1 and count[item] == supports[item]):
            count[item] = 0
            continue
        n_often += 1
        miss = weight - count[item]
        if n_largest < most:
            at = n_largest
            n_largest += 1
        elif miss > largest[most - 1]:
            at = most - 1
        else:
            continue
        while at > 0 and largest[at - 1] < miss:
            largest[at] = largest[at - 1]
            at -= 1
        largest[at] = miss
    others = 0
    for at in range(n_largest):
        others += largest[at]
    return n_often, others


@kernel
def choose(depth, n_seen, least, stack, room):
    """Make the items that may come, and that fewer records than `least` hold, the candidates of a level; tell whether some are left out."""
    count, seen, allowed, candidates = room.count, room.seen, room.allowed, stack.candidates
    end = stack.levels[depth, LAST_CANDIDATE]
    left_out = False
    for one in range(n_seen):
        item = seen[one]
        if count[item] >= least:
            left_out = True
        elif count[item] > 0:
            candidates[end] = item
            end += 1
            allowed[item] = depth
    stack.levels[depth, LAST_CANDIDATE] = end
    return left_out


@kernel
def narrow(depth, k, weights, stack, room, state):
    """Cut the records of a level down to its candidates, and put those last that a pivot makes needless."""
    level, held = stack.levels[depth], Held(stack.spans, stack.held, weights)
    first, last = level[FIRST], level[LAST]
    kept, held_end, longest, heavy = cut_down(k, depth, first, last, level[HELD_END], held, room.allowed)
    level[FIRST], level[LAST], level[HELD_END] = last, kept, held_end
    candidates = stack.candidates[level[NEXT] : level[LAST_CANDIDATE]]
    untried, steps = put_last(k, longest, heavy, last, kept, held, candidates, room.mark)
    level[UNTRIED] = level[NEXT] + untried
    state[STEPS] += steps


@kernel
def enter(depth, records, limits, stack, path, room, found, control):
    """Find the candidates of a level, or at the last depth the rare sets; return whether the search should end."""
    levels, state, count, seen = stack.levels, found.state, room.count, room.seen
    n_records, size = levels[depth, LAST] - levels[depth, FIRST], levels[depth, OCCURRENCES]
    start = levels[depth - 1, LAST_CANDIDATE]
    levels[depth, NEXT] = start
    levels[depth, UNTRIED] = start
    levels[depth, LAST_CANDIDATE] = start
    levels[depth, HELD_END] = levels[depth - 1, HELD_END]
    n_seen = count_items(depth, records.weights, stack, room)
    state[STEPS] += n_records + size
    ended = False
    left = limits.size - depth
    if left == 1:
        ended = note_rare(depth, n_seen, records, limits, path, room, found, control)
        if state[NOTED]:
            state[NOTED] = 0
            expose(depth, n_seen, stack, room, found.exposed)
    else:
        n_often, others = largest_misses(depth, n_seen, limits, records.supports, path, room)
        left_out = choose(depth, n_seen, limits.k + others, stack, room)
        if left_out and n_often > left:  # in a larger set more items could
            state[MORE] = 1
    for one in range(n_seen):
        count[seen[one]] = 0
    if levels[depth, LAST_CANDIDATE] > start:
        state[STEPS] += size
        narrow(depth, limits.k, records.weights, stack, room, state)
    return ended or is_over(limits, state, control)


@kernel
def descend(depth, records, stack, path, room, state):
    """Make the next candidate of a level known: write the records that hold it as the level below."""
    levels, spans, held, weights = stack.levels, stack.spans, stack.held, records.weights
    item = stack.candidates[levels[depth, NEXT]]
    levels[depth, NEXT] += 1
    room.allowed[item] = depth - 1
    first, last = levels[depth, FIRST], levels[depth, LAST]
    weight = 0
    size = 0
    to = last
    for at in range(first, last):
        place = first_not_below(held, spans[at, START], spans[at, END], item)
        if place == spans[at, END] or held[place] != item:
            continue
        spans[to, ROW] = spans[at, ROW]
        spans[to, START] = spans[at, START]
        spans[to, END] = spans[at, END]
        weight += weights[spans[at, ROW]]
        size += spans[at, END] - spans[at, START]
        to += 1
    state[STEPS] += 4 * (last - first)
    levels[depth + 1, FIRST] = last
    levels[depth + 1, LAST] = to
    levels[depth + 1, OCCURRENCES] = size
    times, copies = path.times[depth - 1], records.copies[item]
    path.known[depth] = item
    path.times[depth] = MOST if times > MOST // copies else times * copies
    path.weights[depth] = weight


@kernel
def search(limits, records, found, control):
    """Find the sets of `size` items, 2 or more, that 1 to k - 1 records hold, and k or more each of their parts.

    As many sets as there is room for are listed. An item is allowed at the depths up to that whose candidate it is; those that were tried
    are allowed only above it.
    """
    n_items, size = len(records.supports), limits.size
    room = Room(
        count=np.zeros(n_items, np.int64),
        allowed=np.zeros(n_items, np.int64),
        mark=np.zeros(n_items, np.int64),
        seen=np.empty(n_items, np.int64),
        largest=np.empty(size, np.int64),
    )
    path = Path(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64))
    n_spans, n_held = room_to_begin(records)
    stack = Stack(
        levels=np.empty((size + 1, 7), np.int64),
        spans=np.empty((n_spans, 3), np.int64),
        held=np.empty(n_held, np.int64),
        candidates=np.empty(1024, np.int64),
    )
    levels = stack.levels
    ended = False
    for root in range(n_items):
        begin(root, records, stack, path)
        depth = ZERO
        entering = levels[1, LAST] > 0
        while entering or depth > 0:
            if entering:
                depth += 1
                entering = False
                if depth < size - 1:  # room for what is cut down, and for the records of the next level
                    n_spans = 3 * levels[depth, LAST] - 2 * levels[depth, FIRST]
                    n_held = levels[depth - 1, HELD_END] + levels[depth, OCCURRENCES]
                    n_candidates = levels[depth - 1, LAST_CANDIDATE] + min(n_items, levels[depth, OCCURRENCES])
                    if n_spans > len(stack.spans) or n_held > len(stack.held) or n_candidates > len(stack.candidates):
                        stack = with_room(stack, n_spans, n_held, n_candidates)
                ended = enter(depth, records, limits, stack, path, room, found, control)
                if ended:
                    break
            if levels[depth, NEXT] < levels[depth, UNTRIED]:
                descend(depth, records, stack, path, room, found.state)
                entering = True
            else:
                # Back to the level above: what was a candidate here is one there.
                for place in range(levels[depth, UNTRIED], levels[depth, LAST_CANDIDATE]):
                    room.allowed[stack.candidates[place]] = depth - 1
                depth -= 1
        if ended:
            break
        control[DONE] += 1
    found.state[ENDED] = ended
