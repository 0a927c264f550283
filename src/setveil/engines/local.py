"""The engine `local`: threads of this machine. Blocks that work makes are Arrow files, mapped into memory.

With a folder to resume in, finished blocks remain in it, and a later run with the same key takes them from there.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.engines.blocks import BLOCK_RECORDS, BlockKey, Blocks, CountWork, Engine, MapWork, by_group, joined
from setveil.engines.scratch import TemporaryFolder, refusing_full_disk
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

    def resuming(self, folder: Path) -> LocalEngine:
        """Return an engine whose blocks remain in the folder."""
        return LocalEngine(self.block_records, folder)

    def step_folder(self, label: str) -> tuple[Path, Any]:
        """Return a folder for the blocks of the next step, and what keeps it from being removed."""
        name = f"{next(self._steps):03}-{re.sub('[^a-z]+', '-', label.lower())}"
        if self._folder is None:
            kept = TemporaryFolder(name)
            return kept.path, kept
        made = self._folder / name
        with refusing_full_disk():
            made.mkdir(parents=True, exist_ok=True, mode=0o700)
        return made, None


class LocalBlocks(Blocks):
    """Blocks that this machine reads."""

    def __init__(
        self, engine: LocalEngine, read: Callable[[BlockKey], Any], rows: NDArray[np.int64], kept: Any = None
    ) -> None:
        self._engine = engine
        self._read = read
        self._kept = kept
        self.rows = rows

    def __iter__(self) -> Iterator[Any]:
        return map(self._read, self.keys)

    def map(self, label: str, work: MapWork) -> Blocks:
        """Write what `work` makes of each block to a file. Files that are there already are from a run that was killed."""
        folder, kept = self._engine.step_folder(label)

        def make(key: BlockKey, control: NDArray[np.int64]) -> int:
            file = _file_of(folder, key)
            if not file.exists():
                _write(file, work(self._read(key), key))
            control[DONE] = self.rows[key.number]
            return int(_read_file(folder, key).num_rows)

        rows = share(label, self.keys, make, total=int(self.rows.sum()))
        return LocalBlocks(self._engine, partial(_read_file, folder), np.array(rows, np.int64), kept)

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
        sorted_by_group = self.map(label, partial(_by_group, to, groups))
        numbers = np.arange(groups + 1)
        starts = [np.searchsorted(block.column(_GROUP).to_numpy(), numbers) for block in sorted_by_group]
        blocks = sorted_by_group if groups * len(self) <= MOST_OPENED else list(sorted_by_group)
        return LocalBlocks(
            self._engine,
            partial(_group_of, blocks, starts),
            np.sum(np.diff(starts, axis=1), axis=0, dtype=np.int64) if starts else np.zeros(groups, np.int64),
            kept=sorted_by_group,
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


def _file_of(folder: Path, key: BlockKey) -> Path:
    return folder / f"{key.number:06}.arrow"


def _write(file: Path, block: Any) -> None:
    """Write a block to a file that appears complete or not at all."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    unfinished = file.with_suffix(".unfinished")
    with refusing_full_disk():
        with pa.OSFile(str(unfinished), "wb") as sink, pa.ipc.new_file(sink, block.schema) as writer:
            writer.write_batch(block)
        unfinished.rename(file)


def _read_file(folder: Path, key: BlockKey) -> Any:
    """Return a block; its columns are in the mapped file."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    with pa.memory_map(str(_file_of(folder, key))) as source:
        return pa.ipc.open_file(source).get_batch(0)
