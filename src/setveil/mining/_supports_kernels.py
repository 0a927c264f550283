# mypy: ignore-errors
# (Numba infers the types)
"""The loops of `supports`: rows that hold all items of a set, found by intersecting from its rarest item on.

Items are numbered by rising support. One that few records hold has the list of these (`rows`, from `starts[item]` on); one that many
hold has one bit a record instead (`words[bits[item]]`; `bits` is -1 for the others). The sets come in rising order, so that a set begins as
the one before it did, as often as can be: the intersections along the last set are kept, one a depth, and only those after the common
beginning are made anew. The rows of the rarest item of a set are also marked, one bit a record: for the second item it is then enough to
look up each row of its list, which is several times as fast as a walk through both lists. Where many sets have the same rarest item, the
records that hold it are read once, and each other item of these sets has one bit for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOK_EVERY = 4095
"""A mask: control arrays are looked at when a number that is counted up has none of these bits."""

_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_EIGHTS = np.uint64(0x0F0F0F0F0F0F0F0F)
_ONE = np.uint64(1)
_LOW = np.uint64(0x7F)
_NONE = np.int64(-1)
_NO_WORDS = np.int64(0)
MOST_WORDS = 1 << 20
"""Maximum number of words for the bits of the items of sets with the same rarest item: 8 MB."""
MUCH_LONGER = 16
"""A list this many times as long as that of the rarest item is searched for the rows of that one, and not walked through."""


class Records(NamedTuple):
    """The records: their codes, from `offsets` on, and the number of the item of each code, or -1."""

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    number_of: NDArray[np.int64]


class Layout(NamedTuple):
    """Where the list of each item starts, the row of its bits or -1, the lists and the bits."""

    starts: NDArray[np.int64]
    bits: NDArray[np.int64]
    rows: NDArray[np.int64]
    words: NDArray[np.uint64]


class Sets(NamedTuple):
    """The sets, their items by rising support, and an order in which many begin as the one before."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    order: NDArray[np.int64]


class Kept(NamedTuple):
    """The intersections along a set, one a depth: lists of rows in `found` up to `ends`, or bits in `masks`; and their sizes.

    `marks` has the bits of the rows of the first list.
    """

    found: NDArray[np.int64]
    ends: NDArray[np.int64]
    masks: NDArray[np.uint64]
    counts: NDArray[np.int64]
    marks: NDArray[np.uint64]


@kernel
def ones(word):
    """Count the bits of a word that are set."""
    word = word - ((word >> _ONE) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _EIGHTS
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return np.int64(word & _LOW)


@kernel
def lay_out(records, filled, layout, control):
    """Fill the lists and the bits of the items that have a number; `filled` is work space, one a number."""
    offsets, codes, number_of = records.offsets, records.codes, records.number_of
    starts, bits, rows, words = layout.starts, layout.bits, layout.rows, layout.words
    for number in range(
        len(filled)
    ):  # not a copy of slices: Numba would compile the text of an error for other lengths, for seconds
        filled[number] = starts[number]
    for record in range(len(offsets) - 1):
        if record & LOOK_EVERY == 0:
            control[DONE] = record
            if control[STOP] != 0:
                return
        for place in range(offsets[record], offsets[record + 1]):
            item = number_of[codes[place]]
            if item < 0:
                continue
            if bits[item] < 0:
                rows[filled[item]] = record
                filled[item] += 1
            else:
                words[bits[item], record >> 6] |= _ONE << np.uint64(record & 63)
    control[DONE] = len(offsets) - 1


@kernel
def _kept_by_bits(found, first, last, word, into):
    """Copy the rows of `found` whose bit is set behind them; return where the copies end."""
    end = into
    for at in range(first, last):
        row = found[at]
        found[end] = row
        end += np.int64((word[row >> 6] >> np.uint64(row & 63)) & _ONE)
    return end


@kernel
def _kept_by_marks(found, rows, begin, end_of_list, marks, into):
    """Copy the rows of a list that are marked into `found`; return where the copies end."""
    end = into
    for at in range(begin, end_of_list):
        row = rows[at]
        found[end] = row
        end += np.int64((marks[row >> 6] >> np.uint64(row & 63)) & _ONE)
    return end


@kernel
def kept_by_list(found, first, last, rows, begin, end_of_list, into):
    """Copy the rows of `found` that are in a list behind them; return where the copies end."""
    end = into
    at = begin
    few = (end_of_list - begin) > 8 * (last - first)
    for place in range(first, last):
        row = found[place]
        if few:  # the list is much longer: leap ahead, then halve
            step = 1
            while at + step < end_of_list and rows[at + step] < row:
                at += step
                step *= 2
            upper = min(at + step, end_of_list)
            while at < upper:
                middle = (at + upper) >> 1
                if rows[middle] < row:
                    at = middle + 1
                else:
                    upper = middle
        else:
            while at < end_of_list and rows[at] < row:
                at += 1
        if at >= end_of_list:
            break
        found[end] = row
        end += rows[at] == row
    return end


@kernel
def room_for(first, last, sets, layout):
    """Return room for the intersections along each of the sets `order[first]` to before `order[last]`."""
    longest = 0
    most = 1
    for place in range(first, last):
        one = sets.order[place]
        longest = max(longest, sets.offsets[one + 1] - sets.offsets[one])
        rarest = sets.items[sets.offsets[one]]
        if layout.bits[rarest] < 0:
            most = max(most, layout.starts[rarest + 1] - layout.starts[rarest])
    return Kept(
        found=np.empty((longest + 1) * most + 1, np.int64),
        ends=np.zeros(longest + 1, np.int64),
        masks=np.empty((longest, layout.words.shape[1]), np.uint64),
        counts=np.zeros(longest + 1, np.int64),
        marks=np.zeros(layout.words.shape[1], np.uint64),
    )


@kernel
def keep_bits(depth, word, masks):
    """Write the bits of an item and of all before it at a depth; return how many there are."""
    count = 0
    if depth == 0:
        for w in range(len(word)):
            masks[0, w] = word[w]
            count += ones(word[w])
    else:
        for w in range(len(word)):
            masks[depth, w] = masks[depth - 1, w] & word[w]
            count += ones(masks[depth, w])
    return count


@kernel
def mark(item, before, layout, marks):
    """Mark the rows of an item instead of those of the one before, if there is one."""
    rows = layout.rows
    if before >= 0:
        for at in range(layout.starts[before], layout.starts[before + 1]):
            marks[rows[at] >> 6] = 0
    for at in range(layout.starts[item], layout.starts[item + 1]):
        marks[rows[at] >> 6] |= _ONE << np.uint64(rows[at] & 63)


@kernel
def keep_rows(depth, item, layout, kept):
    """Write the rows that hold an item and all before it at a depth; return how many there are."""
    starts, bits, rows, found, ends = layout.starts, layout.bits, layout.rows, kept.found, kept.ends
    if depth == 0:
        begin = starts[item]
        count = starts[item + 1] - begin
        for at in range(count):
            found[at] = rows[begin + at]
        ends[1] = count
        return count
    before, into = ends[depth - 1], ends[depth]
    begin, end = starts[item], starts[item + 1]
    if bits[item] >= 0:
        ends[depth + 1] = _kept_by_bits(found, before, into, layout.words[bits[item]], into)
    elif depth == 1 and end - begin <= MUCH_LONGER * (into - before):
        ends[2] = _kept_by_marks(found, rows, begin, end, kept.marks, into)
    else:
        ends[depth + 1] = kept_by_list(found, before, into, rows, begin, end, into)
    return ends[depth + 1] - into


@kernel
def end_of_run(first, last, sets):
    """Return the end of the sets from `order[first]` on, before `order[last]`, that have the same rarest item."""
    rarest = sets.items[sets.offsets[sets.order[first]]]
    end = first + 1
    while end < last and sets.items[sets.offsets[sets.order[end]]] == rarest:
        end += 1
    return end


@kernel
def columns_of(first, last, sets, records, layout, slots):
    """Return the bits of each item of these sets among the rows of their rarest item, or nothing if they would take too much room.

    The bits of an item are in the row `slots[item + 1]`; row 0 takes those of all other items.
    """
    for k in range(len(slots)):
        slots[k] = 0
    n_slots = np.int64(0)
    for place in range(first, last):
        one = sets.order[place]
        for k in range(sets.offsets[one] + 1, sets.offsets[one + 1]):
            if slots[sets.items[k] + 1] == 0:
                n_slots += 1
                slots[sets.items[k] + 1] = n_slots
    rarest = sets.items[sets.offsets[sets.order[first]]]
    begin, end = layout.starts[rarest], layout.starts[rarest + 1]
    n_words = (end - begin + 63) >> 6
    if (n_slots + 1) * n_words > MOST_WORDS:
        return np.zeros((_NO_WORDS, _NO_WORDS), np.uint64)
    columns = np.zeros((n_slots + 1, n_words), np.uint64)
    for at in range(end - begin):
        row = layout.rows[begin + at]
        bit = _ONE << np.uint64(at & 63)
        for k in range(records.offsets[row], records.offsets[row + 1]):
            columns[slots[records.number_of[records.codes[k]] + 1], at >> 6] |= bit
    return columns


@kernel
def count_sets(first, last, sets, records, layout, many, supports, control):
    """Add the supports of the sets `order[first]` to before `order[last]` in these records; no set is empty.

    Before a set is looked at, the intersections along the one before are there up to `depth`. `many` sets or more with the same rarest
    item are counted by the bits of their other items among its rows.
    """
    set_offsets, set_items, bits = sets.offsets, sets.items, layout.bits
    kept = room_for(first, last, sets, layout)
    counts = kept.counts
    begun = np.int64(-1)  # the set before
    depth = np.int64(0)
    marked = _NONE
    slots = np.zeros(len(bits) + 1, np.int64)
    columns = np.zeros((_NO_WORDS, _NO_WORDS), np.uint64)
    run_end = first  # of the sets with the rarest item at hand
    for place in range(first, last):
        if control[STOP] != 0:
            return
        one = sets.order[place]
        start = set_offsets[one]
        length = set_offsets[one + 1] - start
        same = np.int64(0)
        if begun >= 0:
            most = min(length, depth)
            while same < most and set_items[start + same] == set_items[set_offsets[begun] + same]:
                same += 1
        depth = same
        rarest = np.int64(set_items[start])
        by_bits = bits[rarest] >= 0  # of the rarest, so of all
        if place == run_end:
            run_end = end_of_run(place, last, sets)
            if run_end - place >= many and not by_bits:
                columns = columns_of(place, run_end, sets, records, layout, slots)
            else:
                columns = np.zeros((_NO_WORDS, _NO_WORDS), np.uint64)
        by_columns = len(columns) > 0
        if not by_bits and not by_columns and length > 1 and rarest != marked:
            mark(rarest, marked, layout, kept.marks)
            marked = rarest
        while depth < length and (depth == 0 or counts[depth] > 0):
            item = set_items[start + depth]
            if by_bits:
                counts[depth + 1] = keep_bits(depth, layout.words[bits[item]], kept.masks)
            elif by_columns and depth > 0:
                counts[depth + 1] = keep_bits(depth - 1, columns[slots[item + 1]], kept.masks)
            elif by_columns:
                counts[1] = layout.starts[item + 1] - layout.starts[item]
            else:
                counts[depth + 1] = keep_rows(depth, item, layout, kept)
            depth += 1
        supports[one] += counts[depth]  # 0 where no record was left before the last item
        begun = one
        control[DONE] = place - first + 1
