"""Keyed fingerprints of records: two data sets share a person if they share a fingerprint. Without the key, they reveal nothing.

A fingerprint is a keyed BLAKE2b hash of 8 bytes: of the id of a record, or of its items if the data have no ids. The items enter in the
order of their UTF-8 bytes, each after its length in 8 bytes, so that a fingerprint does not depend on the other records.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base import progress
from setveil.data.records.ragged import among, record_ranges, sorted_within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

BYTES = 8
_MOST_OCCURRENCES, _MOST_RECORDS = 1 << 20, 1 << 16
"""Limits of a block, which limit memory."""
_STORED = ">u8"


def fingerprints(data: Transactions, key: bytes) -> NDArray[np.uint64]:
    """Return the fingerprints of all records in increasing order."""
    purpose = b"setveil content" if data.ids is None else b"setveil id"
    empty = blake2b(key=key, digest_size=BYTES, person=purpose)
    found = bytearray()
    with progress.step("computing fingerprints", data.records) as advance:
        for text, offsets in _contents(data) if data.ids is None else _ids(data):
            for start, end in pairwise(offsets):
                one = empty.copy()
                one.update(text[start:end])
                found += one.digest()
            advance(len(found) // BYTES)
    return np.sort(from_bytes(bytes(found)))


def to_bytes(prints: NDArray[np.uint64]) -> bytes:
    """Return fingerprints as they are stored: 8 bytes each, big-endian."""
    return prints.astype(_STORED).tobytes()


def from_bytes(stored: bytes) -> NDArray[np.uint64]:
    """Return stored fingerprints."""
    return np.frombuffer(stored, dtype=_STORED).astype(np.uint64)


def have_common(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> bool:
    """Return whether two sorted lists of fingerprints have one in common."""
    few, many = sorted((one, other), key=len)
    return bool(among(few, many).any())


def _ids(data: Transactions) -> Iterator[tuple[memoryview, list[int]]]:
    """Yield the ids of each block of records as bytes, with their offsets."""
    for start in range(0, data.records, _MOST_RECORDS):
        yield _joined(data.ids[start : start + _MOST_RECORDS])


def _contents(data: Transactions) -> Iterator[tuple[memoryview, list[int]]]:
    """Yield the items of each block of records as bytes, with the offsets of the records."""
    labels = sorted(data.vocabulary, key=str.encode)
    encoded = [label.encode() for label in labels]
    framed = pa.array([len(text).to_bytes(8, "big") + text for text in encoded], pa.large_binary())
    place = np.empty(len(labels), dtype=np.int64)
    place[[data.code_of[label] for label in labels]] = np.arange(len(labels))
    for first, end in record_ranges(data.offsets, _MOST_OCCURRENCES, _MOST_RECORDS):
        offsets = data.offsets[first : end + 1]
        items = place[data.items[offsets[0] : offsets[-1]]]
        offsets = offsets - offsets[0]
        text, places = _joined(framed.take(pa.array(sorted_within(offsets, items, len(labels)))))
        yield text, [places[offset] for offset in offsets.tolist()]


def _joined(texts: Any) -> tuple[memoryview, list[int]]:
    """Return the bytes of an Arrow column in one piece, with their offsets."""
    _valid, offsets, content = texts.cast(pa.large_binary()).buffers()
    found = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(content or b""), found.tolist()
