# mypy: ignore-errors
# (Numba infers the types)
"""Which of the sets found for kind maximal are within another one.

The search notes a set if no item that it still visits can be added. An earlier item can still make it larger. That larger set starts at an
earlier item, or at the same one, and was noted before. So the sets noted up to any moment of a search in order show which of them are
maximal.

The sets that start at the same item are looked at together: each set noted so far that holds this item becomes a word of the other items.
The list of words is narrowed down to those that hold the first items of a set. Sets that follow each other share the narrowed lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.bits import WORD_BITS
from setveil.kernels.jit import kernel
from setveil.kernels.rows import sort
from setveil.mining._writing_kernels import NONE, SETS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW_WORDS = 32
"""Fewer words are looked at one by one."""


class Noted(NamedTuple):
    """The sets: where the items of each begin, the rank of each item (-1 if all records hold it), and per rank the sets that hold it.

    `latest[rank]` is the place of the item in the last set that holds it, `previous` the place in the set before, and `owners` the set of
    each place.
    """

    items: NDArray[np.int32]
    starts: NDArray[np.int64]
    ranks: NDArray[np.int32]
    latest: NDArray[np.int64]
    previous: NDArray[np.int64]
    owners: NDArray[np.int64]


class Lists(NamedTuple):
    """The bit of each rank below an item, and the ranks that have one; words and their sets, list by list; where each list ends.

    `commons` are the bits that all words of a list have.
    """

    bits: NDArray[np.int64]
    seen: NDArray[np.int32]
    words: NDArray[np.int64]
    sets: NDArray[np.int64]
    ends: NDArray[np.int64]
    commons: NDArray[np.int64]


@kernel
def rank_items(names, perfect):
    """Return the rank of each code: its place in `names`, or -1."""
    n_codes = 0
    for rank in range(len(names)):
        n_codes = max(n_codes, names[rank] + 1)
    for at in range(len(perfect)):
        n_codes = max(n_codes, perfect[at] + 1)
    ranks = np.empty(n_codes, np.int32)
    for code in range(n_codes):
        ranks[code] = -1
    for rank in range(len(names)):
        ranks[names[rank]] = rank
    return ranks


@kernel
def room_for_sets(n_sets, ranks, found):
    """Return the sets with no set linked to its items, and room for lists of words."""
    starts = np.empty(n_sets + 1, np.int64)
    starts[0] = 0
    for number in range(n_sets):
        starts[number + 1] = starts[number] + found.lengths[number]
    latest = np.empty(len(ranks), np.int64)
    for rank in range(len(ranks)):
        latest[rank] = -1
    previous, owners = np.empty(starts[n_sets], np.int64), np.empty(starts[n_sets], np.int64)
    noted = Noted(found.items, starts, ranks, latest, previous, owners)
    room = 4 * n_sets
    words, sets = np.empty(room, np.int64), np.empty(room, np.int64)
    bits, seen = np.zeros(len(ranks), np.int64), np.empty(len(ranks), np.int32)
    ends, commons = np.empty(WORD_BITS + 2, np.int64), np.empty(WORD_BITS + 2, np.int64)
    return noted, Lists(bits, seen, words, sets, ends, commons)


@kernel
def first_rank(number, noted):
    """Return the rank of the rarest item of a set, which is where the search found it."""
    first = len(noted.ranks)
    for place in range(noted.starts[number], noted.starts[number + 1]):
        rank = noted.ranks[noted.items[place]]
        if 0 <= rank < first:
            first = rank
    return first


@kernel
def link(number, noted):
    """Make a set the last one that holds each of its items."""
    latest = noted.latest
    for place in range(noted.starts[number], noted.starts[number + 1]):
        rank = noted.ranks[noted.items[place]]
        if rank >= 0:
            noted.previous[place], latest[rank] = latest[rank], place
            noted.owners[place] = number


@kernel
def give_bits(first, last, root, noted, lists):
    """Give the items of some sets, without the first one, bits by rank; return how many items these are. Above a word they share bits."""
    bits, seen = lists.bits, lists.seen
    n_seen = NONE
    for place in range(noted.starts[first], noted.starts[last]):
        rank = noted.ranks[noted.items[place]]
        if rank > root and bits[rank] == 0:
            bits[rank] = 1
            seen[n_seen] = rank
            n_seen += 1
    sort(seen, NONE, n_seen)
    for at in range(n_seen):
        bits[seen[at]] = 1 << at % WORD_BITS
    return n_seen


@kernel
def word_of(number, noted, lists):
    """Return the bits of a set."""
    word = 0
    for place in range(noted.starts[number], noted.starts[number + 1]):
        rank = noted.ranks[noted.items[place]]
        if rank >= 0:
            word |= lists.bits[rank]
    return word


@kernel
def list_words(first, last, root, noted, lists):
    """Write the first list: the words of some sets that start at an item, in order, and of the earlier sets that hold it."""
    count = last - first
    for at in range(count):
        lists.sets[at] = first + at
        lists.words[at] = word_of(first + at, noted, lists)
    place = noted.latest[root]
    while place >= 0:
        lists.sets[count] = noted.owners[place]
        lists.words[count] = word_of(noted.owners[place], noted, lists)
        count += 1
        place = noted.previous[place]
    lists.ends[0], lists.commons[0] = count, 0


@kernel
def narrow(level, first, bit, lists):
    """Write the words of a list that have a bit as the next list."""
    words, sets = lists.words, lists.sets
    end = to = lists.ends[level]
    for at in range(first, end):
        words[to] = words[at]
        sets[to] = sets[at]
        to += words[at] & bit != 0
    lists.ends[level + 1], lists.commons[level + 1] = to, lists.commons[level] | bit


@kernel
def holds(larger, smaller, noted):
    """Return whether a set holds all items of another one; both rise."""
    items, starts = noted.items, noted.starts
    place, last = starts[larger], starts[larger + 1]
    for own in range(starts[smaller], starts[smaller + 1]):
        while place < last and items[place] < items[own]:
            place += 1
        if place == last or items[place] != items[own]:
            return False
    return True


@kernel
def is_contained(number, word, level, noted, lists):
    """Return whether a set is within another one, and the level of the last list that its word was looked for in."""
    words, ends, commons = lists.words, lists.ends, lists.commons
    while commons[level] & ~word:
        level -= 1
    while True:
        first = ends[level - 1] if level else NONE
        size, left = ends[level] - first, word & ~commons[level]
        if size <= _FEW_WORDS or left == 0 or ends[level] + size > len(words):
            break
        narrow(level, first, left & -left, lists)
        level += 1
    for at in range(first, ends[level]):
        if words[at] & word == word and lists.sets[at] != number and holds(lists.sets[at], number, noted):
            return True, level
    return False, level


@kernel
def find_contained(n_sets, ranks, found):
    """Return for each of the first sets whether it is within another of them."""
    noted, lists = room_for_sets(n_sets, ranks, found)
    contained = np.zeros(n_sets, np.bool_)
    last = NONE
    while last < n_sets:
        first = last
        root = first_rank(first, noted)
        while last < n_sets and first_rank(last, noted) == root:
            last += 1
        n_seen = give_bits(first, last, root, noted, lists)
        list_words(first, last, root, noted, lists)
        level = NONE
        for number in range(first, last):
            contained[number], level = is_contained(number, lists.words[number - first], level, noted, lists)
            if not contained[number]:
                link(number, noted)
        for at in range(n_seen):
            lists.bits[lists.seen[at]] = 0
    return contained


@kernel
def drop_sets(n_sets, dropped, found):
    """Remove some of the first sets in place; return how many of these remain, and where their items end."""
    items, lengths, supports = found.items, found.lengths, found.supports
    number, end, at = NONE, NONE, NONE
    for old in range(n_sets):
        length = lengths[old]
        if not dropped[old]:
            for step in range(length):
                items[end + step] = items[at + step]
            lengths[number], supports[number] = length, supports[old]
            number += 1
            end += length
        at += length
    return number, end


@kernel
def keep_maximal(n_complete, ranks, search, found):
    """Remove, of the sets below complete items, those within another one.

    Return how many of all sets are within none and have an allowed length; and how many of those below complete items remain, and where
    their items end.
    """
    asked, lengths = search.asked, found.lengths
    contained = find_contained(search.state[SETS], ranks, found)
    counted = 0
    for number in range(len(contained)):
        counted += not contained[number] and asked.min_length <= lengths[number] <= asked.max_length
    n_kept, end = drop_sets(n_complete, contained, found)
    return counted, n_kept, end
