"""The partners that the plain scan of `_part_swap_kernels` finds, without looking at most records.

Words are explained there. The proof that nothing skipped can win is in the comments of `pair_exactly` and `nearest`.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.tendency._part_swap_kernels import LOOK_EVERY, mark_record, shared, tops_fit

NEIGHBOURS = 24
"""How many free records are tried in order before the lists are asked: mostly one of the first few is disjoint."""


@kernel
def first_alive(following, slot):
    """Return the first slot from here on whose record is free, and shorten the way for the next who asks."""
    root = slot
    while following[root] != root:
        root = following[root]
    while following[slot] != root:
        following[slot], slot = root, following[slot]
    return root


@kernel
def count_bits(bits):
    """Return how many bits are set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@kernel
def pair_exactly(
    starts,
    items,
    in_block,
    categories,
    top,
    clash_starts,
    clash,
    item_count,
    signature,
    block_signature,
    by_place,
    by_length,
    list_starts,
    list_signature,
    partner,
    control,
):
    """Find the partners that `pair_plainly` finds, without looking at most records.

    Records with the same signature stand together in a list, once by position (`by_place`) and once by falling length (`by_length`);
    `following` skips records that are taken. Three facts carry the search.

    1. Compatibility is symmetric, so an earlier record that is still free is not compatible: only later ones count.
    2. A record disjoint from p has coefficient 0, which nothing beats: the first compatible one in position order is the answer. It is
       mostly among the next few free records. Where it is not, it is in a list whose signature has no bit in common with p's, and each
       list is left as soon as it is past the best position so far.
    3. Where none is disjoint, h common signature bits (at least 1) bound the coefficient from below by h / (|p| + |q| - h), which rises
       as |q| falls: a list by falling length is left as soon as that bound is not better than the best.
    """
    n = len(top)
    lists = len(list_signature)
    mark = np.full(item_count, -1, dtype=np.int64)
    next_by_place = np.arange(n + 1)
    next_by_length = np.arange(n + 1)
    slot_by_place = np.empty(n, dtype=np.int64)
    slot_by_length = np.empty(n, dtype=np.int64)
    list_of = np.empty(n, dtype=np.int64)
    top_by_place = np.empty(n, dtype=np.int32)
    free_in_list = np.zeros(lists, dtype=np.int64)
    free_by_top = np.zeros((lists, categories), dtype=np.int32)
    free_tops = np.zeros(categories + 1, dtype=np.int64)  # the last one counts them all
    for s in range(lists):
        for slot in range(list_starts[s], list_starts[s + 1]):
            p = by_place[slot]
            slot_by_place[p] = slot
            slot_by_length[by_length[slot]] = slot
            list_of[p] = s
            top_by_place[slot] = top[p]
            free_in_list[s] += 1
            free_by_top[s, top[p]] += 1
            free_tops[top[p]] += 1
            free_tops[-1] += 1
    next_free = np.arange(n + 1)
    # of each list: the first free record, its top, and the first free one with another top; places are slots, positions follow from them
    head_top = np.full(lists, -1, dtype=np.int32)
    other_slot = np.zeros(lists, dtype=np.int64)
    head = np.empty(lists, dtype=np.int64)
    other = np.empty(lists, dtype=np.int64)
    for s in range(lists):
        refresh_heads(s, list_starts, next_by_place, by_place, top_by_place, head_top, other_slot, head, other, n)
    rank = np.empty(lists, dtype=np.int64)
    for p in range(n):
        if p % LOOK_EVERY == 0:
            control[DONE] = p
            if control[STOP]:
                return
        if partner[p] >= 0:
            continue
        # p leaves the lists now: either it finds a partner, or it is of no use to those who come later (fact 1)
        take(
            p, list_of, top, slot_by_place, slot_by_length, next_by_place, next_by_length, next_free, free_in_list, free_by_top,
            free_tops, list_starts, by_place, top_by_place, head_top, other_slot, head, other,
        )  # fmt: skip
        if free_tops[-1] == free_tops[top[p]]:
            continue
        stamp = 2 * p
        mark_record(p, starts, items, in_block, mark, stamp)
        best = n
        q = p
        for _try in range(NEIGHBOURS):
            q = first_alive(next_free, q + 1)
            if q >= n:
                break
            if (
                top[q] != top[p]
                and not (signature[q] & signature[p])
                and disjoint(q, starts, items, mark, stamp)
                and tops_fit(p, q, top, clash_starts, clash)
            ):
                best = q
                break
        for s in range(lists if best == n else 0):
            own_first = head_top[s] == top[p]
            if list_signature[s] & signature[p] or (other[s] if own_first else head[s]) >= best:
                continue
            end = list_starts[s + 1]
            slot = other_slot[s] if own_first else first_alive(next_by_place, list_starts[s])
            while slot < end:
                q = by_place[slot]
                if q >= best:
                    break
                if (
                    top_by_place[slot] != top[p]
                    and tops_fit(p, q, top, clash_starts, clash)
                    and disjoint(q, starts, items, mark, stamp)
                ):
                    best = q
                    break
                slot = first_alive(next_by_place, slot + 1)
        if best == n:
            best = nearest(
                p, starts, items, in_block, top, clash_starts, clash, signature, block_signature, by_length, list_starts,
                list_signature, next_by_length, free_in_list, free_by_top, mark, stamp, rank, n,
            )  # fmt: skip
        if best < n:
            partner[p] = best
            partner[best] = p
            take(
                best, list_of, top, slot_by_place, slot_by_length, next_by_place, next_by_length, next_free, free_in_list, free_by_top,
                free_tops, list_starts, by_place, top_by_place, head_top, other_slot, head, other,
            )  # fmt: skip
    control[DONE] = n


@kernel
def disjoint(q, starts, items, mark, stamp):
    """Tell whether q shares no item with the marked record."""
    for place in range(starts[q], starts[q + 1]):
        if mark[items[place]] >= stamp:
            return False
    return True


@kernel
def take(
    p,
    list_of,
    top,
    slot_by_place,
    slot_by_length,
    next_by_place,
    next_by_length,
    next_free,
    free_in_list,
    free_by_top,
    free_tops,
    list_starts,
    by_place,
    top_by_place,
    head_top,
    other_slot,
    head,
    other,
):
    """Take a record out of its lists, and look up again who is first there."""
    next_by_place[slot_by_place[p]] = slot_by_place[p] + 1
    next_by_length[slot_by_length[p]] = slot_by_length[p] + 1
    next_free[p] = p + 1
    s = list_of[p]
    free_in_list[s] -= 1
    free_by_top[s, top[p]] -= 1
    free_tops[top[p]] -= 1
    free_tops[-1] -= 1
    refresh_heads(s, list_starts, next_by_place, by_place, top_by_place, head_top, other_slot, head, other, len(top))


@kernel
def refresh_heads(s, list_starts, next_by_place, by_place, top_by_place, head_top, other_slot, head, other, n):
    """Look up the first free record of a list again, and the first one with another top than that.

    A search for another top than its own thus starts behind the records of its own: these can be thousands in a row. As long as the first
    record's top stays, everything before the other one has that top too, so that the walk goes on from there.
    """
    end = list_starts[s + 1]
    first = first_alive(next_by_place, list_starts[s])
    if first >= end:
        head[s] = other[s] = n
        head_top[s] = -1
        return
    slot = first_alive(next_by_place, other_slot[s]) if head_top[s] == top_by_place[first] else first
    while slot < end and top_by_place[slot] == top_by_place[first]:
        slot = first_alive(next_by_place, slot + 1)
    head_top[s] = top_by_place[first]
    head[s] = by_place[first]
    other_slot[s] = slot
    other[s] = by_place[slot] if slot < end else n


@kernel
def nearest(
    p,
    starts,
    items,
    in_block,
    top,
    clash_starts,
    clash,
    signature,
    block_signature,
    by_length,
    list_starts,
    list_signature,
    next_by_length,
    free_in_list,
    free_by_top,
    mark,
    stamp,
    rank,
    n,
):
    """Find the compatible record with the smallest coefficient above 0; n if there is none."""
    lists = len(list_signature)
    length = starts[p + 1] - starts[p]
    chosen = 0
    most = 1
    for s in range(lists):  # lists worth a look, those with few common bits first: they set the mark for the others
        rank[s] = 0
        if not (list_signature[s] & block_signature[p]) and free_in_list[s] > free_by_top[s, top[p]]:
            rank[s] = max(count_bits(list_signature[s] & signature[p]), 1)
            most = max(most, rank[s])
            chosen += 1
    best, best_num, best_den = n, 1, 0
    if chosen == 0:
        return best
    for common in range(1, most + 1):
        for s in range(lists):
            if rank[s] != common:
                continue
            end = list_starts[s + 1]
            slot = first_alive(next_by_length, list_starts[s])
            while slot < end:
                q = by_length[slot]
                size = starts[q + 1] - starts[q]
                bound = common * best_den - best_num * (length + size - common)
                if best < n and (bound > 0 or (bound == 0 and q > best)):
                    break
                if not (block_signature[q] & signature[p]) and tops_fit(p, q, top, clash_starts, clash):
                    count = shared(q, starts, items, in_block, mark, stamp, False)
                    if count >= 0:
                        union = length + size - count
                        order = count * best_den - best_num * union
                        if best == n or order < 0 or (order == 0 and q < best):
                            best, best_num, best_den = q, count, union
                slot = first_alive(next_by_length, slot + 1)
    return best
