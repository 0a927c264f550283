"""Transactions from query results and from in-memory tables of other libraries, through Arrow's C interface.

pandas, polars, DuckDB and others export their tables as Arrow, so that they need not be imported here. Sparse matrices of SciPy are
recognized by their method `tocsr`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from setveil.base.arguments import check_arguments, describe
from setveil.data.files.assembly import ListAssembly, LongAssembly, Origin
from setveil.data.files.csv_tables import require
from setveil.data.files.table_cells import all_boolean, read_records
from setveil.data.files.texts import check_column_names, is_list_type, join_names
from setveil.data.formats.base import Layout, Missing
from setveil.data.reading.source import resolve_person
from setveil.data.records.look_alikes import note_look_alikes
from setveil.data.records.transactions import Transactions, Unit
from setveil.errors import BadData, BadParameter, closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Shape = Literal["long", "list", "matrix", "attributes"]
"""What the rows of a table are."""
SHAPES = get_args(Shape)
_COLUMNS_OF_LONG = 2
_HINT = "Name yours with `items=`, or with `id=` and `item=`"


def read_query(url: str, query: str | None, shape: str | None, layout: Layout) -> Transactions:
    """Read the result of a query: `long`, or one row per record if it has a column of lists."""
    from setveil.data import databases  # noqa: PLC0415 - loaded only for databases

    if shape not in (None, *SHAPES):
        raise BadParameter(f"the format is {shape!r}; allowed for a query is {' | '.join(SHAPES)}")
    with databases.query_batches(url, query or "") as reader:
        return assemble(reader.schema, reader, layout, databases.shown(url), shape=shape)


def assemble(
    schema: Any, batches: Iterable[Any], layout: Layout, name: str, *, shape: str | None = None
) -> Transactions:
    """Make transactions from record batches; the shape depends on the named columns, or on the existing ones if none is named."""
    names = schema.names
    if shape is None:
        shape = _shape_of(schema, layout)
    origin = Origin(name)
    if shape in ("matrix", "attributes"):

        def chosen(wanted: list[str]) -> Iterator[list[Any]]:
            for batch in batches:
                yield [batch.column(names.index(column)) for column in wanted]

        return read_records(names, chosen, origin, layout, of_values=shape == "attributes")
    if shape == "long":
        wanted = [layout.id_column, layout.item_column]
        check_column_names(*wanted)
        require(names, wanted, name, _HINT, line=None)
        long = LongAssembly(origin, id_column=wanted[0], item_column=wanted[1], drops_missing=layout.drops_missing)
        for batch in batches:
            long.add(*(batch.column(names.index(column)) for column in wanted))
        return long.finish()
    with_ids = layout.id is not None or layout.id_column in names
    wanted = [layout.items_column] + ([layout.id_column] if with_ids else [])
    check_column_names(*wanted)
    require(names, wanted, name, _HINT, line=None)
    rows = ListAssembly(
        origin,
        items_column=wanted[0],
        id_column=layout.id_column if with_ids else None,
        drops_missing=layout.drops_missing,
    )
    rows.check_types(*(schema.field(names.index(column)).type for column in wanted))
    with rows.comparing_ids():
        for batch in batches:
            rows.add(*(batch.column(names.index(column)) for column in wanted))
    return rows.finish()


def _shape_of(schema: Any, layout: Layout) -> Shape:
    """Return the shape that the columns show: of lists, of flags without a column of items, or one row per item."""
    names = schema.names
    lists = layout.items_column in names and is_list_type(schema.field(names.index(layout.items_column)).type)
    if layout.items is not None or (layout.item is None and lists):
        return "list"
    return "matrix" if all_boolean(schema, layout) else "long"


@check_arguments
def from_arrow(
    table: Any,
    *,
    id: str | None = None,  # noqa: A002 - the word people use
    item: str | None = None,
    items: str | None = None,
    format: Shape | None = None,  # noqa: A002 - the word people use
    missing: Missing = "error",
    unit: Unit | None = None,
    person: str | None = None,
) -> Transactions:
    """Make transactions from Arrow data: a table, a reader, a data frame or a column of lists.

    A table is read like a file with the same columns. `from_polars` is the same function.

    Parameters
    ----------
    table : object
        An object with the Arrow C interface, such as a table of pyarrow, DuckDB or polars, or a column of lists.
    id, item : str, optional
        The columns of a long table with one row per item. Default: `id` and `item`.
    items : str, optional
        The column of lists of a table with one row per record. Default: `items`. For `matrix` and `attributes`, the columns to use,
        such as `workclass,education`.
    format : {'long', 'list', 'matrix', 'attributes'}, optional
        `matrix` is a 0/1 or Boolean table with one column per item; in `attributes`, each cell is the item column=value. Default: by the
        columns; a table of Boolean columns is a `matrix`.
    missing : {'error', 'drop'}, default: 'error'
        Refuse missing items (empty texts and nulls), or drop them with a note.
    unit : {'person', 'record'}, optional
        Whether every record is one person. Default: `record`.
    person : str, optional
        The column that identifies a person; short for `id=COLUMN, unit="person"`.

    Returns
    -------
    Transactions
        The data.

    Raises
    ------
    BadData
        If a column is missing or holds something other than text or whole numbers.
    BadParameter
        If `table` is not Arrow data.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import setveil as sv
    >>> table = pa.table({"id": ["p", "q", "p"], "item": ["milk", "milk", "bread"]})
    >>> sv.from_arrow(table).to_lists()
    [['bread', 'milk'], ['milk']]
    """
    id, unit = resolve_person(person, id, unit)  # noqa: A001 - the word people use
    if format not in (None, *SHAPES):
        raise BadParameter(f"format is {format!r}; allowed is {' | '.join(SHAPES)}")
    if missing not in get_args(Missing):
        raise BadParameter(f"missing is {missing!r}; allowed is {' | '.join(get_args(Missing))}")
    layout = Layout(id=id, item=item, items=items, missing=missing)
    name = "the table"
    try:
        reader, alone = _reader(table, layout.items_column)
        if alone:
            layout = replace(layout, items=layout.items_column)
        data = assemble(reader.schema, reader, layout, name, shape=format)
    except pa.ArrowException as error:
        raise BadData(f"{name} cannot be read ({str(error).splitlines()[0]})") from None
    note_look_alikes(data)
    return data if unit is None else data.with_unit(unit)


def _reader(table: Any, items_column: str) -> tuple[Any, bool]:
    """Return a reader of batches, and whether `table` is a single column of lists."""
    if isinstance(table, (pa.Array, pa.ChunkedArray)) or hasattr(table, "__arrow_c_array__"):
        column = table if isinstance(table, pa.ChunkedArray) else pa.array(table)
        if not pa.types.is_struct(column.type):
            return pa.table({items_column: column}).to_reader(), True
    if hasattr(table, "__arrow_c_stream__"):
        try:
            return pa.RecordBatchReader.from_stream(table), False
        except pa.ArrowInvalid:  # a stream of a single column, such as a Series
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
    format: Shape | None = None,  # noqa: A002 - the word people use
    missing: Missing = "error",
    unit: Unit | None = None,
    person: str | None = None,
) -> Transactions:
    """Make transactions from a pandas DataFrame or a Series of lists.

    Parameters
    ----------
    frame : pandas.DataFrame or pandas.Series
        A frame with one row per item (`id`, `item`), a frame with a column of lists (`items`), or a Series of lists.
    id, item, items, format, missing, unit, person
        As in `from_arrow`.

    Returns
    -------
    Transactions
        The data.

    Raises
    ------
    BadData
        If a column is missing or holds something other than text or whole numbers.
    BadParameter
        If `frame` is not a DataFrame or a Series.

    Examples
    --------
    >>> import pandas as pd
    >>> import setveil as sv
    >>> frame = pd.DataFrame({"customer": [1, 2, 1], "product": ["milk", "milk", "bread"]})
    >>> sv.from_pandas(frame, person="customer", item="product").to_lists()
    [['bread', 'milk'], ['milk']]
    """
    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):  # a Series
        frame = frame.to_frame(items or "items")
        items = items or "items"
    if not hasattr(frame, "columns"):
        raise BadParameter(
            f"frame is {describe(frame)}; expected a pandas DataFrame or Series; use from_lists for lists"
        )
    id, unit = resolve_person(person, id, unit)  # noqa: A001 - the word people use
    wanted = [name for name in (id or "id", item or "item", items or "items") if name in frame.columns]
    if _is_table(frame, format, item, items):
        wanted = list(frame.columns)
        sparse = {name: kind.subtype for name, kind in frame.dtypes.items() if hasattr(kind, "subtype")}
        frame = frame.astype(sparse)
    elif not wanted or ((items or "items") not in wanted and len(wanted) < _COLUMNS_OF_LONG):
        lacking = next(name for name in (id or "id", item or "item", items or "items") if name not in wanted)
        problem = f"has no column {lacking!r}" if wanted else "has none of the expected columns"
        raise BadData(
            f"the data frame {problem}; its columns are: {join_names(map(str, frame.columns))}. {_HINT}; "
            "if each column is an item, use `format='matrix'`",
            column=lacking,
            suggestion=closest(lacking, map(str, frame.columns)),
        )
    try:
        table = pa.Table.from_pandas(frame[wanted], preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise BadData(
            f"the data frame holds values that are neither text nor whole numbers ({str(error).splitlines()[0][:200]})"
        ) from None
    return from_arrow(table, id=id, item=item, items=items, format=format, missing=missing, unit=unit)


def _is_table(frame: Any, shape: Shape | None, item: str | None, items: str | None) -> bool:
    """Return whether each column of a data frame is an item, or holds values: as named, or because all are Boolean."""
    if shape is not None:
        return shape in ("matrix", "attributes")
    others = [str(kind) for name, kind in frame.dtypes.items() if name != "id"]
    named = item is not None or items is not None or {"item", "items"} & {*frame.columns}
    return not named and bool(others) and all("bool" in kind for kind in others)


from_polars = from_arrow
"""The same function: polars exports its frames and series as Arrow."""


@check_arguments
def from_scipy(
    matrix: Any, *, labels: Sequence[str] | None = None, ids: Sequence[str] | None = None, unit: Unit = "record"
) -> Transactions:
    """Make transactions from a sparse matrix of SciPy: rows are records, and non-zero entries are their items.

    Columns without an entry are dropped.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        One row per record, one column per item.
    labels : sequence of str, optional
        The items, one per column. Default: the column numbers, starting with 0.
    ids : sequence of str, optional
        The ids of the records.
    unit : {'person', 'record'}, default: 'record'
        Whether every record is one person.

    Returns
    -------
    Transactions
        The data.

    Raises
    ------
    BadData
        If the matrix holds NaN or infinite values, or labels or ids are invalid.
    BadParameter
        If `matrix` is not sparse, or the number of labels is wrong.

    Examples
    --------
    >>> import setveil as sv
    >>> from scipy.sparse import csr_array
    >>> sv.from_scipy(csr_array([[1, 1], [0, 2]]), labels=["milk", "bread"]).to_lists()
    [['bread', 'milk'], ['bread']]
    """
    if not hasattr(matrix, "tocsr"):
        raise BadParameter(f"matrix is {describe(matrix)}; expected a sparse matrix of SciPy; use from_lists for lists")
    rows = matrix.tocsr().copy()
    rows.sum_duplicates()
    if rows.dtype.kind in "fc" and not np.isfinite(rows.data).all():
        raise BadData("the matrix holds NaN or infinite values; expected numbers")
    rows.eliminate_zeros()
    columns = rows.shape[1]
    names = [str(c) for c in range(columns)] if labels is None else list(labels)
    if len(names) != columns:
        raise BadParameter(f"there are {len(names):,} labels for {columns:,} columns; give one label per column")
    made = Transactions.from_codes(rows.indptr, rows.indices, names, ids=ids, unit=unit)
    return note_look_alikes(made.compacted())
