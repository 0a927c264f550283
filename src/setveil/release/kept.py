"""What a release keeps of its original: occurrences, items, records as they are, and how much of it is true.

An occurrence is kept if the release still shows its item: of an item in 10 original and 7 released records, 7 occurrences are kept,
whichever records hold them. `records_changed` and `false_content` show what moved. All figures are about the original: they belong to the
console, the dossier and the report, never to the card.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.disassociated import Disassociated
from setveil.data.generalized import Generalized
from setveil.data.grouped import Grouped
from setveil.data.neighbours import Neighbours
from setveil.data.records.ragged import owner_of
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import shared_items
from setveil.metrics.generalization import lowest_shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.published import Published
    from setveil.data.records.alignment import Alignment
    from setveil.data.sensitive_items import SensitiveItems

LESS_EXACTLY: dict[type, str] = {
    Disassociated: "in term chunks only",
    Generalized: "shown as a group of items only",
    Grouped: "counted for a group of records only",
}
"""How a release of a form names what it does not keep as it was."""


@dataclass(frozen=True)
class Part:
    """A number of a whole; `less_exactly` counts further ones that the release names in a way that says less."""

    number: int
    of: int
    less_exactly: int = 0

    @property
    def gone(self) -> int:
        """How many the release does not name at all."""
        return self.of - self.number - self.less_exactly

    @property
    def share(self) -> float:
        """The number as a share of the whole; 0 of nothing."""
        return self.number / self.of if self.of else 0.0

    def __str__(self) -> str:
        return f"{self.number:,} of {self.of:,}"

    def percent(self) -> str:
        """Return the share in percent; only none is 0 %, and only all is 100 %."""
        percent = 100 * self.share
        if 0 < self.number < self.of and not 0.1 <= percent <= 99.9:
            return "less than 0.1 %" if percent < 1 else "more than 99.9 %"
        return f"{percent:.1f} %"


@dataclass(frozen=True)
class Kept:
    """What a release keeps of its original, or of the disassociated release that it was made from."""

    compared_with: str
    """`the original`, or `the disassociated release`."""
    how: str
    """How the release names what it does not keep as it was; empty where it names nothing else."""
    occurrences: Part
    items: Part
    records_changed: Part | None
    """Original records whose row differs, of all; None where a row is not one record."""
    false_content: Part | None
    """Released occurrences that are not true of their record, of all; None where a row is not one record."""
    sensitive_occurrences: Part | None
    sensitive_items: Part | None
    """The same of sensitive items that occur; None where the method has no such items."""

    @property
    def keeps_no_sensitive_item(self) -> bool:
        """Whether the original holds sensitive items and the release names none of them."""
        found = self.sensitive_occurrences
        return found is not None and found.of > 0 and found.gone == found.of

    def cost(self) -> str:
        """Return what the release cost, in one line.

        >>> from setveil.data.records.alignment import Alignment
        >>> from setveil.data.records.transactions import Transactions
        >>> original = Transactions.from_lists([["milk", "tea"], ["milk"], ["tea", "wine"]])
        >>> released = Transactions.from_lists([["milk"], ["milk"], ["milk", "tea"]])
        >>> kept(original, released, Alignment.identity(3)).cost()
        "3 of 5 occurrences (60.0 %) and 2 of 3 items kept; 66.7 % of records changed; 25.0 % of occurrences are not the record's own"
        """
        said = self._kept(self.occurrences, self.items)
        if self.records_changed is not None:
            said.append(
                f"{self.records_changed.percent()} of records changed"
                if self.records_changed.number
                else "no record changed"
            )
        if self.false_content is not None:
            untrue = f"{self.false_content.percent()} of occurrences are not the record's own"
            said.append(untrue if self.false_content.number else "every occurrence is true")
        if self.keeps_no_sensitive_item:
            said.append("no sensitive item is kept")
        elif (
            self.sensitive_occurrences is not None
            and self.sensitive_items is not None
            and self.sensitive_occurrences.of
        ):
            said += self._kept(self.sensitive_occurrences, self.sensitive_items, "sensitive ")
        return "; ".join(said)

    def _kept(self, occurrences: Part, items: Part, kind: str = "") -> list[str]:
        """Return how much is kept, and how much is named less exactly."""
        where = "" if self.compared_with == "the original" else f" of {self.compared_with}"
        if occurrences.number == occurrences.of:
            return [f"every {kind}occurrence{where} kept"]
        whole = f"all {items.of:,}" if items.number == items.of else str(items)
        said = [f"{occurrences} {kind}occurrences{where} ({occurrences.percent()}) and {whole} {kind}items kept"]
        if occurrences.less_exactly:
            named = f" and {_counted(items.less_exactly, kind + 'item')}" if items.less_exactly else ""
            said.append(f"{_counted(occurrences.less_exactly, kind + 'occurrence')}{named} {self.how}")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def kept(
    original: Transactions | Disassociated,
    published: Published,
    alignment: Alignment,
    sensitive: SensitiveItems | None = None,
) -> Kept:
    """Count what a release keeps.

    Parameters
    ----------
    original
        What the release is compared with. Re-associated data may be compared with the disassociated release that they were made from;
        then the occurrences that this release states for certain are counted.
    published, alignment
        The release, and the original record of each row; of disassociated data, the records cluster by cluster.
    sensitive
        The sensitive items, if the method has such.
    """
    before = original.supports
    exactly, less = _shown(original, published, alignment)
    exactly = np.minimum(exactly, before)
    less = np.minimum(less, before - exactly)
    every = np.ones(len(before), dtype=np.bool_)
    chosen = None
    if sensitive is not None:
        chosen = np.array([label in sensitive for label in original.vocabulary], dtype=np.bool_)
    changed, untrue = _by_record(original, published, alignment)
    return Kept(
        compared_with="the original" if isinstance(original, Transactions) else "the disassociated release",
        how=LESS_EXACTLY.get(type(published), ""),
        occurrences=_occurrences(before, exactly, less, every),
        items=_items(before, exactly, less, every),
        records_changed=changed,
        false_content=untrue,
        sensitive_occurrences=None if chosen is None else _occurrences(before, exactly, less, chosen),
        sensitive_items=None if chosen is None else _items(before, exactly, less, chosen),
    )


def _occurrences(
    before: NDArray[np.int64], exactly: NDArray[np.int64], less: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> Part:
    return Part(int(exactly[chosen].sum()), int(before[chosen].sum()), int(less[chosen].sum()))


def _items(
    before: NDArray[np.int64], exactly: NDArray[np.int64], less: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> Part:
    held = chosen & (before > 0)
    there = held & (exactly > 0)
    named = held & (exactly == 0) & (less > 0)
    return Part(*(int(np.count_nonzero(which)) for which in (there, held, named)))


def _shown(
    original: Transactions | Disassociated, published: Published, alignment: Alignment
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each item of the original how often the release shows it, and for how many more occurrences it says less."""
    nothing = np.zeros(len(original.vocabulary), dtype=np.int64)
    match published:
        case Transactions():
            return _in_order(original, published.vocabulary, published.supports), nothing
        case Neighbours():  # all sets hold each item equally often
            first = published.datasets[0]
            return _in_order(original, first.vocabulary, first.supports), nothing
        case Grouped():
            rows = published.rows
            by_group = _in_order(original, published.sensitive_vocabulary, published.sensitive_supports)
            return _in_order(original, rows.vocabulary, rows.supports), by_group
    assert isinstance(original, Transactions)
    if isinstance(published, Generalized):
        rows = published.records
        own, lowest = lowest_shown(original, published, alignment)
        above = original.items[(lowest >= 0) & (lowest != own)]
        return _in_order(original, rows.vocabulary, rows.supports), np.bincount(above, minlength=len(nothing))
    in_term_chunks = original.items[_in_term_chunks(original, published, alignment)]
    in_record_chunks = published.supports - np.bincount(published.terms, minlength=len(published.vocabulary))
    return (
        _in_order(original, published.vocabulary, in_record_chunks),
        np.bincount(in_term_chunks, minlength=len(nothing)),
    )


def _in_order(
    original: Transactions | Disassociated, labels: tuple[str, ...], numbers: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return numbers of labels as numbers of the original's items; what it does not hold is left out."""
    number_of = dict(zip(labels, numbers.tolist(), strict=True))
    return np.array([number_of.get(label, 0) for label in original.vocabulary], dtype=np.int64)


def _in_term_chunks(original: Transactions, published: Disassociated, alignment: Alignment) -> NDArray[np.bool_]:
    """Return for each occurrence whether the term chunk of its record's cluster names its item."""
    cluster = np.empty(original.records, dtype=np.int64)
    cluster[alignment.rows] = np.repeat(np.arange(published.clusters), published.sizes)
    code_of = published.subrecords.code_of
    codes = np.array([code_of.get(label, -1) for label in original.vocabulary], dtype=np.int64)
    width = max(len(published.vocabulary), 1)
    named = owner_of(published.term_starts) * width + published.terms
    item = codes[original.items] if len(codes) else np.empty(0, np.int64)
    keys = cluster[owner_of(original.offsets)] * width + item
    return (item >= 0) & np.isin(keys, named)


def _by_record(
    original: Transactions | Disassociated, published: Published, alignment: Alignment
) -> tuple[Part | None, Part | None]:
    """Count records whose row differs, and released occurrences that are not true, where each row is one record."""
    if not isinstance(published, Transactions | Generalized):
        return None, None
    assert isinstance(original, Transactions)
    rows = published if isinstance(published, Transactions) else published.records
    shared = shared_items(original, rows, alignment.rows)
    as_before = (shared == rows.lengths) & (shared == original.lengths[alignment.rows])
    found = np.bincount(alignment.rows, minlength=original.records)
    same = np.bincount(alignment.rows[as_before], minlength=original.records)
    changed = int(np.count_nonzero((found == 0) | (same < found)))
    true = int(shared.sum())
    if isinstance(published, Generalized):
        true += _true_groups(original, published, alignment)
    return Part(changed, original.records), Part(rows.occurrences - true, rows.occurrences)


def _true_groups(original: Transactions, published: Generalized, alignment: Alignment) -> int:
    """Count released inner nodes whose original record holds an item below them."""
    tree, rows = published.hierarchy, published.records
    place_of = {leaf: place for place, leaf in enumerate(tree.leaves)}
    width = len(tree.leaves) + 1
    places = np.array([place_of.get(label, -1) for label in original.vocabulary], dtype=np.int64)
    at = places[original.items] if len(places) else np.empty(0, np.int64)
    held = np.sort((owner_of(original.offsets) * width + at)[at >= 0])
    number_of = {node: number for number, node in enumerate(tree.nodes) if node not in place_of}
    numbers = np.array([number_of.get(label, -1) for label in rows.vocabulary], dtype=np.int64)
    node = numbers[rows.items] if len(numbers) else np.empty(0, np.int64)
    record = alignment.rows[owner_of(rows.offsets)] * width
    record, node = record[node >= 0], node[node >= 0]
    first, end = (np.searchsorted(held, record + bound[node]) for bound in (tree.leaf_starts, tree.leaf_ends))
    return int(np.count_nonzero(first < end))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
