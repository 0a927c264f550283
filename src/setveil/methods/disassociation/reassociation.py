"""Re-association: combine the chunks of disassociated data at random into plain records, which any mining tool reads.

Paper    awad2020 (references.bib), section 4, algorithms 5 and 6 (the probabilistic wheel).
Idea     within a cluster, the subrecords of each chunk go to records drawn at random, at most one to each. A roulette wheel over distinct
         subrecords, weighted by their counts, with removal, is a draw without replacement. So each chunk draws as many of the cluster's
         records as it has subrecords.
Departs  the draw is exact, and not by a number from 1 to 100, which would lose records of clusters above 100. Records that stay empty are
         omitted. So are items of term chunks, unless `term_chunk="place"` places each in one record of its cluster.
         docs/decisions/0025 measures what both keep of the original.
         `choose="centroid"`, future work in the paper, publishes the set with the smallest sum of tree edit distances to the others. The
         original is not read: everything is made from the release alone.
Cost     a random number for each chunk and record of its cluster, and a sort. `centroid`: a tree edit distance for each pair of sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import PrivateAttr

from setveil.base import progress
from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.reassociated import Reassociated
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import offsets_of, owner_of, picked
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, GuaranteeViolated
from setveil.guarantees.km_anonymity import KmAnonymity
from setveil.guarantees.reconstruction import Reconstruction, TermChunk
from setveil.kernels.threads import run
from setveil.methods.base import Method, Outcome
from setveil.mining.tree_distance import tree_distance

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


class Reassociation(Method):
    """Combine chunks at random into plain records; benchmarks kept 18 to 66 % of occurrences (term_chunk=place: 87 to 95 %)."""

    name = "reassociation"
    title = "Wheel re-association"
    paper = "awad2020"
    example_lines = (
        'data = sv.read("sample:supermarket?records=1000")',
        "chunks = sv.publish(data, sv.Disassociation(k=3, m=2))",
        "method = {call}",
        "release = sv.publish(chunks, method)",
    )
    truthful = "no"
    accepts = (Disassociated,)
    form = Reassociated
    renamed: ClassVar[dict[str, str]] = {"neighbours": "copies"}

    copies: int = parameter(
        1, ge=1, le=1000, public=True, description="Number of sets of records to make from the same release."
    )
    term_chunk: TermChunk = parameter(
        "drop",
        public=True,
        description="Whether to omit items of term chunks (drop), or place each in one record of its cluster (place).",
    )
    choose: Literal["all", "centroid"] = parameter(
        "all",
        public=True,
        description="Publish all sets (all), or only the one with the smallest sum of tree edit distances to the others (centroid).",
    )
    _bound_guarantee: Reconstruction | None = PrivateAttr(None)
    """The guarantee for the data that `bind` was called with."""

    @property
    def guarantee(self) -> Reconstruction | None:
        """The guarantee that the release is checked for; None until `bind` knows the data."""
        return self._bound_guarantee

    def bind(self, data: Disassociated, *, linked: bool, rng: Generator) -> Self:  # type: ignore[override]  # what it accepts
        """Check that the stated guarantee of the data holds: chunks that overlap cannot be combined."""
        del linked, rng
        if not {"k", "m"} <= data.stated.keys():
            raise BadData(
                "the disassociated data do not state the k and m of their guarantee, so it cannot be checked; give a release folder, or "
                "JSON Lines whose header has both"
            )
        k, m = data.stated["k"], data.stated["m"]
        verdict = KmAnonymity(k=k, m=m).check(data)
        if not verdict:
            raise GuaranteeViolated(
                f"the disassociated data failed the check of their guarantee; nothing was made from them. {verdict}",
                verdict=verdict,
                account={},
            )
        bound = self.model_copy()
        bound._bound_guarantee = Reconstruction(  # noqa: SLF001 - of the same class
            release_sha256=data.source_sha256 or data.checksum(), k=k, m=m, term_chunk=self.term_chunk
        )
        return bound

    def apply(self, data: Disassociated, *, rng: Generator) -> Outcome:  # type: ignore[override]  # what it accepts
        """Combine the chunks into records, `copies` times."""
        omitted = int(np.count_nonzero(data.subrecords.supports == 0))
        if self.term_chunk == "drop" and omitted:
            progress.note(
                f"{omitted:,} of {len(data.vocabulary):,} items omitted, because they are in term chunks only; "
                "`term_chunk='place'` places each in one record of its cluster"
            )
        made = run(
            "combining chunks into records",
            lambda _control: [spin(data, rng, self.term_chunk) for _ in range(self.copies)],
        )
        account: dict[str, Any] = {"sets-made": len(made)}
        if self.choose == "centroid":
            sums = self._sums_of_distances([records for records, _slots in made])
            nearest = int(np.argmin(sums))
            account |= {"sums-of-distances": sums, "chosen-set": nearest + 1}
            made = [made[nearest]]
        slots = np.concatenate([slots for _records, slots in made])
        return Outcome(Reassociated(tuple(records for records, _slots in made)), Alignment(slots), account)

    @staticmethod
    def _sums_of_distances(made: list[Transactions]) -> list[int]:
        """Return for each set the sum of its tree edit distances to the others."""
        sums = [0] * len(made)
        pairs = len(made) * (len(made) - 1) // 2
        with progress.step("comparing sets of records", pairs) as advance:
            done = 0
            for one in range(len(made)):
                for other in range(one):
                    distance = tree_distance(made[one], made[other])
                    sums[one] += distance
                    sums[other] += distance
                    done += 1
                    advance(done)
        return sums


def spin(data: Disassociated, rng: Generator, term_chunk: TermChunk = "drop") -> tuple[Transactions, NDArray[np.int64]]:
    """Return one set of records, in the order of content, and the place of each in the clusters.

    The stated guarantee of the data is not checked: `Reassociation` does this before.
    """
    first_slot = offsets_of(data.sizes)
    # All places of each chunk's cluster in random order: its subrecords take the first ones.
    chunk_starts, _ = picked(first_slot, data.cluster_of_chunk)
    chunk = owner_of(chunk_starts)
    # One sort of whole numbers, chunk first, then 31 random bits; stable, so that rare ties are the same on every machine.
    keys = (chunk << 31) | rng.integers(0, 1 << 31, len(chunk))
    begin = chunk_starts[chunk]
    drawn = np.argsort(keys, kind="stable") - begin
    taking = np.arange(len(chunk)) - begin < data.chunk_sizes[chunk]
    slot = (first_slot[data.cluster_of_chunk[chunk]] + drawn)[taking]
    # The subrecords of all chunks, each as often as it occurs, are in the same order.
    subrecord = np.repeat(np.arange(data.subrecords.records), data.counts)
    offsets, places = picked(data.subrecords.offsets, subrecord)
    slots, items = np.repeat(slot, np.diff(offsets)), data.subrecords.items[places]
    if term_chunk == "place":
        cluster = owner_of(data.term_starts)
        slots = np.append(slots, first_slot[cluster] + rng.integers(0, data.sizes[cluster]))
        items = np.append(items, data.terms)
    width = max(len(data.vocabulary), 1)
    keys = np.sort(slots * width + items)
    rising = keys // width
    first = np.flatnonzero(np.concatenate((np.ones(min(1, len(rising)), np.bool_), rising[1:] != rising[:-1])))
    used = rising[first]
    made = Transactions(
        np.append(first, len(rising)), (keys - rising * width).astype(np.int32), data.vocabulary, unit=data.unit
    ).compacted()
    by_content = made.content_order()
    return made.take(by_content), used[by_content]
