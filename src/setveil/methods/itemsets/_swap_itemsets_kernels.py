"""Loops of SW: which records hold which named itemsets, who is whose partner, and which items are exchanged.

Records that hold a named itemset are laid out in processing order; a *position* is a place in that order. `held` names the itemsets
that each of them holds.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.bits import bit_count
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

LOOK_EVERY = 1024
"""How many records are treated between two looks at the control array."""

NOBODY = -1


@kernel
def find_held(offsets, items, set_starts, set_items, rarest_starts, by_rarest, mark, held_starts, held, fill, control):
    """Find the named itemsets that each record holds; without `fill` they are only counted, into `held_starts[r + 1]`.

    A set is looked for only in records that hold its rarest item: `by_rarest` lists the sets by that item. `mark` has one place an item
    and holds no record's number yet.
    """
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
            for slot in range(rarest_starts[item], rarest_starts[item + 1]):
                s = by_rarest[slot]
                whole = True
                for part in range(set_starts[s], set_starts[s + 1]):
                    if mark[set_items[part]] != r:
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
def pair(starts, items, held_starts, held, hot_words, set_words, item_mark, set_mark, free_with, partner, control):
    """Pair each free position with the free one that holds none of the same itemsets and has the smallest Jaccard coefficient.

    Ties go to the earlier position. Three facts carry the search.

    1. Having no itemset in common is symmetric, so an earlier position that is still free is no partner: only later ones count.
    2. Nothing beats a partner without a common item: the search ends at the first.
    3. h hot items in common bound the coefficient from below by h / (|p| + |q| - h): most are passed over without reading their items.

    `free_with` counts for each itemset the free positions that hold it: where all hold one of p's, there is nothing to look for.
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
        for place in range(held_starts[p], held_starts[p + 1]):
            s = held[place]
            set_mark[s] = p
            free_with[s] -= 1
            hopeless = hopeless or free_with[s] == free
        if hopeless:
            continue
        for place in range(starts[p], starts[p + 1]):
            item_mark[items[place]] = p
        length = starts[p + 1] - starts[p]
        best, best_common, best_union = n, 1, 1
        q = following[p]
        while q < n and best_common > 0:
            if not set_words[p] & set_words[q] or apart(held_starts, held, q, set_mark, p):
                size = length + starts[q + 1] - starts[q]
                common = bit_count(hot_words[p] & hot_words[q])
                if best == n or common * best_union < best_common * (size - common):
                    common = 0
                    for place in range(starts[q], starts[q + 1]):
                        if item_mark[items[place]] == p:
                            common += 1
                    if best == n or common * best_union < best_common * (size - common):
                        best, best_common, best_union = q, common, size - common
            q = following[q]
        if best < n:
            partner[p], partner[best] = best, p
            following[before[best]] = following[best]
            before[following[best]] = before[best]
            free -= 1
            for place in range(held_starts[best], held_starts[best + 1]):
                free_with[held[place]] -= 1
    control[DONE] = n


@kernel
def apart(held_starts, held, q, set_mark, p):
    """Tell whether q holds none of the itemsets that are marked as p's."""
    for place in range(held_starts[q], held_starts[q + 1]):
        if set_mark[held[place]] == p:
            return False
    return True


@kernel
def choose(
    starts, items, held_starts, held, set_starts, set_items, supports, partner, every, mark, hit, votes, leaves, control
):
    """Mark the items that leave each position that has a partner: never one that the partner holds.

    There always is one, in each itemset: a partner that held all of its items would hold the itemset, and be no partner. One item leaves,
    of those in any of the itemsets: the one of lowest support, then of lowest code. With `every` set items leave until each itemset is
    hit, first the one that is in most of those not yet hit. `mark` has one place an item and `hit` one an itemset, and they hold no
    position yet; `votes` has one place an item, all of them 0.
    """
    for p in range(len(partner)):
        if p % LOOK_EVERY == 0:
            control[DONE] = p
            if control[STOP]:
                return
        if partner[p] == NOBODY:
            continue
        for place in range(starts[partner[p]], starts[partner[p] + 1]):
            mark[items[place]] = p
        while True:
            for place in range(held_starts[p], held_starts[p + 1]):
                s = held[place]
                if hit[s] != p:
                    for part in range(set_starts[s], set_starts[s + 1]):
                        votes[set_items[part]] += 1
            best = -1
            for place in range(starts[p], starts[p + 1]):
                item = items[place]
                if votes[item] > 0 and mark[item] != p:
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
            for place in range(held_starts[p], held_starts[p + 1]):
                s = held[place]
                for part in range(set_starts[s], set_starts[s + 1]):
                    if set_items[part] == items[best]:
                        hit[s] = p
    control[DONE] = len(partner)
