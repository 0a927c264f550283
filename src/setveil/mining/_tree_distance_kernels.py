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

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import first_not_below

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
def take_out(contents, first, last, offsets, items, width, mine, theirs):
    """Take the records from `first` to before `last` out of the counts `mine`; return how much less both sides have in common.

    Counted are the items, and after these the lengths: a record of three items counts for the lengths 1, 2 and 3.
    """
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
def fill_gains(content, rows, columns, index, first, last, gains, lengths, room):
    """Write what a row of this content gains with each column of the segments from `first` to before `last`; return the steps."""
    number = gains.dtype.type
    offsets, items, _contents = rows
    column_offsets, column_items, column_contents, column_starts = columns
    index_starts, index_contents, index_places = index
    slots, met, here, there, costs = room
    has_places = len(here) < WIDEST
    begin = offsets[content]
    length = offsets[content + 1] - begin
    own = number(length)
    for p in range(LENGTH):
        to, of = gains[p, first:last], lengths[p, first:last]
        for s in range(len(to)):
            to[s] = min(of[s], own)
    first_column = first << SHIFT
    end_column = min(last << SHIFT, len(column_contents))
    first_content = column_contents[first_column]
    end_content = column_contents[end_column - 1] + 1
    n_met = 0
    steps = 0
    for place in range(length):
        item = items[begin + place]
        end = index_starts[item + 1]
        at = first_not_below(index_contents, index_starts[item], end, first_content)
        while at < end and index_contents[at] < end_content:
            other = index_contents[at]
            slot = slots[other]
            size = slot[0] + 1
            slot[0] = size
            slot[min(size, SLOTS)] = place << 16 | index_places[at]
            met[n_met] = other
            n_met += size == 1
            at += 1
            steps += 1
    for at in range(n_met):
        other = met[at]
        slot = slots[other]
        size = slot[0]
        slot[0] = 0
        other_begin = column_offsets[other]
        other_length = column_offsets[other + 1] - other_begin
        if size <= 2 and has_places:
            a, b = slot[1] >> 16, slot[1] & 65535
            cost = max(a, b)
            away = min(max(length, other_length), cost + max(length - 1 - a, other_length - 1 - b))
            if size == 2:
                c, d = slot[2] >> 16, slot[2] & 65535
                cost = min(max(c, d), cost + max(c - a, d - b) - 1)
                away = min(away, cost + max(length - 1 - c, other_length - 1 - d))
        else:
            if size < SLOTS and has_places:
                for shared in range(size):
                    here[shared] = slot[shared + 1] >> 16
                    there[shared] = slot[shared + 1] & 65535
            else:
                a, b, shared = 0, 0, 0
                while shared < size:
                    mine, theirs = items[begin + a], column_items[other_begin + b]
                    if mine == theirs:
                        here[shared] = a
                        there[shared] = b
                        shared += 1
                    a, b = a + (mine <= theirs), b + (theirs <= mine)
                steps += a + b
            away = chained(here, there, size, length, other_length, costs)
        gain = length + other_length - away
        if gain > min(length, other_length):
            for column in range(max(column_starts[other], first_column), min(column_starts[other + 1], end_column)):
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
def heaviest(rows, columns, index, borders, goal, counts, upper, width, tables, room, efforts, budget, told, control):
    """Match as well as possible, and write to `told` what came of it.

    `borders` are two arrays: from which segment on and up to which each block of rows is looked at, as least. With a `goal` of 0 or more,
    which must be a gain that some matching reaches, segments are added on the right as long as a matching that goes there can still reach
    it, and left out on the left when no matching that is still there can. What remains can gain no more than `upper` at first, which is
    what both sides have in common by `counts`; these are taken down as rows and segments are left behind, once for either border.
    `efforts` are the steps that all cells of a block of rows would take, summed up to its end: by these it is foreseen what the rest takes.
    """
    offsets, items, contents = rows
    column_offsets, column_items, column_contents, _column_starts = columns
    from_segment, to_segment = borders
    left_rows, left_columns, right_rows, right_columns = counts
    values, gains, lengths, before, top, rise, carry = tables
    segments = values.shape[1]
    n_rows, n_columns = len(contents), len(column_contents)
    left_upper = upper
    right_upper = upper
    first, last, reach = 0, 0, 0
    steps = 0
    for start in range(0, n_rows, HEIGHT):
        effort = told[EFFORT]
        far = effort * FEW > efforts[-1] and steps > FAR * budget * effort / efforts[-1]
        if control[STOP] != 0 or steps > budget or far:
            break
        end = min(start + HEIGHT, n_rows)
        block = start // HEIGHT
        reach = max(reach, to_segment[block])
        if goal >= 0:
            possible = carry[last]
            for row in range(start, end):
                possible += 2 * (offsets[contents[row] + 1] - offsets[contents[row]])
            right_upper -= take_out(contents, start, end, offsets, items, width, right_rows, right_columns)
            while reach < segments and possible + right_upper >= goal:
                column = reach << SHIFT
                right_upper -= take_out(
                    column_contents,
                    column,
                    min(column + LENGTH, n_columns),
                    column_offsets,
                    column_items,
                    width,
                    right_columns,
                    right_rows,
                )
                reach += 1
        for s in range(last, reach):
            carry[s + 1] = carry[s]
            rise[s] = 0
            for p in range(LENGTH):
                values[p, s] = 0
        last = max(last, reach)
        wanted = from_segment[block]
        if goal >= 0:
            while first < last - 1 and carry[first + 1] + left_upper < goal:
                column = first << SHIFT
                left_upper -= take_out(
                    column_contents,
                    column,
                    column + LENGTH,
                    column_offsets,
                    column_items,
                    width,
                    left_columns,
                    left_rows,
                )
                first += 1
            left_upper -= take_out(contents, start, end, offsets, items, width, left_rows, left_columns)
        first = max(first, min(wanted, last - 1))
        content = contents[start] - 1
        for row in range(start, end):
            if contents[row] != content:
                content = contents[row]
                steps += fill_gains(content, rows, columns, index, first, last, gains, lengths, room)
            next_row(values, gains, before[first:last], top[first:last], rise[first:last], first, last)
            flow = carry[first]
            for s in range(first, last):
                over = carry[s] + top[s]
                rise[s] = flow - carry[s]
                carry[s] = flow
                flow = max(flow, over)
            carry[last] = flow
        steps += (end - start) * ((last - first) * LENGTH // CELLS_IN_STEP + 1)
        control[DONE] = end
        told[ROWS] = end
        told[EFFORT] = efforts[block]
    told[RESULT] = carry[last]
    told[STEPS] = steps
