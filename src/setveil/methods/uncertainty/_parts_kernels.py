"""How many records hold all items of a set, for many sets at once.

For each item that is the rarest one of many sets, the sets that have it are listed again under each of their other items. Then a set is
compared only with those that share its two rarest items, and not with all that share the rarest one.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.uncertainty._table_kernels import ALL, ONE, ZERO, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

NONE = np.int64(-1)


class Sets(NamedTuple):
    """Distinct sets of items, how many records are equal to each, and the sets of each item (`lists`, from `starts` on).

    `words` have one bit per item of a set, so that most sets that lack an item are skipped.
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    lists: NDArray[np.int64]
    words: NDArray[np.uint64]


class Asked(NamedTuple):
    """The sets that are asked for, by their rarest item (from `starts` on) and the second rarest one, which is -1 if there is none."""

    starts: NDArray[np.int64]
    numbers: NDArray[np.int64]
    seconds: NDArray[np.int64]


@kernel
def find_rarest(sets, rarest, seconds):
    """Write the words of all sets, and their two rarest items; -1 where there are fewer."""
    starts = sets.starts
    for number in range(len(sets.sizes)):
        word = np.uint64(0)
        first, second = NONE, NONE
        for place in range(sets.offsets[number], sets.offsets[number + 1]):
            item = np.int64(sets.items[place])
            word |= ONE << (mixed(item) & np.uint64(63))
            support = starts[item + 1] - starts[item]
            if first < 0 or support < starts[first + 1] - starts[first]:
                first, second = item, first
            elif second < 0 or support < starts[second + 1] - starts[second]:
                second = item
        sets.words[number] = word
        rarest[number] = first
        seconds[number] = second


@kernel
def count_records(first, last, sets, asked, few, enough, counts, control):
    """Write how many records hold all of each set that is asked for and whose rarest item is from `first` to before `last`.

    At most `few` sets with the same rarest item are compared with all sets of that item, and counted up to `enough` records only: where
    there are as many, nothing is written.
    """
    begins = np.full(len(sets.starts), -1, np.int64)  # -1 everywhere between items
    ends = np.zeros(len(sets.starts), np.int64)
    totals = np.zeros(len(sets.starts), np.int64)
    shared, words = np.empty(0, np.int64), np.empty(0, np.uint64)
    for item in range(first, last):
        if control[STOP]:
            return
        if asked.starts[item] == asked.starts[item + 1]:
            continue
        limit = ALL
        is_few = asked.starts[item + 1] - asked.starts[item] <= few
        room = sets.starts[item + 1] - sets.starts[item]
        if not is_few:
            room = lay_out_lists(item, sets, asked, begins, ends)
        if room > len(shared):
            shared, words = np.empty(room, np.int64), np.empty(room, np.uint64)
        if is_few:
            limit = enough
            list_all(item, sets, asked, begins, ends, shared, words)
        else:
            fill_lists(item, sets, begins, ends, totals, shared, words)
        for at in range(asked.starts[item], asked.starts[item + 1]):
            number, second = asked.numbers[at], asked.seconds[at]
            word = sets.words[number]
            total = ZERO
            if second < 0:
                for place in range(sets.starts[item], sets.starts[item + 1]):
                    total += sets.sizes[sets.lists[place]]
            elif not is_few and sets.offsets[number + 1] - sets.offsets[number] == 2:
                total = totals[second]
            else:
                for place in range(begins[second], ends[second]):
                    if (words[place] & word) == word and is_within(number, shared[place], sets):
                        total += sets.sizes[shared[place]]
                        if total >= limit:
                            break
            if total < limit:
                counts[number] = total
        for at in range(asked.starts[item], asked.starts[item + 1]):
            if asked.seconds[at] >= 0:
                begins[asked.seconds[at]] = -1
                totals[asked.seconds[at]] = 0
        control[DONE] += asked.starts[item + 1] - asked.starts[item]


@kernel
def lay_out_lists(item, sets, asked, begins, ends):
    """Find where the sets with an item and each of the second items will begin; return the room that they take.

    `ends` are equal to `begins`: the lists are empty.
    """
    for at in range(asked.starts[item], asked.starts[item + 1]):
        second = asked.seconds[at]
        if second >= 0:
            begins[second] = 0
            ends[second] = 0
    for at in range(sets.starts[item], sets.starts[item + 1]):
        number = sets.lists[at]
        for place in range(sets.offsets[number], sets.offsets[number + 1]):
            ends[sets.items[place]] += 1
    room = ZERO
    before = NONE
    for at in range(asked.starts[item], asked.starts[item + 1]):
        second = asked.seconds[at]
        if second != before:  # they are in order; -1, which comes first, has no list
            before = second
            begins[second] = room
            room += ends[second]
            ends[second] = begins[second]
    return room


@kernel
def list_all(item, sets, asked, begins, ends, shared, words):
    """List the sets with an item, and their words, once for all second items."""
    first = sets.starts[item]
    number = sets.starts[item + 1] - first
    for at in range(number):
        shared[at] = sets.lists[first + at]
        words[at] = sets.words[shared[at]]
    for at in range(asked.starts[item], asked.starts[item + 1]):
        if asked.seconds[at] >= 0:
            begins[asked.seconds[at]] = 0
            ends[asked.seconds[at]] = number


@kernel
def fill_lists(item, sets, begins, ends, totals, shared, words):
    """List the sets with an item under each second item that they have, and their words; count the records with both items."""
    for at in range(sets.starts[item], sets.starts[item + 1]):
        number = sets.lists[at]
        for place in range(sets.offsets[number], sets.offsets[number + 1]):
            second = sets.items[place]
            if begins[second] >= 0:
                shared[ends[second]] = number
                words[ends[second]] = sets.words[number]
                ends[second] += 1
                totals[second] += sets.sizes[number]


@kernel
def is_within(number, other, sets):
    """Return whether all items of a set are in another one."""
    items = sets.items
    place, end = sets.offsets[other], sets.offsets[other + 1]
    for k in range(sets.offsets[number], sets.offsets[number + 1]):
        while place < end and items[place] < items[k]:
            place += 1
        if place == end or items[place] != items[k]:
            return False
    return True
