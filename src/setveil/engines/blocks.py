"""Data in blocks, and the verbs that every engine has.

Work that is given to a verb must be a function of a module, or a `partial` of one, so that an engine can send it to another machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from setveil.base.display import quantity
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

BLOCK_RECORDS = 1 << 20
"""The number of records in a block by default. Data of up to one block are worked on as a whole."""


class BlockKey(NamedTuple):
    """Which block a piece of work has. Random values of the work are derived from it, never from a worker or an attempt."""

    number: int
    first_row: int


class MapWork(Protocol):
    """Work that makes a block of a block."""

    def __call__(self, block: Any, key: BlockKey) -> Any:
        """Return a record batch."""


class CountWork(Protocol):
    """Work that makes numbers of a block; those of all blocks are summed."""

    def __call__(self, block: Any, key: BlockKey) -> NDArray[np.int64]:
        """Return an array of whole numbers, as long for every block."""


class Blocks(ABC):
    """Blocks in order; all have the same columns. They are immutable."""

    rows: NDArray[np.int64]
    """The number of rows of each block."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def keys(self) -> list[BlockKey]:
        """The key of each block."""
        first = np.cumsum(self.rows) - self.rows
        return [BlockKey(number, int(row)) for number, row in enumerate(first)]

    @abstractmethod
    def map(self, label: str, work: MapWork) -> Blocks:
        """Return the blocks that `work` makes, one of each; `label` is shown as the step."""

    @abstractmethod
    def fold(self, label: str, count: CountWork) -> NDArray[np.int64]:
        """Return the sum of the numbers that `count` makes, one array of each block."""

    @abstractmethod
    def regroup(self, label: str, to: CountWork, groups: int) -> Blocks:
        """Return `groups` blocks. `to` returns the number of the group of each row; the rows of a group keep their order."""

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Yield the blocks one after the other, on this machine."""

    def gather(self, *, at_most: int | None = None, what: str = "the data") -> Any:
        """Return all rows as one Arrow table in memory; refuse more than `at_most`."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        rows = int(self.rows.sum())
        if at_most is not None and rows > at_most:
            raise BadData(
                f"{what} are {quantity(rows, 'row')}, which this step needs in memory at once; allowed are {at_most:,}"
            )
        return pa.Table.from_batches(list(self))


class Engine(ABC):
    """Runs work on blocks."""

    name: str
    block_records: int
    """The number of records in a block. Results depend on it, and on nothing else of the engine."""
    choice: Any = None
    """What a caller asked for who chose the engine by name."""

    def __init__(self, block_records: int = BLOCK_RECORDS) -> None:
        if block_records < 1:
            raise BadParameter(f"`block_records=` is {block_records}; allowed is a whole number of at least 1")
        self.block_records = block_records

    @abstractmethod
    def blocks(self, read: Callable[[BlockKey], Any], rows: NDArray[np.int64]) -> Blocks:
        """Return blocks with these numbers of rows, which `read` returns on this machine."""

    @abstractmethod
    def resuming(self, folder: Path) -> AbstractContextManager[None]:
        """Keep the blocks that steps in the block finish in a folder, and take those that an earlier run left there.

        Both runs must take the same steps.
        """

    def borders(self, records: int, at_most: int | None = None) -> NDArray[np.int64]:
        """Return the first record of each block, and the number of records at the end; blocks have `at_most` records if that is less."""
        size = min(self.block_records, at_most or self.block_records)
        return np.append(np.arange(0, max(records, 1), size), records)


_current: ContextVar[Engine | None] = ContextVar("setveil_engine", default=None)


def current_engine() -> Engine:
    """Return the engine that the caller chose; by default threads of this machine."""
    from setveil.engines.local import LocalEngine  # noqa: PLC0415 - it imports this module

    return _current.get() or LocalEngine()


@contextmanager
def using_engine(engine: Engine) -> Iterator[None]:
    """Let work in the block run on this engine."""
    token = _current.set(engine)
    try:
        yield
    finally:
        _current.reset(token)


def by_group(to: CountWork, groups: int, block: Any, key: BlockKey) -> tuple[Any, NDArray[np.int64]]:
    """Return a block with its rows sorted by group, and the group of each row; the rows of a group keep their order."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    group = to(block, key)
    if len(group) and not 0 <= group.min() <= group.max() < groups:
        raise ValueError(f"groups must be from 0 to {groups - 1}")
    if np.any(group[1:] < group[:-1]):
        order = np.argsort(group, kind="stable")
        block, group = block.take(pa.array(order)), group[order]
    return block, group


def joined(pieces: list[Any]) -> Any:
    """Return at least one record batch as one."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    whole = pa.Table.from_batches(pieces).combine_chunks()
    found = whole.to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], whole.schema)
