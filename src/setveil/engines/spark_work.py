"""What the workers of a Spark cluster do for the engine `spark`.

Spark sees a block as one row: its number, its number of rows, and its Arrow stream as bytes. So Spark cannot cut a block, however many rows
it sends to a worker at once, and keeps its types. The functions here take and give batches of such rows.

An error that the work raises on purpose is the same in every attempt. It travels as a row too, so that Spark does not repeat the task.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil import errors
from setveil.engines.blocks import BlockKey, by_group, joined
from setveil.kernels.threads import using_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from setveil.engines.blocks import CountWork, MapWork

NUMBER, ROWS, SIZE, PIECE, CONTENT = "block", "block_rows", "block_size", "piece", "content"
BLOCK, PIECES = (ROWS, SIZE, CONTENT, NUMBER), (ROWS, PIECE, CONTENT, NUMBER)
"""The columns of a block: its number of rows, its size in bytes, its Arrow stream and its number; and of pieces of a block."""
FAILED = -1
"""The number of rows of a block whose content is an error."""
PIECE_BYTES = 1 << 23
"""The size of the pieces in which a large block travels between this machine and the cluster."""

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


def encoded(block: Any) -> bytes:
    """Return a record batch as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, block.schema, options=_COMPRESSED) as writer:
        writer.write_batch(block)
    return bytes(sink.getvalue())


def decoded(content: bytes) -> Any:
    """Return the record batch of an Arrow stream."""
    with pa.ipc.open_stream(content) as reader:
        return reader.read_next_batch()


def encoded_numbers(numbers: NDArray[np.int64]) -> bytes:
    """Return an array as bytes; it is not a pickle, which could run code on this machine."""
    sink = io.BytesIO()
    np.save(sink, numbers, allow_pickle=False)
    return sink.getvalue()


def decoded_numbers(content: bytes) -> NDArray[np.int64]:
    """Return the array."""
    found: NDArray[np.int64] = np.load(io.BytesIO(content), allow_pickle=False)
    return found


def raise_error(content: bytes) -> None:
    """Raise the error that work on a worker raised."""
    found = json.loads(content)
    kind = getattr(errors, found["class"])
    error = kind.__new__(kind)
    Exception.__init__(error, found["message"])
    vars(error).update(found["facts"])
    raise error


def map_blocks(work: MapWork, first_rows: NDArray[np.int64], batches: Iterable[Any]) -> Iterator[Any]:
    """Yield what `work` makes of each block."""
    for number, content in _blocks_of(batches):
        yield _row(number, lambda: work(decoded(content), _key(number, first_rows)))  # noqa: B023 - called at once


def fold_blocks(count: CountWork, first_rows: NDArray[np.int64], batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the sum of the numbers of the blocks of this task, in pieces of a row whose number of rows is that of the blocks."""
    total: Any = 0
    done: list[int] = []
    for number, content in _blocks_of(batches):
        counted, failed = _attempt(lambda: count(decoded(content), _key(number, first_rows)))  # noqa: B023 - called at once
        if failed is not None:
            yield _pieces([number], [FAILED], [0], [failed])
            return
        total = total + np.asarray(counted, np.int64)
        done.append(number)
    if done:
        yield from _cut(done[0], len(done), encoded_numbers(total))


def split_blocks(to: CountWork, groups: int, first_rows: NDArray[np.int64], batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of each block by group, as pieces of the block of the group; the first block has a piece of every group."""
    for number, content in _blocks_of(batches):
        parts, failed = _attempt(lambda: by_group(to, groups, decoded(content), _key(number, first_rows)))  # noqa: B023 - called at once
        if failed is not None:
            yield _pieces([0], [FAILED], [number], [failed])
            continue
        block, group = parts
        starts = np.searchsorted(group, np.arange(groups + 1))
        rows = np.diff(starts)
        found = np.flatnonzero(rows) if number else np.arange(groups)
        contents = [encoded(block.slice(start, count)) for start, count in zip(starts[found], rows[found], strict=True)]
        yield _pieces(found, rows[found], np.full(len(found), number), contents)


def merge_group(pieces: Any) -> Any:
    """Return the block of a group from its pieces."""
    pieces = pieces.sort_by(PIECE)
    contents = [one.as_py() for one in pieces.column(CONTENT)]
    sizes = pieces.column(ROWS).to_pylist()
    number = pieces.column(NUMBER)[0].as_py()
    if FAILED in sizes:
        return pa.Table.from_batches([_rows([number], [FAILED], [contents[sizes.index(FAILED)]])])
    return pa.Table.from_batches([_row(number, lambda: joined([decoded(content) for content in contents]))])


def join_pieces(pieces: Any) -> Any:
    """Return the block whose Arrow stream was cut into pieces."""
    number = pieces.column(NUMBER)[0].as_py()
    return pa.Table.from_batches([_rows([number], [rows], [content]) for rows, content in contents_of(pieces)])


def cut_blocks(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the pieces of the Arrow stream of each block."""
    for batch in batches:
        sizes = batch.column(ROWS).to_pylist()
        for rows, (number, content) in zip(sizes, _blocks_of([batch]), strict=True):
            yield from _cut(number, rows, content)


def pieces_of(number: int, block: Any) -> Iterator[Any]:
    """Yield the pieces of a block that goes to the cluster."""
    return _cut(number, block.num_rows, encoded(block))


def contents_of(pieces: Any) -> Iterator[tuple[int, bytes]]:
    """Yield the number of rows and the content of each block in a table of pieces, in the order of the blocks."""
    pieces = pieces.sort_by([(NUMBER, "ascending"), (PIECE, "ascending")])
    numbers = pieces.column(NUMBER).to_numpy()
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    for start, end in zip(starts, np.append(starts[1:], len(numbers)), strict=True):
        content = b"".join(one.as_py() for one in pieces.column(CONTENT)[start:end])
        yield pieces.column(ROWS)[int(start)].as_py(), content


def _cut(number: int, rows: int, content: bytes) -> Iterator[Any]:
    """Yield the pieces of the content of a block, at least one."""
    for piece, start in enumerate(range(0, max(len(content), 1), PIECE_BYTES)):
        yield _pieces([number], [rows], [piece], [content[start : start + PIECE_BYTES]])


def _blocks_of(batches: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
    for batch in batches:
        contents = batch.column(CONTENT)
        for place, number in enumerate(batch.column(NUMBER).to_pylist()):
            yield number, contents[place].as_py()


def _key(number: int, first_rows: NDArray[np.int64]) -> BlockKey:
    return BlockKey(number, int(first_rows[number]))


def _attempt(work: Callable[[], Any]) -> tuple[Any, bytes | None]:
    """Return the result of work in one thread, as a worker has one core, or the error that it raised on purpose."""
    try:
        with using_threads(1):
            return work(), None
    except errors.SetveilError as error:
        facts = {name: value for name, value in vars(error).items() if isinstance(value, str | int | list | None)}
        return None, json.dumps({"class": type(error).__name__, "message": str(error), "facts": facts}).encode()


def _row(number: int, work: Callable[[], Any]) -> Any:
    block, failed = _attempt(work)
    if failed is not None:
        return _rows([number], [FAILED], [failed])
    return _rows([number], [block.num_rows], [encoded(block)])


def _rows(numbers: Any, rows: Any, contents: list[bytes]) -> Any:
    return _batch(BLOCK, rows, [*map(len, contents)], contents, numbers)


def _pieces(numbers: Any, rows: Any, pieces: Any, contents: list[bytes]) -> Any:
    return _batch(PIECES, rows, pieces, contents, numbers)


def _batch(names: tuple[str, ...], *columns: Any) -> Any:
    types = [pa.binary() if name == CONTENT else pa.int64() for name in names]
    return pa.record_batch([pa.array(column, of) for column, of in zip(columns, types, strict=True)], names=names)
