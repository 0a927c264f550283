"""`setveil convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.base.atomic import refuse_file
from setveil.cli.options import FORCE, READING, Option, argument, reading_of
from setveil.cli.show import say, say_json
from setveil.data import databases
from setveil.data.formats import FORMATS
from setveil.data.writing import RAGGED, write_hierarchy
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.release.converting import convert

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
    data = convert(
        given["data"],
        target,
        to=given["to"],
        to_separator=given["to_separator"],
        table=given["table"],
        force=given["force"],
        **reading_of(given),
    )
    shown = f"{databases.shown(target)}, table {given['table']}" if databases.is_database(target) else target
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
