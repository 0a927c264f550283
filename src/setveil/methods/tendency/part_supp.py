"""PartSupp: the items of the category that a record leans to are suppressed. A baseline: it guarantees nothing.

Paper    gunawan2019 (references.bib), section 5, as a baseline; after Jia et al. 2014, partial suppression.
Departs  the paper gives no details. Here every record with a tendency loses all items of its heaviest category. A record of a single
         category would become empty, so it keeps one item, drawn at random, which still shows the category.
Cost     linear: one pass to classify the records, and a few array operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.alignment import Alignment
from setveil.data.records.transactions import Transactions
from setveil.methods.base import Baseline, Outcome
from setveil.methods.in_blocks import applied_to_each
from setveil.methods.tendency.base import OverCategories

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator


class PartSupp(OverCategories, Baseline):
    """Suppress the items of the category that each record leans to; a baseline that guarantees nothing."""

    name = "part-supp"
    title = "PartSupp"
    paper = "gunawan2019"
    truthful = "subset"
    about_people = True
    runs_in_blocks = True

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Suppress the block of every record with a tendency; a record of a single category keeps one item."""
        from setveil.methods.tendency import _tendency_kernels as shape  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.methods.tendency._block_swap import BlockSwap  # noqa: PLC0415 - the same

        leaning = BlockSwap(data, self.categories)
        mixed, whole = leaning.kind == shape.PARTIAL, leaning.kind == shape.FULL
        # No category has the code -1, so that a record without a tendency keeps all its items.
        suppressed = np.repeat(np.where(mixed | whole, leaning.top, -1), data.lengths)
        keep = leaning.category[data.items] != suppressed
        keep[data.offsets[:-1][whole] + rng.integers(0, data.lengths[whole])] = True
        published = data.keeping(keep)
        account = {
            "records-without-their-block": int(np.count_nonzero(mixed)),
            "records-cut-to-one-item": int(np.count_nonzero(whole)),
            "items-left-out": data.occurrences - published.occurrences,
        }
        return Outcome(published, Alignment.identity(data.records), account)

    def apply_in_blocks(self, data: Transactions, *, rng_of: Callable[[int], Generator]) -> Outcome:
        """Suppress the blocks of the records of each data block."""
        return applied_to_each(self, data, rng_of)
