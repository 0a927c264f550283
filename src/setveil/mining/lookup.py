"""Exact look-up of itemsets in a collection: by hash, then item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import read_only, rises_within_records, sorted_within
from setveil.kernels.threads import run, share

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from setveil.mining._lookup_kernels import Sets

SETS_AT_ONCE = 1 << 14
"""Number of sets per part of the work."""


class Lookup:
    """A collection of sets (offsets, and codes below `width` that rise within a set) for look-ups."""

    def __init__(self, offsets: NDArray[np.int64], items: NDArray[Any], width: int) -> None:
        from setveil.mining import _lookup_kernels  # noqa: PLC0415 - imports Numba

        self._kernels: Any = _lookup_kernels  # without types, since Numba infers them
        self._words = read_only(_random_words(max(width, 1)), np.uint64)
        self._sets = self._hashed(offsets, items)
        slots = np.full(1 << max(2 * len(self._sets.hashes), 2).bit_length(), -1, dtype=np.int64)
        run(
            "laying out the itemsets",
            lambda control: self._kernels.enter(self._sets.hashes, slots, control),
            total=len(self._sets.hashes),
        )
        self._slots = read_only(slots, np.int64)

    def _hashed(self, offsets: NDArray[np.int64], items: NDArray[Any]) -> Sets:
        offsets, items = read_only(offsets, np.int64), read_only(items, np.int32)
        hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
        self._kernels.hash_sets(offsets, items, self._words, hashes)
        sets: Sets = self._kernels.Sets(offsets, items, read_only(hashes, np.uint64))
        return sets

    def places(self, offsets: NDArray[np.int64], items: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each of these sets in the collection, or -1."""
        asked = self._hashed(offsets, items)
        found = np.empty(len(asked.hashes), dtype=np.int64)
        self._in_parts(
            len(found),
            lambda first, last, control: self._kernels.find_sets(
                first, last, asked, self._sets, self._slots, found, control
            ),
        )
        return found

    def places_of_parts(self, supports: NDArray[np.int64], least: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for each item of each set in the collection, the number of the set without this item, or -1 if it is missing.

        It is -2 for sets of one item, and if the support of the set is less than `least[support of the set without the item]`.
        """
        found = np.empty(len(self._sets.items), dtype=np.int64)
        bounds = self._kernels.Supports(read_only(supports, np.int64), read_only(least, np.int64))
        self._in_parts(
            len(self._sets.hashes),
            lambda first, last, control: self._kernels.find_parts(
                first, last, self._sets, self._slots, self._words, bounds, found, control
            ),
        )
        return found

    def _in_parts(self, sets: int, work: Callable[[int, int, Any], None]) -> None:
        share(
            "looking up itemsets",
            range(0, sets, SETS_AT_ONCE),
            lambda first, control: work(first, min(first + SETS_AT_ONCE, sets), control),
            total=sets,
        )


def _random_words(how_many: int) -> NDArray[np.uint64]:
    """Return random words, the same in every run: they affect the speed of the look-up, never its result."""
    return np.random.default_rng(0).integers(0, 2**64, size=how_many, dtype=np.uint64)


def recoded(offsets: NDArray[np.int64], items: NDArray[Any], code: NDArray[np.int64], width: int) -> NDArray[np.int32]:
    """Return the items with new codes below `width`, sorted within each set."""
    codes = code[items] if len(items) else np.empty(0, np.int64)
    if not rises_within_records(offsets, codes):
        codes = sorted_within(offsets, codes, width)
    return codes.astype(np.int32)
