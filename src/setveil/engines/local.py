"""The engine `local`: threads of this machine. Blocks that work makes are Arrow files, mapped into memory.

With a folder to resume in, finished blocks remain in it, and a later run with the same key takes them from there.
"""

from __future__ import annotations

import mmap
import os
import re
import tempfile
import weakref
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.engines.blocks import (
    BLOCK_RECORDS,
    BlockKey,
    Blocks,
    CountWork,
    Engine,
    MapWork,
    by_group,
    joined,
    using_engine,
)
from setveil.engines.scratch import refusing_full_disk, scratch_folder
from setveil.kernels.control import DONE
from setveil.kernels.threads import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

MOST_OPENED = 10_000
"""How often files of blocks may be opened to read groups, 0.2 ms each. Instead they can remain mapped, but then what was read of them
counts as memory of the process."""


class LocalEngine(Engine):
    """Threads of this machine.

    Parameters
    ----------
    block_records
        The number of records in a block.
    folder
        Where to put blocks. They remain there, so that a run that was killed can be resumed. By default, they are in the scratch folder,
        and removed when they are not used any more.
    """

    name = "local"

    def __init__(self, block_records: int = BLOCK_RECORDS, folder: Path | None = None) -> None:
        super().__init__(block_records)
        self._folder = folder
        self._steps = count(1)

    def blocks(self, read: Callable[[BlockKey], Any], rows: NDArray[np.int64]) -> Blocks:
        """Return blocks with these numbers of rows; `read` is called whenever one is used."""
        return LocalBlocks(self, read, rows)

    @contextmanager
    def resuming(self, folder: Path) -> Iterator[None]:
        """Use an engine whose blocks remain in the folder."""
        with using_engine(LocalEngine(self.block_records, folder)):
            yield

    def place_for(self, label: str) -> _Folder | _OneFile:
        """Return a place for the blocks of the next step."""
        if self._folder is None:
            return _OneFile()
        return _Folder(self._folder / f"{next(self._steps):03}-{re.sub('[^a-z]+', '-', label.lower())}")


class LocalBlocks(Blocks):
    """Blocks that this machine reads."""

    def __init__(
        self,
        engine: LocalEngine,
        read: Callable[[BlockKey], Any],
        rows: NDArray[np.int64],
    ) -> None:
        self._engine = engine
        self._read = read
        self.rows = rows

    def __iter__(self) -> Iterator[Any]:
        return map(self._read, self.keys)

    def map(self, label: str, work: MapWork) -> Blocks:
        """Write what `work` makes of each block."""
        place, rows = self._make(label, work)
        return LocalBlocks(self._engine, place.read, rows)

    def _make(self, label: str, work: MapWork) -> tuple[_Folder | _OneFile, NDArray[np.int64]]:
        """Return where the new blocks are, and their numbers of rows. Those that are there already are from a run that was killed."""
        place = self._engine.place_for(label)

        def make(key: BlockKey, control: NDArray[np.int64]) -> int:
            if key not in place:
                place.write(key, work(self._read(key), key))
            control[DONE] = self.rows[key.number]
            return int(place.read(key).num_rows)

        rows = share(label, self.keys, make, total=int(self.rows.sum()))
        return place, np.array(rows, np.int64)

    def fold(self, label: str, count: CountWork) -> NDArray[np.int64]:
        """Sum what `count` makes of each block, as it comes: the order of whole numbers does not matter."""
        total: list[NDArray[np.int64]] = []
        lock = Lock()

        def add(key: BlockKey, control: NDArray[np.int64]) -> None:
            counted = count(self._read(key), key)
            with lock:
                if total:
                    total[0] += counted
                else:
                    total.append(counted.astype(np.int64))
            control[DONE] = self.rows[key.number]

        share(label, self.keys, add, total=int(self.rows.sum()))
        return total[0]

    def regroup(self, label: str, to: CountWork, groups: int) -> Blocks:
        """Sort each block by group, and put the pieces of a group together when it is read."""
        place, rows = self._make(label, partial(_by_group, to, groups))
        blocks: Iterable[Any] = LocalBlocks(self._engine, place.read, rows)
        if groups * len(self) > MOST_OPENED:
            blocks = place.read_all(self.keys)
        numbers = np.arange(groups + 1)
        starts = [np.searchsorted(block.column(_GROUP).to_numpy(), numbers) for block in blocks]
        return LocalBlocks(
            self._engine,
            partial(_group_of, blocks, starts),
            np.sum(np.diff(starts, axis=1), axis=0, dtype=np.int64) if starts else np.zeros(groups, np.int64),
        )


_GROUP = "_group"


def _by_group(to: CountWork, groups: int, block: Any, key: BlockKey) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    arranged, group = by_group(to, groups, block, key)
    return arranged.append_column(_GROUP, pa.array(group))


def _group_of(blocks: Iterable[Any], starts: list[NDArray[np.int64]], key: BlockKey) -> Any:
    pieces = [
        block.slice(borders[key.number], borders[key.number + 1] - borders[key.number])
        for block, borders in zip(blocks, starts, strict=True)
    ]
    return joined([piece.drop_columns(_GROUP) for piece in pieces])


class _Folder:
    """Blocks of a step as files in a folder, which remain if the run ends early."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with refusing_full_disk():
            path.mkdir(parents=True, exist_ok=True, mode=0o700)

    def __contains__(self, key: BlockKey) -> bool:
        return self._file_of(key).exists()

    def _file_of(self, key: BlockKey) -> Path:
        return self._path / f"{key.number:06}.arrow"

    def write(self, key: BlockKey, block: Any) -> None:
        """Write a block to a file that appears complete or not at all, even if the machine goes down."""
        file = self._file_of(key)
        unfinished = file.with_suffix(".unfinished")
        with refusing_full_disk():
            with unfinished.open("wb") as sink:
                _write(sink, block)
                sink.flush()
                os.fsync(sink.fileno())
            unfinished.rename(file)

    def read(self, key: BlockKey) -> Any:
        """Return a block; its columns are in the mapped file."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        with pa.memory_map(str(self._file_of(key))) as source:
            return pa.ipc.open_file(source).get_batch(0)

    def read_all(self, keys: list[BlockKey]) -> list[Any]:
        """Return all blocks, mapped at once."""
        return [self.read(key) for key in keys]


class _OneFile:
    """Blocks of a step in a file without a name, of which nothing remains, however the process ends."""

    def __init__(self) -> None:
        with refusing_full_disk():
            self._file = tempfile.TemporaryFile(dir=scratch_folder(), prefix="setveil-")  # noqa: SIM115 - closed below
        weakref.finalize(self, _close, self._file)
        self._places: dict[int, tuple[int, int]] = {}
        """Where the block with each number begins and ends."""
        self._end = 0
        self._writing = Lock()

    def __contains__(self, key: BlockKey) -> bool:
        return key.number in self._places

    def write(self, key: BlockKey, block: Any) -> None:
        """Write a block at the end of the file, at a place where it can be mapped."""
        with self._writing, refusing_full_disk():
            first = -(-self._end // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
            self._file.seek(first)
            _write(self._file, block)
            self._file.flush()
            self._end = self._file.tell()
            self._places[key.number] = first, self._end

    def read(self, key: BlockKey) -> Any:
        """Return a block; its columns are in the mapped part of the file."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        first, end = self._places[key.number]
        return pa.ipc.open_file(self._mapped(first, end)).get_batch(0)

    def read_all(self, keys: list[BlockKey]) -> list[Any]:
        """Return all blocks in one mapping, because each one takes a number of an open file."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        whole = self._mapped(0, self._end)
        places = (self._places[key.number] for key in keys)
        return [pa.ipc.open_file(whole.slice(first, end - first)).get_batch(0) for first, end in places]

    def _mapped(self, first: int, end: int) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        with refusing_full_disk():
            return pa.py_buffer(mmap.mmap(self._file.fileno(), end - first, access=mmap.ACCESS_READ, offset=first))


def _close(file: Any) -> None:
    with suppress(OSError):  # of a full disk, which was reported
        file.close()


def _write(sink: Any, block: Any) -> None:
    """Write a block as an Arrow file."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    with pa.ipc.new_file(sink, block.schema) as writer:
        writer.write_batch(block)
