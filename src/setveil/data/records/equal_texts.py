"""Equal texts in a column that may be larger than memory: texts are divided by a hash, and those of each part are compared in memory."""

from __future__ import annotations

import math
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base import progress
from setveil.data.records.ragged import pieces
from setveil.engines import growing
from setveil.engines.growing import Parts, room, text_buffers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

TEXTS_AT_ONCE = 1 << 20
MOST_PARTS = 64
"""Each part needs three files."""


def draw_multiplier(prime: int) -> int:
    """Draw the place at which texts are hashed, so that nobody can foresee which texts meet."""
    return secrets.randbelow(prime - 2**20) + 2**20


def first_repeated(texts: Any) -> int | None:
    """Return the position of the first text of a large_string column that equals an earlier one, or None if all differ.

    >>> first_repeated(pa.array(["b", "a", "b", "a"], pa.large_string()))
    2
    """
    return min((int(places[0]) for places, _firsts in _repeats(texts)), default=None)


def numbered(texts: Any) -> NDArray[np.int64] | None:
    """Return the number of each text, in order of first appearance; equal texts have the same. Return None if all differ.

    >>> numbered(pa.array(["b", "a", "b", "c"], pa.large_string())).tolist()
    [0, 1, 0, 2]
    """
    first_of: NDArray[np.int64] | None = None
    for places, firsts in _repeats(texts):
        if first_of is None:
            first_of = room(len(texts), np.int64)
            for part in pieces(len(texts)):
                first_of[part] = np.arange(part.start, part.stop)
        first_of[places] = firsts
    if first_of is None:
        return None
    known = 0
    for part in pieces(len(texts)):  # in place: what a text refers to is before it
        block = first_of[part]
        is_new = block == np.arange(part.start, part.stop)
        block[is_new] = known + np.arange(np.count_nonzero(is_new))
        block[~is_new] = first_of[block[~is_new]]
        known += int(np.count_nonzero(is_new))
    return first_of


def _repeats(texts: Any) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the positions of texts that equal earlier ones, in several parts, and the positions of the first ones that they equal."""
    for places, part in _divided(texts):
        encoded = part.dictionary_encode()
        if len(encoded.dictionary) < len(part):
            codes = encoded.indices.to_numpy()  # in order of first appearance
            is_new = np.append(True, np.diff(np.maximum.accumulate(codes)) > 0)
            yield places[~is_new], places[is_new][codes[~is_new]]
    pa.default_memory_pool().release_unused()  # hash tables are several times as large as the texts


def _divided(texts: Any) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """Yield positions and texts in parts; equal texts are in the same part. Nothing if the texts are in order, so that all differ."""
    if texts.nbytes <= growing.LARGE:
        yield np.arange(len(texts)), texts
        return
    if _rises(texts):
        return
    from setveil.data.records import _text_kernels  # noqa: PLC0415 - compiled only for large data

    parts = Parts(number := min(math.ceil(4 * texts.nbytes / growing.LARGE), MOST_PARTS), np.int64, str)
    multiplier = draw_multiplier(_text_kernels.PRIME)
    with progress.step("comparing ids", len(texts)) as advance:
        for places in pieces(len(texts), TEXTS_AT_ONCE):
            some = texts[places]
            part_of = np.empty(len(some), dtype=np.uint8)
            _text_kernels.divide(*text_buffers(some), number, multiplier, part_of)
            parts.add(part_of, np.arange(places.start, places.stop), some)
            advance(places.stop)
        yield from parts  # type: ignore[misc]


def _rises(texts: Any) -> bool:
    """Return whether each text is larger than the one before it."""
    return all(
        pc.all(pc.less(texts[part], texts[part.start + 1 : part.stop + 1])).as_py()
        for part in pieces(len(texts) - 1, TEXTS_AT_ONCE)
    )
