"""How many records of one content can take an item, so that no rule becomes unsafe.

Adding t to x records that all hold K can only make two kinds of rules stronger:

  first    q → t, q within K, if t is sensitive: x more records hold q and t, and as many as before hold q;
  second   q + t → f, f a sensitive item of K and q within K without f: x more records hold q and t, all of them with f.

Only sets q count that are all that some holders of t have in common with K, and K itself. A *holder* is a distinct content among the
records that hold t; it goes by the bits of the items that it shares with K. Its *slack* is the number of records that hold all its other
items and not t: no part of it has fewer. So holders in the order of their slack bound the first kind of rule without a look at any q.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled
from setveil.methods.uncertainty._table_kernels import ONE, records_with

NODES = 3
"""The place in `counts` for sets that were looked at."""


@kernel
def narrowed(room, masks, first, last, bit):
    """Write those of some holders that have a bit behind them; return the room, which may have grown, and where they end."""
    while 2 * last - first > len(room):
        room = doubled(room, last)
    end = last
    for at in range(first, last):
        if (masks[room[at]] >> np.uint64(bit)) & ONE:
            room[end] = room[at]
            end += 1
    return room, end


@kernel
def first_kind(
    x, k_items, used, n_used, full, base, n_touched, masks, weights, slacks, num, den, limit, is_sensitive, counts,
    offsets, items, present, list_starts, held, lists, words, hot, bits,
):  # fmt: skip
    """Return how many of x records can take t so that no rule q → t becomes unsafe; -1 where the search was given up.

    `base` is how many records hold K without t after x were added. Holders come by mask, weight and slack, in the order of slack; `used`
    are the places in K that the bits of the masks stand for.
    """
    forever = False
    room = np.empty(4 * n_touched + 16, np.int64)
    tops = np.empty((n_used + 2, 4), np.int64)  # first and last holder, the set, the next bit
    sets = np.empty(n_used + 2, np.uint64)
    q = np.empty(n_used + 1, np.int64)
    for at in range(n_touched):
        room[at] = at
    level, first, last, core, q_before = 0, np.int64(0), n_touched, -1, np.uint64(0)
    nodes = 0
    entering = True
    while True:
        if entering:
            entering = False
            nodes += 1
            if nodes > limit:
                counts[NODES] += nodes
                return -1, False
            with_t = x
            worst = False
            closed = full
            for at in range(first, last):
                with_t += weights[room[at]]
                closed &= masks[room[at]]
                worst |= with_t * (den - num) > num * max(base, slacks[room[at]])
            go_on = worst
            if core >= 0 and (closed & ~q_before) & ((ONE << np.uint64(core)) - ONE):
                go_on = False  # reached by a smaller bit already
            if go_on and closed != np.uint64(0):
                least = max(base, slacks[room[last - 1]])
                if with_t * (den - num) > num * least:
                    size = np.int64(0)
                    plain = True
                    for b in range(n_used):
                        if (closed >> np.uint64(b)) & ONE:
                            q[size] = k_items[used[b]]
                            plain &= not is_sensitive[q[size]]
                            size += 1
                    all_of_them = records_with(
                        q, size, offsets, items, present, list_starts, held, lists, words, hot, bits
                    )
                    most = num * all_of_them // den - (with_t - x)
                    if most < x:
                        x = most
                        forever = plain
                        if x <= 0:
                            counts[NODES] += nodes
                            return 0, forever
            tops[level, 0] = first
            tops[level, 1] = last
            tops[level, 2] = core + 1 if go_on else n_used
            sets[level] = closed
        bit = tops[level, 2]
        while bit < n_used and (sets[level] >> np.uint64(bit)) & ONE:
            bit += 1
        if bit >= n_used:
            level -= 1
            if level < 0:
                counts[NODES] += nodes
                return x, False
            continue
        tops[level, 2] = bit + 1
        first = tops[level, 1]
        room, last = narrowed(room, masks, tops[level, 0], first, bit)
        if last == first:
            continue
        q_before = sets[level]
        core = bit
        level += 1
        entering = True


@kernel
def second_kind(x, f_bit, rest, full_rest, all_with_t, n_touched, masks, weights, num, den, limit, counts):
    """Return how many of x records can take t so that no rule q + t → f becomes unsafe; -1 where the search was given up.

    `rest` are the bits of K without f; `full_rest` tells whether every item of K without f has a bit.
    """
    f = ONE << np.uint64(f_bit)
    fewest = 0  # holders of t with all of K but f: every q has at least these
    with_f = 0
    n_with = 0
    room = np.empty(4 * n_touched + 16, np.int64)
    for at in range(n_touched):
        if masks[at] & f:
            with_f += weights[at]
            room[n_with] = at
            n_with += 1
        elif full_rest and (masks[at] & rest) == rest:
            fewest += weights[at]
    if full_rest and rest == np.uint64(0):
        fewest = all_with_t - with_f  # those count too that share nothing with K
    if (with_f + x) * (den - num) <= num * fewest:
        return x
    x = min(x, num * fewest // (den - num))
    if x <= 0:
        return 0
    tops = np.empty((66, 3), np.int64)
    sets = np.empty(66, np.uint64)
    level, first, last, core, q_before = 0, np.int64(0), n_with, -1, np.uint64(0)
    nodes = 0
    entering = True
    while True:
        if entering:
            entering = False
            nodes += 1
            if nodes > limit:
                counts[NODES] += nodes
                return -1
            with_f = 0
            closed = rest
            for at in range(first, last):
                with_f += weights[room[at]]
                closed &= masks[room[at]]
            go_on = (with_f + x) * (den - num) > num * fewest
            if core >= 0 and (closed & ~q_before) & ((ONE << np.uint64(core)) - ONE):
                go_on = False
            if go_on:
                without_f = 0
                if closed == np.uint64(0):
                    without_f = all_with_t - with_f
                else:
                    for at in range(n_touched):
                        if not masks[at] & f and (masks[at] & closed) == closed:
                            without_f += weights[at]
                x = min(x, num * without_f // (den - num) - with_f)
                if x <= 0:
                    counts[NODES] += nodes
                    return 0
            tops[level, 0] = first
            tops[level, 1] = last
            tops[level, 2] = core + 1 if go_on else 64
            sets[level] = closed
        bit = tops[level, 2]
        while bit < 64 and (not (rest >> np.uint64(bit)) & ONE or (sets[level] >> np.uint64(bit)) & ONE):
            bit += 1
        if bit >= 64:
            level -= 1
            if level < 0:
                counts[NODES] += nodes
                return x
            continue
        tops[level, 2] = bit + 1
        first = tops[level, 1]
        room, last = narrowed(room, masks, tops[level, 0], first, bit)
        if last == first:
            continue
        q_before = sets[level]
        core = bit
        level += 1
        entering = True


@kernel
def second_kind_of_new(x, size, all_with_t, n_used, full, n_touched, masks, weights, num, den):
    """Return how many of x records can take t beside a sensitive item that no holder of t has: its rules start with this one."""
    if n_used < size - 1:
        return 0  # another item of K is in no holder either: nobody holds all the others and t
    without = all_with_t if size == 1 else 0
    for at in range(n_touched):
        if masks[at] == full:
            without += weights[at]
    return min(x, num * without // (den - num))
