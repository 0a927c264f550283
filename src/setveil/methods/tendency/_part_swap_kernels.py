"""What PartSwap's loops are about, and the plain scan of all pairs.

Records that take part are in processing order: *position* p. The *hidden categories* of p must go: its heaviest one, or with `ties='all'`
all that are as heavy; `tops` has the first of them. The block I(p) is the items of p in its hidden categories. `clash` lists the
categories that a partner of p must not list: the hidden ones, or with `same='any'` all above the mean. Two records are *compatible* if
their lists have nothing in common and neither block meets the other record, so that exchanging the blocks loses nothing and brings no
hidden category back. Records with the same top are never compatible: it is in both lists. The partner of p is the compatible free record
with the smallest Jaccard coefficient, the earliest of equals. Coefficients are compared as whole-number fractions.

Where a record is compared with many, its items are marked first: `mark` holds `stamp` for the items of p and `stamp + 1` for those of its
block. Stamps rise, so that whatever was marked before is below `stamp`.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.tendency._tendency_kernels import Lists, Records, lists_meet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOOK_EVERY = 64
"""How many records are treated between two looks at the control array."""


class Enlisted(NamedTuple):
    """The records that take part, by position.

    `signature` and `block_signature` are bit sets of the most frequent items that the record and its block hold.
    """

    records: Records
    tops: NDArray[np.int32]
    clash: Lists
    signature: NDArray[np.int64]
    block_signature: NDArray[np.int64]


@kernel
def tops_fit(p, q, enlisted):
    """Return whether two records lean to different categories."""
    return enlisted.tops[p] != enlisted.tops[q] and not lists_meet(p, q, enlisted.clash)


@kernel
def shared(q, records, mark, stamp, one_sided):
    """Count the items that q shares with the marked record; -1 if a block would meet an item that is there already."""
    offsets, items, in_block = records.offsets, records.items, records.in_block
    count = 0
    for place in range(offsets[q], offsets[q + 1]):
        seen = mark[items[place]] - stamp
        if seen < 0:
            continue
        if seen == 1:
            return -1
        if not one_sided and in_block[place]:
            return -1
        count += 1
    return count


@kernel
def mark_record(p, records, mark, stamp):
    """Mark the items of p, those of its block apart."""
    offsets, items, in_block = records.offsets, records.items, records.in_block
    for place in range(offsets[p], offsets[p + 1]):
        mark[items[place]] = stamp + 1 if in_block[place] else stamp


@kernel
def holds_marked(q, records, mark, least):
    """Return whether q holds an item that is marked with at least this."""
    offsets, items = records.offsets, records.items
    for place in range(offsets[q], offsets[q + 1]):
        if mark[items[place]] >= least:
            return True
    return False


@kernel
def pair_plainly(enlisted, count, one_sided, mark, partner, control):
    """Compare each of the first `count` records with every free one.

    With `one_sided` only the block of the searching record must not collide, as the paper has it; then earlier records that found
    nobody may still be found.
    """
    records = enlisted.records
    offsets = records.offsets
    for p in range(count):
        if p % LOOK_EVERY == 0:
            control[DONE] = p
            if control[STOP]:
                return
        if partner[p] >= 0:
            continue
        stamp = 2 * p
        mark_record(p, records, mark, stamp)
        length = offsets[p + 1] - offsets[p]
        best, best_num, best_den = -1, 1, 0
        for q in range(0 if one_sided else p + 1, count):
            if q == p or partner[q] >= 0 or not tops_fit(p, q, enlisted):
                continue
            common = shared(q, records, mark, stamp, one_sided)
            if common < 0:
                continue
            union = length + offsets[q + 1] - offsets[q] - common
            if best < 0 or common * best_den < best_num * union:
                best, best_num, best_den = q, common, union
        if best >= 0:
            partner[p] = best
            partner[best] = p


@kernel
def sign(records, hot_bit, signature, block_signature):
    """Write for each record which of the most frequent items it holds, and which of these are in its block."""
    offsets, items, in_block = records.offsets, records.items, records.in_block
    for p in range(len(offsets) - 1):
        bits = 0
        block = 0
        for place in range(offsets[p], offsets[p + 1]):
            bit = hot_bit[items[place]]
            if bit >= 0:
                bits |= 1 << bit
                if in_block[place]:
                    block |= 1 << bit
        signature[p] = bits
        block_signature[p] = block
