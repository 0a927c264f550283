"""Columns of Parquet and Arrow IPC files, in batches, and such files written without anything that tells of their making."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from setveil.base import progress
from setveil.data.files.csv_tables import require
from setveil.data.files.packing import open_file, packing_of
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

EXTENSIONS = (".parquet", ".arrow", ".feather")
_BATCH_ROWS = 1 << 18
_BATCHES_KEPT = 16


@contextmanager
def _faults_of(path: Path, kind: str) -> Iterator[None]:
    """Turn what Arrow says of a broken file into one sentence."""
    try:
        yield
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadData(f"is not a whole {kind} file ({first[:200]})", file=str(path)) from None


def schema_of(path: Path) -> Any:
    """Return names and types of the columns."""
    with _opened(path) as (schema, _batches, _rows):
        return schema


def batches(path: Path, wanted: Sequence[str], hint: str, *, repeating: Sequence[str] = ()) -> Iterator[list[Any]]:
    """Give the wanted columns batch by batch; those with few texts that repeat may come as dictionaries."""
    with _opened(path) as (schema, read, rows):
        require(schema.names, wanted, str(path), hint, line=None)
        with progress.step(f"reading {path.name}", rows) as advance:
            done = 0
            for number, batch in enumerate(read(list(wanted), repeating), start=1):
                # A file of this kind can say anything of its own columns: nothing is believed before it was looked at.
                columns = [batch.column(name) for name in wanted]
                for column in columns:
                    column.validate(full=True)
                yield columns
                done += len(batch)
                advance(done)
                if number % _BATCHES_KEPT == 0:
                    # Arrow's allocator would keep what it no longer uses, several hundred megabytes of it.
                    pa.default_memory_pool().release_unused()


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any, int | None]]:
    """Give the schema, a function that reads columns in batches, and the number of rows where the file tells it."""
    if packing_of(path):
        raise BadData("Parquet and Arrow files are packed inside; unpack it first", file=str(path))
    is_parquet = path.suffix.lower() == ".parquet"
    with open_file(path) as (raw, size), _faults_of(path, "Parquet" if is_parquet else "Arrow"):
        if size == 0:
            raise BadData("is empty; expected a table", file=str(path))
        if is_parquet:
            import pyarrow.parquet as pq  # noqa: PLC0415 - only who reads one pays for it

            file = pq.ParquetFile(raw)

            def read(columns: list[str], repeating: Sequence[str]) -> Iterator[Any]:
                texts = [c for c in repeating if pa.types.is_string(file.schema_arrow.field(c).type)]
                again = pq.ParquetFile(raw, read_dictionary=texts, pre_buffer=False)
                yield from again.iter_batches(batch_size=_BATCH_ROWS, columns=columns)

            yield file.schema_arrow, read, file.metadata.num_rows
            return
        reader = _ipc_reader(raw)
        _ = reader.schema.names  # fails here, and not later, if one is not text

        def pick(columns: list[str], _repeating: Sequence[str]) -> Iterator[Any]:
            stream = (
                reader if not hasattr(reader, "get_batch") else map(reader.get_batch, range(reader.num_record_batches))
            )
            for batch in stream:
                yield batch.select(columns)

        yield reader.schema, pick, None


def _ipc_reader(raw: Any) -> Any:
    """Open an Arrow IPC file, or a stream, which some programs write under the same ending."""
    is_file = raw.read(6) == b"ARROW1"
    raw.seek(0)
    return pa.ipc.open_file(raw) if is_file else pa.ipc.open_stream(raw)


def written(path: Path, columns: Mapping[str, Any], parts: Iterator[Any]) -> Iterator[bytes]:
    """Give the bytes of a Parquet or Arrow file with these columns."""
    schema = pa.schema(list(columns.items()))
    sink = _Chunks()
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq  # noqa: PLC0415 - only who writes one pays for it

        # No Arrow schema beside Parquet's own: it would only say that texts were "large".
        writer = pq.ParquetWriter(sink, schema, compression="zstd", store_schema=False)
    else:
        writer = pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    with writer:
        for part in parts:
            writer.write_batch(part.cast(schema))
            yield sink.taken()
    yield sink.taken()


class _Chunks(io.RawIOBase):
    """A file in memory from which what was written so far can be taken away."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, content: Any) -> int:
        """Keep what is written."""
        self._parts.append(bytes(content))
        self._at += len(content)
        return len(content)

    def tell(self) -> int:
        """Return how much was written in all."""
        return self._at

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        content = b"".join(self._parts)
        self._parts.clear()
        return content
