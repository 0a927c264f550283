"""Hidden itemsets: which are still found, and which other itemsets were lost or are new.

Paper    gunawan2021 (references.bib), equations 3, 4 and 6.
Departs  equation 3 prints the same symbol twice, and equation 4 a difference of numbers; both are read as sets, as the text of the paper
         says. See docs/metrics.md, which also states what is not from the paper.

A minimum support given as a share is computed from the original's records that hold an item. The same number applies to the release, so
that emptied records do not move the threshold. Privacy metrics use the number computed from the release if it is smaller, because an
attacker who mines the release would use it.
"""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.ragged import inverted
from setveil.metrics.base import Metric
from setveil.metrics.itemsets import LIMIT
from setveil.mining.comparison import compare
from setveil.mining.itemsets import codes_of
from setveil.mining.lookup import Lookup
from setveil.mining.supports import supports
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.metrics.pair import Pair
    from setveil.mining.itemsets import Itemsets

NONE_WAS_FREQUENT = "none of the named itemsets is frequent in the original: there was nothing to hide"


class OfNamedItemsets(Metric, ABC):
    """A metric for a release in which named itemsets must be hidden."""

    itemsets: NamedItemsets = parameter(public=False, description="The itemsets that must be hidden.")
    min_support: MinSupport = parameter(
        public=False,
        description="Minimum support of a frequent itemset; a share is of the original's records that hold an item, rounded up.",
    )

    def frequent_from(self, original: Transactions) -> int:
        """Return the minimum support of a frequent itemset in records, the same before and after."""
        return self.min_support.count(original.records - original.empty_records)

    def found_from(self, original: Transactions, published: Transactions) -> int:
        """Return the minimum support in records that an attacker who mines the release may use."""
        return min(self.frequent_from(original), self.frequent_from(published))

    def named_supports(self, data: Transactions) -> NDArray[np.int64]:
        """Return the support of each named itemset."""
        return supports(data, list(self.itemsets))


class OfAllItemsets(OfNamedItemsets, ABC):
    """A metric for the frequent itemsets of both data sets in such a release."""

    def plan(self, pair: Pair) -> None:
        """Plan the frequent itemsets of both, at the same number of records."""
        count = self.frequent_from(pair.original)
        pair.before.plan(count, LIMIT)
        pair.after.plan(count, LIMIT)


class HidingFailure(OfNamedItemsets):
    """Share of the named frequent itemsets that are still frequent in the release."""

    name = "hiding-failure"
    title = "Hiding failure"
    unit = "share of named itemsets"
    better = "lower"
    about = "privacy"
    quick = True
    formula = (
        "HF = |Fs ∩ FI~| / |Fs|, Fs the named itemsets that are frequent in the original. became-frequent: named itemsets that are"
        " frequent only in the release"
    )
    blind_to = (
        "how far below the threshold an itemset is: see residual-itemsets; that its support can reveal it: see border-exposure; and named"
        " itemsets that became frequent only in the release, which are a detail"
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Count the named itemsets in both."""
        original, published = pair.original, pair.published
        count, count_after = self.frequent_from(original), self.found_from(original, published)
        before = self.named_supports(original) >= count
        after = self.named_supports(published) >= count_after
        if not before.any():
            return None, {"reason": NONE_WAS_FREQUENT}
        failed, frequent = int(np.count_nonzero(before & after)), int(np.count_nonzero(before))
        became = int(np.count_nonzero(after & ~before))
        counts = {"count": count, "count-after": count_after}
        return failed / frequent, {
            "failed": failed,
            "frequent-before": frequent,
            "became-frequent": became,
            **counts,
        }


class ResidualItemsets(OfNamedItemsets):
    """Share of the named itemsets that some released record still holds: what mining at a lower threshold finds."""

    name = "residual-itemsets"
    title = "Residual itemsets"
    unit = "share of named itemsets"
    better = "lower"
    about = "privacy"
    quick = True
    formula = (
        "|{s named : at least one released record holds s}| / |{s named}|. Details: the largest support of a named itemset in the release,"
        " and count, the minimum support of a frequent itemset"
    )
    blind_to = "how many records hold an itemset: one is enough; and that the absence of a formerly common itemset can reveal as much"

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Count the named itemsets in the release."""
        original, published = pair.original, pair.published
        found = self.named_supports(published)
        held = int(np.count_nonzero(found))
        highest = {"highest-support": int(found.max()), "count": self.found_from(original, published)}
        return held / len(found), {"held": held, "named": len(found), **highest}


class MissesCost(OfAllItemsets):
    """Share of the frequent itemsets that were not named and are no longer frequent in the release."""

    name = "misses-cost"
    title = "Misses cost"
    unit = "share of itemsets"
    better = "lower"
    about = "utility"
    formula = (
        "MC = |Fn \\ FI~| / |Fn|, Fn the frequent itemsets of the original that are not named. which=avoidable: the same without the sets"
        " that contain a named itemset, in numerator and denominator, since they cannot stay frequent; unavoidable is their number in Fn"
    )
    blind_to = (
        "new itemsets: see artificial-itemsets; which records hold an itemset; and how much of a support is lost: a near miss weighs as"
        " much as a total loss"
    )
    variants = ({"which": "all"}, {"which": "avoidable"})

    which: Literal["all", "avoidable"] = parameter(
        "all",
        public=True,
        description="All itemsets that are not named (all), or only those that could stay frequent (avoidable).",
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Mine both and count the lost itemsets."""
        count = self.frequent_from(pair.original)
        before, after = pair.before.listed(count, LIMIT), pair.after.listed(count, LIMIT)
        places = places_among(before, self.itemsets)
        named = places[places >= 0]
        others = np.ones(len(before), dtype=bool)
        others[named] = False
        above = others & _that_hold(before, named)
        chosen = others & ~above if self.which == "avoidable" else others
        number = int(np.count_nonzero(chosen))
        if not number:
            named_ones = "except named ones" + (" and sets that contain one" if self.which == "avoidable" else "")
            return None, {"reason": f"no itemset is frequent in the original {named_ones if len(before) else 'at all'}"}
        lost = int(np.count_nonzero(chosen & ~compare(before, after).is_kept))
        unavoidable = int(np.count_nonzero(above))
        return lost / number, {"lost": lost, "before": number, "unavoidable": unavoidable, "count": count}


class ArtificialItemsets(OfAllItemsets):
    """Share of the frequent itemsets of the release that are not frequent in the original."""

    name = "artificial-itemsets"
    title = "Artificial itemsets"
    unit = "share of itemsets"
    better = "lower"
    about = "utility"
    formula = "AFI = |FI~ \\ FI| / |FI~|. Details: their number, and how many of them are named"
    blind_to = "lost itemsets: see misses-cost; false combinations below the threshold; which records hold an itemset"

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Mine both and count the new itemsets."""
        count = self.frequent_from(pair.original)
        before, after = pair.before.listed(count, LIMIT), pair.after.listed(count, LIMIT)
        if not len(after):
            return None, {"reason": "no itemset is frequent in the release"}
        found = compare(before, after)
        places = places_among(after, self.itemsets)
        named = int(np.count_nonzero(found.is_new[places[places >= 0]]))
        return found.new / len(after), {"new": found.new, "after": len(after), "named-new": named, "count": count}


class RecordsTouched(Metric):
    """Share of the records that are not published unchanged."""

    name = "records-touched"
    title = "Records touched"
    unit = "share of records"
    better = "lower"
    about = "utility"
    formula = (
        "|{t : t is not released as one row t~ = t}| / |D|; a record without a row, or with several, counts as touched"
    )
    blind_to = "how much of a record changed: see record-loss and false-content"
    needs = ("alignment",)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare every row with its record."""
        original, published = pair.original, pair.published
        if not original.records:
            return None, {"reason": "the original holds no record"}
        shared, record, rows = pair.shared_items, pair.rows, pair.rows_per_record
        is_same = (shared == published.lengths) & (shared == original.lengths[record])
        same_rows = np.bincount(record[is_same], minlength=original.records)
        touched = int(np.count_nonzero((rows != 1) | (same_rows != 1)))
        return touched / original.records, {"records": touched, "removed": int(np.count_nonzero(rows == 0))}


def places_among(sets: Itemsets, named: NamedItemsets) -> NDArray[np.int64]:
    """Return the number of each named itemset in a collection, or -1 if it is not there."""
    data = sets.as_records()
    known = np.array([all(label in data.code_of for label in one) for one in named], dtype=bool)
    places = np.full(len(named), -1, dtype=np.int64)
    asked = codes_of((one for one, is_known in zip(named, known, strict=True) if is_known), data)
    places[known] = Lookup(sets.offsets, sets.items, len(sets.vocabulary)).places(*asked)
    return places


def _that_hold(sets: Itemsets, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each set of a collection whether it contains one of the chosen sets, given by their numbers in the collection."""
    starts, holders = inverted(sets.offsets, sets.items, len(sets.vocabulary))
    holds = np.zeros(len(sets), dtype=bool)
    for one in chosen:
        items = sets.items[sets.offsets[one] : sets.offsets[one + 1]]
        first, *others = sorted((holders[starts[i] : starts[i + 1]] for i in items), key=len)
        for other in others:  # every list is sorted, and none is empty, because the chosen set itself is in all of them
            at = np.minimum(np.searchsorted(other, first), len(other) - 1)
            first = first[other[at] == first]
        holds[first] = True
    return holds
