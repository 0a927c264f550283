# mypy: ignore-errors
# (Numba infers the types)
"""A heap of entries by key, then by rank; it tells where each entry is, so that one can move when its key changes."""

from __future__ import annotations

from setveil.kernels.jit import kernel


@kernel
def _comes_before(one, other, keys, ranks):
    return keys[one] < keys[other] or (keys[one] == keys[other] and ranks[one] < ranks[other])


@kernel
def sift_down(heap, size, at, keys, ranks, where):
    """Move an entry down to its place; `where` tells the place of every entry."""
    entry = heap[at]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and _comes_before(heap[below + 1], heap[below], keys, ranks):
            below += 1
        if not _comes_before(heap[below], entry, keys, ranks):
            break
        heap[at] = heap[below]
        where[heap[at]] = at
        at = below
    heap[at] = entry
    where[entry] = at


@kernel
def sift_up(heap, at, keys, ranks, where):
    """Move an entry up to its place."""
    entry = heap[at]
    while at > 0:
        above = (at - 1) // 2
        if not _comes_before(entry, heap[above], keys, ranks):
            break
        heap[at] = heap[above]
        where[heap[at]] = at
        at = above
    heap[at] = entry
    where[entry] = at
