"""Loops that search the rules q → e of one item e: closed sets of the records with e, depth first.

What is searched are the distinct records with e, their other items, how many records have each content (`weights`), and for each how many
records hold the same other items without e (`slack`). They come in the order of their slack, least first. Write p for the records with
q and e, n for those with q and without e: the rule is unsafe if p (den - num) - num n, its *excess*, is above 0.

Any q' that contains q and has p' records has at least as many counterparts without e as each of these records has, so at least as many as
the p'-th least slack: where no prefix of the list has an excess, nothing at or below q does. That bound is known for each further item from
one pass through the records with q, and the records of all further items that it leaves are listed in a second pass.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import bit_of, doubled, doubled_rows, first_not_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

ZERO, ONE, NONE, ALL = np.int64(0), np.int64(1), np.int64(-1), np.int64(2**62)
"""Where a loop starts to count what it hands on: a 0 that is written out would compile what takes it a second time."""
EXCESS, WITH_E, WITHOUT_E, SIZE, COMPLETE = 0, 1, 2, 3, 4
"""What a search tells of the strongest rule that it found, and whether it looked at everything."""
FIRST, LAST, NEXT, LAST_CANDIDATE, Q_END, ROWS_END = 0, 1, 2, 3, 4, 5
"""The numbers of a level: its first record and the end of its records, the next candidate, and the ends of its candidates, of the items of
q and of the records of its candidates. Level 0 has the last three only."""
ITEMS_PER_SET = 8
"""Room for the items of sets that are noted, per set."""
ITEM, HIGHEST, ROWS, END = 0, 1, 2, 3
"""The numbers of a candidate: its item, the highest excess below it, its first record and the end of its records."""


class Records(NamedTuple):
    """Distinct records: rising items, weights and words, and for each item the records that hold it and its support.

    The items and words are writable, also where nothing is written, so that a search is compiled once.
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: NDArray[np.int64]
    words: NDArray[np.uint64]
    starts: NDArray[np.int64]
    lists: NDArray[np.int64]
    supports: NDArray[np.int64]


class Bounds(NamedTuple):
    """The highest confidence num/den, and the steps of one search."""

    num: int
    den: int
    budget: int


class Known(NamedTuple):
    """Sets that a search comes to, in this order, and how many records hold each."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    held: NDArray[np.int64]


class Notes(NamedTuple):
    """Room for further sets. `state` has their number, how many known sets the search left behind, and whether the room is used up."""

    state: NDArray[np.int64]
    offsets: NDArray[np.int64]
    items: NDArray[np.int64]


NOTED, PASSED, FULL = 0, 1, 2
"""The places in `state`."""


class Room(NamedTuple):
    """What searches of rules share; `count` is 0, `filled` -1 and `is_known` false everywhere between them.

    `slack` goes by record, `count` to `seen` by item; `q`, `ordered` and `best_set` hold as many items as the longest record. If there is
    room for `notes`, the records with a set are not counted: the number is `known`, or the set is noted.
    """

    slack: NDArray[np.int64]
    count: NDArray[np.int64]
    held: NDArray[np.int64]
    highest: NDArray[np.int64]
    filled: NDArray[np.int64]
    is_known: NDArray[np.bool_]
    seen: NDArray[np.int64]
    q: NDArray[np.int64]
    ordered: NDArray[np.int64]
    best: NDArray[np.int64]
    best_set: NDArray[np.int64]
    known: Known
    notes: Notes


class Stack(NamedTuple):
    """The numbers of each level, and the records and candidates of all levels."""

    levels: NDArray[np.int64]
    rows: NDArray[np.int64]
    candidates: NDArray[np.int64]


def make_room(n_records: int, n_items: int, longest: int, most_noted: int = 0) -> Room:
    """Return room for the searches of one thread: they note at most `most_noted` sets; with 0, they count each at once."""
    none = np.empty(0, np.int64)
    items = np.empty(ITEMS_PER_SET * most_noted + longest if most_noted else 0, np.int64)
    return Room(
        slack=np.empty(n_records, np.int64),
        count=np.zeros(n_items, np.int64),
        held=np.empty(n_items, np.int64),
        highest=np.empty(n_items, np.int64),
        filled=np.full(n_items, -1, np.int64),
        is_known=np.zeros(n_items, np.bool_),
        seen=np.empty(n_items, np.int64),
        q=np.empty(longest, np.int64),
        ordered=np.empty(longest, np.int64),
        best=np.zeros(5, np.int64),
        best_set=np.empty(longest, np.int64),
        known=Known(none, none, none),
        notes=Notes(np.zeros(3, np.int64), np.zeros(most_noted + 1, np.int64), items),
    )


@kernel
def signatures(first, last, offsets, items, words):
    """Give every record a word with one bit an item, by which most others that lack one are told apart."""
    for row in range(first, last):
        word = np.uint64(0)
        for place in range(offsets[row], offsets[row + 1]):
            word |= bit_of(items[place])
        words[row] = word


@kernel
def records_with(q, size, enough, records):
    """Count the records that hold all of q, which is sorted and not empty, until there are enough; and the steps that took."""
    offsets, items, words, starts = records.offsets, records.items, records.words, records.starts
    word = np.uint64(0)
    rarest = q[0]
    for k in range(size):
        word |= bit_of(q[k])
        if starts[q[k] + 1] - starts[q[k]] < starts[rarest + 1] - starts[rarest]:
            rarest = q[k]
    total = ZERO
    steps = ZERO
    for at in range(starts[rarest], starts[rarest + 1]):
        row = records.lists[at]
        steps += 1
        if (words[row] & word) != word:
            continue
        place = offsets[row]
        end = offsets[row + 1]
        steps += size
        k = 0
        while k < size:
            place = first_not_below(items, place, end, q[k])
            if place == end or items[place] != q[k]:
                break
            k += 1
        if k == size:
            total += records.weights[row]
            if total >= enough:
                break
    return total, steps


@kernel
def count_items(first, last, rows, records, bounds, room):
    """Count the items of the records at hand; return their weight, how many items were seen, and the steps that took.

    The records come by rising slack. So the highest excess of any prefix of those with an item is known when the last one is counted.
    """
    offsets, count, held, highest = records.offsets, room.count, room.held, room.highest
    num, rest = bounds.num, bounds.den - bounds.num
    p = ZERO
    n_seen = ZERO
    steps = ZERO
    for at in range(first, last):
        row = rows[at]
        weight = records.weights[row]
        without_e = num * room.slack[row]
        p += weight
        steps += offsets[row + 1] - offsets[row]
        for place in range(offsets[row], offsets[row + 1]):
            item = records.items[place]
            if count[item] == 0:
                room.seen[n_seen] = item
                n_seen += 1
                held[item] = 0
                highest[item] = weight * rest - without_e
            count[item] += weight
            held[item] += 1
            highest[item] = max(highest[item], count[item] * rest - without_e)
    return p, n_seen, steps


@kernel
def try_single_items(e, n_seen, supports, bounds, room):
    """Take the strongest rule of one item, whose records are known: the further above the limit it is, the less is to search."""
    best = room.best
    for k in range(n_seen):
        item = room.seen[k]
        excess = room.count[item] * bounds.den - bounds.num * supports[item]
        if item != e and excess > best[EXCESS]:
            best[EXCESS] = excess
            best[WITH_E] = room.count[item]
            best[WITHOUT_E] = supports[item] - room.count[item]
            best[SIZE] = 1
            room.best_set[0] = item


@kernel
def extend(e, core, level, p, n_seen, stack, room):
    """Add what all p records hold to q, and take what may have an excess above the best, above the core, as candidates.

    Return whether this closed set was not reached by a smaller item before.
    """
    q, count, levels, candidates = room.q, room.count, stack.levels, stack.candidates
    q_start, q_end = levels[level, Q_END], levels[level, Q_END]
    end, rows_end = levels[level, LAST_CANDIDATE], levels[level, ROWS_END]
    is_new = True
    for k in range(n_seen):
        item = room.seen[k]
        if item != e and not room.is_known[item]:
            if count[item] == p:
                is_new = is_new and item >= core
                q[q_end] = item
                q_end += 1
            elif item > core and room.highest[item] > room.best[EXCESS]:
                candidates[end, ITEM] = item
                candidates[end, HIGHEST] = room.highest[item]
                candidates[end, ROWS] = rows_end
                rows_end += room.held[item]
                candidates[end, END] = rows_end
                end += 1
        count[item] = 0
    for k in range(q_start, q_end):
        room.is_known[q[k]] = True
    levels[level, Q_END] = q_end
    if is_new:
        levels[level, LAST_CANDIDATE] = end
        levels[level, ROWS_END] = rows_end
    return is_new


@kernel
def list_records(level, stack, records, room):
    """Write those records of a level that hold each of its candidates, in the same order; return the stack and the steps that took."""
    offsets, levels, candidates, filled = records.offsets, stack.levels, stack.candidates, room.filled
    begin, end = levels[level, NEXT], levels[level, LAST_CANDIDATE]
    steps = ZERO
    if begin == end:
        return stack, steps
    rows = stack.rows
    while levels[level, ROWS_END] > len(rows):
        rows = doubled(rows, levels[level - 1, ROWS_END])
    for k in range(begin, end):
        filled[candidates[k, ITEM]] = candidates[k, ROWS]
    for at in range(levels[level, FIRST], levels[level, LAST]):
        row = rows[at]
        steps += offsets[row + 1] - offsets[row]
        for place in range(offsets[row], offsets[row + 1]):
            item = records.items[place]
            if filled[item] >= 0:
                rows[filled[item]] = row
                filled[item] += 1
    for k in range(begin, end):
        filled[candidates[k, ITEM]] = NONE
    return Stack(levels, rows, candidates), steps


@kernel
def look_up(size, supports, room):
    """Return how many records hold the set in `ordered`, or -1 if it was noted instead; and the steps that took."""
    ordered, known, notes, state = room.ordered, room.known, room.notes, room.notes.state
    steps = supports[ordered[0]]
    for k in range(size):
        steps = min(steps, supports[ordered[k]])
    if size == 1:
        return supports[ordered[0]], steps
    while state[PASSED] < len(known.held):
        first, last = known.offsets[state[PASSED]], known.offsets[state[PASSED] + 1]
        state[PASSED] += 1
        k = ZERO
        while k < size and last - first == size and known.items[first + k] == ordered[k]:
            k += 1
        if k == size:
            return known.held[state[PASSED] - 1], steps
    number = state[NOTED]
    end = notes.offsets[number]
    if number + 1 == len(notes.offsets) or end + size > len(notes.items):
        state[FULL] = 1
    else:
        for k in range(size):
            notes.items[end + k] = ordered[k]
        notes.offsets[number + 1] = end + size
        state[NOTED] += 1
    return NONE, steps


@kernel
def try_set(size, p, records, bounds, room):
    """Take the rule of the items of q, p records of which have e, if it is the strongest; return the steps that took."""
    q, ordered, best = room.q, room.ordered, room.best
    for k in range(size):  # in rising order
        at = k
        while at > 0 and ordered[at - 1] > q[k]:
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at] = q[k]
    num, rest = bounds.num, bounds.den - bounds.num
    # With this number of records, q has no excess above the best.
    enough = p + (p * rest - best[EXCESS] + num - 1) // num if num > 0 else ALL
    if len(room.notes.items) > 0:
        held, steps = look_up(size, records.supports, room)
    else:
        held, steps = records_with(ordered, size, enough, records)
    excess = p * rest - num * (held - p)
    if held >= 0 and excess > best[EXCESS]:
        best[EXCESS] = excess
        best[WITH_E] = p
        best[WITHOUT_E] = held - p
        best[SIZE] = size
        for k in range(size):
            room.best_set[k] = ordered[k]
    return steps


@kernel
def enter(e, core, level, stack, records, bounds, room):
    """Look at the closed set of the records of a level, and find its candidates; return the stack and the steps that took."""
    levels, rows, best = stack.levels, stack.rows, room.best
    start = levels[level - 1, LAST_CANDIDATE]
    levels[level, NEXT] = start
    levels[level, LAST_CANDIDATE] = start
    levels[level, Q_END] = levels[level - 1, Q_END]
    levels[level, ROWS_END] = levels[level - 1, ROWS_END]
    first, last = levels[level, FIRST], levels[level, LAST]
    p, n_seen, steps = count_items(first, last, rows, records, bounds, room)
    if level == 1:
        try_single_items(e, n_seen, records.supports, bounds, room)
    candidates = stack.candidates
    while start + n_seen > len(candidates):
        candidates = doubled_rows(candidates)
    stack = Stack(levels, rows, candidates)
    is_new = extend(e, core, level, p, n_seen, stack, room)
    size = levels[level, Q_END]
    if is_new and size > 0 and p * (bounds.den - bounds.num) - bounds.num * room.slack[rows[last - 1]] > best[EXCESS]:
        steps += try_set(size, p, records, bounds, room)
    stack, more = list_records(level, stack, records, room)
    return stack, steps + more


@kernel
def search(e, rows, start, records, bounds, room, control):
    """Find the rule q → e, q not empty, of the highest excess, if one is above `start`; after `budget` steps stop.

    `rows` are at least one record. The rule is left in `best_set`, and what is said of it in `best`, whose excess is the one to exceed
    all the time. A level has the records that hold q, and adds at least one item to it.
    """
    best, levels = room.best, np.empty((len(room.q) + 3, 6), np.int64)
    best[EXCESS] = start
    best[SIZE] = 0
    best[COMPLETE] = 0
    room.notes.state[:] = 0
    room.notes.offsets[0] = 0
    stack = Stack(levels, np.empty(4 * len(rows) + 16, np.int64), np.empty((256, 4), np.int64))
    for at in range(len(rows)):
        stack.rows[at] = rows[at]
    levels[0, LAST_CANDIDATE] = 0
    levels[0, Q_END] = 0
    levels[0, ROWS_END] = len(rows)
    levels[1, FIRST] = 0
    levels[1, LAST] = len(rows)
    level = ONE
    stack, steps = enter(e, NONE, level, stack, records, bounds, room)
    while steps <= bounds.budget and control[STOP] == 0 and room.notes.state[FULL] == 0:
        # The next child of the set on top, or back to the one below.
        if levels[level, NEXT] < levels[level, LAST_CANDIDATE]:
            core, highest, first, last = stack.candidates[levels[level, NEXT]]
            levels[level, NEXT] += 1
            steps += 1
            if highest > best[EXCESS]:
                level += 1
                levels[level, FIRST] = first
                levels[level, LAST] = last
                stack, more = enter(e, core, level, stack, records, bounds, room)
                steps += more
            continue
        for k in range(levels[level - 1, Q_END], levels[level, Q_END]):
            room.is_known[room.q[k]] = False
        level -= 1
        if level == 0:
            best[COMPLETE] = 1
            break
    for k in range(levels[level, Q_END]):
        room.is_known[room.q[k]] = False
    control[DONE] += 1
    return steps
