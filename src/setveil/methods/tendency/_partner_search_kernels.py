"""The partners that the plain scan of `_part_swap_kernels` finds, without looking at most records.

Words are explained there. Three facts carry the search.

1. Compatibility is symmetric, so an earlier record that is still free is not compatible: only later ones count.
2. A record disjoint from p has coefficient 0, which nothing beats: the first compatible one in position order is the answer. It is mostly
   among the next few free records. Where it is not, it is in a list whose number has no bit in common with p's, and each list is left
   as soon as it is past the best position so far. Where the block of a record rules it out, it rules out the whole *run*: the records that
   follow it with the same block. In the order `hard` runs grow with the data, and would make the search quadratic. For the same reason
   each record looks from where the one before it in its run had to: what the block of a run rules out is passed once for the run.
3. Where none is disjoint, h common signature bits (at least 1) bound the coefficient from below by h / (|p| + |q| - h), which rises as |q|
   falls: a list by falling length is left as soon as that bound is not better than the best.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.tendency._part_swap_kernels import LOOK_EVERY, mark_record, shared, tops_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

EITHER_BLOCK = np.bool_(False)
"""The collision rule of `shared` in which neither block may meet the other record."""

NEIGHBOURS = 96
"""How many free records or runs are tried in order before the lists are asked: mostly one of the first few is disjoint."""

FIRST, FIRST_TOP, OTHER, OTHER_SLOT = 0, 1, 2, 3
"""Columns of `heads`: of each list the first free position and its top, and the first free position with another top and its slot.

Positions are the number of records, and tops -1, where there is none.
"""
HEAD_WIDTH = 4

DISJOINT, REST_MEETS, BLOCK_MEETS = 0, 1, 2
"""What a record has in common with the marked one."""


class Groups(NamedTuple):
    """Positions in lists by signature: list s has the records with the lowest bits s. The number of lists is a power of 2.

    List s has the slots from `starts[s]` to `starts[s + 1]`, in which its positions are once in rising order (`by_place`) and once by
    falling length (`by_length`). Of each slot by place: the top and the signatures of its record, side by side for the walk along a list.
    """

    starts: NDArray[np.int64]
    by_place: NDArray[np.int64]
    by_length: NDArray[np.int64]
    top: NDArray[np.int32]
    signature: NDArray[np.int64]
    block_signature: NDArray[np.int64]


class Slots(NamedTuple):
    """Of each position: its slot by place and by length, and the position after its run. Of each slot by place: the slot after its run."""

    by_place: NDArray[np.int64]
    by_length: NDArray[np.int64]
    run_end: NDArray[np.int64]
    run_end_by_place: NDArray[np.int64]


class Free(NamedTuple):
    """Which records are free.

    Arrays that skip records which are taken: `following` by position, `by_place` and `by_length` by slot; an entry points to itself or
    further on. `in_list` has the number of free records by list and top; the last column and the last row are sums.
    """

    following: NDArray[np.int64]
    by_place: NDArray[np.int64]
    by_length: NDArray[np.int64]
    in_list: NDArray[np.int64]


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
def same_block(p, q, records):
    """Return whether two records have the same block."""
    offsets, items, in_block = records.offsets, records.items, records.in_block
    i, end_i = offsets[p], offsets[p + 1]
    j, end_j = offsets[q], offsets[q + 1]
    while True:
        while i < end_i and not in_block[i]:
            i += 1
        while j < end_j and not in_block[j]:
            j += 1
        if i == end_i or j == end_j:
            return i == end_i and j == end_j
        if items[i] != items[j]:
            return False
        i += 1
        j += 1


@kernel
def find_runs(records, groups, slots):
    """Write for each position and for each slot where its run ends."""
    starts, by_place, run_end, run_end_by_place = groups.starts, groups.by_place, slots.run_end, slots.run_end_by_place
    n = len(by_place)
    for p in range(n - 1, -1, -1):
        run_end[p] = run_end[p + 1] if p + 1 < n and same_block(p, p + 1, records) else p + 1
    for s in range(len(starts) - 1):
        end = starts[s + 1]
        for slot in range(end - 1, starts[s] - 1, -1):
            same = slot + 1 < end and run_end[by_place[slot]] == run_end[by_place[slot + 1]]
            run_end_by_place[slot] = run_end_by_place[slot + 1] if same else slot + 1


@kernel
def pair_exactly(enlisted, groups, slots, free, mark, partner, control):
    """Find the partners that `pair_plainly` finds among the first records, without looking at most of them.

    Every record before p that is free is out of the lists: it is not compatible with p or any later one.
    """
    records, tops, signature = enlisted.records, enlisted.tops, enlisted.signature
    starts, by_place, slot_tops, run_end = groups.starts, groups.by_place, groups.top, slots.run_end_by_place
    following, following_by_place, in_list = free.following, free.by_place, free.in_list
    n = len(partner)
    lists = len(starts) - 1
    find_runs(records, groups, slots)
    heads = np.full((lists, HEAD_WIDTH), -1, dtype=np.int64)
    for s in range(lists):
        refresh_head(s, heads, starts, by_place, slot_tops, run_end, following_by_place)
    rank = np.empty(lists, dtype=np.int64)
    current_run = start = 0
    for p in range(n):
        if p % LOOK_EVERY == 0:
            control[DONE] = p
            if control[STOP]:
                return
        if partner[p] >= 0:
            continue
        # p leaves the lists now: either it finds a partner, or it is of no use to those who come later (fact 1)
        s = signature[p] & (lists - 1)
        take(p, slots.by_place, slots.by_length, following, following_by_place, free.by_length)
        count_out(s, tops[p], in_list)
        refresh_head(s, heads, starts, by_place, slot_tops, run_end, following_by_place)
        if in_list[-1, -1] == in_list[-1, tops[p]]:
            continue
        stamp = 2 * p
        mark_record(p, records, mark, stamp)
        if slots.run_end[p] != current_run:
            current_run = slots.run_end[p]
            start = p + 1
        best, start = first_neighbour(p, start, enlisted, slots.run_end, following, mark, stamp)
        if best == n:
            best = first_disjoint(p, enlisted, groups, run_end, following_by_place, heads, mark, stamp)
        if best == n:
            best = nearest(p, enlisted, groups, free, rank, mark, stamp)
        if best < n:
            partner[p] = best
            partner[best] = p
            s = signature[best] & (lists - 1)
            take(best, slots.by_place, slots.by_length, following, following_by_place, free.by_length)
            count_out(s, tops[best], in_list)
            refresh_head(s, heads, starts, by_place, slot_tops, run_end, following_by_place)
    control[DONE] = n


@kernel
def take(p, slot_by_place, slot_by_length, following, following_by_place, following_by_length):
    """Take a record out of the arrays that lead to free ones. Arrays, not structs: those would be counted as references each time."""
    following[p] = p + 1
    following_by_place[slot_by_place[p]] = slot_by_place[p] + 1
    following_by_length[slot_by_length[p]] = slot_by_length[p] + 1


@kernel
def count_out(s, top, in_list):
    """Count a record of list s with this top as no longer free."""
    in_list[s, top] -= 1
    in_list[s, -1] -= 1
    in_list[-1, top] -= 1
    in_list[-1, -1] -= 1


@kernel
def refresh_head(s, heads, starts, by_place, tops, run_end, following):
    """Look up the first free record of a list again, and the first one with another top than that.

    A search for another top than its own thus starts behind the records of its own: these can be thousands in a row. As long as the first
    record's top stays, everything before the other one has that top too, so that the walk goes on from there.
    """
    n = len(tops)
    end = starts[s + 1]
    first = first_alive(following, starts[s])
    if first >= end:
        heads[s, FIRST] = heads[s, OTHER] = n
        heads[s, FIRST_TOP] = -1
        return
    top = tops[first]
    slot = first_alive(following, heads[s, OTHER_SLOT]) if heads[s, FIRST_TOP] == top else first
    while slot < end and tops[slot] == top:
        slot = first_alive(following, run_end[slot])
    heads[s, FIRST] = by_place[first]
    heads[s, FIRST_TOP] = top
    heads[s, OTHER] = by_place[slot] if slot < end else n
    heads[s, OTHER_SLOT] = slot


@kernel
def compare(q, offsets, items, in_block, mark, stamp):
    """Return whether the block of q holds an item of the marked record, or else the rest of q."""
    found = DISJOINT
    for place in range(offsets[q], offsets[q + 1]):
        if mark[items[place]] >= stamp:
            if in_block[place]:
                return BLOCK_MEETS
            found = REST_MEETS
    return found


@kernel
def first_neighbour(p, start, enlisted, run_end, following, mark, stamp):
    """Return the first of the next few free records from `start` on that is disjoint from p and compatible, and a new start.

    The number of records if there is none. What is before the new start is ruled out for the whole run of p: by its top or its block.
    """
    offsets, items, in_block = enlisted.records.offsets, enlisted.records.items, enlisted.records.in_block
    tops, signature, block_signature = enlisted.tops, enlisted.signature, enlisted.block_signature
    n = len(run_end)
    top, bits, block = tops[p], signature[p], block_signature[p]
    best = n
    q = start
    for_run = True
    for _try in range(NEIGHBOURS):
        q = first_alive(following, q)
        if q >= n:
            break
        if tops[q] == top or block_signature[q] & block:
            q = run_end[q]
            continue
        if signature[q] & block:
            q += 1
            continue
        if for_run:
            for_run = False
            start = q
        if block_signature[q] & bits:
            q = run_end[q]
        elif signature[q] & bits:
            q += 1
        else:
            common = compare(q, offsets, items, in_block, mark, stamp)
            if common == DISJOINT and tops_fit(p, q, enlisted):
                best = q
                break
            q = run_end[q] if common == BLOCK_MEETS else q + 1
    return best, q if for_run else start


@kernel
def first_disjoint(p, enlisted, groups, run_end, following, heads, mark, stamp):
    """Return the first free record that is disjoint from p and compatible; the number of records if there is none.

    The lists without a common bit are the subsets of the bits that p does not have: `s` goes through them from the largest on.
    """
    offsets, items, in_block = enlisted.records.offsets, enlisted.records.items, enlisted.records.in_block
    starts, by_place, tops = groups.starts, groups.by_place, groups.top
    signature, block_signature = groups.signature, groups.block_signature
    top, bits = enlisted.tops[p], enlisted.signature[p]
    best = len(by_place)
    open_bits = (len(heads) - 1) & ~bits
    s = open_bits
    while s >= 0:
        own_first = heads[s, FIRST_TOP] == top
        if heads[s, OTHER if own_first else FIRST] < best:
            end = starts[s + 1]
            slot = heads[s, OTHER_SLOT] if own_first else first_alive(following, starts[s])
            while slot < end and by_place[slot] < best:
                behind = slot + 1
                if tops[slot] == top or block_signature[slot] & bits:
                    behind = run_end[slot]
                elif not signature[slot] & bits:
                    common = compare(by_place[slot], offsets, items, in_block, mark, stamp)
                    if common == DISJOINT and tops_fit(p, by_place[slot], enlisted):
                        best = by_place[slot]
                        break
                    if common == BLOCK_MEETS:
                        behind = run_end[slot]
                slot = first_alive(following, behind)
        s = (s - 1) & open_bits if s > 0 else -1
    return best


@kernel
def rank_lists(p, enlisted, free, rank):
    """Write the number of common bits, at least 1, of each list worth a look, and 0 for the others; return the largest."""
    top, bits, block = enlisted.tops[p], enlisted.signature[p], enlisted.block_signature[p]
    in_list = free.in_list
    most = 0
    for s in range(len(rank)):
        rank[s] = 0
        if not (s & block) and in_list[s, -1] > in_list[s, top]:
            rank[s] = max(count_bits(s & bits), 1)
            most = max(most, rank[s])
    return most


@kernel
def nearest(p, enlisted, groups, free, rank, mark, stamp):
    """Return the compatible record with the smallest coefficient above 0; the number of records if there is none.

    Lists with few common bits come first: they set the mark for the others.
    """
    records, signature, block_signature = enlisted.records, enlisted.signature, enlisted.block_signature
    offsets, starts, by_length, following = records.offsets, groups.starts, groups.by_length, free.by_length
    n = len(by_length)
    length = offsets[p + 1] - offsets[p]
    best, best_num, best_den = n, 1, 0
    for common in range(1, rank_lists(p, enlisted, free, rank) + 1):
        for s in range(len(rank)):
            if rank[s] != common:
                continue
            end = starts[s + 1]
            slot = first_alive(following, starts[s])
            while slot < end:
                q = by_length[slot]
                size = offsets[q + 1] - offsets[q]
                bound = common * best_den - best_num * (length + size - common)
                if best < n and (bound > 0 or (bound == 0 and q > best)):
                    break
                if not (block_signature[q] & signature[p]) and tops_fit(p, q, enlisted):
                    count = shared(q, records, mark, stamp, EITHER_BLOCK)
                    if count >= 0:
                        union = length + size - count
                        order = count * best_den - best_num * union
                        if best == n or order < 0 or (order == 0 and q < best):
                            best, best_num, best_den = q, count, union
                slot = first_alive(following, slot + 1)
    return best
