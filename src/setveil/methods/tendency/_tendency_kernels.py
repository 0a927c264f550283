"""Loops that the tendency methods share: what each record leans to, and putting records together again."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel

EMPTY, SINGLE, FULL, PARTIAL, UNIFORM = 0, 1, 2, 3, 4
"""Kinds of records."""


@kernel
def classify(offsets, items, category, categories, kind, top, tied, above):
    """Find each record's kind and top category, and count its heaviest categories (`tied`) and those above the mean (`above`)."""
    weight = np.zeros(categories, dtype=np.int64)
    for r in range(len(offsets) - 1):
        lo, hi = offsets[r], offsets[r + 1]
        present = 0
        best = -1
        for place in range(lo, hi):
            g = category[items[place]]
            if weight[g] == 0:
                present += 1
            weight[g] += 1
            if best < 0 or weight[g] > weight[best] or (weight[g] == weight[best] and g < best):
                best = g
        heaviest = 0
        heavier = 0
        largest = weight[best] if best >= 0 else 1
        for place in range(lo, hi):
            g = category[items[place]]
            if weight[g] == largest:
                heaviest += 1
            if weight[g] * present > hi - lo:
                heavier += 1
            weight[g] = 0
        top[r] = best
        tied[r] = heaviest
        above[r] = heavier
        if hi == lo:
            kind[r] = EMPTY
        elif hi - lo == 1:
            kind[r] = SINGLE
        elif present == 1:
            kind[r] = FULL
        elif heavier > 0:
            kind[r] = PARTIAL
        else:
            kind[r] = UNIFORM


@kernel
def list_categories(offsets, items, category, categories, top, chosen, above_mean, starts, out):
    """List for each chosen record its heaviest categories, or those above the mean; `starts` gives each record a place in `out`.

    The only category of a record counts as above the mean.
    """
    weight = np.zeros(categories, dtype=np.int64)
    for p in range(len(chosen)):
        r = chosen[p]
        lo, hi = offsets[r], offsets[r + 1]
        present = 0
        for place in range(lo, hi):
            g = category[items[place]]
            if weight[g] == 0:
                present += 1
            weight[g] += 1
        largest = weight[top[r]] if hi > lo else 1
        at = starts[p]
        for place in range(lo, hi):
            g = category[items[place]]
            if weight[g] == 0:
                continue
            if weight[g] * present > hi - lo or present == 1 if above_mean else weight[g] == largest:
                out[at] = g
                at += 1
            weight[g] = 0


@kernel
def mark_blocks(offsets, items, category, hidden_starts, hidden, in_block):
    """Mark the items of each record that are of one of its hidden categories: its block."""
    for r in range(len(offsets) - 1):
        for place in range(offsets[r], offsets[r + 1]):
            in_block[place] = is_listed(category[items[place]], r, hidden_starts, hidden)


@kernel
def is_listed(g, r, starts, listed):
    """Return whether a category is in the list of r."""
    for at in range(starts[r], starts[r + 1]):
        if listed[at] == g:
            return True
    return False


@kernel
def lists_meet(p, q, starts, listed):
    """Return whether the lists of p and q have a category in common."""
    for at in range(starts[p], starts[p + 1]):
        if is_listed(listed[at], q, starts, listed):
            return True
    return False


@kernel
def rebuild(
    offsets,
    items,
    in_block,
    gives_block,
    receives_from,
    given_starts,
    given_items,
    gets_given,
    new_offsets,
    new_items,
    fill,
):
    """Put every record together: what it keeps, plus the block it receives, plus the items a helper gave it.

    `in_block` marks the items of each record's block. `gives_block[r]`: r loses its block. `receives_from[r]`: the record whose block r
    gets, or -1.
    `gives_given[r]` is implied: items in `given` of record r (from `given_starts`) leave r, and go to the record `gets_given[r]`,
    or nowhere for -1. Without `fill` only the lengths are counted, into `new_offsets[r + 1]`.
    """
    giver_of = np.full(len(offsets) - 1, -1, dtype=np.int64)
    for u in range(len(gets_given)):
        if gets_given[u] >= 0:
            giver_of[gets_given[u]] = u
    for r in range(len(offsets) - 1):
        at = new_offsets[r] if fill else 0
        start = at
        for place in range(offsets[r], offsets[r + 1]):
            item = items[place]
            if gives_block[r] and in_block[place]:
                continue
            leaves = False
            for g in range(given_starts[r], given_starts[r + 1]):
                if given_items[g] == item:
                    leaves = True
                    break
            if leaves:
                continue
            if fill:
                new_items[at] = item
            at += 1
        kept_end = at
        source = receives_from[r]
        if source >= 0:
            for place in range(offsets[source], offsets[source + 1]):
                item = items[place]
                if not in_block[place] or holds(offsets, items, in_block, gives_block, r, item):
                    continue
                if fill:
                    new_items[at] = item
                at += 1
        u = giver_of[r]
        if u >= 0:
            for g in range(given_starts[u], given_starts[u + 1]):
                if fill:
                    new_items[at] = given_items[g]
                at += 1
        if fill:
            if at > kept_end:
                new_items[start:at].sort()
        else:
            new_offsets[r + 1] = at


@kernel
def holds(offsets, items, in_block, gives_block, r, item):
    """Return whether record r keeps this item, so that receiving it would be a collision."""
    lo, hi = offsets[r], offsets[r + 1]
    while lo < hi:
        middle = (lo + hi) >> 1
        if items[middle] < item:
            lo = middle + 1
        else:
            hi = middle
    if lo >= offsets[r + 1] or items[lo] != item:
        return False
    return not (gives_block[r] and in_block[lo])
