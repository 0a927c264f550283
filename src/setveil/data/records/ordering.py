"""Sequences of numbers of any length: put in order, ranked, picked. They stand one after another in one array, with their starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def picked(starts: NDArray[np.int64], chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts of the chosen sequences one after another, and for each of their words the place where it stood."""
    lengths = np.diff(starts)[chosen]
    made = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return made, np.repeat(starts[:-1][chosen] - made[:-1], lengths) + np.arange(made[-1])


def distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different numbers, rising. By sorting: on millions that is far faster than the hash table of NumPy's own."""
    rising = np.sort(keys)
    is_new = np.ones(len(rising), dtype=np.bool_)
    np.not_equal(rising[1:], rising[:-1], out=is_new[1:])
    return rising[is_new]


def starts_of(group: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """Return where each group starts, and where the last one ends, in an array of rising group numbers."""
    return np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)
