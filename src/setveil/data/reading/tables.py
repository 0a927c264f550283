"""Tables from elsewhere: the result of a query, or what another library holds in memory, through Arrow's C interface.

pandas, polars, DuckDB and others hand over their tables as Arrow without being imported here; scipy's sparse matrices are known by their
`tocsr`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base.arguments import check_arguments, describe
from setveil.data.files.assembly import ListAssembly, LongAssembly, Origin
from setveil.data.files.csv_tables import require
from setveil.data.files.texts import check_column_names, in_words, is_list_type
from setveil.data.formats.base import Layout
from setveil.data.reading.source import of_person
from setveil.data.records.look_alikes import note_look_alikes
from setveil.data.records.transactions import Transactions, Unit
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_HINT = "Name yours with `items=`, or with `id=` and `item=`"


def read_query(url: str, query: str | None, shape: str | None, layout: Layout) -> Transactions:
    """Read the result of a query: long, or a row a record where it has a column of lists."""
    from setveil.data import databases  # noqa: PLC0415 - only who asks a database pays for it

    if shape not in (None, "long", "list"):
        raise BadParameter(f"the format is {shape!r}; the result of a query is long | list")
    with databases.query_batches(url, query or "") as reader:
        return assemble(reader.schema, reader, layout, databases.shown(url), shape=shape)


def assemble(
    schema: Any, batches: Iterable[Any], layout: Layout, name: str, *, shape: str | None = None
) -> Transactions:
    """Make transactions of record batches; the shape follows the columns that were named, else those that are there."""
    names = schema.names
    if shape is None:
        lists = layout.items_column in names and is_list_type(schema.field(names.index(layout.items_column)).type)
        shape = "list" if layout.items is not None or (layout.item is None and lists) else "long"
    origin = Origin(name)
    if shape == "long":
        wanted = [layout.id_column, layout.item_column]
        check_column_names(*wanted)
        require(names, wanted, name, _HINT, line=None)
        long = LongAssembly(origin, id_column=wanted[0], item_column=wanted[1])
        for batch in batches:
            long.add(*(batch.column(names.index(column)) for column in wanted))
        return long.finish()
    with_ids = layout.id is not None or layout.id_column in names
    wanted = [layout.items_column] + ([layout.id_column] if with_ids else [])
    check_column_names(*wanted)
    require(names, wanted, name, _HINT, line=None)
    rows = ListAssembly(origin, items_column=wanted[0], id_column=layout.id_column if with_ids else None)
    rows.check_types(*(schema.field(names.index(column)).type for column in wanted))
    for batch in batches:
        rows.add(*(batch.column(names.index(column)) for column in wanted))
    return rows.finish()


@check_arguments
def from_arrow(
    table: Any,
    *,
    id: str | None = None,  # noqa: A002 - the word people use
    item: str | None = None,
    items: str | None = None,
    unit: Unit | None = None,
    person: str | None = None,
) -> Transactions:
    """Make transactions of anything that hands over Arrow data: tables, readers, data frames, or a column of lists.

    A table is read as a file of the same columns would be: `items` names a column of lists, `id` and `item` those of a long table. `person`
    names the column of ids and says that a record is a person, as in `read`.

    >>> import pyarrow as pa
    >>> from_arrow(pa.table({"id": ["p", "q", "p"], "item": ["milk", "milk", "bread"]})).to_lists()
    [['bread', 'milk'], ['milk']]
    """
    id, unit = of_person(person, id, unit)  # noqa: A001 - the word people use
    layout = Layout(id=id, item=item, items=items)
    name = "the table"
    try:
        reader, alone = _reader(table, layout.items_column)
        if alone:
            layout = replace(layout, items=layout.items_column)
        data = assemble(reader.schema, reader, layout, name)
    except pa.ArrowException as error:
        raise BadData(f"{name} cannot be read ({str(error).splitlines()[0]})") from None
    note_look_alikes(data)
    return data if unit is None else data.with_unit(unit)


def _reader(table: Any, items_column: str) -> tuple[Any, bool]:
    """Return a reader of batches, and whether what was given is a column of lists alone."""
    if isinstance(table, (pa.Array, pa.ChunkedArray)) or hasattr(table, "__arrow_c_array__"):
        column = table if isinstance(table, pa.ChunkedArray) else pa.array(table)
        if not pa.types.is_struct(column.type):
            return pa.table({items_column: column}).to_reader(), True
    if hasattr(table, "__arrow_c_stream__"):
        try:
            return pa.RecordBatchReader.from_stream(table), False
        except pa.ArrowInvalid:  # a stream of a single column, as a Series gives
            return pa.table({items_column: pa.chunked_array(table)}).to_reader(), True
    raise BadParameter(
        f"table is {describe(table)}; expected Arrow data: a table, a data frame or a column of lists; use from_lists for lists"
    )


@check_arguments
def from_pandas(
    frame: Any,
    *,
    id: str | None = None,  # noqa: A002 - the word people use
    item: str | None = None,
    items: str | None = None,
    unit: Unit | None = None,
    person: str | None = None,
) -> Transactions:
    """Make transactions of a pandas DataFrame, long or with a column of lists, or of a Series of lists."""
    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):  # a Series
        frame = frame.to_frame(items or "items")
        items = items or "items"
    if not hasattr(frame, "columns"):
        raise BadParameter(
            f"frame is {describe(frame)}; expected a pandas DataFrame or Series; use from_lists for lists"
        )
    id, unit = of_person(person, id, unit)  # noqa: A001 - the word people use
    wanted = [name for name in (id or "id", item or "item", items or "items") if name in frame.columns]
    try:
        table = pa.Table.from_pandas(frame[wanted], preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise BadData(
            f"the data frame holds what is neither text nor whole numbers ({str(error).splitlines()[0][:200]})"
        ) from None
    if not wanted:
        raise BadData(
            f"the data frame has none of the columns; they are: {in_words([str(c) for c in frame.columns])}. {_HINT}"
        )
    return from_arrow(table, id=id, item=item, items=items, unit=unit)


from_polars = from_arrow
"""Polars hands its frames and series over as Arrow."""


@check_arguments
def from_scipy(
    matrix: Any, *, labels: Sequence[str] | None = None, ids: Sequence[str] | None = None, unit: Unit = "record"
) -> Transactions:
    """Make transactions of a sparse matrix of scipy: a row is a record, whatever is not zero is an item of it.

    Items are named by `labels`, one a column, or by the columns' numbers from 0 on; columns without an entry are left out.
    """
    if not hasattr(matrix, "tocsr"):
        raise BadParameter(f"matrix is {describe(matrix)}; expected a sparse matrix of scipy; use from_lists for lists")
    rows = matrix.tocsr().copy()
    rows.sum_duplicates()
    if rows.dtype.kind in "fc" and not np.isfinite(rows.data).all():
        raise BadData("the matrix holds values that are not numbers")
    rows.eliminate_zeros()
    columns = rows.shape[1]
    names = [str(c) for c in range(columns)] if labels is None else list(labels)
    if len(names) != columns:
        raise BadParameter(f"{len(names)} labels for {columns} columns; give one each")
    made = Transactions.from_codes(rows.indptr, rows.indices, names, ids=ids, unit=unit)
    return note_look_alikes(made.compacted())
