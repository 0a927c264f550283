"""Reconstruction: each file is one way to combine the chunks of a disassociated release, and nothing else.

Paper    awad2020 (references.bib), section 4.1: chunks of different clusters are never combined, and chunks are not changed.
Checked  on the released files, with the disassociated release and the private alignment, which holds the cluster of each row: the rows of
         every cluster, restricted to the items of a chunk, are exactly the subrecords of that chunk, at most one per row. Every other
         item is one of the cluster's term chunk, and occurs once, or never if items of term chunks are suppressed.
         So a file that was drawn at random reveals nothing that the disassociated release does not. `setveil.release.provenance` checks
         that it was drawn. By itself a file is not k^m-anonymous: the counts include its number of rare itemsets.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Reach, Verdict, Witness
from setveil.data.files.side_files import shown
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.reassociated import Reassociated
from setveil.data.records.ragged import distinct, owner_of
from setveil.errors import BadData, Missing
from setveil.guarantees.base import Coverage, Guarantee
from setveil.mining.rare_itemsets import rare_itemsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

TermChunk = Literal["drop", "place"]

OTHER_RELEASE = "made-from-another-release"
NO_PLACE = "row-without-a-place"
FOREIGN_ITEM = "item-of-another-cluster"
OTHER_SUBRECORDS = "chunk-with-other-subrecords"
TERM_ITEM = "term-item-not-placed-once"

TERM, NONE = -1, -2
"""Instead of the number of a chunk: an item of the term chunk, and an item that is not in the cluster."""
SHOWN_ITEMS = 12
RARE_BUDGET = 20_000_000
"""Maximum number of steps for counting rare itemsets; the count does not affect the verdict."""


class Reconstruction(Guarantee):
    """Each file is one way to combine the chunks of a disassociated release, and nothing else."""

    name = "reconstruction"
    title = "Reconstruction"
    paper = "awad2020"
    example_lines = (
        'data = sv.read("sample:supermarket?records=1000")',
        "chunks = sv.publish(data, sv.Disassociation(k=3, m=2), metrics=[]).data",
        "release = sv.publish(chunks, sv.Reassociation(), metrics=[])",
        "guarantee = sv.Reconstruction(release_sha256=chunks.checksum(), k=3, m=2)",
        "verdict = guarantee.check(release.data, original=chunks, alignment=release.alignment)",
    )
    takes = (Reassociated,)
    needs = ("original", "alignment")
    rests_on_draw = True
    counts_of_one_kind = False
    coverage = Coverage(
        attacker="has the disassociated release, knows up to m items of a person, and looks for records that hold them",
        singling_out="bounded as in the disassociated release: these records are drawn from it at random and reveal nothing more",
        linking="not bounded",
        inference="not bounded",
        not_covered=(
            "k^m-anonymity of a file by itself: itemsets in it may be rare, and by chance a record may equal an original one",
            "inference of other items",
            "an attacker who knows how far a file is from the original: that distance must stay private",
            "an attacker who has other data about the same people",
        ),
    )

    release_sha256: str = parameter(
        public=True, description="The sha256 of the data file of the disassociated release from which it was made."
    )
    k: int = parameter(
        ge=1,
        public=True,
        examples=[3],
        description="Minimum number of records that known items lead to in the disassociated release.",
    )
    m: int = parameter(
        ge=1,
        public=True,
        examples=[2],
        description="Maximum number of known items in the guarantee of the disassociated release.",
    )
    term_chunk: TermChunk = parameter(
        "drop",
        public=True,
        description="Whether items of term chunks are suppressed (drop), or placed in one record each (place).",
    )

    @property
    def statement(self) -> str:
        """The guarantee in short sentences."""
        return (
            "Each file is one of many ways to combine the chunks of a disassociated release. "
            f"That release satisfies k^m-anonymity with k = {self.k:,} and m = {self.m:,}; its sha256 is {self.release_sha256}. "
            "By itself a file is not k^m-anonymous."
        )

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line."""
        return "a file by itself, which is not k^m-anonymous; inference of further items"

    def check(
        self,
        published: Reassociated,
        *,
        original: Disassociated | None = None,
        alignment: Alignment | None = None,
    ) -> Verdict:
        """Compare every set of records with the chunks of the release, cluster by cluster; see `Guarantee.check`."""
        self.refuse_other_form(published)
        if original is None or not isinstance(original, published.made_from) or alignment is None:
            raise Missing(
                f"{self.name} compares records with the disassociated release they were made from, and needs that release and the "
                "alignment, which is in the private folder: name both with `original=` and `private=`"
            )
        if len(alignment.rows) != published.records:
            raise BadData(
                f"the alignment has {quantity(len(alignment.rows), 'row')}, but the release has {quantity(published.records, 'record')}; "
                "give the alignment of this release"
            )
        found = _Found()
        if self.release_sha256 not in (original.source_sha256, original.checksum()):
            detail = f"its sha256 is {original.source_sha256 or original.checksum()}; expected {self.release_sha256}"
            found.add(Witness(OTHER_RELEASE, "the disassociated release", detail))
        clusters = _Clusters(original)
        for number, data in enumerate(published.datasets):
            slots = alignment.rows[published.starts[number] : published.starts[number + 1]]
            where = f"set {number + 1}, " if len(published) > 1 else ""
            self._check_one(data, slots, clusters, found, where, int(published.starts[number]))
        rare = rare_itemsets(published.datasets[0], self.k, self.m, budget=RARE_BUDGET, limit=0)
        counts = {
            "sets-of-records": len(published),
            "records": published.records,
            "clusters": original.clusters,
            f"rare-itemsets-of-the-first-set{'' if rare.complete else '-at-least'}": rare.found,
        }
        violations = {kind: number for kind, number in found.violations.items() if number}
        reach = Reach.whole(published.records, holds=not violations)
        status: Literal["holds", "violated"] = "violated" if violations else "holds"
        return Verdict(status, self.name, counts, violations, 0, tuple(found.witnesses), reach=reach)

    def _check_one(
        self,
        data: Transactions,
        slots: NDArray[np.int64],
        clusters: _Clusters,
        found: _Found,
        where: str,
        begin: int,
    ) -> None:
        places, first, times = np.unique(slots, return_index=True, return_counts=True)
        lost = (places < 0) | (places >= clusters.data.records) | (times > 1)
        for row, rows in zip(first[lost].tolist(), times[lost].tolist(), strict=True):
            detail = "several rows have the same place in the release" if rows > 1 else "it has no place in the release"
            found.add(Witness(NO_PLACE, f"{where}row {row + 1:,}", detail, begin + row))
        if lost.any():
            return
        occurrences = _Occurrences.of(data, clusters, slots)
        self._check_foreign(data, occurrences, found, where, begin)
        self._check_subrecords(occurrences, clusters.data, found, where)
        self._check_terms(occurrences, clusters.data, found, where)

    @staticmethod
    def _check_foreign(data: Transactions, occurrences: _Occurrences, found: _Found, where: str, begin: int) -> None:
        """Add the rows with items that are not in their cluster."""
        rows = distinct(occurrences.row[occurrences.chunk == NONE])
        found.violations[FOREIGN_ITEM] += len(rows)
        for row in rows[:MOST_WITNESSES].tolist():
            mine = slice(int(data.offsets[row]), int(data.offsets[row + 1]))
            codes = data.items[mine][occurrences.chunk[mine] == NONE].tolist()
            labels = tuple(data.vocabulary[code] for code in codes)
            named = ", ".join(map(shown, labels[:SHOWN_ITEMS]))
            cluster = int(occurrences.cluster[data.offsets[row]]) + 1
            detail = f"cluster {cluster:,} of the release does not contain {named}"
            found.witness(Witness(FOREIGN_ITEM, f"{where}row {row + 1:,}", detail, begin + row, labels))

    @staticmethod
    def _check_subrecords(occurrences: _Occurrences, data: Disassociated, found: _Found, where: str) -> None:
        """Split the rows by chunk, and compare the parts with the subrecords of each chunk."""
        made: dict[int, dict[int, list[int]]] = {}
        inside = occurrences.chunk >= 0
        columns = (column[inside].tolist() for column in (occurrences.row, occurrences.chunk, occurrences.item))
        for row, chunk, code in zip(*columns, strict=True):
            made.setdefault(chunk, {}).setdefault(row, []).append(code)
        starts, offsets = data.chunk_starts.tolist(), data.subrecords.offsets.tolist()
        items, counts = data.subrecords.items.tolist(), data.counts.tolist()
        for number in range(data.chunks):
            wanted: Counter[tuple[int, ...]] = Counter()
            for one in range(starts[number], starts[number + 1]):
                wanted[tuple(items[offsets[one] : offsets[one + 1]])] += counts[one]
            there = Counter(tuple(sorted(part)) for part in made.get(number, {}).values())
            if there != wanted:
                off = sum((there - wanted).values()) + sum((wanted - there).values())
                cluster = int(data.cluster_of_chunk[number])
                chunk = number - int(data.cluster_starts[cluster])
                place = f"{where}cluster {cluster + 1:,}, chunk {chunk + 1:,}"
                detail = (
                    f"{quantity(off, 'subrecord')} differ: they are in the records or in the chunk, but not in both"
                )
                found.add(Witness(OTHER_SUBRECORDS, place, detail, group=cluster, chunk=chunk))

    def _check_terms(self, occurrences: _Occurrences, data: Disassociated, found: _Found, where: str) -> None:
        """Compare how often items of term chunks occur in the rows of their cluster with how often they may."""
        in_terms = occurrences.chunk == TERM
        there = Counter(zip(occurrences.cluster[in_terms].tolist(), occurrences.item[in_terms].tolist(), strict=True))
        named = zip(owner_of(data.term_starts).tolist(), data.terms.tolist(), strict=True)
        wanted = Counter(named) if self.term_chunk == "place" else Counter()
        for (group, code), times in sorted(((there - wanted) + (wanted - there)).items()):
            label = data.vocabulary[code]
            off = "often" if there[group, code] else "rarely"
            detail = f"the item {shown(label)} of its term chunk occurs {quantity(times, 'time')} too {off}"
            found.add(Witness(TERM_ITEM, f"{where}cluster {group + 1:,}", detail, items=(label,), group=group))


class _Found:
    """The violations and witnesses so far."""

    def __init__(self) -> None:
        self.violations: Counter[str] = Counter()
        self.witnesses: list[Witness] = []
        self._shown: Counter[str] = Counter()

    def add(self, case: Witness) -> None:
        """Count one case, and keep it as a witness unless there are enough of its kind."""
        self.violations[case.kind] += 1
        self.witness(case)

    def witness(self, case: Witness) -> None:
        """Keep a case that is already counted as a witness, unless there are enough of its kind."""
        self._shown[case.kind] += 1
        if self._shown[case.kind] <= MOST_WITNESSES:
            self.witnesses.append(case)


class _Clusters:
    """Look-up of the chunk to which an item belongs in a cluster."""

    def __init__(self, data: Disassociated) -> None:
        self.data = data
        self._ends = np.cumsum(data.sizes)
        self._width = max(len(data.vocabulary), 1)
        chunk = data.chunk_of_subrecord[owner_of(data.subrecords.offsets)]
        owner = np.concatenate((data.cluster_of_chunk[chunk], owner_of(data.term_starts)))
        keys = owner * self._width + np.concatenate((data.subrecords.items, data.terms))
        self._keys, first = np.unique(keys, return_index=True)
        self._chunk = np.concatenate((chunk, np.full(len(data.terms), TERM)))[first]

    def of_slots(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cluster of each record of the disassociated release, given by its number."""
        return np.searchsorted(self._ends, slots, side="right")

    def chunk_of(self, cluster: NDArray[np.int64], item: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the chunk to which an item belongs in a cluster, or TERM, or NONE."""
        keys = cluster * self._width + item
        at = np.searchsorted(self._keys, keys)
        known = (item >= 0) & (at < len(self._keys))
        known[known] = self._keys[at[known]] == keys[known]
        found = np.full(len(keys), NONE)
        found[known] = self._chunk[at[known]]
        return found


@dataclass(frozen=True)
class _Occurrences:
    """Each occurrence in a set of records: its row, the cluster of the row, the code of the item in the release, and its chunk."""

    row: NDArray[np.int64]
    cluster: NDArray[np.int64]
    item: NDArray[np.int64]
    chunk: NDArray[np.int64]

    @classmethod
    def of(cls, data: Transactions, clusters: _Clusters, slots: NDArray[np.int64]) -> _Occurrences:
        """Look up all occurrences."""
        code_of = clusters.data.subrecords.code_of
        codes = np.array([code_of.get(label, -1) for label in data.vocabulary] or [-1], dtype=np.int64)
        row = owner_of(data.offsets)
        cluster, item = clusters.of_slots(slots)[row], codes[data.items]
        return cls(row, cluster, item, clusters.chunk_of(cluster, item))
