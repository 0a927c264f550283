"""Codes in any order become the codes of `Transactions`: in label order, rising within a record, each once.

Everything is done in place and in blocks of records, so that data of any size needs little beside itself.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from setveil.base import progress
from setveil.data.records.labels import Vocabulary, label_order
from setveil.data.records.ragged import owner_of, record_ranges, rises_within_records, starts_of
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BLOCK = 1 << 22
"""Occurrences looked at together."""


def tidied(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], labels: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Vocabulary]:
    """Return offsets, items and vocabulary; the arrays are the given ones, changed in place."""
    order = label_order(labels)
    vocabulary = Vocabulary(labels[i] for i in order)
    if any(a == b for a, b in pairwise(vocabulary)):
        raise BadData("two items carry the same label")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    for lo in range(0, len(codes), BLOCK):
        codes[lo : lo + BLOCK] = rank[codes[lo : lo + BLOCK]]
    if rises_within_records(offsets, codes):
        return offsets, codes, vocabulary
    return *_sorted_each_once(offsets, codes, max(len(vocabulary), 1)), vocabulary


def _sorted_each_once(
    offsets: NDArray[np.int64], items: NDArray[np.int32], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Sort each record and leave out what is repeated in it; what is kept moves up within the same array."""
    filled = 0
    for first, last in record_ranges(offsets, BLOCK, BLOCK):
        borders = offsets[first : last + 1] - offsets[first]
        keys = owner_of(borders) * width
        keys += items[offsets[first] : offsets[last]]
        keys.sort()
        keep = np.empty(len(keys), dtype=bool)
        keep[:1] = True
        np.not_equal(keys[1:], keys[:-1], out=keep[1:])
        keys = keys[keep]
        items[filled : filled + len(keys)] = keys % width
        # The first offset of the next block must stay until that block was read.
        offsets[first:last] = filled + starts_of(keys // width, last - first)[:-1]
        filled += len(keys)
    if repeated := len(items) - filled:
        progress.note(f"{repeated:,} repeated items within a record count once")
    offsets[-1] = filled
    items.resize(filled, refcheck=False)
    return offsets, items
