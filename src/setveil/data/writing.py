"""`write()`: data to a file or to a new table of a database, as a whole or not at all. It protects nothing: `publish` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from setveil.base.arguments import check_arguments
from setveil.base.atomic import make_file
from setveil.base.progress import note, step
from setveil.data import databases
from setveil.data.files.packing import packing_of, plain_suffix, writing
from setveil.data.formats import Format, Layout, format_named, format_to_write
from setveil.errors import BadParameter, Missing, OutputRefused

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.hierarchy import Hierarchy

Shape = Literal["levels", "parents"]
"""How a hierarchy is written: a column for each level, or a row for each node and its parent."""
RAGGED = "ragged"
"""What names wide files without header, which are a layout and not a format of their own."""


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
    """Write data to a file, in the format that its extension tells or that is named, or to a new table of a database.

    >>> write(data, "baskets.parquet")                                        # doctest: +SKIP
    >>> write(data, "postgresql://ann@db.example/shop", table="baskets")      # doctest: +SKIP
    """
    if databases.is_database(str(target)):
        layout = Layout(separator=separator, id=id, item=item, items=items)
        _write_table(data, str(target), format, layout, table, force=force)
        return
    if table is not None:
        raise BadParameter("`table=` goes with a database (postgresql://, sqlite:///, duckdb:///), not with a file")
    path = Path(target)
    form = format_for(path, format)
    layout = Layout(separator=separator, id=id, item=item, items=items)
    if format == RAGGED:
        layout = Layout(separator=separator, ragged=True)  # no columns, and so no names
    with make_file(path, force=force) as hidden, step(f"writing {path.name}"):
        form.write(_named(data, form, layout), hidden, layout)


def format_for(path: Path, named: str | None, *, argument: str = "format") -> Format:
    """Return the format of a file to write, or refuse what it cannot be written as."""
    form = (
        format_to_write(path, argument=argument)
        if named is None
        else format_named("wide" if named == RAGGED else named)
    )
    suffix = plain_suffix(path)
    if packing_of(path) and not form.packable(suffix):
        raise OutputRefused(f"{path}: a {suffix} file is packed inside; leave out the ending {path.suffix}")
    table_like = not form.packable(suffix)
    if table_like and suffix not in form.extensions:
        raise OutputRefused(
            f"{path}: a {suffix} file cannot be of the format {form.name!r}; name another file or `{argument}=`"
        )
    return form


@check_arguments
def write_hierarchy(tree: Hierarchy, target: str | Path, *, shape: Shape = "levels", force: bool = False) -> None:
    """Write a hierarchy as CSV: a column a level, or `item,parent`."""
    if shape not in get_args(Shape):
        raise BadParameter(f"shape is {shape!r}; allowed is {' | '.join(get_args(Shape))}")
    path = Path(target)
    with make_file(path, force=force) as hidden, writing(hidden) as file:
        file.write(tree.to_levels_csv() if shape == "levels" else tree.to_parents_csv())


def _named(data: Transactions, form: Format, layout: Layout) -> Transactions:
    """Give records numbers for ids where the format must have some, and tell of ids that are left out."""
    if data.ids is None and form.ids == "required":
        note("the data has no ids; records are named by their numbers")
        return data.with_ids(data.names())
    if data.ids is not None and not form.holds_ids(layout):
        note(f"the format {form.name!r} has no place for ids; they are left out")
        return data.with_ids(None)
    return data


def _write_table(
    data: Transactions, url: str, shape: str | None, layout: Layout, table: str | None, *, force: bool
) -> None:
    if not table:
        raise Missing(f"{databases.shown(url)}: name the new table with `table=`")
    if force:
        raise OutputRefused("a table is never replaced; leave out `force=True` and name a new one with `table=`")
    if shape not in (None, "long", "list"):
        raise BadParameter(f"the format is {shape!r}; a table is long | list")
    chosen: databases.Shape = "list" if shape == "list" else "long"
    if chosen == "long" and data.ids is None:
        note("the data has no ids; records are named by their numbers")
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
