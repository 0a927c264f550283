"""Loops that search the rules q → e of one item e: closed sets of the records with e, depth first.

What is searched are the distinct records with e, their other items, how many records have each content (`weights`), and for each how many
records hold the same other items without e (`slack`). They come in the order of their slack, least first. Write p for the records with
q and e, n for those with q and without e: the rule is unsafe if p (den - num) - num n, its *excess*, is above 0.

Any q' that contains q and has p' records has at least as many counterparts without e as each of these records has, so at least as many as
the p'-th least slack: where no prefix of the list has an excess, nothing at or below q does.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import bit_of, doubled, first_not_below

ZERO = np.int64(0)
"""Where a loop starts to count what it hands on: a 0 that is written out would compile what takes it a second time."""
EXCESS, WITH_E, WITHOUT_E, SIZE, COMPLETE = 0, 1, 2, 3, 4
"""What a search tells of the strongest rule that it found, and whether it looked at everything."""


@kernel
def signatures(offsets, items, first, last, words):
    """Give every record a word with one bit an item, by which most others that lack one are told apart."""
    for row in range(first, last):
        word = np.uint64(0)
        for place in range(offsets[row], offsets[row + 1]):
            word |= bit_of(items[place])
        words[row] = word


@kernel
def records_with(q, size, offsets, items, weights, words, list_starts, lists):
    """Count the records that hold all of q, which is sorted and not empty; and the steps that took."""
    word = np.uint64(0)
    rarest = q[0]
    for k in range(size):
        word |= bit_of(q[k])
        if list_starts[q[k] + 1] - list_starts[q[k]] < list_starts[rarest + 1] - list_starts[rarest]:
            rarest = q[k]
    total = 0
    steps = list_starts[rarest + 1] - list_starts[rarest]
    for at in range(list_starts[rarest], list_starts[rarest + 1]):
        row = lists[at]
        if (words[row] & word) != word:
            continue
        place = offsets[row]
        end = offsets[row + 1]
        steps += size
        k = 0
        while k < size:
            place = first_not_below(items, place, end, q[k])
            if place == end or items[place] != q[k]:
                break
            k += 1
        if k == size:
            total += weights[row]
    return total, steps


@kernel
def highest_excess(rows, first, last, weights, slack, num, den):
    """Return the highest excess that anything held by some of these records can have."""
    with_e = 0
    highest = -num * slack[rows[first]]
    for at in range(first, last):
        with_e += weights[rows[at]]
        excess = with_e * (den - num) - num * slack[rows[at]]
        highest = max(highest, excess)
    return highest


@kernel
def search(
    e,
    rows,
    slack,
    supports,
    offsets,
    items,
    weights,
    words,
    list_starts,
    lists,
    num,
    den,
    threshold,
    budget,
    count,
    q_depth,
    best,
    best_set,
    control,
):
    """Find the rule q → e, q not empty, of the highest excess, if one is above the threshold; after `budget` steps stop.

    `rows` are at least one record; `slack` goes by record, `supports` by item; `count` and `q_depth` are room for a number an item, 0 and
    -1 everywhere. The rule is left in `best_set`, and what is said of it in `best`.
    """
    best[SIZE] = 0
    best[COMPLETE] = 0
    # A level of the stack is a list of records, the candidates that are still to try, and where q ends.
    lists_of_levels = np.empty(4 * len(rows) + 16, np.int64)
    candidates = np.empty(1024, np.int64)
    tops = np.empty(
        (64, 5), np.int64
    )  # of each level: first and last record, next candidate, end of candidates, items of q
    q = np.empty(256, np.int64)
    ordered = np.empty(256, np.int64)
    seen = np.empty(1024, np.int64)
    for at in range(len(rows)):
        lists_of_levels[at] = rows[at]
    first, last, core = ZERO, len(rows), -1
    candidates_end = ZERO
    q_size = ZERO
    level = 0
    steps = 0
    entering = True
    while True:
        if entering:
            # Nothing below this set is unsafe if no prefix of its records, by slack, has an excess.
            entering = False
            go_on = highest_excess(lists_of_levels, first, last, weights, slack, num, den) > threshold
            candidates_start = candidates_end
            q_start = q_size
            if go_on:
                p = 0
                n_seen = ZERO
                for at in range(first, last):
                    row = lists_of_levels[at]
                    weight = weights[row]
                    p += weight
                    steps += offsets[row + 1] - offsets[row]
                    for place in range(offsets[row], offsets[row + 1]):
                        item = items[place]
                        if count[item] == 0:
                            if n_seen == len(seen):
                                seen = doubled(seen, n_seen)
                            seen[n_seen] = item
                            n_seen += 1
                        count[item] += weight
                if (
                    level == 0
                ):  # single items, whose records are known: the further above they are, the less is to search
                    for k in range(n_seen):
                        item = seen[k]
                        excess = count[item] * den - num * supports[item]
                        if item != e and excess > threshold:
                            threshold = excess
                            best[EXCESS] = excess
                            best[WITH_E] = count[item]
                            best[WITHOUT_E] = supports[item] - count[item]
                            best[SIZE] = 1
                            best_set[0] = item
                for k in range(n_seen):
                    item = seen[k]
                    whole = count[item] == p
                    if item != e and q_depth[item] < 0:
                        if whole:
                            if item < core:
                                go_on = False  # this closed set was reached by a smaller item
                            if q_size == len(q):
                                q = doubled(q, q_size)
                            q[q_size] = item
                            q_size += 1
                        elif (
                            item > core and count[item] * (den - num) - num * slack[lists_of_levels[first]] > threshold
                        ):
                            if candidates_end == len(candidates):
                                candidates = doubled(candidates, candidates_end)
                            candidates[candidates_end] = item
                            candidates_end += 1
                for k in range(n_seen):
                    count[seen[k]] = 0
                for k in range(q_start, q_size):
                    q_depth[q[k]] = level
            if go_on and q_size > 0:
                least_n = slack[lists_of_levels[last - 1]]
                if p * (den - num) - num * least_n > threshold:
                    if len(ordered) < q_size:
                        ordered = np.empty(2 * q_size, np.int64)
                    for k in range(q_size):  # in rising order
                        at = k
                        while at > 0 and ordered[at - 1] > q[k]:
                            ordered[at] = ordered[at - 1]
                            at -= 1
                        ordered[at] = q[k]
                    held, more = records_with(ordered, q_size, offsets, items, weights, words, list_starts, lists)
                    steps += more
                    excess = p * (den - num) - num * (held - p)
                    if excess > threshold:
                        threshold = excess
                        best[EXCESS] = excess
                        best[WITH_E] = p
                        best[WITHOUT_E] = held - p
                        best[SIZE] = q_size
                        for k in range(q_size):
                            best_set[k] = ordered[k]
            if not go_on:
                candidates_end = candidates_start
            tops[level, 0] = first
            tops[level, 1] = last
            tops[level, 2] = candidates_start
            tops[level, 3] = candidates_end
            tops[level, 4] = q_start
        if steps > budget or control[STOP]:
            break
        # The next child of the set on top, or back to the one below.
        if tops[level, 2] == tops[level, 3]:
            for k in range(tops[level, 4], q_size):
                q_depth[q[k]] = -1
            q_size = tops[level, 4]
            level -= 1
            if level < 0:
                best[COMPLETE] = 1
                break
            candidates_end = tops[level, 3]
            continue
        core = candidates[tops[level, 2]]
        tops[level, 2] += 1
        first = tops[level, 1]
        needed = first + tops[level, 1] - tops[level, 0]
        while needed > len(lists_of_levels):
            lists_of_levels = doubled(lists_of_levels, first)
        last = first
        for at in range(tops[level, 0], tops[level, 1]):
            row = lists_of_levels[at]
            place = first_not_below(items, offsets[row], offsets[row + 1], core)
            if place < offsets[row + 1] and items[place] == core:
                lists_of_levels[last] = row
                last += 1
        steps += tops[level, 1] - tops[level, 0]
        candidates_end = tops[level, 3]
        level += 1
        if level == len(tops):
            higher = np.empty((2 * level, 5), np.int64)
            for below in range(level):
                for k in range(5):
                    higher[below, k] = tops[below, k]
            tops = higher
        entering = True
    for k in range(q_size):
        q_depth[q[k]] = -1
    control[DONE] += 1
    return steps
