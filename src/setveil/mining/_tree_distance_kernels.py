# mypy: ignore-errors
# (Numba infers the types)
"""The loops of `tree_distance`: the heaviest matching of two sorted lists of records that does not cross itself.

A row stands for a record of one list, a column for one of the other; both go by the number of their content. G(i, j) is what the first i
rows and j columns gain at most:

    G(i, j) = max(G(i - 1, j), G(i, j - 1), G(i - 1, j - 1) + gain(i, j))

Along a row this is a running maximum, in which each column waits for the one before. So the columns are cut into segments of LENGTH, and
column s * LENGTH + p stands at [p, s]: then the inner loop goes over segments, which do not wait for each other, and the compiler makes
vectors of it. What flows from a segment into the next, `carry`, is brought in a row later: `values` are what stands above the carry of the
segment, so that small numbers are enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import first_not_below

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

LENGTH = 32
"""Columns of a segment: a power of two."""
SHIFT = 5
"""LENGTH = 1 << SHIFT."""
HEIGHT = 64
"""Rows of a block: between blocks it is decided which segments still matter."""
SLOTS = 7
"""Of less than so many items that two records share the places are kept; for more they are looked up."""
WIDEST = 1 << 15
"""In records with more items than these, places do not fit a slot."""
CELLS_IN_STEP = 128
"""So many cells take about as long as one meeting of two contents at an item that both hold."""
FEW, FAR = 16, 4.0
"""After one in so many of the whole effort, a loop that would take so many times its budget stops."""
RESULT, STEPS, ROWS, EFFORT = 0, 1, 2, 3
"""What `heaviest` tells: the gain, the steps, how many rows it has seen, and how much all their cells would have taken."""

ZERO = np.int64(0)


class Side(NamedTuple):
    """The contents of one list, the content of each of its records, and the first record of each content."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    contents: NDArray[np.int32]
    starts: NDArray[np.int64]


class Meetings(NamedTuple):
    """For each item the contents of columns that hold it and where; and room for the places of what two contents share.

    A slot holds how many items a content of columns shares with the row and the places of the first ones; its count is 0 between rows.
    """

    starts: NDArray[np.int64]
    contents: NDArray[np.int32]
    places: NDArray[np.int32]
    slots: NDArray[np.int32]
    met: NDArray[np.int32]
    here: NDArray[np.int64]
    there: NDArray[np.int64]
    costs: NDArray[np.int64]


class Plan(NamedTuple):
    """Where to look, and for how long.

    `first` and `last` tell from which segment on and up to which each block of rows is looked at, as least. With a `goal` of 0 or more,
    which must be a gain that some matching reaches, more is looked at on the right and less on the left. `upper` is what both sides have in
    common by counts, whose first `width` are of items. `efforts` are the steps that all cells of a block of rows would take, summed up to
    its end: by these it is foreseen what the rest takes.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    goal: int
    upper: int
    width: int
    efforts: NDArray[np.int64]
    budget: int


class Counts(NamedTuple):
    """How many records with each item and of each length are not left behind, for the left border and for the right."""

    left_rows: NDArray[np.int64]
    left_columns: NDArray[np.int64]
    right_rows: NDArray[np.int64]
    right_columns: NDArray[np.int64]


class Table(NamedTuple):
    """The values of a row, its gains, the lengths of the columns; and by segment: room for two values, the rise and the carry."""

    values: NDArray[Any]
    gains: NDArray[Any]
    lengths: NDArray[Any]
    before: NDArray[Any]
    top: NDArray[Any]
    rise: NDArray[Any]
    carry: NDArray[np.int64]


@kernel
def chained(here, there, size, length, other_length, costs):
    """Return the Levenshtein distance of two rising sequences, given the places of all `size` items that both hold.

    Some of the shared items are matched, in their order; what lies between two that follow one another costs the longer of the two gaps.
    From a match back to the one before it: each shared item that is passed over costs at least 1, which ends the search early.
    """
    best = max(length, other_length)
    for t in range(size):
        cost = max(here[t], there[t])
        for u in range(t - 1, -1, -1):
            if max(here[t], there[t]) - u - 1 >= cost:
                break
            cost = min(cost, costs[u] + max(here[t] - here[u], there[t] - there[u]) - 1)
        costs[t] = cost
        best = min(best, cost + max(length - 1 - here[t], other_length - 1 - there[t]))
    return best


@kernel
def take_out(first, last, side, width, mine, theirs):
    """Take the records from `first` to before `last` out of the counts `mine`; return how much less both sides have in common.

    Counted are the items, and after these the lengths: a record of three items counts for the lengths 1, 2 and 3.
    """
    offsets, items, contents = side.offsets, side.items, side.contents
    less = 0
    for record in range(first, last):
        begin = offsets[contents[record]]
        end = offsets[contents[record] + 1]
        for place in range(begin, end):
            item = items[place]
            less += mine[item] <= theirs[item]
            mine[item] -= 1
            of_length = width + place - begin
            less += mine[of_length] <= theirs[of_length]
            mine[of_length] -= 1
    return less


@kernel
def meet(content, first, end, rows, meetings):
    """Find the contents of columns, from `first` to before `end`, that share an item with a content of rows, and the places of the items.

    Return how many contents these are, and the steps.
    """
    offsets, items = rows.offsets, rows.items
    starts, contents, places = meetings.starts, meetings.contents, meetings.places
    slots, met = meetings.slots, meetings.met
    begin = offsets[content]
    n_met = ZERO
    steps = ZERO
    for place in range(offsets[content + 1] - begin):
        item = items[begin + place]
        last = starts[item + 1]
        at = first_not_below(contents, starts[item], last, first)
        while at < last and contents[at] < end:
            other = contents[at]
            slot = slots[other]
            size = slot[0] + 1
            slot[0] = size
            slot[min(size, SLOTS)] = place << 16 | places[at]
            met[n_met] = other
            n_met += size == 1
            at += 1
            steps += 1
    return n_met, steps


@kernel
def shared_places(begin, other_begin, slot, items, column_items, here, there):
    """Write the places of the items that two contents share, from their slot or by looking them up; return the steps."""
    size = slot[0]
    if size < SLOTS and len(here) < WIDEST:
        for shared in range(size):
            here[shared] = slot[shared + 1] >> 16
            there[shared] = slot[shared + 1] & 65535
        return ZERO
    a, b, shared = ZERO, ZERO, ZERO
    while shared < size:
        mine, theirs = items[begin + a], column_items[other_begin + b]
        if mine == theirs:
            here[shared] = a
            there[shared] = b
            shared += 1
        a, b = a + (mine <= theirs), b + (theirs <= mine)
    return a + b


@kernel
def fill_gains(content, first, last, rows, columns, meetings, table):
    """Write what a row of this content gains with each column of the segments from `first` to before `last`; return the steps."""
    offsets, items, starts = columns.offsets, columns.items, columns.starts
    met, slots, here, there, costs = meetings.met, meetings.slots, meetings.here, meetings.there, meetings.costs
    gains, row_items = table.gains, rows.items
    begin = rows.offsets[content]
    length = rows.offsets[content + 1] - begin
    own = gains.dtype.type(length)
    for p in range(LENGTH):
        to, of = gains[p, first:last], table.lengths[p, first:last]
        for s in range(len(to)):
            to[s] = min(of[s], own)
    first_column = first << SHIFT
    end_column = min(last << SHIFT, len(columns.contents))
    n_met, steps = meet(content, columns.contents[first_column], columns.contents[end_column - 1] + 1, rows, meetings)
    for at in range(n_met):
        other = met[at]
        slot = slots[other]
        size = slot[0]
        other_begin = offsets[other]
        other_length = offsets[other + 1] - other_begin
        if size <= 2 and len(here) < WIDEST:
            a, b = slot[1] >> 16, slot[1] & 65535
            cost = max(a, b)
            away = min(max(length, other_length), cost + max(length - 1 - a, other_length - 1 - b))
            if size == 2:
                c, d = slot[2] >> 16, slot[2] & 65535
                cost = min(max(c, d), cost + max(c - a, d - b) - 1)
                away = min(away, cost + max(length - 1 - c, other_length - 1 - d))
        else:
            steps += shared_places(begin, other_begin, slot, row_items, items, here, there)
            away = chained(here, there, size, length, other_length, costs)
        slot[0] = 0
        gain = length + other_length - away
        if gain > min(length, other_length):
            for column in range(max(starts[other], first_column), min(starts[other + 1], end_column)):
                gains[column & (LENGTH - 1), column >> SHIFT] = gain
    return steps


@kernel
def next_row(values, gains, before, top, rise, first, last):
    """Go on by one row. `rise` is by how much the carry of each segment rose in the row before; `top` receives the segments' ends.

    The last three start at the segment `first`.
    """
    number = values.dtype.type
    nothing = number(0)
    for s in range(len(top)):
        before[s] = nothing
        top[s] = nothing
    for p in range(LENGTH):
        value, gain = values[p, first:last], gains[p, first:last]  # rows of whole tables: known to lie without gaps
        for s in range(len(top)):
            above = max(number(value[s] - rise[s]), nothing)
            best = max(number(before[s] + gain[s]), above, top[s])
            value[s] = best
            before[s] = above
            top[s] = best


@kernel
def reached(start, end, reach, possible, left, sides, plan, counts):
    """Add segments on the right as long as a matching that goes there can still reach the goal; return the border and what is left.

    `possible` is what the segments before carry, `left` is what both sides have left in common behind the border.
    """
    rows, columns = sides
    offsets, contents = rows.offsets, rows.contents
    for row in range(start, end):
        possible += 2 * (offsets[contents[row] + 1] - offsets[contents[row]])
    left -= take_out(start, end, rows, plan.width, counts.right_rows, counts.right_columns)
    n_columns = len(columns.contents)
    while (reach << SHIFT) < n_columns and possible + left >= plan.goal:
        column = reach << SHIFT
        until = min(column + LENGTH, n_columns)
        left -= take_out(column, until, columns, plan.width, counts.right_columns, counts.right_rows)
        reach += 1
    return reach, left


@kernel
def left_out(first, last, left, columns, plan, counts, carry):
    """Leave out segments on the left that no matching which reaches the goal goes through; return the border and what is left."""
    while first < last - 1 and carry[first + 1] + left < plan.goal:
        column = first << SHIFT
        left -= take_out(column, column + LENGTH, columns, plan.width, counts.left_columns, counts.left_rows)
        first += 1
    return first, left


@kernel
def add_row(first, last, table):
    """Go on by one row in the segments from `first` to before `last`, and hand on what flows from each into the next."""
    top, rise, carry = table.top, table.rise, table.carry
    next_row(table.values, table.gains, table.before[first:last], top[first:last], rise[first:last], first, last)
    flow = carry[first]
    for s in range(first, last):
        over = carry[s] + top[s]
        rise[s] = flow - carry[s]
        carry[s] = flow
        flow = max(flow, over)
    carry[last] = flow


@kernel
def heaviest(rows, columns, meetings, plan, counts, table, told, control):
    """Match as well as possible, and write to `told` what came of it.

    Block by block of rows, the segments from `first` to before `last` are looked at. What remains behind a border can gain no more than
    both sides have in common there: `plan.upper` at first, less what `counts` lose as rows and segments are left behind.
    """
    contents, values, rise, carry = rows.contents, table.values, table.rise, table.carry
    n_rows = len(contents)
    left_upper, right_upper = plan.upper, plan.upper
    first, last, reach = ZERO, ZERO, ZERO
    steps = ZERO
    whole = plan.efforts[-1]
    for start in range(0, n_rows, HEIGHT):
        effort = told[EFFORT]
        far = effort * FEW > whole and steps > FAR * plan.budget * effort / whole
        if control[STOP] != 0 or steps > plan.budget or far:
            break
        end = min(start + HEIGHT, n_rows)
        block = start // HEIGHT
        reach = max(reach, plan.last[block])
        if plan.goal >= 0:
            reach, right_upper = reached(start, end, reach, carry[last], right_upper, (rows, columns), plan, counts)
        for s in range(last, reach):
            carry[s + 1] = carry[s]
            rise[s] = 0
            for p in range(LENGTH):
                values[p, s] = 0
        last = max(last, reach)
        if plan.goal >= 0:
            first, left_upper = left_out(first, last, left_upper, columns, plan, counts, carry)
            left_upper -= take_out(start, end, rows, plan.width, counts.left_rows, counts.left_columns)
        first = max(first, min(plan.first[block], last - 1))
        content = contents[start] - 1
        for row in range(start, end):
            if contents[row] != content:
                content = contents[row]
                steps += fill_gains(content, first, last, rows, columns, meetings, table)
            add_row(first, last, table)
        steps += (end - start) * ((last - first) * LENGTH // CELLS_IN_STEP + 1)
        control[DONE] = end
        told[ROWS] = end
        told[EFFORT] = plan.efforts[block]
    told[RESULT] = carry[last]
    told[STEPS] = steps
