"""How well a release tells how many records hold all of some items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import Disassociated
from setveil.data.records.ragged import offsets_of, owner_of, picked, sorted_within
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.metrics.counting import supports_in
from setveil.mining.itemsets import Itemsets
from setveil.mining.supports import supports
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment


class QueryError(Metric):
    """How far the number of records that hold an itemset is off, for itemsets drawn from the original, on average."""

    name = "query-error"
    title = "Error of counting queries"
    unit = "mean relative error"
    better = "lower"
    about = "utility"
    formula = (
        "mean over drawn itemsets of |c~ − c| / max(c, s), c and c~ the numbers of records that hold the itemset before and after,"
        " s = ⌈sanity × |D|⌉. A draw: a record with items, a length from 1 to max_length and the record's own, so many of its items; all"
        " uniformly at random"
    )
    blind_to = (
        "combinations that no record of the original holds: false ones are never asked for. Common items are drawn often, rare ones"
        " hardly; counts below s are forgiven by as much as they lie below it"
    )
    variants = ({"max_length": 1}, {"max_length": 4})
    takes = (Transactions, Disassociated)

    queries: int = parameter(10_000, public=True, ge=1, le=1_000_000, description="How many itemsets are drawn.")
    max_length: int = parameter(4, public=True, ge=1, le=100, description="Up to how many items an itemset has.")
    sanity: MinSupport = parameter(
        MinSupport("0.1%"),
        public=True,
        description="Counts below this one are divided by it, lest one record more or less in two weighs as much as half of all.",
    )
    seed: int = parameter(0, public=True, ge=0, description="Which itemsets are drawn.")

    def measure(
        self, original: Transactions, published: Transactions | Disassociated, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Draw itemsets and count them in both."""
        del alignment
        if not original.occurrences:
            return None, {"reason": "the original holds no item"}
        offsets, codes = drawn_itemsets(original, self.queries, self.max_length, np.random.default_rng(self.seed))
        before = supports(original, (offsets, codes))
        sets = Itemsets(offsets, codes.astype(np.int32), before, original.vocabulary, original.records)
        after = supports_in(published, sets)
        error = np.abs(after - before) / np.maximum(before, self.sanity.count(original.records))
        return float(error.mean()), {"median": float(np.median(error)), "max": float(error.max())}


def drawn_itemsets(
    data: Transactions, how_many: int, max_length: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return offsets and codes of itemsets, each a part of a record: record, length and items uniformly at random."""
    records = rng.choice(np.flatnonzero(data.lengths), size=how_many)
    lengths = rng.integers(1, np.minimum(data.lengths[records], max_length), endpoint=True)
    # The items of the drawn records in random order; the first so many of each are taken.
    row_offsets, places = picked(data.offsets, records)
    row = owner_of(row_offsets)
    shuffled = places[np.lexsort((rng.random(len(row)), row))]
    taken = np.arange(len(row)) - row_offsets[row] < lengths[row]
    codes = data.items[shuffled[taken]].astype(np.int64)
    offsets = offsets_of(lengths)
    return offsets, sorted_within(offsets, codes, len(data.vocabulary))
