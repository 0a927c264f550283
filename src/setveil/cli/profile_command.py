"""`setveil profile`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import setveil as sv
from setveil.cli.options import OutputOptions, ReadingOptions, ThreadsOption, about, list_separator
from setveil.cli.show import say, say_json, say_names, say_table
from setveil.errors import ExitCode
from setveil.profiling import Profile
from setveil.release.inputs import as_records


def profile(
    data: Annotated[str, about("A file, a database with --query, or a built-in sample.")],
    /,
    *,
    known: Annotated[int, about("Up to how many known items: 1, 2 or 3.")] = 3,
    sensitive: Annotated[
        str | None, about("File with one sensitive item per line. Counts the records that hold any of them.")
    ] = None,
    itemsets: Annotated[
        str | None, about("File with one itemset per line, or JSON lists in .jsonl. Counts the records that hold each.")
    ] = None,
    source: ReadingOptions,
    threads: ThreadsOption = None,
    output: OutputOptions,
) -> ExitCode:
    """Describe a data set, and how exposed its people are.

    A record is unique by m known items if it holds some m items that no other record holds together: whoever knows these of a person finds
    the person's record. The search is exact.

    Example:
      setveil profile sample:supermarket
    """
    found = sv.profile(
        as_records(data, source.given()),
        known=known,
        sensitive=sensitive or (),
        itemsets=itemsets or (),
        separator=list_separator({**asdict(source), "data": data}),
        threads=threads,
    )
    if output.json:
        say_json(found.to_dict())
    else:
        show_profile(found)
    return ExitCode.OK


def show_profile(found: Profile) -> None:
    """Print a profile for people."""
    say(f"{found.records:,} records ({found.unit}s), {found.items:,} items, {found.occurrences:,} occurrences")
    say(f"{found.empty_records:,} empty records, {found.duplicate_records:,} records that have a twin")
    if found.look_alike_pairs:
        say(f"{found.look_alike_pairs:,} pairs of labels look alike (Unicode form, case or invisible characters)")
    if found.lengths:
        n = found.lengths
        say(
            f"items a record: {n.min} to {n.max}, median {n.median}, mean {n.mean:.2f}, 90 % up to {n.p90}, 99 % up to {n.p99}"
        )
    popularity = found.popularity
    if popularity.gini is not None:
        say(
            f"the top 1 % of the items hold {popularity.share_of_top_1_percent:.1%} of all occurrences, the top 10 % "
            f"{popularity.share_of_top_10_percent:.1%} (Gini {popularity.gini:.2f}); {popularity.items_occurring_once:,} items occur once"
        )
    say_table(["most common", "records", "share"], [[i.label, i.support, f"{i.share:.1%}"] for i in popularity.top])
    say_table(
        ["known items", "unique records", "share"],
        [[u.known, u.records, _percent(u.share)] for u in found.unique],
    )
    say_names(found.names)
    if found.sensitive:
        named = found.sensitive
        say(f"{named.records:,} records ({_percent(named.share)}) hold one of the {len(named.items):,} sensitive items")
    if found.itemsets:
        rows = [[", ".join(i.items), i.records, _percent(i.share)] for i in found.itemsets]
        say_table(["itemset", "records", "share"], rows)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
