"""PartSupp: the items of the category that a record leans to are left out. A baseline: it promises nothing.

Paper    gunawan2019 (references.bib), section 5, as a baseline; after Jia et al. 2014, partial suppression.
Departs  the paper gives no detail of it. Ours: all items of the heaviest category leave every record with a tendency; a record of that
         category alone would be empty, and keeps one item, drawn at random, which still shows the category.
Cost     linear: one pass to classify, and a few array operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.alignment import Alignment
from setveil.data.records.transactions import Transactions
from setveil.methods.base import Baseline, Outcome
from setveil.methods.tendency.base import OverCategories

if TYPE_CHECKING:
    from numpy.random import Generator


class PartSupp(OverCategories, Baseline):
    """Leave out the items of the category each record leans to; a baseline that promises nothing."""

    name = "part-supp"
    title = "PartSupp"
    paper = "gunawan2019"
    truthful = "subset"
    about_people = True

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Leave out the blocks of all records with a tendency, but for one item of a record of one category."""
        from setveil.methods.tendency import _tendency_kernels as shape  # noqa: PLC0415 - imports Numba: only when a kernel runs
        from setveil.methods.tendency._exchange import Exchange  # noqa: PLC0415 - the same

        leaning = Exchange(data, self.categories)
        mixed, whole = leaning.kind == shape.PARTIAL, leaning.kind == shape.FULL
        # No category has the code -1, so that nothing of a record without a tendency is left out.
        gone = np.repeat(np.where(mixed | whole, leaning.top, -1), data.lengths)
        keep = leaning.category[data.items] != gone
        keep[data.offsets[:-1][whole] + rng.integers(0, data.lengths[whole])] = True
        published = data.keeping(keep)
        account = {
            "records-without-their-block": int(np.count_nonzero(mixed)),
            "records-cut-to-one-item": int(np.count_nonzero(whole)),
            "items-left-out": data.occurrences - published.occurrences,
        }
        return Outcome(published, Alignment.identity(data.records), account)
