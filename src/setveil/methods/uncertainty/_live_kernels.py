"""Loops over a table in which whole types of sensitive items are alive or dead: whether some type can be inferred, and what can be kept.

The table lists the distinct records: codes that rise, filled up at the end with a code that is never alive. Sensitive codes may be dead,
all others are alive. `lists` names for each code the rows that hold it, dead or not. A dead type is not taken out of its rows; where rows
of e are searched, what is dead in them is written over with e, which no rule for e looks at, and put back afterwards.

Killing a type changes no support of a set without it. So a smaller choice of living types has only rules that a larger one has too.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.mining._rule_search_kernels import COMPLETE, SIZE, records_with, search, signatures

SAFE, BETRAYED, UNDECIDED = 0, 1, 2


@kernel
def uncover(e, row, alive, offsets, items, saved, at):
    """Save a row that holds e and leave only what is alive in it, e as often as there is room; return how many others it holds."""
    first, end = offsets[row], offsets[row + 1]
    others = 0
    for place in range(first, end):
        saved[at + place - first] = items[place]
        others += items[place] != e and alive[items[place]]
    to = first
    for k in range(at, at + end - first):
        if saved[k] < e and alive[saved[k]]:
            items[to] = saved[k]
            to += 1
    for _ in range(end - first - others):
        items[to] = e
        to += 1
    for k in range(at, at + end - first):
        if saved[k] > e and alive[saved[k]]:
            items[to] = saved[k]
            to += 1
    return others


@kernel
def alike(e, a, b, offsets, items):
    """Tell whether two uncovered rows hold the same others."""
    i, j = offsets[a], offsets[b]
    end_i, end_j = offsets[a + 1], offsets[b + 1]
    while True:
        while i < end_i and items[i] == e:
            i += 1
        while j < end_j and items[j] == e:
            j += 1
        if i == end_i or j == end_j:
            return i == end_i and j == end_j
        if items[i] != items[j]:
            return False
        i += 1
        j += 1


@kernel
def betrayed(
    e, rows, alive, supports, offsets, items, weights, words, list_starts, lists, num, den, budget, slack, count, depth, best, best_set,
    control,
):  # fmt: skip
    """Tell whether some living items betray e to more than num/den, looking at sets that only these rows of e can share.

    First the largest rules, all others of a row, each once; then the closed sets among them, by at most `budget` steps. `items` is as it
    was when this returns.
    """
    size = 0
    longest = 0
    for k in range(len(rows)):
        length = offsets[rows[k] + 1] - offsets[rows[k]]
        size += length
        longest = max(longest, length)
    saved = np.empty(size, items.dtype)
    kept = np.empty(len(rows), np.int64)
    n_kept = 0
    at = 0
    for k in range(len(rows)):
        if uncover(e, rows[k], alive, offsets, items, saved, at) > 0:
            kept[n_kept] = rows[k]
            n_kept += 1
        at += offsets[rows[k] + 1] - offsets[rows[k]]
    status = SAFE
    mask = 15
    while mask < 2 * n_kept:
        mask = 2 * mask + 1
    seen = np.full(mask + 1, -1, np.int64)
    q = np.empty(longest + 1, np.int64)
    for k in range(n_kept):
        if control[STOP]:
            status = UNDECIDED
            break
        row = kept[k]
        others = 0
        key = np.int64(0)
        for place in range(offsets[row], offsets[row + 1]):
            if items[place] != e:
                q[others] = items[place]
                key = (key * 1_000_003 + q[others]) & 0xFFFFFFFFFF
                others += 1
        slot = (key ^ (key >> 17)) & mask
        while seen[slot] >= 0 and not alike(e, seen[slot], row, offsets, items):
            slot = (slot + 1) & mask
        if seen[slot] >= 0:
            slack[row] = slack[seen[slot]]
            continue
        seen[slot] = row
        held = supports[q[0]]
        if others > 1:
            held, _steps = records_with(q, others, offsets, items, weights, words, list_starts, lists)
        to = others
        while to > 0 and q[to - 1] > e:
            q[to] = q[to - 1]
            to -= 1
        q[to] = e
        both, _steps = records_with(q, others + 1, offsets, items, weights, words, list_starts, lists)
        slack[row] = held - both
        if both * (den - num) - num * slack[row] > 0:
            status = BETRAYED
            break
    if status == SAFE and n_kept > 0:
        by_slack = np.empty(n_kept, np.int64)
        for k in range(n_kept):
            by_slack[k] = slack[kept[k]]
        ranked = kept[:n_kept][np.argsort(by_slack, kind="mergesort")]
        threshold = np.int64(0)
        search(
            e, ranked, slack, supports, offsets, items, weights, words, list_starts, lists, num, den, threshold, budget, count, depth,
            best, best_set, control,
        )  # fmt: skip
        if best[SIZE] > 0:
            status = BETRAYED
        elif best[COMPLETE] == 0:
            status = UNDECIDED
    at = 0
    for k in range(len(rows)):
        for place in range(offsets[rows[k]], offsets[rows[k] + 1]):
            items[place] = saved[at]
            at += 1
    return status


@kernel
def rows_by_type(rows, but, sensitive, alive, offsets, items, tally):
    """Return the living sensitive types of these rows but one, and for each the rows that hold it. `tally` is 0 everywhere."""
    number = 0
    size = 0
    for k in range(len(rows)):
        for place in range(offsets[rows[k]], offsets[rows[k] + 1]):
            item = items[place]
            if sensitive[item] and alive[item] and item != but:
                number += tally[item] == 0
                tally[item] += 1
                size += 1
    codes = np.empty(number, np.int64)
    starts = np.zeros(number + 1, np.int64)
    grouped = np.empty(size, np.int64)
    number = 0
    for k in range(len(rows)):
        for place in range(offsets[rows[k]], offsets[rows[k] + 1]):
            item = items[place]
            if sensitive[item] and alive[item] and item != but:
                if tally[item] > 0:  # its first row: from here on its negative place is kept
                    codes[number] = item
                    starts[number + 1] = starts[number] + tally[item]
                    tally[item] = -starts[number] - 1
                    number += 1
                grouped[-tally[item] - 1] = rows[k]
                tally[item] -= 1
    for k in range(number):
        tally[codes[k]] = 0
    return codes, starts, grouped


@kernel
def bring_back(
    order, allowed, sensitive, alive, tally, supports, offsets, items, weights, words, list_starts, lists, num, den, budget, slack, count,
    depth, best, best_set, control,
):  # fmt: skip
    """Let dead types live again, in this order, each if it is allowed and everything stays safe by rules that could be searched."""
    for k in range(len(order)):
        f = order[k]
        if control[STOP]:
            return
        if allowed[f] and not alive[f]:
            alive[f] = True
            rows = lists[list_starts[f] : list_starts[f + 1]].copy()
            status = betrayed(
                f, rows, alive, supports, offsets, items, weights, words, list_starts, lists, num, den, budget, slack, count, depth,
                best, best_set, control,
            )  # fmt: skip
            if status == SAFE:
                # New rules for another type g know f: what only rows with both can share.
                codes, starts, grouped = rows_by_type(rows, f, sensitive, alive, offsets, items, tally)
                g = 0
                while status == SAFE and g < len(codes):
                    status = betrayed(
                        codes[g], grouped[starts[g] : starts[g + 1]].copy(), alive, supports, offsets, items, weights, words, list_starts,
                        lists, num, den, budget, slack, count, depth, best, best_set, control,
                    )  # fmt: skip
                    g += 1
            alive[f] = status == SAFE
        control[DONE] = k + 1


@kernel
def number_parts(rows, sensitive, pad, offsets, items, weights, part_of, size_of):
    """Find for each row one with the same of what is not sensitive, `part_of`, and how many records have that, `size_of` of that row."""
    mask = 15
    while mask < 2 * len(rows):
        mask = 2 * mask + 1
    seen = np.full(mask + 1, -1, np.int64)
    for k in range(len(rows)):
        row = rows[k]
        key = np.int64(0)
        for place in range(offsets[row], offsets[row + 1]):
            if not sensitive[items[place]] and items[place] != pad:
                key = (key * 1_000_003 + items[place]) & 0xFFFFFFFFFF
        slot = (key ^ (key >> 17)) & mask
        while seen[slot] >= 0 and not same_part(seen[slot], row, sensitive, pad, offsets, items):
            slot = (slot + 1) & mask
        if seen[slot] < 0:
            seen[slot] = row
            size_of[row] = 0
        part_of[row] = seen[slot]
        size_of[seen[slot]] += weights[row]


@kernel
def same_part(a, b, sensitive, pad, offsets, items):
    """Tell whether two rows hold the same of what is not sensitive."""
    i, j = offsets[a], offsets[b]
    end_i, end_j = offsets[a + 1], offsets[b + 1]
    while True:
        while i < end_i and (sensitive[items[i]] or items[i] == pad):
            i += 1
        while j < end_j and (sensitive[items[j]] or items[j] == pad):
            j += 1
        if i == end_i or j == end_j:
            return i == end_i and j == end_j
        if items[i] != items[j]:
            return False
        i += 1
        j += 1


@kernel
def betrayed_by_part(rows, weights, part_of, size_of, held, num, den):
    """Tell whether of the records with one part more than num/den are among these rows. `held` is 0 everywhere."""
    found = False
    for k in range(len(rows)):
        held[part_of[rows[k]]] += weights[rows[k]]
    for k in range(len(rows)):
        part = part_of[rows[k]]
        found |= den * held[part] > num * size_of[part]
    for k in range(len(rows)):
        held[part_of[rows[k]]] = 0
    return found


@kernel
def specialise(
    u, below, first_leaf, leaf_offsets, leaves, most_loss, whole, sensitive, alive, tally, part_of, size_of, held, supports, offsets,
    items, weights, words, list_starts, lists, num, den, budget, slack, count, depth, best, best_set, control,
):  # fmt: skip
    """Write the nodes of `below`, one for each leaf under u, for node u; kill what is betrayed then, rarest first, if not too much.

    Return the records that lose a sensitive item, counted for each, or -1 where there were more than `most_loss` or the loop was
    stopped: then everything is as it was.
    """
    pad = len(alive) - 1
    rows = lists[list_starts[u] : list_starts[u + 1]].copy()
    size = 0
    for k in range(len(rows)):
        size += offsets[rows[k] + 1] - offsets[rows[k]]
    saved = np.empty(size, items.dtype)
    at = 0
    for k in range(len(rows)):
        row = rows[k]
        first = at
        to = offsets[row]
        for place in range(offsets[row], offsets[row + 1]):
            saved[at] = items[place]
            at += 1
        for s in range(first, at):
            if saved[s] == pad:
                break
            if saved[s] != u:
                items[to] = saved[s]
                to += 1
                continue
            last = -1
            for place in range(leaf_offsets[row], leaf_offsets[row + 1]):
                leaf = leaves[place] - first_leaf
                if 0 <= leaf < len(below) and below[leaf] != last:
                    last = below[leaf]
                    items[to] = last
                    to += 1
        signatures(offsets, items, row, row + 1, words)
    if whole:
        number_parts(rows, sensitive, pad, offsets, items, weights, part_of, size_of)
    codes, starts, grouped = rows_by_type(rows, -1, sensitive, alive, offsets, items, tally)
    rarity = np.empty(len(codes), np.int64)
    for k in range(len(codes)):
        rarity[k] = supports[codes[k]] * len(alive) + codes[k]
    order = np.argsort(rarity)
    loss = 0
    refused = False
    for k in range(len(order)):
        e = codes[order[k]]
        of_e = grouped[starts[order[k]] : starts[order[k] + 1]].copy()
        unsafe = whole and betrayed_by_part(of_e, weights, part_of, size_of, held, num, den)
        if not unsafe:
            unsafe = (
                betrayed(
                    e, of_e, alive, supports, offsets, items, weights, words, list_starts, lists, num, den, budget, slack, count, depth,
                    best, best_set, control,
                )
                != SAFE
            )  # fmt: skip
        if unsafe:
            alive[e] = False
            loss += supports[e]
        if loss > most_loss or control[STOP]:
            refused = True
            break
    if refused:
        for k in range(len(codes)):
            alive[codes[k]] = True
        at = 0
        for k in range(len(rows)):
            for place in range(offsets[rows[k]], offsets[rows[k] + 1]):
                items[place] = saved[at]
                at += 1
            signatures(offsets, items, rows[k], rows[k] + 1, words)
        return -1
    return loss
