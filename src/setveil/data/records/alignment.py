"""The alignment: which released row comes from which original record. It is private and lets a check compare row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.data.records.ragged import pieces
from setveil.engines.growing import GrowingArray, GrowingTexts
from setveil.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

GROUP_ROWS = 1 << 20
"""The number of rows in a row group of the file."""
BATCH_ROWS = 1 << 18
"""The number of rows that are read at once."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """`rows[r]` is the original record of released row r; with pseudonyms, it also has both ids."""

    rows: NDArray[np.int64]
    published_ids: Any = None
    original_ids: Any = None

    @classmethod
    def identity(cls, records: int) -> Alignment:
        """Return the alignment of data with unchanged row order."""
        return cls(np.arange(records, dtype=np.int64))

    def save(self, path: Path) -> None:
        """Write a Parquet file with the columns `row`, `original_row` and, if any, `published_id` and `original_id`."""
        from pyarrow import parquet as pq  # noqa: PLC0415 - only private folders have the file

        named = {
            "original_row": pa.array(self.rows),
            "published_id": self.published_ids,
            "original_id": self.original_ids,
        }
        columns = {name: column for name, column in named.items() if column is not None}
        schema = pa.schema({"row": pa.int64(), **{name: column.type for name, column in columns.items()}})
        with pq.ParquetWriter(path, schema) as writer:
            for part in [*pieces(len(self.rows), GROUP_ROWS)] or [slice(0, 0)]:
                parts = {name: column[part] for name, column in columns.items()}
                writer.write_table(pa.table({"row": np.arange(part.start, part.stop), **parts}))

    @classmethod
    def load(cls, path: Path) -> Alignment:
        """Read a file that `save` wrote."""
        from pyarrow import parquet as pq  # noqa: PLC0415 - the same

        rows, texts = GrowingArray(np.int64), {name: GrowingTexts() for name in ("published_id", "original_id")}
        try:
            with pq.ParquetFile(path) as file:  # pq.read_table would open it twice
                names = file.schema_arrow.names
                for batch in file.iter_batches(BATCH_ROWS):
                    rows.append(batch.column("original_row").to_numpy(zero_copy_only=False).astype(np.int64))
                    for name in texts.keys() & names:
                        texts[name].append(batch.column(name).cast(pa.large_string()))
        except (OSError, KeyError, pa.ArrowException) as error:
            raise BadData(f"is not a readable alignment file ({type(error).__name__})", file=str(path)) from None
        return cls(rows.finish(), *(found.finish() if name in names else None for name, found in texts.items()))
