"""The alignment: which released row comes from which original record. It is private and lets a check compare row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


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

        columns: dict[str, Any] = {"row": np.arange(len(self.rows)), "original_row": self.rows}
        if self.published_ids is not None:
            columns["published_id"] = self.published_ids
        if self.original_ids is not None:
            columns["original_id"] = self.original_ids
        pq.write_table(pa.table(columns), path)

    @classmethod
    def load(cls, path: Path) -> Alignment:
        """Read a file that `save` wrote."""
        from pyarrow import parquet as pq  # noqa: PLC0415 - the same

        try:
            with pq.ParquetFile(path) as file:  # pq.read_table would open it twice
                table = file.read()
            rows = table.column("original_row").to_numpy().astype(np.int64)
        except (OSError, KeyError, pa.ArrowException) as error:
            raise BadData(f"is not a readable alignment file ({type(error).__name__})", file=str(path)) from None
        ids = [
            table.column(n).combine_chunks() if n in table.column_names else None
            for n in ("published_id", "original_id")
        ]
        return cls(rows, *ids)
