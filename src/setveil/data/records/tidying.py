"""Codes in any order become the codes of `Transactions`: in label order, rising within a record, each once.

Everything is done in place and in blocks of records, so that data of any size needs little beside itself.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base import progress
from setveil.data.records.labels import Vocabulary, label_order
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

BLOCK = 1 << 22
"""Occurrences looked at together."""


def record_numbers(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each occurrence the number of its record."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


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


def record_ranges(offsets: NDArray[np.int64], occurrences: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut the records into ranges of so many occurrences and at most so many records; a longer record is a range of its own."""
    records, first = len(offsets) - 1, 0
    while first < records:
        last = int(np.searchsorted(offsets, offsets[first] + occurrences, side="right")) - 1
        last = min(max(last, first + 1), records, first + most)
        yield first, last
        first = last


def rises_within_records(offsets: NDArray[np.int64], items: NDArray[Any]) -> bool:
    """Tell whether items rise within each record, each once."""
    for first, last in record_ranges(offsets, BLOCK, BLOCK):
        block = items[offsets[first] : offsets[last]]
        rises = block[1:] > block[:-1]
        starts = offsets[first + 1 : last] - offsets[first]
        starts = starts[(starts > 0) & (starts < len(block))]
        rises[starts - 1] = True
        if not rises.all():
            return False
    return True


def _sorted_each_once(
    offsets: NDArray[np.int64], items: NDArray[np.int32], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Sort each record and leave out what is repeated in it; what is kept moves up within the same array."""
    filled = 0
    for first, last in record_ranges(offsets, BLOCK, BLOCK):
        borders = offsets[first : last + 1] - offsets[first]
        keys = record_numbers(borders) * width
        keys += items[offsets[first] : offsets[last]]
        keys.sort()
        keep = np.empty(len(keys), dtype=bool)
        keep[:1] = True
        np.not_equal(keys[1:], keys[:-1], out=keep[1:])
        keys = keys[keep]
        items[filled : filled + len(keys)] = keys % width
        # The first offset of the next block must stay until that block was read.
        offsets[first:last] = (
            filled + np.concatenate(([0], np.cumsum(np.bincount(keys // width, minlength=last - first))))[:-1]
        )
        filled += len(keys)
    if repeated := len(items) - filled:
        progress.note(f"{repeated:,} repeated items within a record count once")
    offsets[-1] = filled
    items.resize(filled, refcheck=False)
    return offsets, items
