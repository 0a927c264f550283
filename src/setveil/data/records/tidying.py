"""Normalize item codes for `Transactions`: in label order, and strictly increasing within a record.

Works in place and in blocks of records, so that large data need little extra memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from setveil.base import progress
from setveil.base.display import quantity
from setveil.data.records.labels import Vocabulary, label_order
from setveil.data.records.ragged import owner_of, record_ranges, rises_within_records, starts_of
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BLOCK = 1 << 22
"""The number of occurrences in a block."""


def tidied(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], labels: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Vocabulary]:
    """Return normalized offsets, items and vocabulary; the given arrays are changed in place."""
    order = label_order(labels)
    vocabulary = Vocabulary(labels[i] for i in order)
    if any(a == b for a, b in pairwise(vocabulary)):
        raise BadData("two items have the same label; give each item its own label")
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
    """Sort each record and remove repeated items, in place."""
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
        # Do not overwrite the first offset of the next block before that block is read.
        offsets[first:last] = filled + starts_of(keys // width, last - first)[:-1]
        filled += len(keys)
    if repeated := len(items) - filled:
        progress.note(f"{quantity(repeated, 'repeated item')} within a record counted once")
    offsets[-1] = filled
    items.resize(filled, refcheck=False)
    return offsets, items
