"""The largest rules for given items: all other items of a record imply the item.

For each distinct content with such an item e, the records are counted that hold the content, and those that hold all of it but e. The rest
of the data is read only to count the latter, and only as far as it matters. Every rule q → e with q within the content has at most as many
records as two of its items have together with e (`most`), and at least as many counterparts without e as the content. If these are enough
for `most`, no such rule is too strong, and their exact number does not matter. A sample shows for most contents that there are enough.

Contents are taken in parts of some of the items, so that memory is bounded. The parts depend on the data alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.records.ragged import BLOCK, offsets_of, read_only, record_ranges, records_of, runs, starts_of
from setveil.kernels.threads import share
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

CODES_AT_ONCE = 4_000_000
"""Number of items in the contents of a part. A single item in more contents is a part by itself."""
PAIRS_AT_ONCE = 1 << 21
"""Maximum number of pairs of items in the contents of an item that are counted; beyond it, single items are."""
ITEMS_AT_ONCE = 64
"""Number of items whose pairs are counted in one piece of work."""
SAMPLED_ONE_IN, LEAST_SAMPLED = 16, 1 << 13
"""The share of the records in the sample, and the minimum number of records in it. With fewer, there is no sample."""
MOST_CACHED = 1_000_000
"""Maximum number of largest rules that are cached: 48 MB."""


@dataclass(frozen=True, eq=False)
class LargestRules:
    """The largest rules for some items, sorted by item, then by content."""

    code: NDArray[np.int64]
    row: NDArray[np.int64]
    """For each rule: the number of its content in the part."""
    weight: NDArray[np.int64]
    """For each rule: the number of records with exactly this content."""
    most: NDArray[np.int64]
    """For each rule: more records than this hold the item together with no two items of the content, or with the only other one."""
    with_item: NDArray[np.int64]
    """For each rule: the number of records that hold the whole content; where `slack` is enough, it may be too low."""
    slack: NDArray[np.int64]
    """For each rule: the number of records that hold the other items of the content and not the item, at least up to `enough`."""

    def limited(self, confidence: Fraction) -> LargestRules:
        """Return these rules with a slack of at most what is enough for a confidence."""
        return replace(self, slack=np.minimum(self.slack, enough(self.most, confidence)))


class Part(NamedTuple):
    """The distinct contents of records with some items, how many records have each, and the largest rules for these items."""

    contents: Transactions
    weights: NDArray[np.int64]
    rules: LargestRules


def enough(most: NDArray[np.int64], confidence: Fraction) -> NDArray[np.int64]:
    """Return how many records without an item make every rule with at most `most` records with it safe, also if they become one more."""
    num, den = confidence.as_integer_ratio()
    return (most * (den - num) + den) // num + 1 if num else np.full(len(most), np.iinfo(np.int64).max // 2)


def largest_rules(data: Transactions, is_consequent: NDArray[np.bool_], confidence: Fraction) -> Iterator[Part]:
    """Yield the largest rules for these items, part by part; counts are exact where they matter for this confidence or a higher one.

    They are cached in the data, unless they are many.
    """
    key = (largest_rules.__qualname__, is_consequent.tobytes())
    counted_for, known = data.remembered.get(key, (None, ()))
    if counted_for is None or counted_for > confidence:
        counted_for, known = confidence, ()
    found: list[LargestRules] = list(known)
    for number, chosen in enumerate(_parts_of(data, is_consequent)):
        records = data.take(data.holding(chosen), ids=None)
        contents, weights, _content_of = records.distinct()
        if number == len(found):
            found.append(_counted(data, records, (contents, weights), chosen, confidence))
        yield Part(contents, weights, found[number].limited(confidence))
    if sum(len(rules.code) for rules in found) <= MOST_CACHED:
        data.remembered[key] = counted_for, tuple(found)


def _parts_of(data: Transactions, is_consequent: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    """Divide the items into parts whose records hold at most `CODES_AT_ONCE` items."""
    sizes = np.zeros(len(data.vocabulary))
    for first, last in record_ranges(data.offsets, BLOCK, BLOCK):
        borders = data.offsets[first : last + 1]
        items = data.items[borders[0] : borders[-1]]
        places = np.flatnonzero(is_consequent[items])
        lengths = np.diff(borders)[records_of(places, borders - borders[0])]
        sizes += np.bincount(items[places], lengths, len(sizes))
    codes = np.flatnonzero(sizes)
    part_of = np.zeros(len(codes), np.int64)
    size = part = 0
    for place, more in enumerate(sizes[codes].tolist()):
        if size and size + more > CODES_AT_ONCE:
            size, part = 0, part + 1
        size += more
        part_of[place] = part
    for number in range(part + 1 if len(codes) else 0):
        chosen = np.zeros(len(sizes), np.bool_)
        chosen[codes[part_of == number]] = True
        yield chosen


def _counted(
    data: Transactions,
    records: Transactions,
    known: tuple[Transactions, NDArray[np.int64]],
    chosen: NDArray[np.bool_],
    confidence: Fraction,
) -> LargestRules:
    """Count the largest rules for some items; `records` are all that hold one of these, `known` their distinct contents and weights."""
    contents, weights = known
    place = np.flatnonzero(chosen[contents.items])
    row = records_of(place, contents.offsets)
    more = contents.lengths[row] > 1  # only the empty set implies the item of a record with one item
    place, row = place[more], row[more]
    order = np.argsort(contents.items[place], kind="stable")
    place, row = place[order], row[order]
    code, size = contents.items[place].astype(np.int64), contents.lengths[row] - 1
    most, least, both = _bounds(code, row, contents, weights)
    limit = enough(most, confidence)
    held = np.empty(len(row), np.int64)
    single = size == 1
    first = contents.offsets[row]
    held[single] = data.supports[contents.items[np.where(place == first, first + 1, first)[single]]]
    several = np.flatnonzero(~single)
    held[several] = _held(data, _without(contents, row[several], place[several]), (limit + least)[several])
    uncertain = np.flatnonzero((both < least) & (held < limit + least))
    inside, which = np.unique(row[uncertain], return_inverse=True)
    whole = contents.take(inside)
    both[uncertain] = supports(records, (whole.offsets, whole.items))[which]
    slack = np.where(held < limit + least, held - both, limit)
    return LargestRules(code, row, weights[row], most, both, slack).limited(confidence)


def _bounds(
    code: NDArray[np.int64], row: NDArray[np.int64], contents: Transactions, weights: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return `most` of each rule, and the highest and the lowest number of records that may hold the whole content."""
    from setveil.mining import _largest_rules_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    most, least, both = (np.empty(len(row), np.int64) for _ in range(3))
    starts = read_only(starts_of(code, len(contents.vocabulary)))
    rules = kernels.Rules(read_only(row), most, least, both)
    records = kernels.Contents(contents.offsets, contents.items, read_only(weights))
    codes = np.flatnonzero(np.diff(starts))

    def bound(first: int, control: NDArray[np.int64]) -> None:
        some = read_only(codes[first : first + ITEMS_AT_ONCE])
        kernels.bound_rules(some, starts, rules, records, PAIRS_AT_ONCE, control)

    share("comparing records", range(0, len(codes), ITEMS_AT_ONCE), bound, total=len(codes))
    return most, least, both


def _without(
    contents: Transactions, row: NDArray[np.int64], place: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return for each (content, position of an item in it) the other items of the content, as offsets and items."""
    size = contents.lengths[row]
    places = runs(contents.offsets[row], size)
    others = places != np.repeat(place, size)
    return offsets_of(size - 1), contents.items[places[others]]


def _held(
    data: Transactions, sets: tuple[NDArray[np.int64], NDArray[np.int32]], limit: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many records hold each set, at least up to its limit."""
    offsets, items = sets
    held = np.zeros(len(limit), np.int64)
    if data.records >= SAMPLED_ONE_IN * LEAST_SAMPLED:
        sample = data.take(np.arange(0, data.records, SAMPLED_ONE_IN), ids=None)
        held = supports(sample, sets)
    left = np.flatnonzero(held < limit)
    lengths = np.diff(offsets)[left]
    held[left] = supports(data, (offsets_of(lengths), items[runs(offsets[left], lengths)]))
    return held
