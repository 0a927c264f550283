"""Disassociation: records in clusters, taken apart into chunks, so that any m known items lead to at least k records.

Paper    terrovitis2012, and awad2020 (references.bib), section 2, which adds utility rules; the first was not at hand.
Idea     records that share items stand in a cluster (`_horizontal`, `_ants`, `_kmeans`). Within it, items that would single somebody out
         together go to different chunks (`_vertical`), and rare ones to the term chunk. No item changes, and none is left out.
Departs  `safe`, the default, leaves no cluster below k records; as printed, records that stand alone are published as they are, and
         nothing is promised. `cover="suppress"` also breaks links between chunks that are certain (`_covers`). Clusters are not refined:
         no proved condition for joint clusters is known to us.
Cost     clusters: each record is looked at once for every item that it is split by. Chunks: for each item of a cluster the record sets
         that its chunk makes with it. Memory: a few numbers an occurrence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import TERM_CHUNK, Disassociated
from setveil.data.records.alignment import Alignment
from setveil.errors import BadData, BadParameter
from setveil.guarantees.km_anonymity import KmAnonymity, KmLimit
from setveil.methods.base import Method, Outcome
from setveil.methods.disassociation._ants import by_ants
from setveil.methods.disassociation._covers import without_covers
from setveil.methods.disassociation._horizontal import Clustering, Mode, by_frequency
from setveil.methods.disassociation._kmeans import by_kmeans
from setveil.methods.disassociation._vertical import take_apart
from setveil.parameters.named_itemsets import NamedItemsets

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions


class Disassociation(KmLimit, Method):
    """Take records apart so that any m known items lead to at least k records; no item changes."""

    name = "disassociation"
    title = "Disassociation"
    paper = "awad2020"
    truthful = "subset"
    form = Disassociated

    delta: int = parameter(
        50,
        ge=1,
        public=True,
        description="How many records a cluster has at most; a few more where a remainder below k joins it.",
    )
    partition: Literal["frequency", "ants", "kmeans"] = parameter(
        "frequency",
        public=True,
        description="How records are put into clusters: by frequent items, by ants that keep rules together, or by k-means.",
    )
    mode: Mode = parameter(
        "recursive", public=True, description="Of frequency: split each part again, or take off cluster after cluster."
    )
    safe: bool = parameter(
        True, public=True, description="Whether no cluster may be below k records; without it nothing is promised."
    )
    cover: Literal["keep", "suppress"] = parameter(
        "keep",
        public=True,
        description="Whether to leave out occurrences until no item is certainly tied to one of another chunk.",
    )
    rules: NamedItemsets | None = parameter(
        None, public=False, description="Utility rules, itemsets that ants keep together."
    )
    beta: float = parameter(
        0.6, ge=0, le=1, public=True, description="Of ants: which share of a rule's records should be in its cluster."
    )
    iterations: int = parameter(3000, ge=0, public=True, description="Of ants: how often each moves at most.")
    stable: bool = parameter(
        True,
        public=True,
        description="Of ants: whether none takes a record that another needs; as printed they take it back and forth.",
    )

    @property
    def guarantee(self) -> KmAnonymity | None:
        """What the release will be checked for; nothing as printed."""
        return KmAnonymity(k=self.k, m=self.m) if self.safe else None

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check that there are enough records for a cluster and that rules go with ants."""
        del linked, rng
        if data.empty_records:
            raise BadData(
                f"{data.empty_records:,} records are empty, and there is nothing to take apart in them; leave them out with `empty='drop'`"
            )
        if data.records < self.k:
            raise BadData(
                f"there are {data.records:,} records, fewer than k = {self.k:,}: no items can lead to k records"
            )
        if self.delta < self.k:
            raise BadParameter(f"delta is {self.delta:,}, below k = {self.k:,}; allowed is a cluster size from k on")
        if self.partition == "ants":
            if self.rules is None:
                raise BadParameter("ants keep rules together; name a file of itemsets with `rules=`")
        elif self.rules is not None:
            raise BadParameter(
                f"rules are for ants; leave them out, or choose `partition='ants'` instead of {self.partition}"
            )
        return self

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Put records into clusters and take these apart."""
        clustering, account = self._clustering(data, rng)
        chunk, noted = take_apart(data, clustering, self.k, self.m)
        account |= noted
        if self.cover == "suppress":
            chunk, noted = without_covers(data, clustering, self.k, self.m, chunk, rng)
            account |= {name: account.get(name, 0) + number for name, number in noted.items()}
        stated = {"k": self.k, "m": self.m, "delta": self.delta}
        published, rows = Disassociated.of_records(data, clustering.numbers(), chunk, stated)
        account |= {
            "clusters": published.clusters,
            "clusters-below-k": int(np.count_nonzero(published.sizes < self.k)),
            "records-of-the-largest-cluster": int(published.sizes.max(initial=0)),
            "record-chunks": published.chunks,
            "clusters-of-several-chunks": int(np.count_nonzero(np.diff(published.cluster_starts) > 1)),
            "occurrences-in-term-chunks": int(np.count_nonzero(chunk == TERM_CHUNK)),
        }
        return Outcome(published, Alignment(rows), account)

    def _clustering(self, data: Transactions, rng: Generator) -> tuple[Clustering, dict[str, Any]]:
        asked: dict[str, Any] = {
            "k": self.k,
            "delta": self.delta,
            "safe": self.safe,
            "mode": self.mode,
        }
        if self.partition == "ants":
            assert self.rules is not None  # bind has seen to it
            chosen: dict[str, Any] = {"beta": self.beta, "iterations": self.iterations, "stable": self.stable}
            return by_ants(data, self.rules.take(self.rules.places_in(data)), **chosen, **asked)
        if self.partition == "kmeans":
            return by_kmeans(data, rng=rng, **asked)
        return by_frequency(data, **asked), {}
