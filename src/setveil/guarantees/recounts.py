"""What a guarantee demands, as SQL: a second way to check a release, in another language and by another engine.

The queries read these tables: `released(record, item)` and `original(record, item)`, the records numbered from 1 in the order of the file;
`origin(record, original_record)`; and for disassociated data `cluster(cluster, records)` and `chunk(cluster, chunk, subrecord, copies,
item)`. A guarantee adds tables with its own parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Recount:
    """A number that a query counts, and what it must be."""

    what: str
    query: str
    """A query for one number."""
    limit: int = 0
    """The number must be this one."""
    needs_original: bool = False


@dataclass(frozen=True)
class Recounts:
    """The tables that the queries of a guarantee read, and the queries."""

    tables: tuple[str, ...] = ()
    queries: tuple[Recount, ...] = ()
    not_counted: str = ""
    """What the definition demands beside that, as a sentence."""


def sets_below(k: int, sizes: int, items: str, weight: str, same: Sequence[str]) -> list[str]:
    """Return a query for each size up to `sizes`: the number of sets of items of this size that occur, in fewer than k records.

    `items` is a table of items; rows that agree in the columns `same` belong to one row or subrecord, which counts `weight` times. The
    first of these columns that are not the last one name the bag in which the sets are counted.
    """
    queries = []
    *bag, _row = same
    for size in range(1, sizes + 1):
        names = [f"t{n}" for n in range(size)]
        joins = "".join(
            f" JOIN {items} AS {one} ON {' AND '.join(f'{one}.{column} = t0.{column}' for column in same)} AND "
            f"{one}.item > {before}.item"
            for before, one in pairwise(names)
        )
        keys = ", ".join([f"t0.{column}" for column in bag] + [f"{one}.item" for one in names])
        queries.append(
            f"SELECT count(*) FROM (SELECT 1 FROM {items} AS t0{joins} GROUP BY {keys} HAVING sum({weight}) < {k})"
        )
    return queries
