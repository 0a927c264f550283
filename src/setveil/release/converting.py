"""`convert`: read data of any kind, also a release, and write them in another format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.atomic import refuse_file
from setveil.data import databases
from setveil.data.files.piped import OUTPUT_PLACES
from setveil.data.formats import Layout
from setveil.data.formats.record_tables import RecordTable
from setveil.data.writing import Shape, format_for, format_of_output, write, write_hierarchy
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.release.inputs import as_records

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.hierarchy import Hierarchy


def convert(
    source: Any,
    target: str | Path,
    *,
    to: str | None = None,
    to_separator: str | None = None,
    table: str | None = None,
    force: bool = False,
    **reading: Any,
) -> Transactions:
    """Read data and write them in another format; return the data.

    Parameters
    ----------
    source
        A path, a sample, a database, a release folder, lists of items or a data frame.
    target
        The file to write, `-` for standard output, or the address of a database.
    to
        The format of the file, if its extension does not determine it.
    to_separator
        What separates items or columns in the file.
    table
        The new table, if the target is a database.
    force
        Replace an existing file.
    **reading
        Options of `read` for the source. Columns keep the names that `id`, `person`, `item` and `items` give,
        except those of nested objects, which are called `id` and `item`.

    Returns
    -------
    Transactions
        The data that were read and written.

    Raises
    ------
    BadData
        If the source cannot be read, or the format cannot hold the data.
    BadParameter
        If the source is a release whose form has no plain records, or the format is unknown.
    OutputRefused
        If the target exists and `force` is not set, or cannot be written.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.convert([["milk", "tea"], ["milk"]], "baskets.csv")
    >>> sv.read("baskets.csv").occurrences
    3
    """
    if str(target) in OUTPUT_PLACES:
        format_of_output(to, argument="to")
    elif not databases.is_database(str(target)):
        format_for(Path(target), to, argument="to")
        refuse_file(Path(target), force=force)  # before the work starts
    data = as_records(source, reading)
    columns = Layout.chosen(reading) if data.source is None or not reading else data.source.layout
    if isinstance(getattr(data.source, "format", None), RecordTable):
        columns = replace(columns, items=None)  # a list of columns, not a column of lists
    write(
        data,
        target,
        format=to,
        separator=to_separator,
        id=columns.id,
        item=columns.item,
        items=columns.items,
        table=table,
        force=force,
    )
    return data


def convert_hierarchy(
    source: str | Path,
    target: str | Path,
    *,
    shape: Shape,
    force: bool = False,
    **options: Any,
) -> Hierarchy:
    """Read a hierarchy of items with these options of `read_hierarchy` and write it in the other shape; return it."""
    refuse_file(Path(target), force=force)  # before the work starts
    tree = read_hierarchy(source, **options)
    write_hierarchy(tree, target, shape=shape, force=force)
    return tree
