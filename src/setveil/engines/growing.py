"""Arrays and columns of texts on disk that are mapped into memory, for data that may be larger than memory.

They are written in pieces, or at any place. Their files have no name, so nothing remains of them when the process ends, however it ends.
Small ones need no file.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.engines.scratch import refusing_full_disk, scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


WITHOUT_FILE = 1 << 20
"""Arrays of up to this number of bytes stay in memory."""
LARGE = 1 << 26
"""Arrays of data that are read, and what is derived from them, stay in memory up to this number of bytes."""


class GrowingArray:
    """An array that grows at its end. It is on disk once it has more than `without_file` bytes.

    >>> array = GrowingArray(np.int32)
    >>> array.append(np.arange(3))
    >>> array.append(np.array([7]))
    >>> array.finish().tolist()
    [0, 1, 2, 7]
    """

    def __init__(self, dtype: Any, without_file: int | None = None) -> None:
        self._dtype = np.dtype(dtype)
        self._without_file = WITHOUT_FILE if without_file is None else without_file
        self._length = 0
        self._start: list[NDArray[Any]] = []
        """What is not in the file yet."""
        self._file: Any = None

    def __len__(self) -> int:
        return self._length

    def append(self, values: NDArray[Any]) -> None:
        """Write values at the end; they are converted to the type of the array."""
        self._length += len(values)
        if self._file is None and self._length * self._dtype.itemsize <= self._without_file:
            self._start.append(np.array(values, dtype=self._dtype))
            return
        with refusing_full_disk():
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=scratch_folder(), prefix="setveil-", buffering=0)  # noqa: SIM115 - closed below
                for start in self._start:
                    self._write(start)
                self._start.clear()
            self._write(np.ascontiguousarray(values, dtype=self._dtype))

    def _write(self, values: NDArray[Any]) -> None:
        rest = values.view(np.uint8).data
        while rest:  # the system may write a part only
            rest = rest[self._file.write(rest) :]

    def __del__(self) -> None:
        """Close the file of an array that was not finished."""
        if self._file is not None:
            self._file.close()

    def finish(self) -> NDArray[Any]:
        """Return the read-only array. Nothing can be appended afterwards."""
        if self._file is None:
            array, first = np.empty(self._length, self._dtype), 0
            self._start.reverse()
            while self._start:  # free each piece after use
                piece = self._start.pop()
                array[first : first + len(piece)] = piece
                first += len(piece)
            array.flags.writeable = False
            return array
        with refusing_full_disk(), self._file as file:
            return mapped(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), self._dtype)


class GrowingLists:
    """Lists of numbers that grow at their end. They are on disk once they are large.

    >>> lists = GrowingLists(np.int32)
    >>> lists.append(np.array([0, 2, 2]), np.array([7, 8]))
    >>> lists.append(np.array([5, 6]), np.array([9]))
    >>> [array.tolist() for array in lists.finish()]
    [[0, 2, 2, 3], [7, 8, 9]]
    """

    def __init__(self, dtype: Any, without_file: int | None = None) -> None:
        self._ends, self.values = GrowingArray(np.int64, without_file), GrowingArray(dtype, without_file)
        self._ends.append(np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, offsets: NDArray[Any], values: NDArray[Any]) -> None:
        """Write lists at the end: their offsets, which may begin with any number, and their values."""
        self._ends.append(offsets[1:] + (len(self.values) - int(offsets[0])))
        self.values.append(values)

    def finish(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the offsets and the values. Nothing can be appended afterwards."""
        return self._ends.finish(), self.values.finish()


class GrowingTexts:
    """A column of texts that grows at its end. It is on disk once it is large.

    >>> import pyarrow as pa
    >>> texts = GrowingTexts()
    >>> texts.append(pa.array(["milk", "tea"], pa.large_string()))
    >>> texts.append(pa.array(["wine"], pa.large_string()))
    >>> texts.finish().to_pylist()
    ['milk', 'tea', 'wine']
    """

    def __init__(self, without_file: int | None = None) -> None:
        self._lists = GrowingLists(np.uint8, without_file)

    def __len__(self) -> int:
        return len(self._lists)

    def append(self, texts: Any) -> None:
        """Write the texts of an Arrow column of type large_string without nulls at the end."""
        content, ends = text_buffers(texts)
        self._lists.append(ends, content[ends[0] : ends[-1]])

    def finish(self) -> Any:
        """Return the Arrow column. Nothing can be appended afterwards."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        ends, content = map(pa.py_buffer, self._lists.finish())
        return pa.LargeStringArray.from_buffers(len(self), ends, content)


def growing(dtype: Any) -> GrowingArray:
    """Return an array of data, which grows at its end and is on disk once it is large."""
    return GrowingArray(dtype, LARGE)


def growing_lists(dtype: Any) -> GrowingLists:
    """Return lists of data, which grow at their end and are on disk once they are large."""
    return GrowingLists(dtype, LARGE)


def growing_texts() -> GrowingTexts:
    """Return a column of texts of data, which grows at its end and is on disk once it is large."""
    return GrowingTexts(LARGE)


class Parts:
    """Rows that are divided into parts, each in their order; the columns are on disk.

    >>> parts = Parts(2, np.int32)
    >>> parts.add(np.array([1, 0, 1]), np.array([7, 8, 9]))
    >>> [column.tolist() for [column] in parts]
    [[8], [7, 9]]
    """

    def __init__(self, number: int, *kinds: Any) -> None:
        """Make empty parts; `kinds` are the types of the columns: `str`, or a type of NumPy."""
        self._parts: list[list[GrowingArray | GrowingTexts]] = [
            [GrowingTexts(0) if kind is str else GrowingArray(kind, 0) for kind in kinds] for _ in range(number)
        ]

    def add(self, part_of: NDArray[Any], *columns: Any) -> None:
        """Add rows: the part of each, and the columns, which are arrays or Arrow columns of texts."""
        order = np.argsort(part_of, kind="stable")
        borders = np.searchsorted(part_of[order], np.arange(len(self._parts) + 1))
        for place, column in enumerate(columns):
            moved = column.take(order)
            for part, first, last in zip(self._parts, borders[:-1], borders[1:], strict=True):
                part[place].append(moved[first:last])

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield the columns of each part. A part is dropped when the next one is taken."""
        self._parts.reverse()
        while self._parts:
            yield [column.finish() for column in self._parts.pop()]


def scratch_array(length: int, dtype: Any) -> NDArray[Any]:
    """Return a writable array of zeros on disk. The system can write its pages out where memory is short.

    >>> array = scratch_array(3, np.int32)
    >>> array[1] = 7
    >>> array.tolist()
    [0, 7, 0]
    """
    size = length * np.dtype(dtype).itemsize
    if not size:
        return np.zeros(0, dtype)
    with refusing_full_disk(), tempfile.TemporaryFile(dir=scratch_folder(), prefix="setveil-") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)  # otherwise a full disk would end the process later
        else:
            file.truncate(size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), dtype)


def room(length: int, dtype: Any) -> NDArray[Any]:
    """Return a writable array of zeros, which is on disk if it is large."""
    is_large = length * np.dtype(dtype).itemsize > LARGE
    return scratch_array(length, dtype) if is_large else np.zeros(length, dtype)


def mapped(buffer: Any, dtype: Any) -> NDArray[Any]:
    """Return a read-only array over a buffer, without a copy."""
    array = np.frombuffer(buffer, dtype=dtype)
    array.flags.writeable = False
    return array


def text_buffers(texts: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes and offsets of an Arrow column of type large_string, without copies."""
    _valid, offsets, text = texts.buffers()
    places = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1] if offsets else None
    if places is None or not len(places):
        places = np.zeros(1, dtype=np.int64)
    content = np.frombuffer(text, dtype=np.uint8) if text else np.empty(0, dtype=np.uint8)
    for array in (places, content):
        array.flags.writeable = False  # one kind of array, so that each kernel compiles once
    return content, places
