"""Ragged arrays: values and start offsets.

List i of a ragged array is `values[offsets[i] : offsets[i + 1]]`. Offsets are int64, start at 0, never fall, and end at the number of
values. Records of items, itemsets, clusters of records and the holders of items all have this layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

BLOCK = 1 << 22
"""Values looked at together."""


# -- offsets ----------------------------------------------------------------------------------------------------------------------


def offsets_of(lengths: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
    """Return the offsets of lists of these lengths; for a mask, the number of true values before each place.

    >>> offsets_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def starts_of(owners: NDArray[Any], lists: int) -> NDArray[np.int64]:
    """Return the offsets of lists whose values have these owners, which never fall: the inverse of `owner_of`.

    >>> starts_of(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return offsets_of(np.bincount(owners, minlength=lists))


def owner_of(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each value the number of its list.

    >>> owner_of(offsets_of([2, 0, 1])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def runs(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of several runs, each from its start on, one run after another.

    >>> runs(np.array([7, 0]), np.array([2, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    offsets = offsets_of(lengths)
    return np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])


def picked(offsets: NDArray[np.int64], chosen: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of the chosen lists one after another, and for each of their values the place where it stood."""
    lengths = np.diff(offsets)[chosen]
    return offsets_of(lengths), runs(offsets[:-1][chosen], lengths)


def record_ranges(offsets: NDArray[np.int64], occurrences: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut the records into ranges of at most `occurrences` occurrences and `most` records; a longer record is a range of its own."""
    records, first = len(offsets) - 1, 0
    while first < records:
        last = int(np.searchsorted(offsets, offsets[first] + occurrences, side="right")) - 1
        last = min(max(last, first + 1), records, first + most)
        yield first, last
        first = last


# -- values -----------------------------------------------------------------------------------------------------------------------


def sums_within(offsets: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the sum of the values of each list; for a mask, the number of true values.

    >>> sums_within(offsets_of([2, 0, 1]), np.array([4, 5, 6])).tolist()
    [9, 0, 6]
    """
    return np.diff(offsets_of(values)[offsets])


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


def sorted_within(offsets: NDArray[np.int64], values: NDArray[Any], width: int) -> NDArray[np.int64]:
    """Return the values, which are from 0 to `width` - 1, in rising order within each list.

    >>> sorted_within(offsets_of([2, 2]), np.array([5, 1, 3, 4]), 6).tolist()
    [1, 5, 3, 4]
    """
    keys: NDArray[np.int64] = owner_of(offsets) * width + values
    keys.sort()
    return keys % max(width, 1)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different numbers, rising. By sorting: on millions that is far faster than the hash table of NumPy's own."""
    rising = np.sort(values)
    is_new = np.ones(len(rising), dtype=np.bool_)
    np.not_equal(rising[1:], rising[:-1], out=is_new[1:])
    return rising[is_new]


# -- inverted lists ---------------------------------------------------------------------------------------------------------------


def inverted(
    offsets: NDArray[np.int64], values: NDArray[Any], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each number from 0 to `width` - 1 the lists that hold it, rising, as offsets and numbers of lists.

    >>> starts, lists = inverted(offsets_of([2, 0, 1]), np.array([0, 2, 2]), 3)
    >>> starts.tolist(), lists.tolist()
    ([0, 1, 1, 3], [0, 0, 2])
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes long to import

    # Counting takes linear time: on millions it is several times as fast as a stable sort.
    marks = np.ones(len(values), dtype=np.bool_)
    table = csr_array((marks, values, offsets), shape=(len(offsets) - 1, width))
    table.check_format()  # a value outside the width would be written outside the result
    held = table.tocsc()
    return held.indptr.astype(np.int64), held.indices.astype(np.int64)


def places_of(values: NDArray[Any], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each number from 0 to `width` - 1 the places where it stands, rising, as offsets and places."""
    return inverted(np.arange(len(values) + 1, dtype=np.int64), values, width)


# -- order of lists ---------------------------------------------------------------------------------------------------------------


def order_of_sequences(starts: NDArray[np.int64], words: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of the sequences in the order of dictionaries; `words` are whole numbers from 0 on."""
    return np.asarray(pc.array_sort_indices(_as_bytes(starts, words)), dtype=np.int64)


def ranks_of_sequences(starts: NDArray[np.int64], words: NDArray[Any]) -> NDArray[np.int64]:
    """Return for each sequence its place in that order, from 0 on; equal ones have the same."""
    ranks = pc.rank(_as_bytes(starts, words), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks, dtype=np.int64) - 1


def _as_bytes(starts: NDArray[np.int64], words: NDArray[Any]) -> Any:
    """Return the sequences as byte strings: big-endian words compare as bytes do, and Arrow sorts byte strings."""
    wide = 4 if words.dtype.itemsize <= 4 else 8
    swapped = np.ascontiguousarray(words.astype(f">i{wide}"))
    borders = pa.py_buffer(np.ascontiguousarray(starts * wide))
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts) - 1, [None, borders, pa.py_buffer(swapped)])


# -- arrays that are not written to -----------------------------------------------------------------------------------------------


def sealed(values: Any, dtype: Any) -> NDArray[Any]:
    """Return a contiguous array that nobody can write to; copies only where the given one could still be written."""
    array = np.ascontiguousarray(values, dtype=dtype)
    just_made = array.base is None and array is not values
    if not just_made and _can_be_written(array):
        array = array.copy()
    array.flags.writeable = False
    return array


def _can_be_written(array: NDArray[Any]) -> bool:
    """Tell whether the array, or another one that it is a view of, can be written to."""
    view: Any = array
    while isinstance(view, np.ndarray):
        if view.flags.writeable:
            return True
        view = view.base
    return False


def read_only(values: Any, dtype: Any = None) -> NDArray[Any]:
    """Return a contiguous, read-only view: arrays enter kernels always in the same way, so that none compiles twice."""
    array = np.ascontiguousarray(values, dtype=dtype).view()
    array.flags.writeable = False
    return array
