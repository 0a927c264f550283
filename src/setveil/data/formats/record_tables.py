"""The base class of formats with one row per record and several columns of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa

from setveil.data.files import column_files
from setveil.data.files.assembly import Origin
from setveil.data.files.csv_tables import CsvOrigin, csv_batches, header
from setveil.data.files.packing import opened_once, plain_suffix
from setveil.data.files.table_cells import is_row_names, read_records
from setveil.data.files.texts import check_column_names, refuse_unusable
from setveil.data.formats.base import Format, Layout
from setveil.data.formats.long import csv_text, delimiter_of, has_delimiter
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from setveil.data.records.transactions import Transactions


class RecordTable(Format):
    """One row per record and several columns of items; ids are optional."""

    extensions: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".parquet", ".arrow", ".feather")
    ids: ClassVar[Literal["none", "optional", "required"]] = "optional"
    can_be_divided: ClassVar[bool] = False  # each file would have the columns of its own items
    of_values: ClassVar[bool]
    """Whether each cell is an item column=value."""

    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a table."""
        if plain_suffix(path) in column_files.EXTENSIONS:
            names = column_files.schema_of(path).names
            return read_records(
                names,
                lambda wanted: column_files.batches(path, wanted, ""),
                Origin(str(path)),
                layout,
                of_values=self.of_values,
            )
        delimiter = delimiter_of(path, layout.separator)
        with opened_once(path):
            return read_records(
                header(path, delimiter),
                lambda wanted: csv_batches(path, wanted, delimiter),
                CsvOrigin(str(path), path, delimiter),
                layout,
                of_values=self.of_values,
            )

    def public_layout(self, data: Transactions, layout: Layout) -> dict[str, str | bool]:
        """Return the column of ids, if there are any, and the separator, if one was given."""
        named: dict[str, str | bool] = {"id": layout.id_column} if data.ids is not None else {}
        return named | ({"separator": layout.separator} if layout.separator else {})

    def refuse_names(self, data: Transactions, columns: Sequence[str], layout: Layout) -> None:
        """Refuse columns that a reader would not read as items."""
        check_column_names(layout.id_column)
        refuse_unusable(data, self.name)
        if not columns:
            raise OutputRefused(f"the format {self.name!r} cannot hold data without items; choose another format")
        taken = [name for name in columns if name.lower() == layout.id_column.lower() or is_row_names(name)]
        if taken:
            raise OutputRefused(
                f"an item would have the column {taken[0]!r}, which readers take for ids; name the column of ids with `id=`, "
                "or choose another format"
            )

    def table(
        self, data: Transactions, path: Path, layout: Layout, columns: dict[str, Any], parts: Iterator[list[Any]]
    ) -> Iterator[bytes]:
        """Yield the blocks of a file with these columns and their types; `parts` are the columns of batches of records."""
        names = [*([] if data.ids is None else [layout.id_column]), *columns]
        batches = _with_ids(data, names, parts)
        if plain_suffix(path) in column_files.EXTENSIONS:
            types = dict.fromkeys(names, pa.large_string()) | columns
            yield from column_files.written(path, types, batches)
            return
        texts = [data.labels] if data.ids is None else [data.labels, data.ids]
        if len(names) == 1 and any(map(has_delimiter, data.vocabulary)):
            texts.append(pa.array(['"'], pa.large_string()))  # quote all cells
        yield from csv_text(batches, names, delimiter_of(path, layout.separator), tuple(texts))


def _with_ids(data: Transactions, names: list[str], parts: Iterator[list[Any]]) -> Iterator[Any]:
    first = 0
    for columns in parts:
        rows = len(columns[0])
        ids = [] if data.ids is None else [data.ids.slice(first, rows)]
        yield pa.RecordBatch.from_arrays([*ids, *columns], names=names)
        first += rows
