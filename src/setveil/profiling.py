"""What is in a data set, and how exposed its people are.

A record is *unique by m known items* if it holds some set of at most m items that no other record holds all of: whoever
knows these items of a person finds the person's record. Supports fall as sets grow, so that only sets of m items
matter, or the whole record where it is shorter. A record with a twin, or without items, is never unique.

The search is exact. Records of equal content are laid together; then, level by level, an item's rows are scanned for
hotter items (m = 2), and the rows of a pair for a third (m = 3), skipping whatever holds no record that is still open,
and stopping as soon as no item can be a sole one. Marks of one level carry over to the next, which is why long records,
mostly unique by two items already, cost little.

Cost     m = 2: the pairs of all records, m = 3: their triples, at most; measured in benchmarks/bench_profile.py.
         Memory: about 80 bytes an occurrence, measured on 11 million.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.data.look_alikes import LookAlikes
from setveil.data.named_itemsets import NamedItemsets
from setveil.data.names_found import NameList, NamesFound
from setveil.data.sensitive_items import SensitiveItems
from setveil.data.tidying import record_numbers
from setveil.data.transactions import Transactions, Unit
from setveil.engines.local import LocalEngine
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from setveil.engines.base import Engine

MOST_KNOWN = 3
TOP_ITEMS = 10
BUCKET_ENDS = (0, 1, 2, 5, 10, 20, 50, 100, 1000)
PARTS_PER_THREAD = 32
"""So many that threads end at about the same time."""


@dataclass(frozen=True)
class LengthBucket:
    """How many records hold at least `shortest` and at most `longest` items."""

    shortest: int
    longest: int
    records: int


@dataclass(frozen=True)
class Lengths:
    """How many items the records hold.

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
    """How evenly the occurrences are spread over the items that occur; shares and Gini are None where nothing does."""

    top: tuple[PopularItem, ...]
    """The most frequent items; equal supports in label order."""
    share_of_top_1_percent: float | None
    """The share of all occurrences that the most frequent 1 % of the items hold (rounded up to a whole item)."""
    share_of_top_10_percent: float | None
    items_occurring_once: int
    gini: float | None
    """The Gini coefficient of the supports: the mean difference of two items' supports, over twice the mean support.

    0 if all items are equally frequent, near 1 if a few of very many hold nearly all occurrences.
    """


@dataclass(frozen=True)
class Uniqueness:
    """How many records are unique by at most `known` of their items, and their share of all records."""

    known: int
    records: int
    share: float | None


@dataclass(frozen=True)
class Holders:
    """Items that were asked for, the number of records that hold all of them (for sensitive items: any), and their share."""

    items: tuple[str, ...]
    records: int
    share: float | None


@dataclass(frozen=True)
class Profile:
    """What `profile` finds. Plain values; labels of the most frequent items are the only content of the data."""

    records: int
    items: int
    """The number of items that occur."""
    occurrences: int
    empty_records: int
    duplicate_records: int
    """The number of records whose content occurs more than once; empty records are alike."""
    unit: Unit
    has_ids: bool
    lengths: Lengths | None
    """None where there is no record."""
    popularity: Popularity
    unique: tuple[Uniqueness, ...]
    """For one known item, for two, and so on."""
    sensitive: Holders | None = None
    """Who holds any of the sensitive items, where some were named."""
    itemsets: tuple[Holders, ...] = ()
    """Who holds each of the itemsets that were named."""
    names: tuple[NamesFound, ...] = ()
    """Of each list that was given, how much of it occurs in the data."""
    look_alike_pairs: int = 0
    """The number of pairs of labels that differ only in Unicode form, case or invisible characters."""

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as dictionaries and lists, ready for JSON."""
        return {name: _listed(value) for name, value in asdict(self).items()}


def profile(
    data: Transactions,
    *,
    known: int = 3,
    sensitive: Sequence[str] = (),
    itemsets: Sequence[Sequence[str]] = (),
    engine: Engine | None = None,
) -> Profile:
    """Describe the data and count the records that are unique by 1 ... `known` items.

    With `sensitive` items and `itemsets` it also counts who holds any of the former, and each of the latter. A list of which nothing
    occurs in the data is refused.

    >>> found = profile(Transactions.from_lists([["milk", "bread"], ["milk"], ["bread", "tea"]]), known=2)
    >>> [level.records for level in found.unique]
    [1, 2]
    """
    if not isinstance(known, int) or not 1 <= known <= MOST_KNOWN:
        raise BadParameter(f"known is {known!r}; it must be a whole number of items from 1 to {MOST_KNOWN}")
    lists: dict[str, NameList] = {}
    if sensitive:
        lists["sensitive"] = SensitiveItems(sensitive)
    if itemsets:
        lists["itemsets"] = NamedItemsets(itemsets)
    names = tuple(named.found_in(data, parameter) for parameter, named in lists.items())
    for found in names:
        found.refuse("accept")
    engine = engine or LocalEngine()
    contents = _content_numbers(data)
    copies = np.bincount(contents)
    return Profile(
        records=data.records,
        items=int(np.count_nonzero(data.supports)),
        occurrences=data.occurrences,
        empty_records=data.empty_records,
        duplicate_records=int(copies[copies > 1].sum()),
        unit=data.unit,
        has_ids=data.ids is not None,
        lengths=_lengths(data) if data.records else None,
        popularity=_popularity(data),
        unique=tuple(
            Uniqueness(level, count, _share(count, data.records))
            for level, count in enumerate(_unique_by_level(data, contents, copies, known, engine), start=1)
        ),
        sensitive=_holders_of_any(data, sensitive) if sensitive else None,
        itemsets=_holders_of_each(data, itemsets),
        names=names,
        look_alike_pairs=LookAlikes.of(data).pairs,
    )


def unique_records(data: Transactions, known: int) -> list[int]:
    """Return how many records are unique by 1 ... `known` items: the figures of `Profile.unique`, without the rest of a profile."""
    contents = _content_numbers(data)
    return _unique_by_level(data, contents, np.bincount(contents), known, LocalEngine())


def _codes(data: Transactions, items: Sequence[str]) -> list[int]:
    """Return the codes of items, -1 for those that do not occur."""
    return [data.code_of.get(item, -1) for item in dict.fromkeys(items)]


def _holders_of_any(data: Transactions, items: Sequence[str]) -> Holders:
    held = np.flatnonzero(np.isin(data.items, _codes(data, items)))
    count = len(np.unique(np.searchsorted(data.offsets, held, side="right")))
    return Holders(tuple(items), count, _share(count, data.records))


def _holders_of_each(data: Transactions, itemsets: Sequence[Sequence[str]]) -> tuple[Holders, ...]:
    if not itemsets:
        return ()
    by_item = np.argsort(data.items, kind="stable")
    record = record_numbers(data.offsets)[by_item]
    starts = np.concatenate(([0], np.cumsum(data.supports)))
    found = []
    for items in itemsets:
        # The rarest first: what is left to look for gets no longer.
        codes = _codes(data, items)
        if -1 in codes:
            found.append(Holders(tuple(items), 0, _share(0, data.records)))
            continue
        codes.sort(key=lambda code: data.supports[code])
        holders = record[starts[codes[0]] : starts[codes[0] + 1]]
        for code in codes[1:]:
            holders = np.intersect1d(holders, record[starts[code] : starts[code + 1]], assume_unique=True)
        found.append(Holders(tuple(items), len(holders), _share(len(holders), data.records)))
    return tuple(found)


def _listed(value: Any) -> Any:
    """Turn tuples into lists, as JSON has them."""
    if isinstance(value, dict):
        return {name: _listed(inner) for name, inner in value.items()}
    return [_listed(inner) for inner in value] if isinstance(value, tuple) else value


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _content_numbers(data: Transactions) -> NDArray[np.int64]:
    """Return for each record the number of its content; contents are numbered in order of appearance."""
    width = data.items.itemsize
    contents = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), data.records, [None, pa.py_buffer(data.offsets * width), pa.py_buffer(data.items)]
    )
    return np.asarray(contents.dictionary_encode().indices, dtype=np.int64)


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
    # The sum of differences over all pairs: the i-th greatest stands above n - 1 - i others and below i.
    differences = int(((n - 1 - 2 * np.arange(n)) * falling).sum())
    return differences / (n * int(falling.sum()))


def _unique_by_level(
    data: Transactions, contents: NDArray[np.int64], copies: NDArray[np.int64], known: int, engine: Engine
) -> list[int]:
    """Count the records unique by 1 ... `known` items. The layout is that of `_profile_kernels`: one row a content."""
    from setveil import _profile_kernels  # noqa: PLC0415 - imports Numba

    kernels: Any = _profile_kernels  # without types, since Numba infers them
    n_rows, n_items = len(copies), len(data.vocabulary)
    one_of_each = np.empty(n_rows, dtype=np.int64)
    one_of_each[contents] = np.arange(data.records)
    distinct = data.take(one_of_each, ids=None)
    row_starts = distinct.offsets.copy()
    items = _recoded_by_support(distinct)
    item_starts = np.empty(n_items + 1, dtype=np.int64)
    places = np.empty(len(items), dtype=np.int64)
    rows = np.empty(len(items), dtype=np.int64)
    layout = (row_starts, items, item_starts, places, rows)
    engine.run("laying out the records", lambda _control: kernels.invert(n_rows, n_items, *layout))

    marks = np.where(copies > 1, kernels.TWIN, kernels.OPEN).astype(np.uint8)
    sole_rows = rows[item_starts[:-1][np.diff(item_starts) == 1]]
    marks[sole_rows[marks[sole_rows] == kernels.OPEN]] = kernels.UNIQUE
    counts = [int(np.count_nonzero(marks == kernels.UNIQUE))]

    # What each item costs at most: its rows are scanned to their ends, and for triples all pairs of its open rows.
    following = np.repeat(row_starts[1:], distinct.lengths) - np.arange(1, len(items) + 1)
    pairs = np.bincount(items, weights=following, minlength=n_items).astype(np.int64)

    def search(level: int, work: Callable[[tuple[int, int], Any], None], costs: NDArray[np.int64]) -> None:
        parts = _parts(costs, engine.threads * PARTS_PER_THREAD)
        engine.share(f"looking for records unique by {level} items", parts, work, total=int(costs.sum()))
        counts.append(int(np.count_nonzero(marks == kernels.UNIQUE)))

    if known >= 2:
        itself = np.arange(n_rows, dtype=np.int64)
        search(2, lambda part, control: kernels.search_pairs(*part, *layout, itself, marks, pairs, control), pairs)
    if known >= 3:
        candidate = np.repeat(marks == kernels.OPEN, distinct.lengths)
        inner_pairs = np.where(candidate, following * (following - 1) // 2, 0)
        costs = pairs + np.bincount(items, weights=inner_pairs, minlength=n_items).astype(np.int64)
        search(3, lambda part, control: kernels.search_triples(*part, *layout, marks, pairs, costs, control), costs)
    return counts


def _recoded_by_support(data: Transactions) -> NDArray[np.int32]:
    """Return the items of all records numbered by rising support, and rising within a record."""
    rank = np.empty(len(data.vocabulary), dtype=np.int64)
    rank[np.argsort(data.supports, kind="stable")] = np.arange(len(rank))
    keys = record_numbers(data.offsets) * len(rank) + rank[data.items]
    keys.sort()
    return (keys % max(len(rank), 1)).astype(np.int32)


def _parts(costs: NDArray[np.int64], wanted: int) -> list[tuple[int, int]]:
    """Cut the items into at most `wanted` ranges of about equal cost; the rarest come first, as they mark most rows."""
    up_to = np.cumsum(costs + 1)
    cuts = np.searchsorted(up_to, np.arange(1, wanted) * (up_to[-1:].sum() / wanted))
    bounds = np.unique(np.concatenate(([0], cuts, [len(costs)]))).tolist()
    return list(pairwise(bounds))
