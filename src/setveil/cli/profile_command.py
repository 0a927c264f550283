"""`setveil profile`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import setveil as sv
from setveil.base.display import quantity, share
from setveil.cli.options import (
    ItemColumnOption,
    NamesOption,
    OutputOptions,
    ReadingOptions,
    SideEncodingOption,
    ThreadsOption,
    about,
    list_separator,
)
from setveil.cli.show import say, say_json, say_names, say_table
from setveil.errors import ExitCode
from setveil.profiling import Profile
from setveil.release.inputs import as_records


def profile(
    data: Annotated[
        str, about("A file, - for standard input, a release folder, a database with --query, or a built-in sample.")
    ],
    /,
    *,
    known: Annotated[int, about("Maximum number of items that an attacker knows: 1, 2 or 3.")] = 3,
    sensitive: Annotated[
        str | None,
        about(
            "File with one sensitive item per line, or with a column of items. Counts the records that hold any of them."
        ),
    ] = None,
    itemsets: Annotated[
        str | None, about("File with one itemset per line, or JSON lists in .jsonl. Counts the records that hold each.")
    ] = None,
    item_column: ItemColumnOption = None,
    side_encoding: SideEncodingOption = None,
    names: NamesOption = None,
    show: Annotated[int, about("Number of records to show as they were read, from the first one.")] = 0,
    source: ReadingOptions,
    threads: ThreadsOption = None,
    output: OutputOptions,
) -> ExitCode:
    """Describe a data set, and how exposed its people are.

    A record is unique by m known items if it holds m items that no other record holds together. An attacker who knows these items of a
    person finds the person's record. The search is exact.

    Example:
      setveil profile sample:supermarket
    """
    found = sv.profile(
        as_records(data, source.given()),
        known=known,
        sensitive=sensitive or (),
        itemsets=itemsets or (),
        separator=list_separator({**asdict(source), "data": data}),
        item_column=item_column,
        side_encoding=side_encoding,
        names=names,
        show=show,
        threads=threads,
    )
    if output.json:
        say_json(found.to_dict())
    else:
        show_profile(found)
    return ExitCode.OK


def show_profile(found: Profile) -> None:
    """Print a profile for people."""
    sizes = [
        quantity(found.records, "record"),
        quantity(found.items, "item"),
        quantity(found.occurrences, "occurrence"),
    ]
    say(", ".join(sizes))
    say("each record is one person" if found.unit == "person" else "a person can have several records")
    say(
        f"{quantity(found.empty_records, 'empty record')}, {quantity(found.duplicate_records, 'record')} identical to another one"
    )
    if found.look_alike_pairs:
        pairs = quantity(found.look_alike_pairs, "pair of labels that look alike", "pairs of labels that look alike")
        say(f"{pairs}: they differ only in Unicode form, case or invisible characters")
    if found.lengths:
        n = found.lengths
        say(
            f"items per record: {n.min} to {n.max}, median {n.median}, mean {n.mean:.2f}; "
            f"90 % of the records hold at most {quantity(n.p90, 'item')}, 99 % at most {n.p99}"
        )
    popularity = found.popularity
    if popularity.gini is not None:
        say(
            f"share of all occurrences: {_percent(popularity.share_of_top_1_percent)} for the most frequent 1 % of the items, "
            f"{_percent(popularity.share_of_top_10_percent)} for the most frequent 10 % (Gini coefficient {popularity.gini:.2f}); "
            f"{quantity(popularity.items_occurring_once, 'item occurs', 'items occur')} once"
        )
    names = sv.ItemNames(found.item_names)
    say_table(
        ["most frequent", "records", "share"],
        [[names.text(i.label), i.support, share(i.share)] for i in popularity.top],
    )
    say_table(
        ["known items", "unique records", "share"],
        [[u.known, u.records, _percent(u.share)] for u in found.unique],
    )
    if found.first:
        say_table(["id", "items"], found.first_rows(), title="First records")
    say_names(found.names)
    if found.sensitive:
        named = found.sensitive
        records = quantity(named.records, "record")
        verb = "holds" if named.records == 1 else "hold"
        number = len(named.items)
        items = "the sensitive item" if number == 1 else f"at least one of the {number:,} sensitive items"
        say(f"{records} ({_percent(named.share)}) {verb} {items}")
    if found.itemsets:
        rows = [[names.listed(i.items), i.records, _percent(i.share)] for i in found.itemsets]
        say_table(["itemset", "records", "share"], rows)


def _percent(value: float | None) -> str:
    return "–" if value is None else share(value)
