"""Re-association: plain records, combined at random from the chunks of disassociated data, that any mining tool reads.

Paper    awad2020 (references.bib), section 4, algorithms 5 and 6 (the probabilistic wheel).
Idea     within a cluster, each chunk's subrecords go to records drawn at random, at most one to each. A roulette wheel over distinct
         subrecords weighted by their counts, with removal, is a draw without replacement from the bag: so each chunk draws as many of
         the cluster's records as it has subrecords.
Departs  drawn exactly and not by a number from 1 to 100, which would lose records of clusters above 100. Records that stay empty are
         left out, as are items of term chunks unless `term_chunk="place"` puts each into one record of its cluster. What either keeps
         of the original is measured in docs/decisions/0025.
         `choose="centroid"`, which the paper leaves for the future: of all sets made, the one whose tree edit distances to the others
         sum to the least. The original is not looked at: all of this is made from the release alone.
Cost     a random number for each chunk and record of its cluster, and sorting these. `centroid`: a tree edit distance for each pair.
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
    """Make plain records from disassociated data at random; benchmarks kept 18 to 66 % of occurrences (term_chunk=place: 87 to 95 %)."""

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
        1, ge=1, le=1000, public=True, description="How many sets of records are made from the same release."
    )
    term_chunk: TermChunk = parameter(
        "drop", public=True, description="Whether items of term chunks are left out, or placed in one record each."
    )
    choose: Literal["all", "centroid"] = parameter(
        "all",
        public=True,
        description="Whether all sets are published, or the one nearest to the others by tree edit distance.",
    )
    _promise: Reconstruction | None = PrivateAttr(None)
    """What is promised of the release, once the data are known."""

    @property
    def guarantee(self) -> Reconstruction | None:
        """What the release will be checked for, once the data are known."""
        return self._promise

    def bind(self, data: Disassociated, *, linked: bool, rng: Generator) -> Self:  # type: ignore[override]  # what it accepts
        """Check that the data keep what they say of themselves: chunks that overlap could not be put together."""
        del linked, rng
        if not {"k", "m"} <= data.stated.keys():
            raise BadData(
                "the disassociated data do not say which k and m they keep, so that this cannot be checked first; give a release folder, "
                "or JSON Lines whose header has both"
            )
        k, m = data.stated["k"], data.stated["m"]
        verdict = KmAnonymity(k=k, m=m).check(data)
        if not verdict:
            raise GuaranteeViolated(
                f"the disassociated data are not safe, and nothing was made of them. {verdict}",
                verdict=verdict,
                account={},
            )
        bound = self.model_copy()
        bound._promise = Reconstruction(  # noqa: SLF001 - of the same class
            release_sha256=data.source_sha256 or data.checksum(), k=k, m=m, term_chunk=self.term_chunk
        )
        return bound

    def apply(self, data: Disassociated, *, rng: Generator) -> Outcome:  # type: ignore[override]  # what it accepts
        """Put records together, as often as asked."""
        left_out = int(np.count_nonzero(data.subrecords.supports == 0))
        if self.term_chunk == "drop" and left_out:
            progress.note(
                f"{left_out:,} of {len(data.vocabulary):,} items are in term chunks only and are left out; "
                "`term_chunk='place'` puts each into one record of its cluster"
            )
        made = run(
            "putting records together",
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
        """Return for each set the sum of its tree edit distances to all others."""
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
    """Return one set of records, in the order of content, and for each its place in the clusters.

    Whether the data keep what they say is not looked at: `Reassociation` does so before.
    """
    first_slot = offsets_of(data.sizes)
    # All places of each chunk's cluster in random order: its subrecords take the first ones.
    chunk_starts, _ = picked(first_slot, data.cluster_of_chunk)
    chunk = owner_of(chunk_starts)
    # One sort of whole numbers, chunk first, then 31 random bits; stable, so that equal ones, which are rare, come as on any machine.
    keys = (chunk << 31) | rng.integers(0, 1 << 31, len(chunk))
    begin = chunk_starts[chunk]
    drawn = np.argsort(keys, kind="stable") - begin
    taking = np.arange(len(chunk)) - begin < data.chunk_sizes[chunk]
    slot = (first_slot[data.cluster_of_chunk[chunk]] + drawn)[taking]
    # The subrecords of all chunks, each as often as it occurs, stand in the same order.
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
