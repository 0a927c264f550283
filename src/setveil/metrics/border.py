"""Whether the support of a hidden itemset reveals it.

If a method brings every secret just below the threshold, secrets accumulate there. An attacker lists the itemsets of exactly that support
that are not frequent although all their proper subsets are; on this list secrets are many times as common as among all itemsets. With
random targets, two or three secrets have the same support by chance. Therefore the attacker chooses the support by the known secrets, and
is tested on an unknown one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.errors import TooManyItemsets
from setveil.metrics.hiding import NONE_WAS_FREQUENT, OfNamedItemsets, places_among
from setveil.metrics.itemsets import LIMIT
from setveil.metrics.mined import Undefined
from setveil.mining import border as borders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair
    from setveil.mining.itemsets import Itemsets


class BorderExposure(OfNamedItemsets):
    """How well an attacker finds a named itemset among the itemsets just below the threshold."""

    name = "border-exposure"
    title = "Exposure at the border"
    unit = "named itemsets"
    better = "lower"
    about = "privacy"
    formula = (
        "L(s): the minimal infrequent itemsets of the release (not frequent, all proper subsets frequent) with a support of exactly s;"
        " Fs: the named itemsets that are frequent in the original. An attacker looks for each x of Fs and knows the others: chooses the s"
        " at which L(s) finds these best (by F1 of precision and recall; among equals the more precise, then the larger s) and removes"
        " them. Value: Σ over x in L(s) of 1 / |L(s) \\ (Fs \\ {x})|. Base rate: |Fs| / (|FI| − |Fs| + 1), the same for a list of all"
        " frequent itemsets of the original"
    )
    blind_to = (
        "attackers who use several supports, lengths, the meaning of items or other data: it is a lower bound; and secrets with an"
        " infrequent proper subset, which are on no such list"
    )

    def plan(self, pair: Pair) -> None:
        """Plan the frequent itemsets of the release; those of the original are only counted."""
        pair.after.plan(self.found_from(pair.original, pair.published), LIMIT)

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """List the border of the release and find the named itemsets in it."""
        original, published = pair.original, pair.published
        count, count_after = self.frequent_from(original), self.found_from(original, published)
        was_frequent = self.named_supports(original) >= count
        secrets = int(np.count_nonzero(was_frequent))
        if not secrets:
            return None, {"reason": NONE_WAS_FREQUENT}
        others = pair.before.number(count) - secrets
        base_rate = secrets / (others + 1)
        border = _border(pair, count_after)
        if not len(border):
            why = "every set of its items is frequent" if published.occurrences else "it holds no item"
            return None, {"reason": f"no itemset of the release is minimal infrequent: {why}"}
        places = places_among(border, self.itemsets)
        shown = border.supports[places[was_frequent & (places >= 0)]]
        listed = np.bincount(border.supports)
        levels = np.flatnonzero(listed)
        found = np.bincount(shown, minlength=len(listed))[levels]
        listed = listed[levels]
        value, hits = 0.0, 0
        for level in np.flatnonzero(found).tolist():
            unknown = np.arange(len(levels)) == level
            if _best(levels, listed - unknown, found - unknown, secrets - 1) == level:
                hits += int(found[level])
                value += float(found[level] / (listed[level] - found[level] + 1))
        best = _best(levels, listed, found, secrets)
        at_best = {"best-support": int(levels[best]), "listed": int(listed[best]), "named-in-list": int(found[best])}
        rates = {"recall": hits / secrets, "base-rate": base_rate, "times-base-rate": value / base_rate}
        return value, {**rates, **at_best, "frequent-before": secrets, "border": len(border), "count": count_after}


def _best(levels: NDArray[np.int64], listed: NDArray[np.int64], found: NDArray[np.int64], secrets: int) -> int:
    """Return the place of the support whose list is best for finding this number of secrets."""
    precision = found / np.maximum(listed, 1)
    f1 = 2 * found / np.maximum(listed + secrets, 1)
    return int(np.lexsort((levels, precision, f1))[-1])


def _border(pair: Pair, count: int) -> Itemsets:
    frequent = pair.after.listed(count, LIMIT)
    try:
        return borders.minimal_infrequent(frequent, pair.published, limit=borders.LIMIT)
    except TooManyItemsets as error:
        raise Undefined(
            f"{error.found:,} itemsets may be on the border of the itemsets in at least {count:,} records of the release; the limit is "
            f"{borders.LIMIT:,}; choose a higher min_support"
        ) from None
