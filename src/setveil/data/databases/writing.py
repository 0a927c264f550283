"""Write records to a new table in one transaction, completely or not at all, never replacing a table."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base import atomic, progress
from setveil.base.display import quantity
from setveil.data.databases.address import address
from setveil.data.databases.base import Table
from setveil.data.databases.opening import connection_to
from setveil.data.records.labels import are_texts
from setveil.data.records.ragged import record_ranges
from setveil.errors import BadParameter, OutputRefused

if TYPE_CHECKING:
    from setveil.data.databases.address import Address
    from setveil.data.databases.base import Connection
    from setveil.data.records.transactions import Transactions

Shape = Literal["long", "list"]

BLOCK_RECORDS = 100_000
BLOCK_OCCURRENCES = 1_000_000
MADE_MEANWHILE = "was created by another program meanwhile; run again to add a table to it"


def write_table(
    data: Transactions,
    url: str,
    table: str,
    *,
    shape: Shape,
    id_column: str = "id",
    item_column: str = "item",
    items_column: str = "items",
) -> None:
    """Write records to a new table `name` or `schema.name`, with one row per item (`long`) or per record (`list`).

    In any case, the table exists completely or not at all.
    """
    place = address(url)
    connection = connection_to(place)
    columns = _columns(data, shape, id_column, item_column, items_column)
    made = _table(table, columns, connection)
    _require_holdable(data, shape, connection)
    with ExitStack() as stack:
        is_new = _is_new(place)
        if is_new:
            assert place.path is not None
            hidden = stack.enter_context(atomic.make_file(place.path, if_exists=MADE_MEANWHILE))
            connection = connection_to(replace(place, path=hidden))
        with progress.step(f"writing {made}", data.records) as advance:
            try:
                connection.open(writing=True)
                connection.create(made)
                for first, last in record_ranges(data.offsets, BLOCK_OCCURRENCES, BLOCK_RECORDS):
                    connection.append(made, _block(data, first, last, made))
                    advance(last)
                expected = data.occurrences if shape == "long" else data.records
                if (found := connection.count(made)) != expected:
                    raise connection.refusal(
                        f"the table {str(made)!r} has {found:,} of {expected:,} rows", writing=True
                    )
                with nullcontext() if is_new else atomic.committing(f"the table {made} of {place.shown}"):
                    connection.commit()
            finally:
                connection.close()
        if is_new and list(hidden.parent.iterdir()) != [hidden]:  # a log file that belongs to it would be lost
            raise OutputRefused(f"{place.path} cannot be completed; check whether the disk is full")


def _columns(data: Transactions, shape: Shape, id_: str, item: str, items: str) -> dict[str, bool]:
    """Return for each column name whether the column holds lists."""
    if shape not in get_args(Shape):
        raise BadParameter.not_among("the shape", shape, get_args(Shape), parameter="shape")
    if shape == "list":
        names = [(id_, False), (items, True)] if data.ids is not None else [(items, True)]
    else:
        names = [(id_, False), (item, False)]
    columns = dict(names)
    if len(columns) < len(names):
        raise BadParameter(f"two columns have the same name {id_!r}; choose different names")
    return columns


def _table(given: str, columns: dict[str, bool], connection: Connection) -> Table:
    """Return the table to create; refuse names that the database would refuse or truncate."""
    parts = given.split(".")
    if len(parts) > 2:
        raise BadParameter(f"the table is named {given!r}; allowed is name or schema.name")
    limit = connection.longest_name
    for name in (*parts, *columns):
        if not name or "\0" in name or not are_texts([name]):
            raise BadParameter(f"{name!r} is not a valid name for a table or column; choose another name")
        if limit is not None and len(name.encode()) > limit:
            raise BadParameter(
                f"the name {name!r} has {len(name.encode())} bytes; {connection.title} allows {limit}; choose a shorter name"
            )
    return Table(parts[0] if len(parts) == 2 else None, parts[-1], columns)


def _require_holdable(data: Transactions, shape: Shape, connection: Connection) -> None:
    """Refuse data that this shape of table or this kind of database cannot hold."""
    if shape == "list" and not connection.holds_lists:
        raise OutputRefused(f"{connection.title} has no column type for lists; choose the format 'long'")
    if shape == "long" and data.ids is None:
        raise OutputRefused(
            "the format 'long' requires an id for each record, and the data have no ids; choose the format 'list'"
        )
    if shape == "long" and data.empty_records:
        raise OutputRefused(
            f"the format 'long' cannot hold the {quantity(data.empty_records, 'empty record')} of the data; choose the format 'list', "
            "or drop them with `empty='drop'`"
        )
    if not connection.holds_zero_characters:
        for what, texts in (("an item", data.labels.filter(pa.array(data.supports > 0))), ("an id", data.ids)):
            if texts is not None and pc.any(pc.match_substring(texts, "\0")).as_py():
                raise OutputRefused(f"{what} holds a null character, which {connection.title} cannot hold; replace it")


def _is_new(place: Address) -> bool:
    """Return whether the database is a file that does not exist yet."""
    if place.path is None:
        return False
    try:
        if place.path.is_dir():
            raise OutputRefused(f"{place.path} is a folder; expected a database file; choose another path")
        if not place.path.parent.is_dir():
            raise OutputRefused(f"{place.path.parent} is not a folder; create it or choose another path")
        return not place.path.exists()
    except OSError as error:
        raise OutputRefused(f"{place.path} cannot be written: {error.strerror}") from None


def _block(data: Transactions, first: int, last: int, table: Table) -> pa.RecordBatch:
    """Return the table rows of the records `first` to `last` - 1."""
    lists = data.lists(first, last)
    ids = None if data.ids is None else data.ids[first:last]
    if not any(table.columns.values()):
        assert ids is not None
        owners = np.repeat(np.arange(last - first), data.lengths[first:last])
        columns = [ids.take(pa.array(owners)), lists.values]
    else:
        columns = [lists] if ids is None else [ids, lists]
    return pa.RecordBatch.from_arrays(columns, names=list(table.columns))
