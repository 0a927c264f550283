"""Whether rare items are still in the release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.generalized import Generalized
from setveil.data.forms.grouped import Grouped
from setveil.data.forms.reassociated import Reassociated
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from setveil.metrics.pair import Pair


class RareItemRecall(Metric):
    """Share of the rare items of the original that the release still shows as themselves."""

    name = "rare-item-recall"
    title = "Rare items still shown"
    unit = "share of rare items"
    better = "higher"
    about = "utility"
    formula = (
        "|R ∩ V~| / |R|, R the items that at least one and at most max_support records of the original hold, V~ the items that a row, a"
        " chunk or a group of the release names. A node above an item does not name it"
    )
    blind_to = "how often, and together with which other items, a rare item is shown: an item of a term chunk counts like one in a row"
    takes = (Transactions, Disassociated, Generalized, Grouped, Reassociated)

    max_support: MinSupport = parameter(
        MinSupport(10),
        public=True,
        description="Maximum support of a rare item: a number of records or a share of them.",
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Look for the rare items of the original in the release."""
        original, published = pair.original, pair.published
        most = self.max_support.count(original.records)
        is_rare = (original.supports > 0) & (original.supports <= most)
        rare = int(np.count_nonzero(is_rare))
        if not rare:
            return None, {"reason": f"no item of the original is in {most:,} or fewer records"}
        after = original.in_own_order(published.vocabulary, published.supports)[is_rare]
        kept = int(np.count_nonzero(after))
        occurrences = {"before": int(original.supports[is_rare].sum()), "after": int(after.sum())}
        return kept / rare, {"kept": kept, "rare": rare, "most-records": most, "occurrences": occurrences}
