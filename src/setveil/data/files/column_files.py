"""Read columns of Parquet and Arrow IPC files in batches, and write such files without metadata about their creation."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from setveil.base import progress
from setveil.data.files.csv_tables import require
from setveil.data.files.packing import open_file, packing_of, plain_suffix
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

EXTENSIONS = (".parquet", ".arrow", ".feather")
_BATCH_ROWS = 1 << 16
_BATCHES_KEPT = 64


@contextmanager
def _faults_of(path: Path, kind: str) -> Iterator[None]:
    """Turn Arrow's errors about a broken file into `BadData`."""
    try:
        yield
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadData(f"is not a complete {kind} file ({first[:200]})", file=str(path)) from None


def schema_of(path: Path) -> Any:
    """Return the names and types of the columns."""
    with _opened(path) as (schema, _batches, _rows):
        return schema


def batches(path: Path, wanted: Sequence[str], hint: str, *, repeating: Sequence[str] = ()) -> Iterator[list[Any]]:
    """Yield the wanted columns in batches; columns in `repeating` may be dictionaries."""
    with _opened(path) as (schema, read, rows):
        require(schema.names, wanted, str(path), hint, line=None)
        with progress.step(f"reading {path.name}", rows) as advance:
            done = 0
            for number, batch in enumerate(read(list(wanted), repeating), start=1):
                # The metadata of a file may be wrong: validate the columns before use.
                columns = [batch.column(name) for name in wanted]
                for column in columns:
                    column.validate(full=True)
                yield columns
                done += len(batch)
                advance(done)
                if number % _BATCHES_KEPT == 0:
                    # Arrow's allocator would keep several hundred megabytes of unused memory.
                    pa.default_memory_pool().release_unused()


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any, int | None]]:
    """Yield the schema, a function that reads columns in batches, and the number of rows, if the file records it."""
    if packing_of(path):
        raise BadData(
            "is compressed, but Parquet and Arrow files are compressed inside; decompress it first", file=str(path)
        )
    is_parquet = plain_suffix(path) == ".parquet"
    with open_file(path) as (raw, size, *_), _faults_of(path, "Parquet" if is_parquet else "Arrow"):
        if size == 0:
            raise BadData("is empty; expected a table", file=str(path))
        if is_parquet:
            import pyarrow.parquet as pq  # noqa: PLC0415 - loaded only for Parquet

            file = pq.ParquetFile(raw)

            def read(columns: list[str], repeating: Sequence[str]) -> Iterator[Any]:
                texts = [c for c in repeating if pa.types.is_string(file.schema_arrow.field(c).type)]
                again = pq.ParquetFile(raw, read_dictionary=texts, pre_buffer=False)
                yield from again.iter_batches(batch_size=_BATCH_ROWS, columns=columns)

            yield file.schema_arrow, read, file.metadata.num_rows
            return
        reader = _ipc_reader(raw)
        _ = reader.schema.names  # fails here, not later, if a name is not text

        def pick(columns: list[str], _repeating: Sequence[str]) -> Iterator[Any]:
            stream = (
                reader if not hasattr(reader, "get_batch") else map(reader.get_batch, range(reader.num_record_batches))
            )
            for batch in stream:
                yield batch.select(columns)

        yield reader.schema, pick, None


def _ipc_reader(raw: Any) -> Any:
    """Open an Arrow IPC file, or a stream, which some programs write with the same extension."""
    is_file = raw.read(6) == b"ARROW1"
    raw.seek(0)
    return pa.ipc.open_file(raw) if is_file else pa.ipc.open_stream(raw)


def written(path: Path, columns: Mapping[str, Any], parts: Iterator[Any]) -> Iterator[bytes]:
    """Yield the bytes of a Parquet or Arrow file with these columns."""
    schema = pa.schema(list(columns.items()))
    sink = _Chunks()
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq  # noqa: PLC0415 - loaded only for Parquet

        # Do not store the Arrow schema: it would only record that texts are "large".
        writer = pq.ParquetWriter(sink, schema, compression="zstd", store_schema=False)
    else:
        writer = pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    with writer:
        for part in parts:
            writer.write_batch(part.cast(schema))
            yield sink.taken()
    yield sink.taken()


class _Chunks(io.RawIOBase):
    """An in-memory file whose written content can be read in chunks."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, content: Any) -> int:
        """Store the content."""
        self._parts.append(bytes(content))
        self._at += len(content)
        return len(content)

    def tell(self) -> int:
        """Return the total number of bytes written."""
        return self._at

    def taken(self) -> bytes:
        """Return the content written since the last call."""
        content = b"".join(self._parts)
        self._parts.clear()
        return content
