"""Disassociation: form clusters of records and split them into chunks, so that any m known items lead to at least k records.

Paper    terrovitis2012, and awad2020 (references.bib), section 2, which adds utility rules; we did not have the first.
Idea     records with common items form a cluster (`_horizontal`, `_ants`, `_kmeans`). Within it, items that together would single out a
         person go to different chunks (`_vertical`), and rare items go to the term chunk. No item is changed or suppressed.
Departs  `safe`, the default, makes no cluster below k records. As printed, clusters of one record are published as they are, and nothing is
         guaranteed. `cover="suppress"` also breaks certain links between chunks (`_covers`). Clusters are not refined: we know of no proven
         condition under which joint clusters are safe.
Blocks   the clusters are those of data in one block (`_in_blocks`). Flat clusters, ants and k-means need all records at once.
Cost     clusters: a record is copied at most log2(records) times, with the smaller side of a split. Chunks: for each
         item of a cluster, the record sets of its chunk together with it. Memory: a few numbers per occurrence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.data.forms.disassociated import TERM_CHUNK, Disassociated
from setveil.data.forms.disassociated.in_blocks import gathered
from setveil.data.records.alignment import Alignment
from setveil.errors import BadData, BadParameter
from setveil.guarantees.km_anonymity import KmAnonymity, KmLimit
from setveil.methods.base import Method, Outcome
from setveil.methods.disassociation._ants import by_ants
from setveil.methods.disassociation._covers import break_certain_links
from setveil.methods.disassociation._horizontal import Clustering, Mode, by_frequency
from setveil.methods.disassociation._in_blocks import clusters_in_blocks
from setveil.methods.disassociation._kmeans import by_kmeans
from setveil.methods.disassociation._rare_items import rare_items
from setveil.methods.disassociation._vertical import assign_chunks
from setveil.parameters.named_itemsets import NamedItemsets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class Disassociation(KmLimit, Method):
    """Split records into chunks so that any m known items lead to at least k records; no item is changed."""

    name = "disassociation"
    title = "Disassociation"
    paper = "awad2020"
    truthful = "subset"
    form = Disassociated

    delta: int = parameter(
        50,
        ge=1,
        public=True,
        description="Maximum number of records per cluster; slightly exceeded where a remainder of fewer than k records joins a cluster.",
    )
    partition: Literal["frequency", "ants", "kmeans"] = parameter(
        "frequency",
        public=True,
        description="How to form clusters: by frequent items (frequency), by an ant colony that keeps the records of each utility rule "
        "together (ants), or by k-means (kmeans).",
    )
    mode: Mode = parameter(
        "recursive",
        public=True,
        description="How to form clusters by frequent items: split the records by their most frequent item, and both sides again "
        "(recursive), or take one cluster after another from the rest (flat).",
    )
    safe: bool = parameter(
        True, public=True, description="Make no cluster with fewer than k records. Without it, nothing is guaranteed."
    )
    cover: Literal["keep", "suppress"] = parameter(
        "keep",
        public=True,
        description="What to do if items of different chunks are linked for certain: nothing (keep), or suppress occurrences (suppress).",
    )
    rules: NamedItemsets | None = parameter(
        None,
        public=False,
        description="Utility rules: itemsets whose records should stay in one cluster. Required if partition is ants, refused otherwise.",
    )
    beta: float = parameter(
        0.6,
        ge=0,
        le=1,
        public=True,
        description="Applies to partition ants only: of the records that hold a utility rule, the share that should be in its cluster.",
    )
    iterations: int = parameter(
        3000, ge=0, public=True, description="Applies to partition ants only: maximum number of moves per ant."
    )
    stable: bool = parameter(
        True,
        public=True,
        description="Applies to partition ants only: take no record from a cluster if the cluster's own rule would then fall below the "
        "share beta. With false (as in awad2020), ants can take the same records from each other again and again.",
    )

    @property
    def guarantee(self) -> KmAnonymity | None:
        """The guarantee that the release is checked for; None unless `safe`."""
        return KmAnonymity(k=self.k, m=self.m) if self.safe else None

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check that there are enough records for a cluster, and that rules are given for ants only."""
        del linked, rng
        if data.empty_records:
            raise BadData(
                f"the data have {quantity(data.empty_records, 'empty record')}, which cannot be split into chunks; drop empty records with "
                "`empty='drop'`"
            )
        if data.records < self.k:
            raise BadData(
                f"the data have {quantity(data.records, 'record')}, fewer than k = {self.k:,}, so no items can lead to k "
                "records; choose a smaller k"
            )
        if self.delta < self.k:
            raise BadParameter(
                f"delta is {self.delta:,}, below k = {self.k:,}; allowed is a cluster size of at least k: choose a larger "
                "`delta=` or a smaller `k=`"
            )
        if self.partition == "ants":
            if self.rules is None:
                raise BadParameter("`partition='ants'` requires utility rules; give a file of itemsets with `rules=`")
        elif self.rules is not None:
            raise BadParameter(
                f"`rules=` applies to `partition='ants'` only, not to {self.partition}; remove `rules=`, or choose ants"
            )
        return self

    def bound_in(self, data: Transactions) -> str:
        """Return how many items are too rare for any record chunk."""
        return rare_items(data, self.k, "so only term chunks can list them")

    @property
    def runs_in_blocks(self) -> bool:  # type: ignore[override]  # only some settings can
        """Whether the clusters can be formed in blocks."""
        return self.partition == "frequency" and self.mode == "recursive"

    @property
    def least(self) -> int:
        """Minimum number of records in a cluster."""
        return self.k if self.safe else 1

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Form clusters of records, and split each into chunks."""
        clustering, account = self._clustering(data, rng)
        chunk, counts = self.assign(data, clustering, rng)
        published, rows = Disassociated.of_records(data, clustering.numbers(), chunk, self._stated)
        return self._outcome(published, rows, account | counts)

    def apply_in_blocks(self, data: Transactions, *, rng_of: Callable[[int], Generator]) -> Outcome:
        """Do the same with memory for a few blocks. With `cover="suppress"`, the drawn occurrences depend on the size of blocks."""
        arrays, rows, account = gathered(clusters_in_blocks(self, data, rng_of))
        return self._outcome(Disassociated.of_arrays(arrays, data, self._stated), rows, account)

    def assign(
        self, data: Transactions, clustering: Clustering, rng: Generator
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        """Return the chunk of each occurrence, and an account."""
        chunk, account = assign_chunks(data, clustering, self.k, self.m)
        if self.cover == "suppress":
            chunk, counts = break_certain_links(data, clustering, self.k, self.m, chunk, rng)
            account |= {name: account.get(name, 0) + number for name, number in counts.items()}
        return chunk, account | {"occurrences-in-term-chunks": int(np.count_nonzero(chunk == TERM_CHUNK))}

    @property
    def _stated(self) -> dict[str, int]:
        return {"k": self.k, "m": self.m, "delta": self.delta}

    def _outcome(self, published: Disassociated, rows: NDArray[np.int64], account: dict[str, Any]) -> Outcome:
        """Return the outcome with an account of the clusters."""
        figures = {
            "clusters": published.clusters,
            "clusters-below-k": int(np.count_nonzero(published.sizes < self.k)),
            "records-of-the-largest-cluster": int(published.sizes.max(initial=0)),
            "record-chunks": published.chunks,
            "clusters-of-several-chunks": int(np.count_nonzero(np.diff(published.cluster_starts) > 1)),
        }
        return Outcome(published, Alignment(rows), account | figures)

    def _clustering(self, data: Transactions, rng: Generator) -> tuple[Clustering, dict[str, Any]]:
        """Return the clusters, formed as `partition` says, and an account."""
        settings: dict[str, Any] = {
            "k": self.k,
            "delta": self.delta,
            "safe": self.safe,
            "mode": self.mode,
        }
        if self.partition == "ants":
            assert self.rules is not None  # `bind` refuses ants without rules
            of_ants: dict[str, Any] = {"beta": self.beta, "iterations": self.iterations, "stable": self.stable}
            return by_ants(data, self.rules.take(self.rules.places_in(data)), **of_ants, **settings)
        if self.partition == "kmeans":
            return by_kmeans(data, rng=rng, **settings)
        return by_frequency(data, **settings), {}
