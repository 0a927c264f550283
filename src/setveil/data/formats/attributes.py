"""The attributes format: a table with one row per record, in which each cell is the item column=value, such as UCI Adult."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from setveil.data.formats.record_tables import RecordTable
from setveil.data.records.labels import BLANKS
from setveil.data.records.ragged import distinct
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setveil.data.formats.base import Layout
    from setveil.data.records.transactions import Transactions

_WRITTEN_CELLS = 1 << 20


class Attributes(RecordTable):
    """One row per record and one item column=value per cell."""

    name: ClassVar[str] = "attributes"
    summary: ClassVar[str] = "a table with one row per record, in which each cell is the item column=value"
    holds_empty_records: ClassVar[bool] = False
    holds_any_items: ClassVar[bool] = False
    of_values: ClassVar[bool] = True

    def blocks(self, data: Transactions, path: Path, layout: Layout) -> Iterator[Any]:
        """Yield the rows; the columns are in label order. Each record must have one value for each column."""
        occurring = {code: data.vocabulary[code] for code in np.flatnonzero(data.supports).tolist()}
        for label in occurring.values():
            name, equals, value = label.partition("=")
            if not (name and equals and value) or value != value.strip(BLANKS):
                raise OutputRefused(
                    f"the item {label!r} is not of the form column=value, which the format {self.name!r} requires; choose another format"
                )
        parts = {code: label.partition("=")[::2] for code, label in occurring.items()}
        names = list(dict.fromkeys(name for name, _ in parts.values()))
        self.refuse_names(data, names, layout)
        place_of = {name: place for place, name in enumerate(names)}
        column_of, values = np.zeros(len(data.vocabulary), np.int64), [""] * len(data.vocabulary)
        for code, (name, value) in parts.items():
            column_of[code], values[code] = place_of[name], value
        cells = np.repeat(np.arange(data.records), data.lengths) * len(names) + column_of[data.items]
        if len(distinct(cells)) < data.records * len(names) or len(cells) > data.records * len(names):
            raise OutputRefused(
                f"the format {self.name!r} requires one value per column in each record, and a record has none or several; "
                "choose another format"
            )
        columns = dict.fromkeys(names, pa.large_string())
        return self.table(data, path, layout, columns, _columns(data, cells, values, len(names)))


def _columns(data: Transactions, cells: np.ndarray[Any, Any], values: list[str], width: int) -> Iterator[list[Any]]:
    """Yield the columns of batches of records."""
    codes = np.empty(len(cells), dtype=np.int64)
    codes[cells] = data.items
    texts = pa.array(values, pa.large_string())
    rows = max(_WRITTEN_CELLS // width, 1)
    for first in range(0, data.records, rows):
        part = codes[first * width : (first + rows) * width].reshape(-1, width)
        yield [texts.take(pa.array(column)) for column in part.T]
