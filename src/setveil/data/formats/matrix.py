"""The matrix format: a 0/1 table with one row per record and one column per item, as R, pandas and mlxtend write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from setveil.data.files import column_files
from setveil.data.files.packing import plain_suffix
from setveil.data.formats.record_tables import RecordTable
from setveil.data.records.ragged import owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setveil.data.formats.base import Layout
    from setveil.data.records.transactions import Transactions

_WRITTEN_CELLS = 1 << 22
_FEW_RECORDS = 1 << 20
_MOST_BATCHES = 256
"""The largest number of batches of data with more than few records."""


class Matrix(RecordTable):
    """One row per record and one 0/1 column per item."""

    name: ClassVar[str] = "matrix"
    summary: ClassVar[str] = "a 0/1 table with one row per record and one column per item"
    holds_empty_records: ClassVar[bool] = True
    of_values: ClassVar[bool] = False

    def blocks(self, data: Transactions, path: Path, layout: Layout) -> Iterator[Any]:
        """Yield the rows; the columns are in label order."""
        occurring = np.flatnonzero(data.supports)
        names = [data.vocabulary[code] for code in occurring]
        self.refuse_names(data, names, layout)
        kind = pa.bool_() if plain_suffix(path) in column_files.EXTENSIONS else pa.int8()
        return self.table(data, path, layout, dict.fromkeys(names, kind), _columns(data, occurring, kind))


def _columns(data: Transactions, occurring: np.ndarray[Any, Any], kind: Any) -> Iterator[list[Any]]:
    """Yield the columns of batches of records."""
    place = np.full(len(data.vocabulary), -1)
    place[occurring] = np.arange(len(occurring))
    rows = max(_WRITTEN_CELLS // len(occurring), 1)
    if data.records > _FEW_RECORDS:  # a Parquet writer keeps about 2 KB for each column of each batch
        rows = max(rows, data.records // _MOST_BATCHES)
    for first in range(0, data.records, rows):
        last = min(first + rows, data.records)
        cells = np.zeros((len(occurring), last - first), dtype=np.int8)
        owner = owner_of(data.offsets[first : last + 1])
        cells[place[data.items[data.offsets[first] : data.offsets[last]]], owner] = 1
        yield [pa.array(column).cast(kind) for column in cells]
