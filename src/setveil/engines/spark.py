"""The engine `spark`: workers of a Spark cluster, through Spark Connect.

Blocks that work makes are Parquet files on the storage of the cluster, with one row each: Spark repeats only what a lost worker did. This
machine holds a few blocks at a time.
"""

from __future__ import annotations

import re
import secrets
import shutil
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base import progress
from setveil.engines.blocks import BLOCK_RECORDS, BlockKey, Blocks, CountWork, Engine, MapWork
from setveil.engines.scratch import scratch_folder
from setveil.engines.spark_server import Cluster
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from numpy.typing import NDArray

READ_BYTES = 1 << 26
"""How much this machine reads from the cluster at once; a larger block comes in pieces, as messages are limited to 128 MB."""
_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",  # a row is a block
    "spark.sql.parquet.enableVectorizedReader": "false",  # it holds thousands of rows at once
    "spark.sql.files.minPartitionNum": "10000",  # each block is a task, however small its file is
}


class SparkEngine(Engine):
    """Workers of a Spark cluster.

    Parameters
    ----------
    remote
        The address of the Spark Connect server, such as `sc://spark.example:15002`.
    block_records
        The number of records in a block.
    folder
        Where to put blocks: a folder that all machines of the cluster reach. By default, it is in the cluster's folder for tables.
    """

    name = "spark"

    def __init__(self, remote: str, block_records: int = BLOCK_RECORDS, folder: str | None = None) -> None:
        super().__init__(block_records)
        self.cluster = Cluster(remote)
        self._steps = count(1)
        self._here: list[BlocksHere] = []
        self.cluster.open()
        try:
            for name, value in _SETTINGS.items():
                self.cluster.ask(f"cannot set {name}", partial(self.cluster.session.conf.set, name, value))
            self.cluster.check_workers()
            self._root = (folder or self._warehouse()).rstrip("/")
        except BaseException:
            self.cluster.close()
            raise
        self._folder = f"{self._root}/setveil-{secrets.token_hex(8)}"
        self._keeps = self._resumes = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        """Remove all blocks from the cluster, unless a later run resumes from them, and end the session."""
        if kind is None or not self._keeps:
            with suppress(Exception):
                self.remove(self._folder)
        self.cluster.close()

    @contextmanager
    def resuming(self, folder: Path) -> Iterator[None]:
        """Let blocks remain in a folder of the cluster with the same name, and take those of an earlier run from there."""
        self._folder = f"{self._root}/{folder.name}"
        self._keeps = self._resumes = True
        try:
            yield
        finally:
            self._resumes = False

    def _warehouse(self) -> str:
        read = partial(self.cluster.session.conf.get, "spark.sql.warehouse.dir")
        found = self.cluster.ask("the folder for tables is unknown", read)
        if found:
            return str(found)
        if self.cluster.address.is_here:  # Sail has no such folder by default
            return str(scratch_folder())
        raise OutputRefused(
            f"{self.cluster.address.shown} has no folder for tables; name a folder that all machines of the cluster reach "
            "with `spark_folder=`"
        )

    def blocks(self, read: Callable[[BlockKey], Any], rows: NDArray[np.int64]) -> Blocks:
        """Return blocks of this machine. They go to the cluster when a verb needs them there, the same ones once."""
        found = next((known for known in self._here if _are_same(known.read, read)), None)
        if found is None:
            found = BlocksHere(self, read, rows)
            self._here.append(found)
        return found

    def send(self, blocks: Blocks) -> SparkBlocks:
        """Send blocks of this machine to the cluster, in pieces."""
        from setveil.engines import spark_work as work  # noqa: PLC0415 - imports Arrow

        path = self._next_path("sent")
        if (resumed := self._resumed(path, len(blocks))) is not None:
            return resumed
        pieces = f"{path}-pieces"
        waiting: list[Any] = []
        size = 0
        if self._resumes:
            self.remove(pieces)  # of a run that was killed
        with progress.step("sending blocks to the cluster", int(blocks.rows.sum())) as advance:
            for key, block in zip(blocks.keys, blocks, strict=True):
                for piece in work.pieces_of(key.number, block):
                    if size + piece.nbytes > work.PIECE_BYTES:
                        self._append(waiting, pieces)
                        waiting, size = [], 0
                    waiting.append(piece)
                    size += piece.nbytes
                advance(key.first_row)
            self._append(waiting, pieces)
        frame = self._read(pieces, work.PIECES).groupBy(work.NUMBER)
        frame = frame.applyInArrow(work.join_pieces, schema_of(work.BLOCK))
        sent = self._keep(path, "arranging blocks", frame, blocks.rows, len(blocks))
        self.remove(pieces)
        return sent

    def _append(self, batches: list[Any], path: str) -> None:
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        def write() -> None:
            frame = self.cluster.session.createDataFrame(pa.Table.from_batches(batches))
            frame.write.mode("append").parquet(path)

        if batches:
            self.cluster.ask(f"cannot write to {path}", write)

    def step(self, label: str, frame: Any, rows: NDArray[np.int64], blocks: int) -> SparkBlocks:
        """Run a step that makes `blocks` of these rows, and return them."""
        path = self._next_path(label)
        return self._resumed(path, blocks) or self._keep(path, label, frame, rows, blocks)

    def _next_path(self, label: str) -> str:
        return f"{self._folder}/{next(self._steps):03}-{re.sub('[^a-z]+', '-', label.lower())}"

    def _resumed(self, path: str, blocks: int) -> SparkBlocks | None:
        """Return the blocks of a step that an earlier run finished."""
        if self._resumes:
            with suppress(OutputRefused):
                return self._stored(path, blocks)
        return None

    def _keep(self, path: str, label: str, frame: Any, rows: NDArray[np.int64], blocks: int) -> SparkBlocks:
        from setveil.engines import spark_work as work  # noqa: PLC0415 - imports Arrow

        write = frame.write.mode("overwrite").partitionBy(work.NUMBER)
        self.cluster.run(label, partial(write.parquet, path), int(rows.sum()))
        return self._stored(path, blocks)

    def _stored(self, path: str, blocks: int) -> SparkBlocks:
        from setveil.engines import spark_work as work  # noqa: PLC0415 - imports Arrow

        stored = self._read(path, work.BLOCK)
        sizes = stored.select(work.NUMBER, work.ROWS, work.SIZE)
        found = self.cluster.ask(f"cannot read {path}", sizes.toArrow).sort_by(work.NUMBER)
        numbers, rows, bytes_made = (found.column(name).to_numpy() for name in found.column_names)
        if (rows == work.FAILED).any():
            first = stored.where(f"{work.ROWS} = {work.FAILED}").orderBy(work.NUMBER).limit(1)
            work.raise_error(self.cluster.ask("cannot read an error", first.toArrow).column(work.CONTENT)[0].as_py())
        if not np.array_equal(numbers, np.arange(blocks)):
            raise OutputRefused(
                f"{self.cluster.address.shown}: blocks are missing in {path}; name a folder that all machines of the cluster reach "
                "with `spark_folder=`"
            )
        return SparkBlocks(self, stored, rows, bytes_made)

    def _read(self, path: str, columns: tuple[str, ...]) -> Any:
        return self.cluster.session.read.schema(schema_of(columns)).parquet(path)

    def remove(self, path: str) -> None:
        """Remove a folder of the cluster; where only the cluster can do that, an empty one remains."""
        here = Path(path.removeprefix("file:"))
        if self.cluster.address.is_here and here.is_dir():
            shutil.rmtree(here, ignore_errors=True)
        else:
            nothing = self.cluster.session.range(0)
            self.cluster.ask(f"cannot remove {path}", partial(nothing.write.mode("overwrite").parquet, path))


class BlocksHere(Blocks):
    """Blocks of this machine."""

    def __init__(self, engine: SparkEngine, read: Callable[[BlockKey], Any], rows: NDArray[np.int64]) -> None:
        self._engine = engine
        self.read = read
        self.rows = rows

    @cached_property
    def _sent(self) -> SparkBlocks:
        return self._engine.send(self)

    def __iter__(self) -> Iterator[Any]:
        return map(self.read, self.keys)

    def map(self, label: str, work: MapWork) -> Blocks:
        """Let workers make a block of each."""
        return self._sent.map(label, work)

    def fold(self, label: str, count: CountWork) -> NDArray[np.int64]:
        """Let workers count in each."""
        return self._sent.fold(label, count)

    def regroup(self, label: str, to: CountWork, groups: int) -> Blocks:
        """Let workers sort rows into groups."""
        return self._sent.regroup(label, to, groups)


class SparkBlocks(Blocks):
    """Blocks on the storage of a cluster."""

    def __init__(self, engine: SparkEngine, frame: Any, rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        self._engine = engine
        self._frame = frame
        self._sizes = sizes
        self.rows = rows

    @property
    def _first_rows(self) -> NDArray[np.int64]:
        return np.cumsum(self.rows) - self.rows

    def __iter__(self) -> Iterator[Any]:
        from setveil.engines import spark_work as work  # noqa: PLC0415 - imports Arrow

        for first, last in self._portions():
            portion = self._frame.where(f"{work.NUMBER} >= {first} and {work.NUMBER} < {last}")
            if int(self._sizes[first:last].sum()) > READ_BYTES:
                pieces = portion.mapInArrow(work.cut_blocks, schema_of(work.PIECES))
            else:
                pieces = portion.selectExpr(work.ROWS, f"0L as {work.PIECE}", work.CONTENT, work.NUMBER)
            read = self._engine.cluster.ask("cannot read blocks", pieces.toArrow)
            yield from (work.decoded(content) for _rows, content in work.contents_of(read))

    def _portions(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of blocks that this machine reads at once."""
        first, size = 0, 0
        for number, more in enumerate(self._sizes.tolist()):
            if first < number and size + more > READ_BYTES:
                yield first, number
                first, size = number, 0
            size += more
        if len(self):
            yield first, len(self)

    def map(self, label: str, work: MapWork) -> Blocks:
        """Let workers make a block of each."""
        from setveil.engines import spark_work  # noqa: PLC0415 - imports Arrow

        run = partial(spark_work.map_blocks, work, self._first_rows)
        frame = self._frame.mapInArrow(run, schema_of(spark_work.BLOCK))
        return self._engine.step(label, frame, self.rows, len(self))

    def fold(self, label: str, count: CountWork) -> NDArray[np.int64]:
        """Let workers count in each, and sum what each task counted."""
        from setveil.engines import spark_work  # noqa: PLC0415 - imports Arrow

        run = partial(spark_work.fold_blocks, count, self._first_rows)
        frame = self._frame.mapInArrow(run, schema_of(spark_work.PIECES))
        table = self._engine.cluster.run(label, frame.toArrow, int(self.rows.sum()))
        counted, total = 0, None
        for blocks, content in spark_work.contents_of(table):
            if blocks == spark_work.FAILED:
                spark_work.raise_error(content)
            numbers = spark_work.decoded_numbers(content)
            counted, total = counted + blocks, numbers if total is None else total + numbers
        if total is None or counted != len(self):
            raise AssertionError(f"{counted} of {len(self)} blocks were counted")
        return total

    def regroup(self, label: str, to: CountWork, groups: int) -> Blocks:
        """Let workers sort each block by group, and put the pieces of each group together."""
        from setveil.engines import spark_work as work  # noqa: PLC0415 - imports Arrow

        run = partial(work.split_blocks, to, groups, self._first_rows)
        pieces = self._frame.mapInArrow(run, schema_of(work.PIECES)).groupBy(work.NUMBER)
        frame = pieces.applyInArrow(work.merge_group, schema_of(work.BLOCK))
        return self._engine.step(label, frame, self.rows, groups)


def schema_of(columns: tuple[str, ...]) -> Any:
    """Return the columns with their types, without asking the server, as a text would need."""
    from pyspark.sql import types  # noqa: PLC0415 - an optional dependency

    from setveil.engines.spark_work import CONTENT  # noqa: PLC0415 - imports Arrow

    return types.StructType(
        [types.StructField(name, types.BinaryType() if name == CONTENT else types.LongType()) for name in columns]
    )


def _are_same(one: Any, other: Any) -> bool:
    """Return whether two ways to read a block are partial calls of one function with the same objects, or equal arrays and numbers."""
    if one is other:
        return True
    if isinstance(one, partial) and isinstance(other, partial) and one.func is other.func:
        return len(one.args) == len(other.args) and all(map(_are_same, one.args, other.args))
    return isinstance(one, np.ndarray | int) and isinstance(other, np.ndarray | int) and np.array_equal(one, other)
