"""The error of counting queries on a release."""

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

    from setveil.metrics.pair import Pair


class QueryError(Metric):
    """Mean relative error of counting queries on itemsets drawn from the original."""

    name = "query-error"
    title = "Error of counting queries"
    unit = "mean relative error"
    better = "lower"
    about = "utility"
    formula = (
        "mean over drawn itemsets of |c~ − c| / max(c, s), c and c~ the numbers of records that hold the itemset before and after,"
        " s = ⌈sanity × |D|⌉. A draw takes a record that holds items, a length from 1 to max_length (at most the record's own) and that"
        " many of its items, all uniformly at random"
    )
    blind_to = (
        "false combinations: itemsets that no original record holds are never drawn; rare items, which are hardly drawn; and errors of"
        " counts below s, which weigh less"
    )
    variants = ({"max_length": 1}, {"max_length": 4})
    takes = (Transactions, Disassociated)

    queries: int = parameter(10_000, public=True, ge=1, le=1_000_000, description="Number of itemsets to draw.")
    max_length: int = parameter(4, public=True, ge=1, le=100, description="Maximum number of items of an itemset.")
    sanity: MinSupport = parameter(
        MinSupport("0.1%"),
        public=True,
        description="Sanity bound: divide by at least this count, so that an error of 1 on a true count of 2 does not dominate.",
    )
    seed: int = parameter(0, public=True, ge=0, description="Seed of the draws: the same seed draws the same itemsets.")

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Draw itemsets and count them in both."""
        original = pair.original
        if not original.occurrences:
            return None, {"reason": "the original holds no item"}
        offsets, codes = drawn_itemsets(original, self.queries, self.max_length, np.random.default_rng(self.seed))
        drawn = Transactions.of_parts(offsets, codes.astype(np.int32), original.vocabulary, ids=None, unit="record")
        contents, _counts, content_of = drawn.distinct()  # short itemsets are drawn many times
        counted = supports(original, (contents.offsets, contents.items))
        sets = Itemsets(contents.offsets, contents.items, counted, original.vocabulary, original.records)
        before, after = counted[content_of], supports_in(pair, sets)[content_of]
        error = np.abs(after - before) / np.maximum(before, self.sanity.count(original.records))
        return float(error.mean()), {"median": float(np.median(error)), "max": float(error.max())}


def drawn_itemsets(
    data: Transactions, how_many: int, max_length: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return offsets and codes of itemsets, each a part of a record; record, length and items are uniformly random."""
    records = rng.choice(np.flatnonzero(data.lengths), size=how_many)
    lengths = rng.integers(1, np.minimum(data.lengths[records], max_length), endpoint=True)
    # Shuffle the items of each drawn record, and take as many as its drawn length.
    row_offsets, places = picked(data.offsets, records)
    row = owner_of(row_offsets)
    shuffled = places[np.lexsort((rng.random(len(row)), row))]
    taken = np.arange(len(row)) - row_offsets[row] < lengths[row]
    codes = data.items[shuffled[taken]].astype(np.int64)
    offsets = offsets_of(lengths)
    return offsets, sorted_within(offsets, codes, len(data.vocabulary))
