"""`setveil convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.options import FORCE, READING, Option, argument, read_data, several_sets
from setveil.cli.show import say, say_json
from setveil.data import databases
from setveil.data.formats import FORMATS, Layout
from setveil.data.hierarchy_files import read_hierarchy
from setveil.data.neighbours import Neighbours
from setveil.errors import BadParameter
from setveil.export import RAGGED, format_for, write, write_hierarchy
from setveil.release.card import CARD_NAME
from setveil.release.checking import open_release
from setveil.release.staging import refuse_file

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions

TEXT = """The format of OUT follows its extension (.dat, .csv, .jsonl, .parquet, .arrow; text also with .gz or .zst) or --to. OUT can
be a database: then --table names the new table, which is made in one transaction. DATA can be a release folder. A long file names
records by their ids, or by their numbers where there are none; a basket file leaves ids out. Nothing is protected by converting.
With --to levels or --to parents DATA is not data but a hierarchy of items, and OUT the same one in the other shape.

Example:
  setveil convert "sample:supermarket?records=1000" baskets.parquet"""

HIERARCHIES = ("levels", "parents")
SHAPES = (*FORMATS, RAGGED, *HIERARCHIES)


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("data", "A file, a built-in sample, a database with --query, or a release folder."),
        argument("out", "The file to write, or a database."),
        Option("to", str, f"Format of OUT, where the extension does not tell: {' | '.join(SHAPES)}."),
        Option("levels", str, "With --to levels or parents: the columns to take, most specific first."),
        Option("paths", bool, "With --to levels or parents: name groups by their paths.", default=False),
        Option("to_separator", str, "What separates items or columns in OUT."),
        Option("table", str, "The new table, where OUT is a database: NAME or SCHEMA.NAME."),
        *READING,
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Convert."""
    target = given["out"]
    if given["to"] in HIERARCHIES:
        return _convert_hierarchy(given)
    in_database = databases.is_database(target)
    if not in_database:
        format_for(Path(target), given["to"])
        refuse_file(Path(target), force=given["force"])  # before the work, not after it
    place = Path(given["data"])
    data = _of_release(place) if (place / CARD_NAME).is_file() else read_data(given["data"], given)
    write(
        data,
        target,
        format=given["to"],
        separator=given["to_separator"],
        id=Layout.chosen(given).id,
        item=given["item"],
        items=given["items"],
        table=given["table"],
        force=given["force"],
    )
    shown = f"{databases.shown(target)}, table {given['table']}" if in_database else target
    if given["json"]:
        say_json(
            {
                "out": shown,
                "records": data.records,
                "items": len(data.vocabulary),
                "occurrences": data.occurrences,
            }
        )
    else:
        say(f"{shown}: {data.records:,} records, {len(data.vocabulary):,} items, {data.occurrences:,} occurrences")
    return 0


def _of_release(place: Path) -> Transactions:
    opened = open_release(place)
    if opened.plain is None:
        if isinstance(opened.data, Neighbours):
            raise BadParameter(several_sets(place, opened.data))
        raise BadParameter(
            f"{place} holds {opened.data.form_in_words}, which is not converted: no format of plain records holds it"
        )
    return opened.plain


def _convert_hierarchy(given: dict[str, Any]) -> int:
    refuse_file(Path(given["out"]), force=given["force"])
    tree = read_hierarchy(given["data"], levels=given["levels"], paths=given["paths"])
    write_hierarchy(tree, given["out"], shape=given["to"], force=given["force"])
    found = {"out": given["out"], "items": len(tree.leaves), "nodes": len(tree.nodes), "height": tree.height}
    if given["json"]:
        say_json(found)
    else:
        say(
            f"{found['out']}: {found['items']:,} items, {found['nodes']:,} nodes, {found['height']} levels below the root"
        )
    return 0
