"""Write data to a file or to a new database table, atomically. Nothing is protected: use `publish` for that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from setveil.base.arguments import check_arguments
from setveil.base.atomic import make_file
from setveil.base.progress import note, step
from setveil.data import databases
from setveil.data.files.packing import packing_of, plain_suffix, writing
from setveil.data.files.piped import OUTPUT_PLACES, write_to_standard_output
from setveil.data.formats import Format, Layout, format_named, format_to_write
from setveil.errors import BadParameter, Missing, OutputRefused

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.hierarchy import Hierarchy

Shape = Literal["levels", "parents"]
"""The layout of a hierarchy file: one column per level, or one row per node with its parent."""
RAGGED = "ragged"
"""The name for wide files without a header, which are a layout of the format `wide`."""


@check_arguments
def write(
    data: Transactions,
    target: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word people use
    separator: str | None = None,
    id: str | None = None,  # noqa: A002 - the same
    item: str | None = None,
    items: str | None = None,
    table: str | None = None,
    force: bool = False,
) -> None:
    """Write data unprotected to a file or to a new database table. Use `publish` to protect them.

    Parameters
    ----------
    data : Transactions
        The data.
    target : str or Path
        A file, `-` for standard output, or the address of a database (`postgresql://`, `sqlite:///`, `duckdb:///`).
    format : str, optional
        `basket`, `long`, `list`, `wide`, `ragged`, `matrix` or `attributes` for a file (default: by its extension); `long` (default) or
        `list` for a table. Required for standard output, where an extension may follow, as in `list.parquet`.
    separator : str, optional
        The character between items or, in the format `long`, between columns.
    id, item, items : str, optional
        The names of the columns: ids, one item per row, and all items of a record. Default: `id`, `item` and `items`.
    table : str, optional
        The name of the new table. Required for a database.
    force : bool, default: False
        Replace an existing file. A table is never replaced.

    Raises
    ------
    OutputRefused
        If the target exists or cannot be written, or the format cannot hold the data.
    BadData
        If the extension does not determine a format.
    BadParameter
        If an argument does not fit the target.
    Missing
        If `table` or the library of the database is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import setveil as sv
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "baskets.csv"
    >>> sv.write(sv.from_lists([["milk", "tea"]], ids=["p1"]), path)
    >>> path.read_text().split()
    ['id,item', 'p1,milk', 'p1,tea']

    >>> sv.write(data, "postgresql://ann@db.example/shop", table="baskets")  # doctest: +SKIP
    """
    if databases.is_database(str(target)):
        layout = Layout(separator=separator, id=id, item=item, items=items)
        _write_table(data, str(target), format, layout, table, force=force)
        return
    if table is not None:
        raise BadParameter("`table=` goes with a database (postgresql://, sqlite:///, duckdb:///), not with a file")
    layout = Layout(separator=separator, id=id, item=item, items=items)
    if format == RAGGED:
        layout = Layout(separator=separator, ragged=True)  # no columns, so no names
    if str(target) in OUTPUT_PLACES:
        form, path = format_of_output(format)
        data = _named(data, form, layout)
        form.refuse(data)
        write_to_standard_output(form.blocks(data, path, layout))
        return
    path = Path(target)
    form = format_for(path, format)
    with make_file(path, force=force) as hidden, step(f"writing {path.name}"):
        form.write(_named(data, form, layout), hidden, layout)


def format_for(path: Path, named: str | None, *, argument: str = "format") -> Format:
    """Return the format of a file to write; refuse a format that does not fit its extension."""
    form = (
        format_to_write(path, argument=argument)
        if named is None
        else format_named("wide" if named == RAGGED else named)
    )
    suffix = plain_suffix(path)
    if packing_of(path) and not form.packable(suffix):
        raise OutputRefused(f"{path}: a {suffix} file is compressed inside; omit the extension {path.suffix}")
    table_like = not form.packable(suffix)
    if table_like and suffix not in form.extensions:
        raise OutputRefused(
            f"{path}: a {suffix} file cannot have the format {form.name!r}; choose another extension or `{argument}=`"
        )
    return form


def format_of_output(named: str | None, *, argument: str = "format") -> tuple[Format, Path]:
    """Return the format for standard output, and a file name with its extension: `list` and `list.parquet` name both."""
    if named is None:
        raise Missing(f"name the format of standard output with `{argument}=`, such as `{argument}='long'`")
    name, dot, ending = named.partition(".")
    form = format_named("wide" if name == RAGGED else name)
    extension = dot + ending or form.extensions[0]
    if extension not in form.extensions:
        allowed = " | ".join(form.extensions)
        raise BadParameter(f"the extension is {extension!r}; allowed for the format {form.name!r} is {allowed}")
    return form, Path(f"data{extension}")


@check_arguments
def write_hierarchy(tree: Hierarchy, target: str | Path, *, shape: Shape = "levels", force: bool = False) -> None:
    """Write a hierarchy to a CSV file.

    Parameters
    ----------
    tree : Hierarchy
        The hierarchy.
    target : str or Path
        The file; compressed if its name ends in `.gz` or `.zst`.
    shape : {'levels', 'parents'}, default: 'levels'
        One column per level, or one row per node with its parent (`item,parent`).
    force : bool, default: False
        Replace an existing file.

    Raises
    ------
    OutputRefused
        If the file exists or cannot be written, or the tree is too deep for one column per level.
    BadParameter
        If `shape` is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import setveil as sv
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tree.csv"
    >>> sv.write_hierarchy(sv.Hierarchy({"milk": "dairy", "ham": "meat"}), path, shape="parents")
    >>> path.read_text().split()
    ['item,parent', 'dairy,*', 'milk,dairy', 'meat,*', 'ham,meat']
    """
    if shape not in get_args(Shape):
        raise BadParameter(f"shape is {shape!r}; allowed is {' | '.join(get_args(Shape))}")
    path = Path(target)
    with make_file(path, force=force) as hidden, writing(hidden) as file:
        file.write(tree.to_levels_csv() if shape == "levels" else tree.to_parents_csv())


def _named(data: Transactions, form: Format, layout: Layout) -> Transactions:
    """Add row numbers as ids if the format requires ids, and drop ids that it cannot hold; announce both."""
    if data.ids is None and form.ids == "required":
        note("the data have no ids; the row numbers become ids")
        return data.with_ids(data.names())
    if data.ids is not None and not form.holds_ids(layout):
        note(f"the format {form.name!r} cannot hold ids; they are dropped")
        return data.with_ids(None)
    return data


def _write_table(
    data: Transactions, url: str, shape: str | None, layout: Layout, table: str | None, *, force: bool
) -> None:
    if not table:
        raise Missing(f"{databases.shown(url)}: name the new table with `table=`")
    if force:
        raise OutputRefused("a table is never replaced; omit `force=True` and name a new table with `table=`")
    if shape not in (None, "long", "list"):
        raise BadParameter(f"the format is {shape!r}; allowed for a table is long | list")
    chosen: databases.Shape = "list" if shape == "list" else "long"
    if chosen == "long" and data.ids is None:
        note("the data have no ids; the row numbers become ids")
        data = data.with_ids(data.names())
    databases.write_table(
        data,
        url,
        table,
        shape=chosen,
        id_column=layout.id_column,
        item_column=layout.item_column,
        items_column=layout.items_column,
    )
