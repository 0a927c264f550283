"""What hiding named itemsets brought and what it cost: which are still found, and which others were lost or came in.

Paper    gunawan2021 (references.bib), equations 3, 4 and 6.
Departs  equation 3 prints the same symbol twice and 4 a difference of numbers; both are taken as their texts say, as sets. See
         docs/metrics.md, which also says what is ours.

From how many records on an itemset is frequent is computed from the original's records that hold an item. The same number counts for
the release, so that a record that was emptied moves no threshold; where privacy is measured, the number that comes of the release's own
records counts instead if it is smaller, since that is what whoever mines it would take.
"""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.comparing import shared_items
from setveil.data.records.ragged import inverted
from setveil.metrics.base import Metric
from setveil.metrics.itemsets import LIMIT, _mined, _Undefined
from setveil.mining.comparison import compare
from setveil.mining.itemsets import Itemsets, codes_of
from setveil.mining.lookup import Lookup
from setveil.mining.supports import supports
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

NONE_WAS_FREQUENT = "none of the named itemsets is frequent in the original: there was nothing to hide"


class OfNamedItemsets(Metric, ABC):
    """A metric of a release in which named itemsets were to be hidden."""

    itemsets: NamedItemsets = parameter(public=False, description="The itemsets that were to be hidden.")
    min_support: MinSupport = parameter(
        public=False,
        description="From which support on an itemset is frequent; a share is of the original's records that hold an item, rounded up.",
    )

    def frequent_from(self, original: Transactions) -> int:
        """Return from how many records on an itemset is frequent, before and after."""
        return self.min_support.count(original.records - original.empty_records)

    def found_from(self, original: Transactions, published: Transactions) -> int:
        """Return from how many released records on whoever mines the release may call an itemset frequent."""
        return min(self.frequent_from(original), self.frequent_from(published))

    def named_supports(self, data: Transactions) -> NDArray[np.int64]:
        """Return how many records hold each named itemset."""
        return supports(data, list(self.itemsets))

    def both_mined(self, original: Transactions, published: Transactions, count: int) -> tuple[Itemsets, Itemsets]:
        """Return the frequent itemsets of both, or say that they are too many."""
        return _mined(original, "original", count, LIMIT), _mined(published, "release", count, LIMIT)


class HidingFailure(OfNamedItemsets):
    """Which share of the named itemsets that were frequent is frequent in the release too."""

    name = "hiding-failure"
    title = "Hiding failure"
    unit = "share of named itemsets"
    better = "lower"
    about = "privacy"
    formula = (
        "HF = |Fs ∩ FI~| / |Fs|, Fs the named itemsets that are frequent in the original. became-frequent: named itemsets that are"
        " frequent only in the release"
    )
    blind_to = (
        "how far below the threshold an itemset is: see residual-itemsets; that its number of records can give it away: see"
        " border-exposure; and named itemsets that became frequent only by the change, which stand beside it"
    )

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Count the named itemsets in both."""
        del alignment
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
    """Which share of the named itemsets some released record still holds: what a lower threshold would show."""

    name = "residual-itemsets"
    title = "Residual itemsets"
    unit = "share of named itemsets"
    better = "lower"
    about = "privacy"
    formula = (
        "|{s named : at least one released record holds s}| / |{s named}|; beside it the largest number of released records that hold one,"
        " and count, the number from which on it would be frequent"
    )
    blind_to = "how many records hold an itemset: one is enough; and that an itemset which was common is held by none can tell as much"

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Count the named itemsets in the release."""
        del alignment
        found = self.named_supports(published)
        held = int(np.count_nonzero(found))
        highest = {"highest-support": int(found.max()), "count": self.found_from(original, published)}
        return held / len(found), {"held": held, "named": len(found), **highest}


class MissesCost(OfNamedItemsets):
    """Which share of the frequent itemsets that nobody named is not frequent in the release."""

    name = "misses-cost"
    title = "Misses cost"
    unit = "share of itemsets"
    better = "lower"
    about = "utility"
    formula = (
        "MC = |Fn \\ FI~| / |Fn|, Fn the frequent itemsets of the original that are not named. which=avoidable: the same without the sets"
        " that hold a named itemset, above and below the line, since they cannot stay when that goes; unavoidable is their number in Fn"
    )
    blind_to = (
        "itemsets that are new: see artificial-itemsets; who holds what; and an itemset that just misses weighs as"
        " much as one that is gone"
    )
    variants = ({"which": "all"}, {"which": "avoidable"})

    which: Literal["all", "avoidable"] = parameter(
        "all", public=True, description="All itemsets that are not named, or only those that could have stayed."
    )

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Mine both and look for what is gone."""
        del alignment
        count = self.frequent_from(original)
        try:
            before, after = self.both_mined(original, published, count)
        except _Undefined as undefined:
            return None, {"reason": str(undefined)}
        places = places_among(before, self.itemsets)
        named = places[places >= 0]
        others = np.ones(len(before), dtype=bool)
        others[named] = False
        above = others & _that_hold(before, named)
        chosen = others & ~above if self.which == "avoidable" else others
        number = int(np.count_nonzero(chosen))
        if not number:
            whose = "but named ones and sets that hold one" if self.which == "avoidable" else "but named ones"
            return None, {"reason": f"no itemset is frequent in the original {whose if len(before) else 'at all'}"}
        lost = int(np.count_nonzero(chosen & ~compare(before, after).is_kept))
        unavoidable = int(np.count_nonzero(above))
        return lost / number, {"lost": lost, "before": number, "unavoidable": unavoidable, "count": count}


class ArtificialItemsets(OfNamedItemsets):
    """Which share of the itemsets that are frequent in the release is not frequent in the original."""

    name = "artificial-itemsets"
    title = "Artificial itemsets"
    unit = "share of itemsets"
    better = "lower"
    about = "utility"
    formula = "AFI = |FI~ \\ FI| / |FI~|; beside it how many these are, and how many of them are named"
    blind_to = "itemsets that are lost: see misses-cost; false combinations below the threshold; who holds what"

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Mine both and look for what came in."""
        del alignment
        count = self.frequent_from(original)
        try:
            before, after = self.both_mined(original, published, count)
        except _Undefined as undefined:
            return None, {"reason": str(undefined)}
        if not len(after):
            return None, {"reason": "no itemset is frequent in the release"}
        found = compare(before, after)
        places = places_among(after, self.itemsets)
        named = int(np.count_nonzero(found.is_new[places[places >= 0]]))
        return found.new / len(after), {"new": found.new, "after": len(after), "named-new": named, "count": count}


class RecordsTouched(Metric):
    """Which share of the records is not released as it was."""

    name = "records-touched"
    title = "Records touched"
    unit = "share of records"
    better = "lower"
    about = "utility"
    formula = "|{t : t is not released as one row t~ = t}| / |D|; a record without a row was touched, and so was one that was split"
    blind_to = "how much of a record changed: see record-loss and false-content"
    needs = ("alignment",)

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Compare every row with its record."""
        assert alignment is not None
        if not original.records:
            return None, {"reason": "the original holds no record"}
        shared = shared_items(original, published, alignment.rows)
        is_same = (shared == published.lengths) & (shared == original.lengths[alignment.rows])
        rows = np.bincount(alignment.rows, minlength=original.records)
        same_rows = np.bincount(alignment.rows[is_same], minlength=original.records)
        touched = int(np.count_nonzero((rows != 1) | (same_rows != 1)))
        return touched / original.records, {"records": touched, "removed": int(np.count_nonzero(rows == 0))}


def places_among(sets: Itemsets, named: NamedItemsets) -> NDArray[np.int64]:
    """Return for each named itemset its number in a collection, -1 where it is not there."""
    data = sets.as_records()
    known = np.array([all(label in data.code_of for label in one) for one in named], dtype=bool)
    places = np.full(len(named), -1, dtype=np.int64)
    asked = codes_of((one for one, is_known in zip(named, known, strict=True) if is_known), data)
    places[known] = Lookup(sets.offsets, sets.items, len(sets.vocabulary)).places(*asked)
    return places


def _that_hold(sets: Itemsets, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell for each set of a collection whether it holds all items of one of the chosen, which are of the collection too."""
    starts, holders = inverted(sets.offsets, sets.items, len(sets.vocabulary))
    holds = np.zeros(len(sets), dtype=bool)
    for one in chosen:
        items = sets.items[sets.offsets[one] : sets.offsets[one + 1]]
        first, *others = sorted((holders[starts[i] : starts[i + 1]] for i in items), key=len)
        for other in others:  # each list rises, and none is empty: the chosen set itself is in all of them
            at = np.minimum(np.searchsorted(other, first), len(other) - 1)
            first = first[other[at] == first]
        holds[first] = True
    return holds
