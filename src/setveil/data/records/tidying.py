"""Normalize item codes for `Transactions`: in label order, and strictly increasing within a record.

Works in blocks of records, so that data larger than memory need little of it.
"""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base import progress
from setveil.base.display import quantity
from setveil.data.records.labels import Vocabulary, label_order
from setveil.data.records.ragged import changes, owner_of, record_ranges, rises_within_records, starts_of
from setveil.engines.growing import growing_lists
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BLOCK = 1 << 22
"""The number of occurrences in a block."""


def tidied(
    offsets: NDArray[Any], codes: NDArray[Any], labels: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Vocabulary]:
    """Return normalized offsets, items and vocabulary; large arrays are on disk."""
    order = label_order(labels)
    vocabulary = Vocabulary(labels[i] for i in order)
    if any(a == b for a, b in pairwise(vocabulary)):
        raise BadData("two items have the same label; give each item its own label")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    records = growing_lists(np.int32)
    is_long = len(codes) > BLOCK
    shown = (
        progress.step("sorting the items of each record", len(codes)) if is_long else nullcontext(lambda _done: None)
    )
    with shown as advance:
        for first, last in record_ranges(offsets, BLOCK, BLOCK):
            within = offsets[first : last + 1] - offsets[first]
            block = rank[codes[offsets[first] : offsets[last]]]
            if not rises_within_records(within, block):
                within, block = _sorted_each_once(within, block, max(len(vocabulary), 1))
            records.append(within, block)
            advance(int(offsets[last]))
    if repeated := len(codes) - len(records.values):
        progress.note(f"{quantity(repeated, 'repeated item')} within a record counted once")
    return *records.finish(), vocabulary


def _sorted_each_once(
    offsets: NDArray[np.int64], items: NDArray[np.int32], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort each record and remove repeated items."""
    keys = owner_of(offsets) * width
    keys += items
    keys.sort()
    keys = keys[changes(keys)]
    return starts_of(keys // width, len(offsets) - 1), keys % width
