"""Loops of SW: which records hold which named itemsets, who is whose partner, and which items are exchanged.

Records that hold a named itemset are laid out in processing order; a *position* is a place in that order. `held` names the itemsets
that each of them holds.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.bits import bit_count
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOK_EVERY = 1024
"""How many records are treated between two looks at the control array."""

NOBODY = -1


class Rows(NamedTuple):
    """The codes of the items of each record or position."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]


class Held(NamedTuple):
    """The named itemsets that each record r holds, `sets[starts[r]:starts[r + 1]]`, and the items of the itemsets, as codes."""

    starts: NDArray[np.int64]
    sets: NDArray[np.int32]
    set_starts: NDArray[np.int64]
    set_items: NDArray[np.int32]


class Named(NamedTuple):
    """The items of each named itemset, and the itemsets by their rarest item."""

    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    rarest_starts: NDArray[np.int64]
    by_rarest: NDArray[np.int32]


class Words(NamedTuple):
    """A word with the bits of each position's hot items, and one of its itemsets."""

    hot: NDArray[np.int64]
    sets: NDArray[np.int64]


class Marks(NamedTuple):
    """The position that each item and each itemset was marked for last, NOBODY at first, and a vote per item, 0 everywhere."""

    items: NDArray[np.int64]
    sets: NDArray[np.int64]
    votes: NDArray[np.int64]


@kernel
def find_held(rows, named, mark, held_starts, held, fill, control):
    """Find the named itemsets that each record holds; without `fill` they are only counted, into `held_starts[r + 1]`.

    A set is looked for only in records that hold its rarest item. `mark` has one place an item and holds no record's number yet.
    """
    offsets, items = rows
    for r in range(len(offsets) - 1):
        if r % LOOK_EVERY == 0:
            control[DONE] = r
            if control[STOP]:
                return
        for place in range(offsets[r], offsets[r + 1]):
            mark[items[place]] = r
        at = held_starts[r] if fill else 0
        for place in range(offsets[r], offsets[r + 1]):
            item = items[place]
            for slot in range(named.rarest_starts[item], named.rarest_starts[item + 1]):
                s = named.by_rarest[slot]
                whole = True
                for part in range(named.starts[s], named.starts[s + 1]):
                    if mark[named.items[part]] != r:
                        whole = False
                        break
                if whole:
                    if fill:
                        held[at] = s
                    at += 1
        if not fill:
            held_starts[r + 1] = at


@kernel
def sign(starts, things, bit, words):
    """Write for each position a word in which the bits of its things are set; a thing whose bit is -1 has none."""
    for p in range(len(words)):
        word = np.int64(0)
        for place in range(starts[p], starts[p + 1]):
            if bit[things[place]] >= 0:
                word |= np.int64(1) << bit[things[place]]
        words[p] = word


@kernel
def pair(rows, held, words, marks, free_with, partner, control):
    """Pair each free position with the free one that holds none of the same itemsets and has the smallest Jaccard coefficient.

    Ties go to the earlier position. Having no itemset in common is symmetric, so an earlier position that is still free is no partner: only
    later ones count. `free_with` counts for each itemset the free positions that hold it: where all hold one of p's, there is nothing to
    look for.
    """
    n = len(partner)
    following, before = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for p in range(n + 1):
        following[p], before[p] = p + 1, p - 1
    free = n
    for p in range(n):
        if p % 16 == 0:
            control[DONE] = p
            if control[STOP]:
                return
        if partner[p] != NOBODY:
            continue
        free -= 1
        hopeless = False
        for place in range(held.starts[p], held.starts[p + 1]):
            s = held.sets[place]
            marks.sets[s] = p
            free_with[s] -= 1
            hopeless = hopeless or free_with[s] == free
        if hopeless:
            continue
        best = nearest(p, following, rows, held, words, marks)
        if best < n:
            partner[p], partner[best] = best, p
            following[before[best]] = following[best]
            before[following[best]] = before[best]
            free -= 1
            for place in range(held.starts[best], held.starts[best + 1]):
                free_with[held.sets[place]] -= 1
    control[DONE] = n


@kernel
def nearest(p, following, rows, held, words, marks):
    """Return the best partner of p among the free positions after it, or their number if it has none; its itemsets are marked.

    Nothing beats a partner without a common item: the search ends at the first. And h hot items in common bound the coefficient from below
    by h / (|p| + |q| - h): most are passed over without reading their items.
    """
    starts, items = rows
    n = len(words.hot)
    for place in range(starts[p], starts[p + 1]):
        marks.items[items[place]] = p
    length = starts[p + 1] - starts[p]
    best, best_common, best_union = n, 1, 1
    q = following[p]
    while q < n and best_common > 0:
        if not words.sets[p] & words.sets[q] or apart(p, q, held.starts, held.sets, marks.sets):
            size = length + starts[q + 1] - starts[q]
            common = bit_count(words.hot[p] & words.hot[q])
            if best == n or common * best_union < best_common * (size - common):
                common = 0
                for place in range(starts[q], starts[q + 1]):
                    if marks.items[items[place]] == p:
                        common += 1
                if best == n or common * best_union < best_common * (size - common):
                    best, best_common, best_union = q, common, size - common
        q = following[q]
    return best


@kernel
def apart(p, q, held_starts, held, set_mark):
    """Tell whether q holds none of the itemsets that are marked as p's."""
    for place in range(held_starts[q], held_starts[q + 1]):
        if set_mark[held[place]] == p:
            return False
    return True


@kernel
def choose(rows, held, supports, partner, every, marks, leaves, control):
    """Mark the items that leave each position that has a partner: never one that the partner holds.

    There always is one, in each itemset: a partner that held all of its items would hold the itemset, and be no partner. One item leaves,
    of those in any of the itemsets: the one of lowest support, then of lowest code. With `every` set items leave until each itemset is
    hit, first the one that is in most of those not yet hit; an itemset that is hit is marked.
    """
    starts, items = rows
    votes = marks.votes
    for p in range(len(partner)):
        if p % LOOK_EVERY == 0:
            control[DONE] = p
            if control[STOP]:
                return
        if partner[p] == NOBODY:
            continue
        for place in range(starts[partner[p]], starts[partner[p] + 1]):
            marks.items[items[place]] = p
        while True:
            for place in range(held.starts[p], held.starts[p + 1]):
                s = held.sets[place]
                if marks.sets[s] != p:
                    for part in range(held.set_starts[s], held.set_starts[s + 1]):
                        votes[held.set_items[part]] += 1
            best = -1
            for place in range(starts[p], starts[p + 1]):
                item = items[place]
                if votes[item] > 0 and marks.items[item] != p:
                    more = votes[item] - votes[items[best]] if best >= 0 and every else 0
                    # Items rise within a record, so that of equal ones the lowest code is found first.
                    if best < 0 or more > 0 or (more == 0 and supports[item] < supports[items[best]]):
                        best = place
            for place in range(starts[p], starts[p + 1]):
                votes[items[place]] = 0
            if best < 0:
                break
            leaves[best] = True
            if not every:
                break
            for place in range(held.starts[p], held.starts[p + 1]):
                s = held.sets[place]
                for part in range(held.set_starts[s], held.set_starts[s + 1]):
                    if held.set_items[part] == items[best]:
                        marks.sets[s] = p
    control[DONE] = len(partner)
