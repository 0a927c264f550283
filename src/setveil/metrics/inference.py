"""What a release with ρ-uncertainty may still reveal: by whole records, and by counts at the limit.

Both metrics are our own. ρ-uncertainty (jia2014) limits what *parts* of a record reveal in the released file. It limits neither what an
attacker learns who knows that a record has no other items, nor what a count at the limit reveals. See docs/decisions/0015.
"""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.ragged import among, distinct, records_of
from setveil.metrics.base import Metric
from setveil.mining.largest_rules import largest_rules
from setveil.mining.whole_parts import whole_parts
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.parameters.shares import MaxConfidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.metrics.pair import Pair


class OfSensitiveItems(Metric, ABC):
    """A metric of the confidence with which an attacker can infer sensitive items."""

    sensitive: SensitiveItems = parameter(public=False, description="The items that must not be inferred.")
    rho: MaxConfidence = parameter(
        public=True, description="The highest confidence with which a sensitive item may be inferred."
    )
    include_empty: bool = parameter(
        True,
        public=True,
        description="Whether records without any item that is not sensitive count.",
    )


class ExactBasketExposure(OfSensitiveItems):
    """Number of sensitive items that all other items of a record, and the fact that there are no more, imply with more than ρ."""

    name = "exact-basket-exposure"
    title = "Exposure by exact baskets"
    unit = "pairs"
    better = "lower"
    about = "privacy"
    formula = (
        "|{(q, e) : e sensitive, |{t~ : t~ \\ S = q, e ∈ t~}| > ρ |{t~ : t~ \\ S = q}|}|, S the sensitive items. records: the number of"
        " released records with the q and e of such a pair; occurrences: the number of such e in them, also as a share of all released"
        " sensitive occurrences; with-empty-part: the number of pairs with an empty q; before: the number of pairs in the original"
    )
    blind_to = (
        "what an attacker infers from some items only, which rho-uncertainty limits; and how rarely an attacker who knows all other items"
        " of a person knows that these are all"
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Count the pairs in both."""
        counted = self._exposed(pair.published)
        before = self._exposed(pair.original)["pairs"]
        return float(counted.pop("pairs")), {**counted, "before": before}

    def _exposed(self, data: Transactions) -> dict[str, Any]:
        num, den = self.rho.share.as_integer_ratio()
        is_sensitive = self.sensitive.among(data)
        found = whole_parts(data, is_sensitive)
        above = found.held * den > num * found.sizes[found.part]
        if not self.include_empty:
            above &= ~found.has_empty_part
        width = max(len(data.vocabulary), 1)
        exposed = (found.part * width + found.item)[above]
        place = np.flatnonzero(is_sensitive[data.items])
        row = records_of(place, data.offsets)
        is_exposed = among(found.part_of[row] * width + data.items[place], exposed)
        occurrences = int(np.count_nonzero(is_exposed))
        return {
            "pairs": len(exposed),
            "records": len(distinct(row[is_exposed])),
            "occurrences": occurrences,
            **({"share-of-occurrences": occurrences / len(place)} if len(place) else {}),
            "with-empty-part": int(np.count_nonzero(found.has_empty_part[above])),
        }


class SaturatedRules(OfSensitiveItems):
    """Share of the sensitive occurrences that the rest of their record implies with the highest confidence that ρ allows, or more."""

    name = "saturated-rules"
    title = "Saturated rules"
    unit = "share of sensitive occurrences"
    better = "lower"
    about = "privacy"
    formula = (
        "|{(t~, e) : e ∈ t~ sensitive, q = t~ \\ {e}, sup~(q ∪ {e}) + 1 > ρ sup~(q)}| / |{(t~, e) : e ∈ t~ sensitive}|; above: the number"
        " of those with sup~(q ∪ {e}) > ρ sup~(q)"
    )
    blind_to = "rules from a part of a record; and whether anything was suppressed: rules can be at the limit in the original, see before"

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Count the rules from all other items of a record to a sensitive item."""
        original, published = pair.original, pair.published
        if self.rho.share == 1:
            return None, {"reason": "a ρ of 1 allows everything: no rule can be at its limit"}
        total, at_limit, above = self._counts(published)
        if not total:
            return None, {"reason": "no released record holds a sensitive item"}
        total_before, at_limit_before, _above = self._counts(original)
        before = {"before": at_limit_before / total_before} if total_before else {}
        return at_limit / total, {"at-limit": at_limit, "above": above, "occurrences": total, **before}

    def _counts(self, data: Transactions) -> tuple[int, int, int]:
        """Return the number of sensitive occurrences, of those at the limit or above (with one record more), and of those above it."""
        num, den = self.rho.share.as_integer_ratio()
        is_sensitive = self.sensitive.among(data)
        rules = [part.rules for part in largest_rules(data, is_sensitive, self.rho.share)]
        cases = [(one.weight, one.with_item, one.with_item + one.slack) for one in rules]
        if self.include_empty:
            alone = np.bincount(data.items[data.offsets[:-1][data.lengths == 1]], minlength=len(data.vocabulary))
            code = np.flatnonzero(is_sensitive & (alone > 0))
            cases.append((alone[code], data.supports[code], np.full(len(code), data.records)))
        at_limit = sum(_weighed(weight, (held + 1) * den > num * of) for weight, held, of in cases)
        above = sum(_weighed(weight, held * den > num * of) for weight, held, of in cases)
        return int(data.supports[is_sensitive].sum()), at_limit, above


def _weighed(weight: NDArray[np.int64], chosen: NDArray[np.bool_]) -> int:
    return int(weight[chosen].sum())
