"""`setveil convert`."""

from __future__ import annotations

from typing import Annotated, cast, get_args

import setveil as sv
from setveil.base.display import quantity
from setveil.base.progress import note
from setveil.cli.options import ForceOption, OutputOptions, ReadingOptions, SideEncodingOption, about, about_separator
from setveil.cli.show import say, say_json
from setveil.data import databases
from setveil.data.files.piped import OUTPUT_PLACES
from setveil.data.formats import FORMATS
from setveil.data.writing import RAGGED, Shape
from setveil.errors import BadParameter, ExitCode
from setveil.release.converting import convert_hierarchy

SHAPES = (*FORMATS, RAGGED, *get_args(Shape))


def convert(
    data: Annotated[
        str, about("A file, - for standard input, a built-in sample, a database with --query, or a release folder.")
    ],
    out: Annotated[str, about("The file to write, - for standard output, or a database.")],
    /,
    *,
    to: Annotated[
        str | None, about(f"Format of OUT, if the extension does not determine it: {' | '.join(SHAPES)}.")
    ] = None,
    levels: Annotated[
        str | None, about("With --to levels or parents: the columns to use, the most specific one first.")
    ] = None,
    paths: Annotated[bool, about("With --to levels or parents: name groups by their paths.")] = False,
    item_column: Annotated[
        str | None, about("With --to levels or parents: column that holds the items (default: item).")
    ] = None,
    path_column: Annotated[
        str | None, about("With --to levels or parents: column that holds paths such as Food > Dairy > Milk.")
    ] = None,
    path_separator: Annotated[
        str | None, about("With --to levels or parents: what separates the names of a path (default: ' > ').")
    ] = None,
    side_encoding: SideEncodingOption = None,
    to_separator: Annotated[str | None, about_separator("What separates items or columns in OUT.")] = None,
    table: Annotated[str | None, about("The new table, if OUT is a database: NAME or SCHEMA.NAME.")] = None,
    source: ReadingOptions,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    """Convert data between formats.

    The extension of OUT (.dat, .csv, .jsonl, .parquet, .arrow; text also with .gz or .zst) or --to determines its format. OUT can be a
    database: --table then names the new table, which is written in one transaction. DATA can be a release folder. A long file identifies
    records by their ids, or by their numbers if they have no ids; a basket file has no ids. Converting protects nothing. With --to levels
    or --to parents, DATA is a hierarchy of items and OUT is the same hierarchy in the other shape.

    Example:
      setveil convert "sample:supermarket?records=1000" baskets.parquet
    """
    if to in get_args(Shape):
        columns = {"item_column": item_column, "path_column": path_column, "path_separator": path_separator}
        options = {"levels": levels, "paths": paths, "side_encoding": side_encoding, **columns}
        tree = convert_hierarchy(data, out, shape=cast("Shape", to), force=force, **options)
        found = {"out": out, "items": len(tree.leaves), "nodes": len(tree.nodes), "height": tree.height}
        sizes = [quantity(len(tree.leaves), "item"), quantity(len(tree.nodes), "node"), quantity(tree.height, "level")]
        sentence = f"{out}: {', '.join(sizes)} below the root"
    else:
        if out in OUTPUT_PLACES and output.json:
            raise BadParameter(
                "--json and the data would both go to standard output; write to a file, or remove --json"
            )
        read = sv.convert(data, out, to=to, to_separator=to_separator, table=table, force=force, **source.given())
        shown = f"{databases.shown(out)}, table {table}" if databases.is_database(out) else out
        items = len(read.vocabulary)
        found = {"out": shown, "records": read.records, "items": items, "occurrences": read.occurrences}
        sizes = [quantity(read.records, "record"), quantity(items, "item"), quantity(read.occurrences, "occurrence")]
        sentence = f"{shown}: {', '.join(sizes)}"
    if out in OUTPUT_PLACES:
        note(sentence.replace(out, "standard output", 1))
    elif output.json:
        say_json(found)
    else:
        say(sentence)
    return ExitCode.OK
