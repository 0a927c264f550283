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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled
from setveil.methods.uncertainty._sorting_kernels import sort_places
from setveil.methods.uncertainty._table_kernels import ONE, ZERO, records_with

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Rules(NamedTuple):
    """What is asked for: the highest confidence num/den, also for no known item and for whole records, and a limit of each search.

    `plain_is_fixed` states that non-sensitive items stay as they are. `records` is the number of records of all data.
    """

    num: int
    den: int
    limit: int
    include_empty: bool
    whole: bool
    plain_is_fixed: bool
    records: int


class Sharing(NamedTuple):
    """Holders that share items with K: their numbers, the bits of these items, the number of records, and the slack of each."""

    numbers: NDArray[np.int64]
    masks: NDArray[np.uint64]
    weights: NDArray[np.int64]
    slacks: NDArray[np.int64]


class Search(NamedTuple):
    """A content K, and a stack of sets.

    `sizes` has the number of items of K, of those with a bit, and of holders that share items with K. `items` are those of K, `used` the
    places among them that have a bit, and `q` is room for a set. Each level of the stack has its first and last holder in a list, the bit
    that was added, and the next bit to add; `closed` has the items that all these holders share with K. `without`, for each bit, and
    `counts`, for sorting, are room to count in, 0 everywhere.
    """

    sizes: NDArray[np.int64]
    items: NDArray[np.int64]
    used: NDArray[np.int64]
    q: NDArray[np.int64]
    stack: NDArray[np.int64]
    closed: NDArray[np.uint64]
    without: NDArray[np.int64]
    counts: NDArray[np.int64]


ITEMS, USED, HOLDERS = 0, 1, 2
"""Places in `sizes`."""
FIRST, LAST, BIT, NEXT = 0, 1, 2, 3
"""Columns of the stack."""
LEVELS = 66
"""Levels of a stack: one for each of 64 bits, one below them, and one above."""


@kernel
def bits_below(number):
    """Return a word with the lowest bits set, up to 64 of them."""
    return ~np.uint64(0) if number == 64 else (ONE << np.uint64(number)) - ONE


@kernel
def was_reached(level, search):
    """Return whether the set at a level was reached by a smaller bit already."""
    closed = search.closed
    if level == 0:
        return False
    return closed[level] & ~closed[level - 1] & bits_below(search.stack[level, BIT]) != 0


@kernel
def next_set(level, bits, chosen, masks, search):
    """Go on to the holders with one more of these bits; return their level, or -1 at the end, and the list, which may have grown."""
    stack, closed = search.stack, search.closed
    while level >= 0:
        bit = stack[level, NEXT]
        left = bits & ~closed[level]
        while bit < 64 and not (left >> np.uint64(bit)) & ONE:
            bit += 1
        stack[level, NEXT] = bit + 1
        if bit >= 64:
            level -= 1
            continue
        first = stack[level, LAST]
        while 2 * first - stack[level, FIRST] > len(chosen):
            chosen = doubled(chosen, first)
        last = first
        for at in range(stack[level, FIRST], first):
            if (masks[chosen[at]] >> np.uint64(bit)) & ONE:
                chosen[last] = chosen[at]
                last += 1
        if last > first:
            level += 1
            stack[level, FIRST] = first
            stack[level, LAST] = last
            stack[level, BIT] = bit
            break
    return level, chosen


@kernel
def order_by_slack(number, most, counts, sharing, ordered):
    """Write the holders in the order of their slack; slacks of at least `most` count as equal.

    `counts` has room for 4 values per holder and 66 more. If slacks differ by more than that, a heap sorts them.
    """
    slacks, places = sharing.slacks, ordered.numbers
    least = most
    highest = slacks[0]
    for at in range(number):
        least = min(least, slacks[at])
        highest = max(highest, slacks[at])
    highest = min(highest, most)
    if highest - least < 4 * number + 64:
        for at in range(number):
            counts[min(slacks[at], highest) - least + 1] += 1
        for value in range(highest - least):
            counts[value + 1] += counts[value]
        for at in range(number):
            value = min(slacks[at], highest) - least
            places[counts[value]] = at
            counts[value] += 1
        for value in range(highest - least + 2):
            counts[value] = 0
    else:
        sort_places(slacks, number, places)
    masks, weights = ordered.masks, ordered.weights
    for at in range(number):
        masks[at] = sharing.masks[places[at]]
        weights[at] = sharing.weights[places[at]]
        ordered.slacks[at] = slacks[places[at]]


@kernel
def first_kind(x, base, search, ordered, table, rules):
    """Return how many of x records can take t so that no rule q → t becomes unsafe, or -1 where the search was given up.

    Also returns whether non-sensitive items alone forbid all of them, and how many sets were examined. `base` is how many records hold K
    without t after x were added. The holders come in the order of slack.
    """
    num, den, limit = rules.num, rules.den, rules.limit
    masks, weights, slacks = ordered.masks, ordered.weights, ordered.slacks
    stack, closed_sets, used, q = search.stack, search.closed, search.used, search.q
    number = search.sizes[HOLDERS]
    full = bits_below(search.sizes[USED])
    chosen = np.empty(4 * number + 16, np.int64)
    for at in range(number):
        chosen[at] = at
    stack[0, FIRST] = 0
    stack[0, LAST] = number
    stack[0, BIT] = -1
    level = ZERO
    nodes = ZERO
    while level >= 0:
        nodes += 1
        if nodes > limit:
            return np.int64(-1), False, nodes
        last = stack[level, LAST]
        with_t = x
        go_on = False
        closed = full
        for at in range(stack[level, FIRST], last):
            holder = chosen[at]
            with_t += weights[holder]
            closed &= masks[holder]
            go_on |= with_t * (den - num) > num * max(base, slacks[holder])
        closed_sets[level] = closed
        go_on = go_on and not was_reached(level, search)
        if go_on and closed != 0 and with_t * (den - num) > num * max(base, slacks[chosen[last - 1]]):
            size = ZERO
            plain = True
            for b in range(search.sizes[USED]):
                if (closed >> np.uint64(b)) & ONE:
                    q[size] = search.items[used[b]]
                    plain &= not table.is_sensitive[q[size]]
                    size += 1
            enough = (with_t * den + num - 1) // num  # this number allows all x
            all_of_them = records_with(q, size, enough, table)
            if all_of_them < enough:
                x = num * all_of_them // den - (with_t - x)
                if x <= 0:
                    return ZERO, plain, nodes
        stack[level, NEXT] = stack[level, BIT] + 1 if go_on else 64
        level, chosen = next_set(level, full, chosen, masks, search)
    return x, False, nodes


@kernel
def second_kind(x, f_bit, all_with_t, search, sharing, rules):
    """Return how many of x records can take t so that no rule q + t → f becomes unsafe, or -1 where the search was given up.

    Also returns how many sets were examined. `all_with_t` is how many records hold t.
    """
    num, den, limit = rules.num, rules.den, rules.limit
    masks, weights = sharing.masks, sharing.weights
    stack = search.stack
    number = search.sizes[HOLDERS]
    is_full = search.sizes[USED] == search.sizes[ITEMS]
    f = ONE << np.uint64(f_bit)
    rest = bits_below(search.sizes[USED]) & ~f
    fewest = ZERO  # holders of t with all of K but f: every q has at least these
    with_f = ZERO
    n_with = ZERO
    chosen = np.empty(4 * number + 16, np.int64)
    for at in range(number):
        if masks[at] & f:
            with_f += weights[at]
            chosen[n_with] = at
            n_with += 1
        elif is_full and (masks[at] & rest) == rest:
            fewest += weights[at]
    if is_full and rest == 0:
        fewest = all_with_t - with_f  # those count too that share nothing with K
    if (with_f + x) * (den - num) <= num * fewest:
        return x, ZERO
    x = min(x, num * fewest // (den - num))
    stack[0, FIRST] = 0
    stack[0, LAST] = n_with
    stack[0, BIT] = -1
    level = ZERO
    nodes = ZERO
    while level >= 0 and x > 0:
        nodes += 1
        if nodes > limit:
            return np.int64(-1), nodes
        with_f = ZERO
        closed = rest
        for at in range(stack[level, FIRST], stack[level, LAST]):
            with_f += weights[chosen[at]]
            closed &= masks[chosen[at]]
        search.closed[level] = closed
        go_on = (with_f + x) * (den - num) > num * fewest and not was_reached(level, search)
        if go_on:
            without_f = ZERO
            if closed == 0:
                without_f = all_with_t - with_f
            else:
                for at in range(number):
                    if not masks[at] & f and (masks[at] & closed) == closed:
                        without_f += weights[at]
            x = min(x, num * without_f // (den - num) - with_f)
        stack[level, NEXT] = stack[level, BIT] + 1 if go_on else 64
        level, chosen = next_set(level, rest, chosen, masks, search)
    return max(x, ZERO), nodes


@kernel
def second_kind_of_new(x, all_with_t, search, sharing, rules):
    """Return how many of x records can take t beside a sensitive item that no holder of t has: its rules start with this one."""
    size, n_used = search.sizes[ITEMS], search.sizes[USED]
    if n_used < size - 1:
        return ZERO  # another item of K is in no holder either: nobody holds all the others and t
    full = bits_below(n_used)
    without = all_with_t if size == 1 else ZERO
    for at in range(search.sizes[HOLDERS]):
        if sharing.masks[at] == full:
            without += sharing.weights[at]
    return min(x, rules.num * without // (rules.den - rules.num))
