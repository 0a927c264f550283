"""`setveil convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.options import FORCE, READING, Option, argument, read_data
from setveil.cli.show import say, say_json
from setveil.data.formats import Layout, format_named, format_of
from setveil.progress import note
from setveil.release.staging import replacing

TEXT = """The format of OUT follows its extension (.dat, .csv, also with .gz) or --to. A long file names records by their ids, or by their
numbers where there are none; a basket file leaves ids out. Nothing is protected by converting.

Example:
  setveil convert "sample:supermarket?records=1000" baskets.csv.gz"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("data", "A file or a built-in sample."),
        argument("out", "The file to write."),
        Option("to", str, "Format of OUT, where the extension does not tell."),
        *READING,
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Convert."""
    target = Path(given["out"])
    form = format_named(given["to"]) if given["to"] else format_of(target, option="--to")
    with replacing(target, force=given["force"]) as hidden:
        data = read_data(given["data"], given)
        if data.ids is None and form.holds_ids:
            note("the data has no ids; records are named by their numbers")
            data = data.with_ids(data.names())
        elif data.ids is not None and not form.holds_ids:
            note(f"the format {form.name!r} has no place for ids; they are left out")
        form.write(data, hidden, Layout(given["separator"], given["id"], given["item"]))
    if given["json"]:
        say_json(
            {
                "out": str(target),
                "records": data.records,
                "items": len(data.vocabulary),
                "occurrences": data.occurrences,
            }
        )
    else:
        say(f"{target}: {data.records:,} records, {len(data.vocabulary):,} items, {data.occurrences:,} occurrences")
    return 0
