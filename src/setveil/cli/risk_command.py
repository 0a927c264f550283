"""`setveil risk`."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.cli.options import (
    ItemColumnOption,
    NamesOption,
    OutputOptions,
    ReadingOptions,
    SideEncodingOption,
    ThreadsOption,
    about,
)
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode
from setveil.release.inputs import read_place


def risk(
    data: Annotated[
        str, about("A release folder, a file, - for standard input, a database with --query, or a built-in sample.")
    ],
    /,
    *,
    known: Annotated[int, about("Maximum number of items that an attacker knows: 1, 2 or 3.")] = 3,
    sensitive: Annotated[
        str | None,
        about(
            "File with one sensitive item per line, or with a column of items. Shows how surely known items reveal them."
        ),
    ] = None,
    item_column: ItemColumnOption = None,
    side_encoding: SideEncodingOption = None,
    names: NamesOption = None,
    source: ReadingOptions,
    threads: ThreadsOption = None,
    output: OutputOptions,
) -> ExitCode:
    """Report what a file reveals to every recipient, without the original.

    Five sentences come first: how many records a few known items single out, the smallest group of records that they lead to, how surely
    they reveal a sensitive item, pairs of items that are suspiciously rare (disassociated data: certain links), and labels that look alike.

    Example:
      setveil risk "sample:supermarket?records=2000" --sensitive sample:supermarket
    """
    found = sv.risk(
        read_place(data, source.given()),
        known=known,
        sensitive=sensitive or (),
        item_column=item_column,
        side_encoding=side_encoding,
        names=names,
        threads=threads,
    )
    if output.json:
        say_json(found.to_dict())
        return ExitCode.OK
    for sentence in found.sentences:
        say(sentence)
    for table in found.tables():
        say_table(table.header, table.rows)
    return ExitCode.OK
