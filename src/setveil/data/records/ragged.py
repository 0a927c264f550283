"""Ragged arrays: values and start offsets.

List i of a ragged array is `values[offsets[i] : offsets[i + 1]]`. Offsets are int64, start at 0, never decrease, and end at the number of
values. Records of items, itemsets, clusters of records and the holders of items have this layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.engines.growing import growing, growing_lists, room

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

BLOCK = 1 << 22
"""The number of values in a block."""
AT_ONCE = 1 << 20
"""The number of values that are counted together."""
FEW = 1 << 17
"""Up to this number, values are sorted in less time than it takes to import SciPy."""


# -- offsets ----------------------------------------------------------------------------------------------------------------------


def offsets_of(lengths: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
    """Return the offsets of lists with these lengths; for a mask, the number of true values before each position.

    >>> offsets_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def starts_of(owners: NDArray[Any], lists: int) -> NDArray[np.int64]:
    """Return the offsets of lists whose values have these sorted owners: the inverse of `owner_of`.

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


def records_of(places: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of the lists that have the values at these places. For few places, it takes far less memory than `owner_of`.

    >>> records_of(np.array([2, 0]), offsets_of([2, 0, 1])).tolist()
    [2, 0]
    """
    return np.searchsorted(offsets, places, side="right") - 1


def runs(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the concatenation of ranges with these starts and lengths.

    >>> runs(np.array([7, 0]), np.array([2, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    offsets = offsets_of(lengths)
    return np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])


def picked(offsets: NDArray[np.int64], chosen: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of the concatenated chosen lists, and the original position of each of their values."""
    starts = offsets[:-1][chosen]
    lengths = offsets[1:][chosen] - starts
    return offsets_of(lengths), runs(starts, lengths)


def picked_lists(
    offsets: NDArray[np.int64], values: NDArray[Any], chosen: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the offsets and the values of the concatenated chosen lists, with little memory.

    >>> [array.tolist() for array in picked_lists(offsets_of([2, 0, 1]), np.array([7, 8, 9]), np.array([2, 0]))]
    [[0, 1, 3], [9, 7, 8]]
    """
    lists = growing_lists(values.dtype)
    for part in pieces(len(chosen)):
        some = chosen[part]
        borders = offsets_of(offsets[1:][some] - offsets[some])
        for first, last in record_ranges(borders, BLOCK, BLOCK):
            within, places = picked(offsets, some[first:last])
            lists.append(within, values[places])
    return lists.finish()


def record_ranges(offsets: NDArray[np.int64], occurrences: int, most: int) -> Iterator[tuple[int, int]]:
    """Split the records into ranges of at most `occurrences` occurrences and `most` records; a longer record is its own range."""
    records, first = len(offsets) - 1, 0
    while first < records:
        last = int(np.searchsorted(offsets, offsets[first] + occurrences, side="right")) - 1
        last = min(max(last, first + 1), records, first + most)
        yield first, last
        first = last


def pieces(length: int, size: int | None = None) -> Iterator[slice]:
    """Yield slices that divide a length, for work on arrays that may be larger than memory.

    >>> [*pieces(5, 2)]
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = size or BLOCK
    return (slice(first, min(first + step, length)) for first in range(0, length, step))


# -- values -----------------------------------------------------------------------------------------------------------------------


def sums_within(offsets: NDArray[np.int64], values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the sum of the values of each list; for a mask, the number of true values.

    >>> sums_within(offsets_of([2, 0, 1]), np.array([4, 5, 6])).tolist()
    [9, 0, 6]
    """
    sums = np.empty(len(offsets) - 1, np.int64)
    for first, last in record_ranges(offsets, AT_ONCE, AT_ONCE):  # running sums of all values would take fresh memory
        borders = offsets[first : last + 1]
        sums[first:last] = np.diff(offsets_of(values[borders[0] : borders[-1]])[borders - borders[0]])
    return sums


def counted(values: NDArray[Any], width: int) -> NDArray[np.int64]:
    """Return how often each number from 0 to `width` - 1 occurs. NumPy would first copy all values as 64-bit numbers.

    >>> counted(np.array([2, 0, 2], np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    counts = np.zeros(width, dtype=np.int64)
    for first in range(0, len(values), AT_ONCE):
        counts += np.bincount(values[first : first + AT_ONCE], minlength=width)
    return counts


def rises_within_records(offsets: NDArray[np.int64], items: NDArray[Any]) -> bool:
    """Return whether items are strictly increasing within each record."""
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
    """Return the values, which are from 0 to `width` - 1, sorted within each list.

    >>> sorted_within(offsets_of([2, 2]), np.array([5, 1, 3, 4]), 6).tolist()
    [1, 5, 3, 4]
    """
    keys: NDArray[np.int64] = owner_of(offsets) * width + values
    keys.sort()
    return keys % max(width, 1)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct numbers in increasing order. Sorting is far faster here than the hash table of `np.unique` for millions."""
    rising = np.sort(values)
    return rising[changes(rising)]


def changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each value whether it differs from the one before it; the first one does."""
    differs = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def among(keys: NDArray[Any], rising: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each key whether it is among the sorted keys `rising`. For millions, it is faster than `np.isin`, which hashes.

    >>> among(np.array([5, 1]), np.array([1, 3])).tolist()
    [False, True]
    """
    place = np.minimum(np.searchsorted(rising, keys), max(len(rising) - 1, 0))
    return rising[place] == keys if len(rising) else np.zeros(len(keys), dtype=np.bool_)


def are_equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays are equal, with little memory."""
    return len(one) == len(other) and all(np.array_equal(one[part], other[part]) for part in pieces(len(one)))


def is_rising(values: NDArray[Any], *, strictly: bool = False) -> bool:
    """Return whether values never fall or, if `strictly`, each is larger than the one before; with little memory.

    >>> is_rising(np.array([1, 1, 2])), is_rising(np.array([1, 1, 2]), strictly=True)
    (True, False)
    """
    rises = np.greater if strictly else np.greater_equal
    return all(rises(values[part.start + 1 : part.stop + 1], values[part]).all() for part in pieces(len(values) - 1))


def are_distinct(numbers: NDArray[Any], width: int) -> bool:
    """Return whether no number occurs twice; all are from 0 to `width` - 1."""
    if is_rising(numbers, strictly=True):
        return True
    seen = np.zeros(width, dtype=np.bool_)
    for part in pieces(len(numbers)):
        seen[numbers[part]] = True
    return int(np.count_nonzero(seen)) == len(numbers)


def looked_up(table: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Return the values of a table at these places, with little memory."""
    values = growing(table.dtype)
    for part in pieces(len(places)):
        values.append(table[places[part]])
    return values.finish()


# -- inverted lists ---------------------------------------------------------------------------------------------------------------


def inverted(
    offsets: NDArray[np.int64], values: NDArray[Any], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each number from 0 to `width` - 1 the lists that hold it, in increasing order, as offsets and list numbers.

    >>> starts, lists = inverted(offsets_of([2, 0, 1]), np.array([0, 2, 2]), 3)
    >>> starts.tolist(), lists.tolist()
    ([0, 1, 1, 3], [0, 0, 2])
    """
    if len(values) <= FEW:
        if len(values) and not 0 <= values.min() <= values.max() < width:
            raise ValueError(f"indices must be from 0 to {width - 1}")
        order = np.argsort(values, kind="stable")
        starts = np.searchsorted(values[order], np.arange(width + 1))
        return starts.astype(np.int64), owner_of(offsets)[order]
    if len(values) > BLOCK and len(offsets) > 2:
        return _inverted_in_blocks(offsets, values, width)
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    # Counting takes linear time: for millions it is several times faster than a stable sort.
    marks = np.ones(len(values), dtype=np.bool_)
    table = csr_array((marks, values, offsets), shape=(len(offsets) - 1, width))
    table.check_format()  # a value out of range would be written outside the result
    held = table.tocsc()
    return held.indptr.astype(np.int64), held.indices.astype(np.int64)


def _inverted_in_blocks(
    offsets: NDArray[np.int64], values: NDArray[Any], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Invert blocks of lists, and put what each of them has of a number behind what the blocks before have of it."""
    counts = np.zeros(width, dtype=np.int64)
    for part in pieces(len(values)):
        counts += np.bincount(values[part], minlength=width)
    starts = offsets_of(counts)
    free, lists = starts[:-1].copy(), room(len(values), np.int64)
    for first, last in record_ranges(offsets, BLOCK, BLOCK):
        within = offsets[first : last + 1] - offsets[first]
        borders, found = inverted(within, values[offsets[first] : offsets[last]], width)
        lists[runs(free, np.diff(borders))] = found + first
        free += np.diff(borders)
    lists.flags.writeable = False
    return starts, lists


def places_of(values: NDArray[Any], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each number from 0 to `width` - 1 its positions in increasing order, as offsets and positions."""
    return inverted(np.arange(len(values) + 1, dtype=np.int64), values, width)


# -- order of lists ---------------------------------------------------------------------------------------------------------------


def order_of_sequences(starts: NDArray[np.int64], words: NDArray[Any]) -> NDArray[np.int64]:
    """Return the sequence numbers in lexicographic order, equal ones in rising order; `words` are non-negative integers."""
    return _ordered(starts, words)[0]


def ranks_of_sequences(starts: NDArray[np.int64], words: NDArray[Any]) -> NDArray[np.int64]:
    """Return the lexicographic rank of each sequence, starting with 0; equal sequences have the same rank."""
    order, is_new = _ordered(starts, words)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(is_new) - 1
    return ranks


def _ordered(starts: NDArray[np.int64], words: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the sequence numbers in lexicographic order, and for each whether its sequence differs from the one before.

    Sequences are sorted by their first words, as many as fit into 64 bits. Only those that agree in all of these are compared as texts,
    which is several times slower.
    """
    unsigned = words.view(f"u{words.dtype.itemsize}")
    bits = (int(unsigned.max(initial=0)) + 1).bit_length()
    fitting, lengths = 64 // bits, np.diff(starts)
    keys = np.zeros(len(lengths), dtype=np.uint64)
    for place in range(min(fitting, int(lengths.max(initial=0)))):
        word = unsigned[np.minimum(starts[:-1] + place, len(words) - 1)].astype(np.uint64) + np.uint64(1)
        keys <<= np.uint64(bits)
        keys |= word * (lengths > place)  # 0 after the last word: a beginning comes first
    order = np.argsort(keys, kind="stable")
    is_new = changes(keys[order])
    is_open = ~is_new
    is_open[:-1] |= ~is_new[1:]
    is_open &= lengths[order] >= fitting
    places = np.flatnonzero(is_open)
    open_ones = np.sort(order[places])
    borders, at = picked(starts, open_ones)
    ranks = pc.rank(_as_bytes(borders, words[at]), sort_keys="ascending", tiebreaker="dense").to_numpy()
    by_rank = np.argsort(ranks, kind="stable")
    order[places] = open_ones[by_rank]
    is_new[places] = changes(ranks[by_rank])
    return order, is_new


def _as_bytes(starts: NDArray[np.int64], words: NDArray[Any]) -> Any:
    """Return the sequences as byte strings for Arrow to sort: big-endian words compare as their bytes do."""
    wide = 4 if words.dtype.itemsize <= 4 else 8
    swapped = np.ascontiguousarray(words.astype(f">i{wide}"))
    borders = pa.py_buffer(np.ascontiguousarray(starts * wide))
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts) - 1, [None, borders, pa.py_buffer(swapped)])


# -- read-only arrays ------------------------------------------------------------------------------------------------------------


def sealed(values: Any, dtype: Any) -> NDArray[Any]:
    """Return a contiguous read-only array; copy only if the given one could still be written."""
    array = np.ascontiguousarray(values, dtype=dtype)
    just_made = array.base is None and array is not values
    if not just_made and _can_be_written(array):
        array = array.copy()
    array.flags.writeable = False
    return array


def _can_be_written(array: NDArray[Any]) -> bool:
    """Return whether the array, or an array that it is a view of, is writeable."""
    view: Any = array
    while isinstance(view, np.ndarray):
        if view.flags.writeable:
            return True
        view = view.base
    return False


def read_only(values: Any, dtype: Any = None) -> NDArray[Any]:
    """Return a contiguous read-only view. All arrays enter kernels in this form, so that no kernel compiles twice."""
    array = np.ascontiguousarray(values, dtype=dtype).view()
    array.flags.writeable = False
    return array
