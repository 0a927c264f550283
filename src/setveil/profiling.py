"""Profile a data set: its size, its items, and how many records a few known items single out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.base.display import ShownTable, quantity, share, to_html
from setveil.data.records.look_alikes import LookAlikes
from setveil.data.records.ragged import BLOCK, sums_within
from setveil.data.records.transactions import Transactions, Unit
from setveil.errors import BadParameter
from setveil.exposure import Uniqueness, as_lists, refuse_known, unique_shares
from setveil.kernels.threads import with_threads
from setveil.mining.supports import supports
from setveil.mining.uniqueness import Contents, unique_by_level
from setveil.parameters.item_names import ItemNames, as_item_names
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.names_found import NameList, NamesFound
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.release.inputs import as_records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


TOP_ITEMS = 10
MOST_SHOWN = 1000
"""Maximum number of records that a profile shows."""
BUCKET_ENDS = (0, 1, 2, 5, 10, 20, 50, 100, 1000)


@dataclass(frozen=True)
class LengthBucket:
    """The number of records with at least `shortest` and at most `longest` items."""

    shortest: int
    longest: int
    records: int


@dataclass(frozen=True)
class Lengths:
    """The number of items per record.

    `median`, `p90` and `p99` are the smallest lengths that at least 50, 90 and 99 % of the records do not exceed.
    """

    min: int
    median: int
    mean: float
    p90: int
    p99: int
    max: int
    histogram: tuple[LengthBucket, ...]


@dataclass(frozen=True)
class PopularItem:
    """An item, the number of records that hold it, and their share of all records."""

    label: str
    support: int
    share: float


@dataclass(frozen=True)
class Popularity:
    """How evenly the occurrences are distributed over the items that occur; shares and Gini are None if no item occurs."""

    top: tuple[PopularItem, ...]
    """The most frequent items; items of equal support in label order."""
    share_of_top_1_percent: float | None
    """The share of all occurrences that belong to the most frequent 1 % of the items (rounded up to a whole item)."""
    share_of_top_10_percent: float | None
    items_occurring_once: int
    gini: float | None
    """The Gini coefficient of the supports: the mean difference of two items' supports, over twice the mean support.

    0 if all items are equally frequent, near 1 if a few of very many items have nearly all occurrences.
    """


@dataclass(frozen=True)
class Holders:
    """The given items, the number of records that hold all of them (sensitive items: any of them), and their share of all records."""

    items: tuple[str, ...]
    records: int
    share: float | None


@dataclass(frozen=True)
class ShownRecord:
    """A record as it was read; `id` is None for data without ids."""

    id: str | None
    items: tuple[str, ...]


@dataclass(frozen=True)
class Profile:
    """The result of `profile`: plain values. It contains no data but the labels of the most frequent items, and the records to show."""

    records: int
    items: int
    """The number of items that occur."""
    occurrences: int
    empty_records: int
    duplicate_records: int
    """The number of records whose content occurs more than once; empty records are equal to each other."""
    unit: Unit
    has_ids: bool
    lengths: Lengths | None
    """None if there is no record."""
    popularity: Popularity
    unique: tuple[Uniqueness, ...]
    """For one known item, for two, and so on."""
    sensitive: Holders | None = None
    """The records that hold any sensitive item, if sensitive items were given."""
    itemsets: tuple[Holders, ...] = ()
    """The records that hold each of the given itemsets."""
    names: tuple[NamesFound, ...] = ()
    """How many names of each given list occur in the data."""
    look_alike_pairs: int = 0
    """The number of pairs of labels that differ only in Unicode form, case or invisible characters."""
    item_names: dict[str, str] = field(default_factory=dict)
    """The names of the items above, if names were given."""
    first: tuple[ShownRecord, ...] = ()
    """The first records, as many as `show` asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as dictionaries and lists, ready for JSON."""
        found: dict[str, Any] = as_lists(asdict(self))
        return found

    def first_rows(self) -> list[tuple[str, str]]:
        """Return the first records as rows of a table, items with their names."""
        names = ItemNames(self.item_names)
        return [("" if one.id is None else one.id, ", ".join(map(names.text, one.items))) for one in self.first]

    def _repr_html_(self) -> str:
        counts = ("records", "items", "occurrences", "empty_records", "duplicate_records", "look_alike_pairs")
        rows: list[tuple[str, Any]] = [(name.replace("_", " "), getattr(self, name)) for name in counts]
        rows += [("a record is", f"a {self.unit}"), ("ids", self.has_ids)]
        if self.lengths:
            n = self.lengths
            rows.append(("items per record", f"{n.min:,} to {n.max:,}, median {n.median:,}, mean {n.mean:,.2f}"))
        rows += [(one.parameter, f"{one.occur:,} of {one.named:,} named {one.noun} occur") for one in self.names]
        if self.sensitive:
            rows.append(("hold a sensitive item", quantity(self.sensitive.records, "record")))
        unique = [(one.known, one.records, _percent(one.share)) for one in self.unique]
        names = ItemNames(self.item_names)
        top = [(names.text(one.label), one.support, _percent(one.share)) for one in self.popularity.top]
        named = [(names.listed(one.items), one.records, _percent(one.share)) for one in self.itemsets]
        return to_html(
            ShownTable(rows, title="Profile"),
            ShownTable(unique, ["known items", "unique records", "share"]),
            ShownTable(top, ["most frequent item", "records", "share"]),
            *([ShownTable(named, ["itemset", "records", "share"])] if named else []),
            *([ShownTable(self.first_rows(), ["id", "items"], title="First records")] if self.first else []),
        )


@with_threads
@check_arguments
def profile(
    data: Any,
    *,
    known: int = 3,
    sensitive: Sequence[str] | str | Path = (),
    itemsets: Sequence[Sequence[str]] | str | Path = (),
    separator: str | None = None,
    item_column: str | None = None,
    side_encoding: str | None = None,
    names: Mapping[str, str] | str | Path | None = None,
    show: int = 0,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Profile:
    """Describe a data set, and count the records that 1, 2, … `known` of their items identify uniquely.

    Parameters
    ----------
    data : str, Path, Transactions, list of lists of str, data frame or Arrow table
        The data: anything that `read` accepts (a file, a sample, a database, a release folder) or returns, lists of items, or a table.
    known : int, default: 3
        Maximum number of known items, from 1 to 3.
    sensitive : list of str, str or Path, optional
        Sensitive items, or a file with one per line. The profile counts the records that hold any of them.
    itemsets : list of lists of str, str or Path, optional
        Itemsets, or a file with one per line. The profile counts the records that hold each of them.
    separator : str, optional
        The separator between items in a file of itemsets.
    item_column : str, optional
        The column of these files that holds the items.
    side_encoding : str, optional
        The encoding of these files, if they are not UTF-8.
    names : mapping of str to str, str or Path, optional
        The names of items that are codes, or a file with them as for `read_names`; the result shows them beside the codes.
    show : int, default: 0
        Number of records to show as they were read, from the first one, at most 1,000.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    Profile
        Counts, lengths, the most frequent items and the numbers of unique records; `to_dict()` returns plain values.

    Raises
    ------
    BadParameter
        If a parameter has a value that is not allowed.
    BadData
        If a file cannot be read as data or as a list, or no name of a list occurs in the data.

    Examples
    --------
    >>> import setveil as sv
    >>> found = sv.profile([["milk", "bread"], ["milk"], ["bread", "tea"]], known=2)
    >>> [level.records for level in found.unique]
    [1, 2]
    """
    refuse_known(known)
    if not 0 <= show <= MOST_SHOWN:
        allowed = f"a whole number from 0 to {MOST_SHOWN:,}"
        raise BadParameter(f"show is {show}; allowed is {allowed}", parameter="show", given=str(show), allowed=allowed)
    data = as_records(data)
    options = {"item_column": item_column, "side_encoding": side_encoding}
    if isinstance(sensitive, str | Path):
        sensitive = list(SensitiveItems.read(sensitive, data=data, **options))
    if isinstance(itemsets, str | Path):
        itemsets = list(NamedItemsets.read(itemsets, separator=separator, **options))
    lists: dict[str, NameList] = {}
    if sensitive:
        lists["sensitive"] = SensitiveItems(sensitive)
    if itemsets:
        lists["itemsets"] = NamedItemsets(itemsets)
    lists_found = tuple(named.found_in(data, parameter) for parameter, named in lists.items())
    for found in lists_found:
        found.refuse("accept")
    popularity = _popularity(data)
    shown = [one.label for one in popularity.top] + [item for items in itemsets for item in items]
    first = _first(data, show)
    shown += [item for one in first for item in one.items]
    contents = Contents.of(data)
    return Profile(
        records=data.records,
        items=int(np.count_nonzero(data.supports)),
        occurrences=data.occurrences,
        empty_records=data.empty_records,
        duplicate_records=int(np.count_nonzero(contents.has_twin)),
        unit=data.unit,
        has_ids=data.ids is not None,
        lengths=_lengths(data) if data.records else None,
        popularity=popularity,
        unique=unique_shares(unique_by_level(data, contents, known), data.records),
        sensitive=_holders_of_any(data, sensitive) if sensitive else None,
        itemsets=_holders_of_each(data, itemsets),
        names=lists_found,
        look_alike_pairs=LookAlikes.of(data).pairs,
        item_names=as_item_names(names, data, item_column, side_encoding).among(shown),
        first=first,
    )


def _first(data: Transactions, count: int) -> tuple[ShownRecord, ...]:
    last = min(count, data.records)
    ids = [None] * last if data.ids is None else data.ids[:last].to_pylist()
    lists = data.lists(0, last).to_pylist()
    return tuple(ShownRecord(one, tuple(items)) for one, items in zip(ids, lists, strict=True))


def _codes(data: Transactions, items: Sequence[str]) -> list[int]:
    """Return the codes of items, -1 for those that do not occur."""
    return [data.code_of.get(item, -1) for item in dict.fromkeys(items)]


def _holders_of_any(data: Transactions, items: Sequence[str]) -> Holders:
    is_one = np.zeros(len(data.vocabulary) + 1, np.bool_)  # the last one is for items that do not occur
    is_one[_codes(data, items)] = True
    count = sum(
        int(np.count_nonzero(sums_within(piece.offsets, is_one[piece.items]))) for _first, piece in data.pieces(BLOCK)
    )
    return Holders(tuple(items), count, _share(count, data.records))


def _holders_of_each(data: Transactions, itemsets: Sequence[Sequence[str]]) -> tuple[Holders, ...]:
    return tuple(
        Holders(tuple(items), count, _share(count, data.records))
        for items, count in zip(itemsets, supports(data, itemsets).tolist(), strict=True)
    )


def _percent(value: float | None) -> str:
    return "–" if value is None else share(value)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _lengths(data: Transactions) -> Lengths:
    by_length = np.bincount(data.lengths)
    up_to = np.cumsum(by_length)
    longest = len(by_length) - 1

    def percentile(percent: int) -> int:
        return int(np.searchsorted(up_to * 100, percent * data.records))

    ends = [end for end in BUCKET_ENDS if end < longest] + [longest]
    starts = [0] + [end + 1 for end in ends[:-1]]
    return Lengths(
        min=int(data.lengths.min()),
        median=percentile(50),
        mean=data.occurrences / data.records,
        p90=percentile(90),
        p99=percentile(99),
        max=longest,
        histogram=tuple(
            LengthBucket(start, end, int(by_length[start : end + 1].sum()))
            for start, end in zip(starts, ends, strict=True)
        ),
    )


def _popularity(data: Transactions) -> Popularity:
    falling = np.argsort(-data.supports, kind="stable")
    supports = data.supports[falling]
    supports = supports[supports > 0]
    held = np.cumsum(supports)

    def share_of_top(percent: int) -> float | None:
        return float(held[-(-len(supports) * percent // 100) - 1] / held[-1]) if len(supports) else None

    return Popularity(
        top=tuple(
            PopularItem(data.vocabulary[code], int(support), int(support) / data.records)
            for code, support in zip(falling[:TOP_ITEMS], supports[:TOP_ITEMS], strict=False)
        ),
        share_of_top_1_percent=share_of_top(1),
        share_of_top_10_percent=share_of_top(10),
        items_occurring_once=int(np.count_nonzero(supports == 1)),
        gini=_gini(supports),
    )


def _gini(falling: NDArray[np.int64]) -> float | None:
    n = len(falling)
    if n == 0:
        return None
    # The sum of differences over all pairs: the i-th largest is above n - 1 - i others and below i.
    differences = int(((n - 1 - 2 * np.arange(n)) * falling).sum())
    return differences / (n * int(falling.sum()))
