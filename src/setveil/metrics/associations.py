"""Utility rules: how far a release keeps them, and the pairs of items in the records that hold one.

Paper    awad2020 (references.bib), equation 1 and the relative association error of section 2.6.
Departs  the paper prints the error without the absolute value; with it each term is between 0 and 2. The paper disassociates and counts
         only the records with a rule. A release may hold other records in the same clusters, so supports are counted in the whole
         original and the whole release; if these are only the records with a rule, the figures are the same.

In disassociated data the support of an itemset can be read in several ways (`setveil.mining.support_bounds`); two of them are measured. In
plain records both are the number of records that hold it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import Disassociated
from setveil.data.records.in_blocks import as_records, in_blocks
from setveil.data.records.ragged import distinct, offsets_of, owner_of, runs
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.metrics.counting import supports_in
from setveil.mining.itemsets import Itemsets, codes_of
from setveil.mining.supports import supports
from setveil.parameters.named_itemsets import NamedItemsets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair


READ_AS = (
    "How supports are read in disassociated data: inside one record chunk, or the expected support over all chunks."
)
MOST_COUPLES = 20_000_000
"""Maximum number of pairs of items in the records with a rule."""
COUPLES_AT_ONCE = 5_000_000
NO_RULE_IS_HELD = "no record of the original holds any of the rules"


class RelativeAssociationError(Metric):
    """Sum of the relative changes of the supports of associations (awad2020, section 2.6)."""

    name = "relative-association-error"
    title = "Relative association error"
    unit = "sum of relative errors"
    better = "lower"
    about = "utility"
    formula = (
        "RAE = Σ over associations A of |s − s~| / ((s + s~) / 2), s and s~ the supports of A in the original and in the release."
        " over=pairs: all pairs of items in the records that hold at least one rule; over=rules: the rules that the original holds."
        " In disassociated data s~ is the number of occurrences inside one record chunk (reading=inside) or the expected support"
        " (reading=expected)"
    )
    blind_to = (
        "whether supports rose or fell; associations that the original lacks; the size of supports: an association in one record weighs"
        " as much as one in thousands. It grows with the number of associations; compare the mean"
    )
    variants = (
        {"over": "pairs", "reading": "inside"},
        {"over": "pairs", "reading": "expected"},
        {"over": "rules", "reading": "inside"},
        {"over": "rules", "reading": "expected"},
    )
    takes = (Transactions, Disassociated)

    rules: NamedItemsets = parameter(public=False, description="The utility rules: itemsets that analysts care about.")
    reading: Literal["inside", "expected"] = parameter("inside", public=True, description=READ_AS)
    over: Literal["pairs", "rules"] = parameter(
        "pairs",
        public=True,
        description="All pairs of items in the records that hold a rule, or the rules themselves.",
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the supports of all associations."""
        original = pair.original
        if self.over == "rules":
            sets = _as_itemsets(original, *codes_of(self.rules, original))
            sets = sets.take(sets.supports > 0)
            whose = {"rules-held": len(sets), "rules": len(self.rules)}
        else:
            with_rule, couples = _couples_with_any(original, self.rules)
            if couples is None:
                return None, {
                    "reason": f"the records with a rule hold more than {MOST_COUPLES:,} pairs of items; use fewer rules, or over=rules"
                }
            sets, whose = _as_itemsets(original, *couples), {"records-with-a-rule": with_rule}
        if not len(sets):
            held = self.over == "rules" or not whose["records-with-a-rule"]
            return None, {"reason": NO_RULE_IS_HELD if held else "no record with a rule holds two items"}
        after = supports_in(pair, sets, self.reading)
        terms = np.abs(sets.supports - after) / ((sets.supports + after) / 2)
        lost = int(np.count_nonzero(after == 0))
        return float(terms.sum()), {
            "mean": float(terms.mean()),
            "associations": len(sets),
            "lost": lost,
            "share-lost": lost / len(sets),
            **whose,
        }


class AlphaConfidence(Metric):
    """Mean share of their support that utility rules keep (awad2020, equation 1)."""

    name = "alpha-confidence"
    title = "Confidence of utility rules"
    unit = "mean ratio of supports"
    better = "higher"
    about = "utility"
    formula = (
        "mean over the rules that the original holds of α = s~ / s, s and s~ the supports of the rule in the original and in the release."
        " Details: the smallest α, and for each rule [rule, s, s~, α], by rising α. In disassociated data s~ is read as in"
        " relative-association-error"
    )
    blind_to = "other associations: see relative-association-error; and that rules which became too frequent compensate for rare ones"
    variants = ({"reading": "inside"}, {"reading": "expected"})
    takes = (Transactions, Disassociated)

    rules: NamedItemsets = parameter(public=False, description="The utility rules: itemsets that analysts care about.")
    reading: Literal["inside", "expected"] = parameter("inside", public=True, description=READ_AS)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the supports of the rules."""
        original = pair.original
        sets = _as_itemsets(original, *codes_of(self.rules, original))
        sets = sets.take(sets.supports > 0)
        if not len(sets):
            return None, {"reason": NO_RULE_IS_HELD}
        after = supports_in(pair, sets, self.reading)
        alpha = after / sets.supports
        order = np.argsort(alpha, kind="stable")
        columns = (sets.take(order).to_lists(), *(c[order].tolist() for c in (sets.supports, after, alpha)))
        return float(alpha.mean()), {
            "min": float(alpha.min()),
            "rules-held": len(sets),
            "rules": len(self.rules),
            "lost": int(np.count_nonzero(after == 0)),
            "by-rule": [list(row) for row in zip(*columns, strict=True)],
        }


class TLost(Metric):
    """Share of the items in at least k original records that no record chunk shows: only in term chunks, or gone."""

    name = "tlost"
    title = "Items lost to term chunks"
    unit = "share of items"
    better = "lower"
    about = "utility"
    quick = True
    formula = (
        "|{i : at least k original records hold i, and no record chunk of the release does}| / |{i : at least k original records hold i}|;"
        " in a release of plain records, that no released record holds"
    )
    blind_to = "how often an item occurs: one subrecord is enough; and items in fewer than k records"
    takes = (Transactions, Disassociated)

    k: int = parameter(
        ge=1, public=True, examples=[3], description="Smallest support at which an item may be published."
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Look for the items."""
        original, published = pair.original, pair.published
        asked = {original.vocabulary[code] for code in np.flatnonzero(original.supports >= self.k)}
        if not asked:
            return None, {"reason": f"no item is in at least {self.k:,} records of the original"}
        rows = cast("Transactions", published.row_parts)
        in_rows = {rows.vocabulary[code] for code in np.flatnonzero(rows.supports)}
        named = {rows.vocabulary[code] for code in np.flatnonzero(published.supports)}
        lost, gone = len(asked - in_rows), len(asked - named)
        return lost / len(asked), {"lost": lost, "in-term-chunks": lost - gone, "gone": gone, "items": len(asked)}


def records_with_any(data: Transactions, sets: Iterable[Iterable[str]]) -> NDArray[np.int64]:
    """Return the numbers of the records that hold at least one of these sets."""
    starts, holders = data.holders
    found = np.zeros(data.records, dtype=np.bool_)
    for one in sets:
        codes = {data.code_of.get(label, -1) for label in one}
        if -1 in codes:
            continue
        lists = sorted((holders[starts[code] : starts[code + 1]] for code in codes), key=len)
        held = lists[0]
        for other in lists[1:]:
            held = np.intersect1d(held, other, assume_unique=True)
        found[held] = True
    return np.flatnonzero(found)


def _couples_with_any(
    data: Transactions, sets: Iterable[Iterable[str]]
) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int32]] | None]:
    """Return how many records hold at least one of these sets, and the pairs of items in these records as `couples_in` does."""
    records, keys = 0, np.empty(0, np.int64)
    for block in in_blocks(data):
        part = as_records(block, data.vocabulary)
        chosen = records_with_any(part, sets)
        records += len(chosen)
        if len(keys) <= MOST_COUPLES:
            keys = _couples(part.take(chosen, ids=None), keys)
    return records, _of_keys(keys, data)


def couples_in(data: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None:
    """Return offsets and codes of all pairs of items that some record holds; None if there are too many."""
    return _of_keys(_couples(data, np.empty(0, np.int64)), data)


def _couples(data: Transactions, found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pairs found before and those in these records, as rising numbers; more than allowed if there are too many.

    Records are processed in parts, and repeated pairs are removed after each part.
    """
    contents, _weights, _content_of = data.distinct()
    width = max(len(data.vocabulary), 1)
    ahead = contents.offsets[1:][owner_of(contents.offsets)] - np.arange(contents.occurrences) - 1
    until = np.cumsum(ahead)
    first = 0
    while first < contents.occurrences and len(found) <= MOST_COUPLES:
        before = until[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(until, before + COUPLES_AT_ONCE, side="right")))
        one = np.repeat(np.arange(first, last), ahead[first:last])
        other = runs(np.arange(first + 1, last + 1), ahead[first:last])
        keys = contents.items[one].astype(np.int64) * width + contents.items[other]
        found = distinct(np.concatenate((found, keys)))
        first = last
    return found


def _of_keys(keys: NDArray[np.int64], data: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None:
    """Return offsets and codes of pairs that are given as numbers; None if there are too many."""
    if len(keys) > MOST_COUPLES:
        return None
    width = max(len(data.vocabulary), 1)
    codes = np.stack((keys // width, keys % width), axis=1).ravel().astype(np.int32)
    return np.arange(len(keys) + 1, dtype=np.int64) * 2, codes


def _as_itemsets(data: Transactions, offsets: NDArray[np.int64], codes: NDArray[np.int32]) -> Itemsets:
    """Return itemsets with their supports, without those that contain an item that is not in the data (code -1)."""
    known = np.ones(len(offsets) - 1, dtype=np.bool_)
    known[owner_of(offsets)[codes < 0]] = False
    lengths = np.diff(offsets)[known]
    kept = codes[np.repeat(known, np.diff(offsets))]
    starts = offsets_of(lengths)
    return Itemsets(starts, kept, supports(data, (starts, kept)), data.vocabulary, data.records)
