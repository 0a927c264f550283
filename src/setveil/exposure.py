"""Report what a file reveals without the original: `risk`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.display import ShownTable, quantity, share, to_html
from setveil.data.files.side_files import shown
from setveil.data.records.look_alikes import LookAlikes, written
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadParameter
from setveil.kernels.threads import with_threads
from setveil.mining.uniqueness import unique_records
from setveil.parameters.item_names import ItemNames, as_item_names
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.release.inputs import as_published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.names_found import NamesFound

MOST_KNOWN = 3
MOST_LISTED = 10
"""Maximum number of holes and of groups of look-alikes that are listed."""
LEAST_DEVIATION = 4
"""The deviation from which a pair counts as a hole: for a pair that is expected in e records and is in none, the square root of e."""
ITEMS_AT_ONCE = 64
"""Number of items whose pairs are compared together; it limits the memory."""
PAIRS_AT_ONCE = 1 << 24
"""Number of pairs of items that are counted while the records are read once."""
OCCURRENCES_AT_ONCE = 1 << 20
"""Number of occurrences in which pairs are counted together."""
STEPS_PER_ITEM = 100_000_000
"""Maximum number of steps of the search for the rules of one sensitive item."""
STEPS_FOR_GROUPS = 300_000_000
"""Maximum number of steps of each search for rare itemsets."""


@dataclass(frozen=True)
class Uniqueness:
    """The number of records that at most `known` of their items identify uniquely, and their share of all records."""

    known: int
    records: int
    share: float | None


@dataclass(frozen=True)
class SmallestGroup:
    """The smallest number of records that hold the same `known` or fewer items, over all such itemsets that occur."""

    known: int
    records: int
    exact: bool = True
    """Whether this is the smallest number; otherwise the search ended early, and it is a lower bound."""


@dataclass(frozen=True)
class Inference:
    """How surely known items reveal a sensitive item: the rule known items → item with the highest confidence."""

    known: tuple[str, ...]
    item: str
    with_item: int
    """The number of records that hold the known items and the sensitive item."""
    records: int
    """The number of records that hold the known items."""
    items: int
    """The number of sensitive items that occur; in generalized data also of nodes that represent one."""
    likely_items: int
    """The number of these that some known items reveal with a confidence above 50 %."""
    exact: bool = True
    """Whether no rule has a higher confidence; otherwise the search ended early."""

    @property
    def confidence(self) -> float:
        """The share of the records with the known items that hold the sensitive item."""
        return self.with_item / self.records


@dataclass(frozen=True)
class Hole:
    """Two items that are together in far fewer records than if they were independent."""

    items: tuple[str, str]
    records: int
    expected: float
    """The product of the supports, divided by the number of records."""


@dataclass(frozen=True)
class Risk:
    """The result of `risk`: what the file reveals without the original. It names items."""

    form: str
    """The form of the data, such as `plain records` or `disassociated data`."""
    records: int
    items: int
    unique: tuple[Uniqueness, ...]
    """For one known item, for two, and so on; empty if the form does not show records."""
    smallest: tuple[SmallestGroup, ...]
    """For one known item, for two, and so on; empty if no item occurs."""
    sensitive: NamesFound | None = None
    """How many of the given sensitive items occur."""
    inference: Inference | None = None
    """None if no sensitive item was given or occurs, or if the form does not show which record holds which item."""
    certain_links: int | None = None
    """Pairs of items in different chunks of a cluster of which one is in all records; None for other forms than disassociated data."""
    forced_links: int | None = None
    """Pairs of items in different record chunks of a cluster that some record must hold together; this includes certain links."""
    holes: tuple[Hole, ...] = ()
    """The pairs furthest below their expected support, the furthest first."""
    hole_count: int | None = None
    """The number of such pairs, listed or not; None if the form does not show records."""
    look_alikes: tuple[tuple[str, ...], ...] = ()
    """The first groups of labels that differ only in Unicode form, case or invisible characters."""
    look_alike_pairs: int = 0
    item_names: dict[str, str] = field(default_factory=dict)
    """The names of the items above, if names were given."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in five sentences."""
        found = (
            self._about_unique(),
            self._about_smallest(),
            self._about_inference(),
            self._about_pairs(),
            self._about_look_alikes(),
        )
        return tuple(map(ItemNames(self.item_names).in_sentence, found))

    @property
    def _items_shown(self) -> tuple[str, ...]:
        """The items that sentences and tables name."""
        inferred = () if self.inference is None else (*self.inference.known, self.inference.item)
        return (*inferred, *(item for hole in self.holes for item in hole.items))

    def with_names(self, names: ItemNames) -> Risk:
        """Return the same result with the names of the items that it shows."""
        return replace(self, item_names=names.among(self._items_shown))

    def _about_unique(self) -> str:
        if not self.unique:
            return f"The file holds {self.form}: it does not show which parts form one record, so no row is a person's record."
        level = self.unique[min(1, len(self.unique) - 1)]
        known = quantity(level.known, "known item")
        verb = "singles" if level.known == 1 else "single"
        of_all = "" if level.share is None else f" ({share(level.share)})"
        return f"{known} {verb} out {level.records:,} of {quantity(self.records, 'record')}{of_all}."

    def _about_smallest(self) -> str:
        if not self.smallest:
            return "No record holds an item."
        level = self.smallest[min(1, len(self.smallest) - 1)]
        records = quantity(level.records, "record")
        items = "item" if level.known == 1 else f"{level.known} or fewer items"
        if not self.unique:
            return (
                f"For any {items} that an attacker knows of a person, at least {records} of some cluster may hold them."
            )
        if level.records == 1 and level.exact:
            return f"Some {'item is' if level.known == 1 else f'set of {items} is'} in a single record."
        return f"Any {items} that some record holds {'is' if level.known == 1 else 'are'} in at least {records}."

    def _about_inference(self) -> str:
        if self.sensitive is None:
            return "No sensitive items were named, so what known items reveal about them was not computed."
        found = self.inference
        if found is None and self.sensitive.occur:
            return f"What known items reveal about sensitive items is not computed for {self.form}."
        if found is None:
            return "The file holds none of the named sensitive items; compare the spelling."
        known = "Any record" if not found.known else "{" + ", ".join(map(shown, found.known)) + "}"
        at_least = "" if found.exact else "at least "
        return (
            f"{known} reveals {shown(found.item)} with a confidence of {at_least}{share(found.confidence)} "
            f"({found.with_item:,} of {quantity(found.records, 'record')}); {found.likely_items:,} of "
            f"{quantity(found.items, 'sensitive item')} can be inferred with more than 50 %."
        )

    def _about_pairs(self) -> str:
        if self.certain_links is not None:
            links = quantity(
                self.certain_links, "link between items of a cluster is", "links between items of a cluster are"
            )
            return f"{links} certain, although the items are in different chunks."
        if not self.holes:
            return "No two items are together in far fewer records than if they were independent."
        first, second = map(shown, self.holes[0].items)
        pairs = quantity(self.hole_count or 0, "pair of items is", "pairs of items are")
        return (
            f"{pairs} in far fewer records than if the items were independent, as a hidden itemset can be; the furthest is {first} and "
            f"{second}, in {self.holes[0].records:,} instead of {self.holes[0].expected:,.0f}."
        )

    def _about_look_alikes(self) -> str:
        if not self.look_alike_pairs:
            return "No two labels look alike."
        one, other = map(written, self.look_alikes[0][:2])
        pairs = quantity(self.look_alike_pairs, "pair of labels looks", "pairs of labels look")
        return f"{pairs} alike, such as {one} and {other}: if one of them is protected, the other may not be."

    def tables(self) -> tuple[ShownTable, ...]:
        """Return the figures as tables for people."""
        groups = {
            level.known: f"{level.records:,}" if level.exact else f"at least {level.records:,}"
            for level in self.smallest
        }
        unique = {level.known: level for level in self.unique}
        rows = []
        for known in sorted(groups | unique):
            level = unique.get(known)
            cells = ("–", "–") if level is None else (level.records, "–" if level.share is None else share(level.share))
            rows.append((known, *cells, groups.get(known, "–")))
        found = [ShownTable(rows, ("known items", "unique records", "share", "smallest group"))]
        if self.certain_links is not None:
            found.append(ShownTable([(self.certain_links, self.forced_links)], ("certain links", "forced links")))
        if self.holes:
            names = ItemNames(self.item_names)
            holes = [
                (" and ".join(map(names.text, one.items)), one.records, f"{one.expected:,.0f}") for one in self.holes
            ]
            found.append(ShownTable(holes, ("pair of items", "records", "if independent")))
        if self.look_alikes:
            found.append(
                ShownTable(
                    [[", ".join(map(written, group))] for group in self.look_alikes], ("labels that look alike",)
                )
            )
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as dictionaries and lists, ready for JSON."""
        found: dict[str, Any] = as_lists({"sentences": self.sentences, **asdict(self)})
        if self.inference is not None:
            found["inference"]["confidence"] = self.inference.confidence
        return found

    def __str__(self) -> str:
        return "\n".join((*self.sentences, "", *(table.to_text() for table in self.tables())))

    def _repr_html_(self) -> str:
        return to_html(ShownTable([(sentence,) for sentence in self.sentences], title="Risk"), *self.tables())


@with_threads
@check_arguments
def risk(
    data: Any,
    *,
    known: int = 3,
    sensitive: Sequence[str] | str | Path = (),
    item_column: str | None = None,
    side_encoding: str | None = None,
    names: Mapping[str, str] | str | Path | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Risk:
    """Report what a file reveals to every recipient, without the original.

    Parameters
    ----------
    data : str, Path, Transactions, list of lists of str, data frame or Arrow table
        A release folder or any other data: anything that `read` accepts or returns, lists of items, or a table.
    known : int, default: 3
        Maximum number of items that an attacker knows, from 1 to 3.
    sensitive : list of str, str or Path, optional
        Sensitive items, or a file with one per line or with a column of items. The result shows how surely known items reveal them.
    item_column : str, optional
        The column of the file that holds the items.
    side_encoding : str, optional
        The encoding of the file, if it is not UTF-8.
    names : mapping of str to str, str or Path, optional
        The names of items that are codes, or a file with them as for `read_names`; the result shows them beside the codes.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    Risk
        `sentences` holds the findings as five sentences, and `to_dict()` returns plain values.

    Raises
    ------
    BadParameter
        If a parameter has a value that is not allowed, or the data are several sets of records.
    BadData
        If a file cannot be read as data or as a list.

    Examples
    --------
    >>> import setveil as sv
    >>> found = sv.risk([["milk", "bread"], ["milk", "bread"], ["bread", "tea"]], known=2)
    >>> found.sentences[0]
    '2 known items single out 1 of 3 records (33.3 %).'
    """
    refuse_known(known)
    published = as_published(data)
    rows = _rows_of(published, data)
    if isinstance(sensitive, str | Path):
        options = {"item_column": item_column, "side_encoding": side_encoding}
        named: SensitiveItems | None = SensitiveItems.read(sensitive, data=published, **options)
    else:
        named = SensitiveItems(sensitive) if len(sensitive) else None
    unique = () if rows is None else unique_shares(unique_records(rows, known), rows.records)
    links = _links(published) if rows is None else None
    holes, hole_count = ((), None) if rows is None else _holes(rows)
    alike = LookAlikes.among(published.labels_shown)
    item_names = as_item_names(names, published, item_column, side_encoding)
    found = Risk(
        form=published.form_title,
        records=published.records,
        items=int(np.count_nonzero(published.supports)),
        unique=unique,
        smallest=_smallest_groups(published, rows, known, unique),
        sensitive=None if named is None else named.found_in(published, "sensitive"),
        inference=_inference(published, named) if named is not None and published.rows_are_records else None,
        certain_links=None if links is None else links[0],
        forced_links=None if links is None else links[1],
        holes=holes,
        hole_count=hole_count,
        look_alikes=alike.groups[:MOST_LISTED],
        look_alike_pairs=alike.pairs,
    )
    return found.with_names(item_names)


def refuse_known(known: int) -> None:
    """Refuse a number of known items that the search does not support."""
    if not isinstance(known, int) or not 1 <= known <= MOST_KNOWN:
        raise BadParameter(f"known is {known!r}; it must be a whole number of items from 1 to {MOST_KNOWN}")


def unique_shares(counts: Sequence[int], records: int) -> tuple[Uniqueness, ...]:
    """Return the numbers of records unique by 1, 2, … items with their shares."""
    return tuple(
        Uniqueness(level, count, count / records if records else None) for level, count in enumerate(counts, start=1)
    )


def as_lists(value: Any) -> Any:
    """Return a value with tuples as lists, as JSON has them."""
    if isinstance(value, dict):
        return {name: as_lists(inner) for name, inner in value.items()}
    return [as_lists(inner) for inner in value] if isinstance(value, tuple) else value


def _rows_of(published: Published, given: Any) -> Transactions | None:
    """Return the rows in which an attacker looks for a person; None if the form shows only parts of records."""
    if published.has_support_bounds:
        return None
    if published.row_parts is None:
        place = f"{given} holds" if isinstance(given, str | Path) else "these are"
        raise BadParameter(f"{place} {published.why_not_plain}")
    return published.row_parts


def _smallest_groups(
    published: Published, rows: Transactions | None, known: int, unique: tuple[Uniqueness, ...]
) -> tuple[SmallestGroup, ...]:
    """Return for 1, 2, … known items the highest k for which the data are k^m-anonymous."""
    from setveil.guarantees.km_anonymity import KmAnonymity  # noqa: PLC0415 - `profile` needs no guarantee

    if not np.count_nonzero(published.supports):
        return ()
    checked = published if rows is None else rows
    found: list[SmallestGroup] = []
    most = published.records if rows is None else int(rows.supports[rows.supports > 0].min(initial=rows.records))
    for m in range(1, known + 1):
        if unique and unique[m - 1].records:
            found.append(SmallestGroup(m, 1))
            continue
        if m == 1 and rows is not None:
            found.append(SmallestGroup(1, most))
            continue
        least, exact = 1, True
        step = 1
        while least < most:
            k = min(least + step, most)
            verdict = KmAnonymity(k=k, m=m, budget=STEPS_FOR_GROUPS).check(checked)
            if verdict.status == "undecided":
                exact, most = False, k - 1  # a larger k takes longer
            elif verdict:
                least, step = k, 2 * step
            else:
                most, step = k - 1, 1 if step == 1 else step // 2
        found.append(SmallestGroup(m, least, exact))
    return tuple(found)


def _inference(published: Any, named: SensitiveItems) -> Inference | None:
    """Return the rule with the highest confidence for a sensitive item.

    A rule whose confidence exceeds that of the best one known is searched for, until there is none.
    """
    from setveil.mining.rule_search import strongest_rules  # noqa: PLC0415 - only where items are named

    rows, is_sensitive = published.rows, published.can_stand_for(named)
    if not rows.supports[is_sensitive].any():
        return None

    def above(confidence: Fraction) -> Any:
        return strongest_rules(rows, is_sensitive, confidence, include_empty=True, budget=STEPS_PER_ITEM)

    found = above(Fraction(1, 2))
    occurring, likely = int(np.count_nonzero(rows.supports[is_sensitive])), len(found.items)
    if not likely:
        found = above(Fraction(0))
    while True:
        together = found.with_item + found.without_item
        place = int(np.lexsort((found.with_item, found.with_item / together))[-1])
        best = Fraction(int(found.with_item[place]), int(together[place]))
        rule = tuple(rows.vocabulary[code] for code in found.sets[place])
        item = rows.vocabulary[found.items[place]]
        counts = int(found.with_item[place]), int(together[place])
        if best == 1:
            return Inference(rule, item, *counts, occurring, likely)
        found = above(best)
        if not len(found.items):
            return Inference(rule, item, *counts, occurring, likely, exact=not found.undecided)


def _links(published: Any) -> tuple[int, int]:
    """Return the numbers of certain and forced links of disassociated data."""
    from setveil.mining.chunk_links import chunk_links  # noqa: PLC0415 - one form needs it

    found = chunk_links(published)
    return found.certain + found.certain_to_terms, found.forced


def _holes(data: Transactions) -> tuple[tuple[Hole, ...], int]:
    """Return the pairs of items that are furthest below their expected support, and the number of all such pairs.

    The deviation of a pair is (expected - seen) / sqrt(expected), expected = product of the supports / records.
    """
    needed = LEAST_DEVIATION**2 * data.records
    kept = np.flatnonzero(data.supports * int(data.supports.max(initial=0)) >= max(needed, 1))
    if len(kept) < 2:
        return (), 0
    supports = data.supports[kept].astype(np.float64)
    count, parts = 0, []
    for first, seen in _pairs_counted(data, kept):
        expected = np.outer(supports[first : first + len(seen)], supports) / data.records
        deviation = (expected - seen) / np.sqrt(expected)
        one, other = np.nonzero(deviation >= LEAST_DEVIATION)
        later = other > one + first
        one, other = one[later], other[later]
        count += len(one)
        best = _first_of(deviation[one, other])
        one, other = one[best], other[best]
        parts.append((one + first, other, seen[one, other], deviation[one, other]))
    one, other, seen, deviation = map(np.concatenate, zip(*parts, strict=True))
    return tuple(
        Hole(
            (data.vocabulary[kept[one[place]]], data.vocabulary[kept[other[place]]]),
            int(seen[place]),
            float(supports[one[place]] * supports[other[place]] / data.records),
        )
        for place in _first_of(deviation)
    ), count


def _pairs_counted(data: Transactions, kept: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the number of records that hold each pair of kept items, for some first items at a time, with the place of the first one."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    number = np.full(len(data.vocabulary), -1, np.int64)
    number[kept] = np.arange(len(kept))
    at_once = max(PAIRS_AT_ONCE // len(kept), ITEMS_AT_ONCE)
    starts = range(0, len(kept), at_once)
    with progress.step("counting pairs of items", len(starts) * data.records) as advance:
        for turn, start in enumerate(starts):
            counts = np.zeros((min(at_once, len(kept) - start), len(kept)), np.int64)
            for first, piece in data.pieces(OCCURRENCES_AT_ONCE):
                column = number[piece.items]
                is_kept = column >= 0
                column, offsets = column[is_kept], offsets_of(is_kept)[piece.offsets]
                ones = np.ones(len(column), np.int32)
                held = csr_array((ones, column, offsets), shape=(piece.records, len(kept)))
                both = (held.T.tocsr()[start : start + at_once] @ held).tocoo()
                counts[both.row, both.col] += both.data
                advance(turn * data.records + first + piece.records)
            for place in range(0, len(counts), ITEMS_AT_ONCE):
                yield start + place, counts[place : place + ITEMS_AT_ONCE]


def _first_of(deviation: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of the largest deviations; the first of equal ones come first."""
    return np.argsort(-deviation, kind="stable")[:MOST_LISTED]
