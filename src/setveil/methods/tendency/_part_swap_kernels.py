"""What PartSwap's loops are about, and the plain scan of all pairs.

Records that take part stand in processing order: *position* p. `starts`/`items` hold their items. The *hidden categories* of p must go: its
heaviest one, or with `ties='all'` all that are as heavy; `top` is the first of them. The block I(p) is the items of p in its hidden
categories, marked in `in_block`. `clash` lists for each record, from `clash_starts` on, the categories that a partner must not list: the
hidden ones, or with `same='any'` all above the mean. Two records are *compatible* if their lists have nothing in common and neither block
meets the other record, so that exchanging the blocks loses nothing and brings no hidden category back. Records with the same top are
never compatible: it is in both lists. The partner of p is the compatible free record with the smallest Jaccard coefficient, the earliest
of equals. Coefficients are compared as whole-number fractions.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.tendency._tendency_kernels import lists_meet

LOOK_EVERY = 64
"""How many records are treated between two looks at the control array."""


@kernel
def tops_fit(p, q, top, clash_starts, clash):
    """Return whether two records lean to different categories."""
    return top[p] != top[q] and not lists_meet(p, q, clash_starts, clash)


@kernel
def shared(q, starts, items, in_block, mark, stamp, one_sided):
    """Count the items that q shares with the marked record p; -1 if a block would meet an item that is there already.

    `mark` holds `stamp` for items of p and `stamp + 1` for items of its block.
    """
    count = 0
    for place in range(starts[q], starts[q + 1]):
        item = items[place]
        seen = mark[item] - stamp
        if seen < 0:
            continue
        if seen == 1:
            return -1
        if not one_sided and in_block[place]:
            return -1
        count += 1
    return count


@kernel
def mark_record(p, starts, items, in_block, mark, stamp):
    """Write down the items of p, those of its block apart."""
    for place in range(starts[p], starts[p + 1]):
        mark[items[place]] = stamp + 1 if in_block[place] else stamp


@kernel
def pair_plainly(starts, items, in_block, top, clash_starts, clash, one_sided, item_count, partner, control):
    """Compare every record with every free one.

    With `one_sided` only the block of the searching record must not collide, as the paper has it; then earlier records that found
    nobody may still be found.
    """
    n = len(top)
    mark = np.full(item_count, -1, dtype=np.int64)
    for p in range(n):
        if p % LOOK_EVERY == 0:
            control[DONE] = p
            if control[STOP]:
                return
        if partner[p] >= 0:
            continue
        stamp = 2 * p
        mark_record(p, starts, items, in_block, mark, stamp)
        length = starts[p + 1] - starts[p]
        best, best_num, best_den = -1, 1, 0
        for q in range(0 if one_sided else p + 1, n):
            if q == p or partner[q] >= 0 or not tops_fit(p, q, top, clash_starts, clash):
                continue
            count = shared(q, starts, items, in_block, mark, stamp, one_sided)
            if count < 0:
                continue
            union = length + starts[q + 1] - starts[q] - count
            if best < 0 or count * best_den < best_num * union:
                best, best_num, best_den = q, count, union
        if best >= 0:
            partner[p] = best
            partner[best] = p


@kernel
def sign(starts, items, in_block, hot_bit, signature, block_signature):
    """Write for each record which of the hottest items it holds, and which of these are in its block."""
    for p in range(len(starts) - 1):
        bits = 0
        block = 0
        for place in range(starts[p], starts[p + 1]):
            bit = hot_bit[items[place]]
            if bit >= 0:
                bits |= 1 << bit
                if in_block[place]:
                    block |= 1 << bit
        signature[p] = bits
        block_signature[p] = block
