"""The list format: one row per record, with a column of lists (Parquet, Arrow or JSON Lines)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from setveil.base.sql import as_text
from setveil.data.databases.sql import quoted
from setveil.data.files import column_files, json_lines
from setveil.data.files.assembly import ListAssembly, Origin
from setveil.data.files.csv_tables import no_column
from setveil.data.files.json_lines import read_json_lines
from setveil.data.files.packing import plain_suffix
from setveil.data.files.texts import check_column_names, refuse_unusable
from setveil.data.formats.base import Format, Layout
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from setveil.data.records.transactions import Transactions

_WRITTEN_RECORDS = 1 << 17


class List(Format):
    """One row per record; ids are optional."""

    name: ClassVar[str] = "list"
    summary: ClassVar[str] = "a table or JSON Lines with a column of lists of items, one row per record"
    extensions: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".parquet", ".arrow", ".feather")
    ids: ClassVar[Literal["none", "optional", "required"]] = "optional"
    holds_empty_records: ClassVar[bool] = True

    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a file, with ids if it has a column for them."""
        check_column_names(layout.items_column, layout.id_column)
        if plain_suffix(path) not in column_files.EXTENSIONS:
            return read_json_lines(path, layout)
        schema = column_files.schema_of(path)
        if layout.items_column not in schema.names:
            hint = (
                "Name yours with `items=`, or with `id=` and `item=` for one row per item; if each column is an item, use "
                "`format='matrix'`, and `id=` if there are ids"
            )
            raise no_column(layout.items_column, schema.names, hint, file=str(path))
        with_ids = layout.id is not None or layout.id_column in schema.names
        names = [layout.items_column] + ([layout.id_column] if with_ids else [])
        assembly = ListAssembly(
            Origin(str(path)),
            items_column=names[0],
            id_column=layout.id_column if with_ids else None,
            drops_missing=layout.drops_missing,
        )
        if all(schema.names.count(name) == 1 for name in names):  # otherwise `batches` refuses it
            assembly.check_types(*(schema.field(name).type for name in names))
        with assembly.comparing_ids():
            for columns in column_files.batches(path, names, "Name yours with `items=` and `id=`"):
                assembly.add(*columns)
        return assembly.finish()

    def public_layout(self, data: Transactions, layout: Layout) -> dict[str, str | bool]:
        """Return the names of the columns."""
        columns: dict[str, str | bool] = {"items": layout.items_column}
        return columns | ({"id": layout.id_column} if data.ids is not None else {})

    def as_table(self, extension: str, layout: Layout) -> Mapping[str, Any]:
        """Return the column of ids, if there is one, and the column of lists."""
        del extension
        ids = [{"name": layout.id, "type": "string"}] if layout.id else []
        return {"schema": {"fields": [*ids, {"name": layout.items_column, "type": "array"}]}}

    def as_sql(self, file: str, extension: str, layout: Layout) -> Mapping[str, str]:
        """Return a query that unnests the lists."""
        name = layout.items_column
        if extension == ".parquet":
            rows = f"read_parquet({as_text(file)})"
        elif extension in json_lines.EXTENSIONS:
            rows = (
                f"read_json({as_text(file)}, format = 'newline_delimited', columns = {{{as_text(name)}: 'VARCHAR[]'}})"
            )
        else:
            return {}
        lists = f"SELECT row_number() OVER () AS record, {quoted(name)} AS items FROM {rows}"
        return {"released": f"SELECT DISTINCT record, unnest(items) AS item FROM ({lists}) AS list"}

    def blocks(self, data: Transactions, path: Path, layout: Layout) -> Iterator[Any]:
        """Yield the records with items in label order."""
        check_column_names(layout.items_column, layout.id_column)
        refuse_unusable(data, self.name)
        if plain_suffix(path) in column_files.EXTENSIONS:
            columns = {layout.id_column: pa.large_string()} if data.ids is not None else {}
            columns[layout.items_column] = pa.large_list(pa.field("element", pa.large_string(), nullable=False))
            return column_files.written(path, columns, list_batches(data, layout))
        if not data.records:
            raise OutputRefused("JSON Lines cannot hold data without records; choose another format")
        return _json_lines(data, layout)


def list_batches(data: Transactions, layout: Layout) -> Iterator[Any]:
    """Yield the records as Arrow batches of limited size: the ids, if any, and the lists."""
    for first in range(0, data.records, _WRITTEN_RECORDS):
        lists = data.lists(first, first + _WRITTEN_RECORDS)
        names, columns = [layout.items_column], [lists]
        if data.ids is not None:
            names.insert(0, layout.id_column)
            columns.insert(0, data.ids.slice(first, len(lists)))
        yield pa.RecordBatch.from_arrays(columns, names=names)


def _json_lines(data: Transactions, layout: Layout) -> Iterator[bytes]:
    labels = np.array([json.dumps(label, ensure_ascii=False) for label in data.vocabulary] or [""], dtype=object)
    items_key, id_key = (json.dumps(name, ensure_ascii=False) for name in (layout.items_column, layout.id_column))
    for first in range(0, data.records, _WRITTEN_RECORDS):
        last = min(first + _WRITTEN_RECORDS, data.records)
        texts = labels[data.items[data.offsets[first] : data.offsets[last]]].tolist()
        places = (data.offsets[first : last + 1] - data.offsets[first]).tolist()
        names = [None] * (last - first) if data.ids is None else data.ids.slice(first, last - first).to_pylist()
        lines = []
        for i, name in enumerate(names):
            front = "" if name is None else f"{id_key}: {json.dumps(name, ensure_ascii=False)}, "
            lines.append(f"{{{front}{items_key}: [{', '.join(texts[places[i] : places[i + 1]])}]}}\n")
        yield "".join(lines).encode()
