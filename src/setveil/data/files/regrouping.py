"""Put the rows of each record of a long table together, if they are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.base import progress
from setveil.data.records.ragged import BLOCK, FEW, offsets_of, pieces, record_ranges
from setveil.engines import growing
from setveil.engines.growing import GrowingArray, Parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

MOST_PARTS = 64
"""Each part needs two files."""


def regrouped(
    records: NDArray[np.int64], lengths: NDArray[np.int32], codes: NDArray[np.int32], offsets: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the codes record by record, each in any order, given runs of codes: the record of each run, and its length.

    If there are many, they are divided into parts of consecutive records first, so that only one part is in memory at a time.
    """
    if len(codes) <= FEW:  # not worth compiling kernels
        return codes[np.argsort(np.repeat(records, lengths), kind="stable")]
    if codes.nbytes <= growing.LARGE:
        return _collected(_rows(records, lengths, codes), offsets)
    number = min(4 * codes.nbytes // growing.LARGE, MOST_PARTS)
    borders = np.searchsorted(offsets, np.linspace(0, len(codes), number + 1)[:-1])
    borders = np.append(borders, len(offsets) - 1)
    parts = Parts(number, np.int64, np.int32)
    with progress.step("putting rows to their records", 2 * len(codes)) as advance:
        done = 0
        for owner, some in _rows(records, lengths, codes):
            parts.add((np.searchsorted(borders, owner, side="right") - 1).astype(np.uint8), owner, some)
            done += len(some)
            advance(done)
        items = GrowingArray(np.int32, growing.LARGE)
        for (owner, some), first, last in zip(parts, borders[:-1], borders[1:], strict=True):
            items.append(_collected([(owner - first, some)], offsets[first : last + 1] - offsets[first]))
            advance(done + len(items))
    return items.finish()


def _rows(
    records: NDArray[np.int64], lengths: NDArray[np.int32], codes: NDArray[np.int32]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
    """Yield the record and the code of each row, in pieces."""
    done = 0
    for part in pieces(len(records)):
        borders = offsets_of(lengths[part])
        for first, last in record_ranges(borders, BLOCK, BLOCK):
            owner = np.repeat(records[part][first:last], lengths[part][first:last])
            yield owner, codes[done : done + len(owner)]
            done += len(owner)


def _collected(
    rows: Iterable[tuple[NDArray[np.int64], NDArray[np.int32]]], offsets: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the codes record by record, given the record and the code of each row."""
    from setveil.data.files._encoding_kernels import put_to_records  # noqa: PLC0415 - compiled only for large files

    items, free = np.empty(offsets[-1], dtype=np.int32), offsets[:-1].copy()
    for owner, codes in rows:
        put_to_records(owner, codes, free, items)
    return items
