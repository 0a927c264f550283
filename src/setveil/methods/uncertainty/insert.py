"""Insert: all sensitive occurrences are taken out, and as many as stay safe are put back. Ours.

Paper    none; it beats the partial suppression of jia2014 (references.bib), which it is compared with, at the same guarantee.
Idea     Without sensitive items every table is safe. Putting one back can only make a few rules stronger, and these can be looked at
         exactly (`_limit_kernels`), so that the table is safe after every step.
Order    Items in most records of the original first; for each the records that lost it by their present content, shortest first, and of
         each content as many records as stay safe. Passes over all items until one puts nothing back. Then no single occurrence that was
         left out can come back, but for those whose rules were too many to look at: these are counted.
Cost     for each distinct content that lost an item one count of its records, and a look at the contents that hold the item already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.methods.base import Outcome
from setveil.methods.uncertainty._restoring import Restoring, outcome_of
from setveil.methods.uncertainty.base import ReachesUncertainty

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions


class Insert(ReachesUncertainty):
    """Take all sensitive items out and put back as many as stay safe."""

    name = "insert"
    title = "Insert"
    paper = "jia2014"
    truthful = "subset"
    removed: ClassVar[dict[str, str]] = {"jitter": "it did not keep an attacker from finding the limit of an item"}

    order: Literal["frequent", "rarest"] = parameter(
        "frequent",
        public=True,
        description="Which sensitive items come back first: those in the most or in the fewest records.",
    )
    rounds: int = parameter(
        0,
        ge=0,
        public=True,
        description="How often some sensitive items are taken out again and everything is put back in another order, which is kept if "
        "not less came back: each round takes about as long as the first and gains a little.",
    )

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Put back sensitive occurrences until no single one can be added."""
        is_sensitive = self.sensitive.among(data)
        hidden = is_sensitive[data.items]
        if self.rho.share == 1 or not hidden.any():
            return outcome_of(data, np.ones(data.occurrences, np.bool_), is_sensitive, {})
        codes = np.flatnonzero(is_sensitive & (data.supports > 0))
        supports = data.supports[codes]
        restoring = Restoring(
            data,
            is_sensitive,
            ~hidden,
            codes[np.argsort(supports if self.order == "rarest" else -supports, kind="stable")],
            self.rho.share,
            include_empty=self.include_empty,
            whole=self.knows == "whole",
            rng=rng,
        )
        restoring.run()
        gained = restoring.improve(self.rounds)
        account = {"gained-in-rounds": gained, **restoring.account()}
        return outcome_of(data, restoring.present, is_sensitive, account)
