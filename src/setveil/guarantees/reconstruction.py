"""Reconstruction: each file is one way to put the chunks of a disassociated release together, and nothing else.

Paper    awad2020 (references.bib), section 4.1: what is in two clusters is not put together, and what a chunk tells is not altered.
Checked  on the released files, with the disassociated release and the private alignment, which tells the cluster of each row: every
         cluster's rows, cut by the items of its chunks, give exactly the subrecords of these chunks, at most one a row; every other
         item is one of the cluster's term chunk, and there once, or never where term chunks are left out.
         So a file that was drawn at random reveals nothing that the disassociated release does not. `setveil.release.provenance` checks
         that it was drawn. By itself a file is not k^m-anonymous: the counts say how many rare itemsets it has.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.base.verdict import MOST_WITNESSES, Reach, Verdict, Witness
from setveil.data.files.side_files import shown
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.reassociated import Reassociated
from setveil.data.records.ragged import owner_of
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
"""In the place of a chunk's number: an item of the term chunk, and one that the cluster does not name."""
SHOWN_ITEMS = 12
RARE_BUDGET = 20_000_000
"""How many steps are spent on counting rare itemsets, which decides nothing."""


class Reconstruction(Guarantee):
    """Each file is one way to put the chunks of a disassociated release together, and nothing else."""

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
        singling_out="as far as the disassociated release bounds it: these records are drawn from it at random and add nothing",
        linking="not bounded",
        inference="not bounded",
        not_covered=(
            "taken by itself a file is not k^m-anonymous: itemsets in it can be rare, and by chance a record can be somebody's own",
            "inference of other items",
            "whoever knows how far a file is from the original: that distance must stay private",
            "someone who knows other data about the same people",
        ),
    )

    release_sha256: str = parameter(
        public=True, description="The sha256 of the data file of the disassociated release that it was made from."
    )
    k: int = parameter(
        ge=1, public=True, examples=[3], description="How many records any known items lead to in that release."
    )
    m: int = parameter(ge=1, public=True, examples=[2], description="How many items somebody may know there.")
    term_chunk: TermChunk = parameter(
        "drop", public=True, description="Whether items of term chunks are left out, or placed in one record each."
    )

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        return (
            f"Each file is one of many ways to put together the disassociated release with the sha256 {self.release_sha256}, which keeps "
            f"k^m-anonymity with k = {self.k} and m = {self.m}; by itself a file is not k^m-anonymous."
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
        """Compare every set of records with the chunks of the release, cluster by cluster."""
        self.refuse_other_form(published)
        if original is None or not isinstance(original, published.made_from) or alignment is None:
            raise Missing(
                f"{self.name} compares records with the original, the disassociated release they were made from, by the alignment in "
                "the private folder: name both with `original=` and `private=`"
            )
        if len(alignment.rows) != published.records:
            raise BadData("the alignment does not belong to these data: its rows do not fit")
        found = _Found()
        if self.release_sha256 not in (original.source_sha256, original.checksum()):
            detail = f"the release has the sha256 {original.source_sha256 or original.checksum()}, and promised is {self.release_sha256}"
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
            detail = "two rows stand for the same record" if rows > 1 else "it stands for no record of the release"
            found.add(Witness(NO_PLACE, f"{where}row {row + 1:,}", detail, begin + row))
        if lost.any():
            return
        told = _Told.of(data, clusters, slots)
        self._check_foreign(data, told, found, where, begin)
        self._check_subrecords(told, clusters.data, found, where)
        self._check_terms(told, clusters.data, found, where)

    @staticmethod
    def _check_foreign(data: Transactions, told: _Told, found: _Found, where: str, begin: int) -> None:
        """Note the rows with items that their cluster does not name."""
        rows = np.unique(told.row[told.chunk == NONE])
        found.violations[FOREIGN_ITEM] += len(rows)
        for row in rows[:MOST_WITNESSES].tolist():
            mine = slice(int(data.offsets[row]), int(data.offsets[row + 1]))
            codes = data.items[mine][told.chunk[mine] == NONE].tolist()
            labels = tuple(data.vocabulary[code] for code in codes)
            named = ", ".join(map(shown, labels[:SHOWN_ITEMS]))
            detail = f"cluster {told.cluster[data.offsets[row]] + 1:,} of the release does not name: {named}"
            found.witness(Witness(FOREIGN_ITEM, f"{where}row {row + 1:,}", detail, begin + row, labels))

    @staticmethod
    def _check_subrecords(told: _Told, data: Disassociated, found: _Found, where: str) -> None:
        """Cut the rows by chunk, and compare the parts with the subrecords, each with the number of its chunk."""
        made: dict[int, dict[int, list[int]]] = {}
        inside = told.chunk >= 0
        columns = (column[inside].tolist() for column in (told.row, told.chunk, told.item))
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
                detail = f"{off:,} parts of records are not those of the chunk"
                found.add(Witness(OTHER_SUBRECORDS, place, detail, group=cluster, chunk=chunk))

    def _check_terms(self, told: _Told, data: Disassociated, found: _Found, where: str) -> None:
        """Compare how often items of term chunks stand in the rows of their cluster with how often they may."""
        in_terms = told.chunk == TERM
        there = Counter(zip(told.cluster[in_terms].tolist(), told.item[in_terms].tolist(), strict=True))
        named = zip(owner_of(data.term_starts).tolist(), data.terms.tolist(), strict=True)
        wanted = Counter(named) if self.term_chunk == "place" else Counter()
        for (group, code), times in sorted(((there - wanted) + (wanted - there)).items()):
            label = data.vocabulary[code]
            off = "often" if there[group, code] else "rarely"
            detail = f"the item {shown(label)} of its term chunk stands {times:,} times too {off}"
            found.add(Witness(TERM_ITEM, f"{where}cluster {group + 1:,}", detail, items=(label,), group=group))


class _Found:
    """What is wrong so far."""

    def __init__(self) -> None:
        self.violations: Counter[str] = Counter()
        self.witnesses: list[Witness] = []
        self._shown: Counter[str] = Counter()

    def add(self, case: Witness) -> None:
        """Count one case, and keep it if there are not too many of its kind."""
        self.violations[case.kind] += 1
        self.witness(case)

    def witness(self, case: Witness) -> None:
        """Keep a case that was counted, if there are not too many of its kind."""
        self._shown[case.kind] += 1
        if self._shown[case.kind] <= MOST_WITNESSES:
            self.witnesses.append(case)


class _Clusters:
    """Which chunk of which cluster an item belongs to."""

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
        """Return the cluster of each place."""
        return np.searchsorted(self._ends, slots, side="right")

    def chunk_of(self, cluster: NDArray[np.int64], item: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the chunk that an item belongs to in a cluster, or TERM, or NONE."""
        keys = cluster * self._width + item
        at = np.searchsorted(self._keys, keys)
        known = (item >= 0) & (at < len(self._keys))
        known[known] = self._keys[at[known]] == keys[known]
        found = np.full(len(keys), NONE)
        found[known] = self._chunk[at[known]]
        return found


@dataclass(frozen=True)
class _Told:
    """Every occurrence of a set of records: its row, the cluster of that, the item as the release codes it, and its chunk there."""

    row: NDArray[np.int64]
    cluster: NDArray[np.int64]
    item: NDArray[np.int64]
    chunk: NDArray[np.int64]

    @classmethod
    def of(cls, data: Transactions, clusters: _Clusters, slots: NDArray[np.int64]) -> _Told:
        """Look up all of them."""
        code_of = clusters.data.subrecords.code_of
        codes = np.array([code_of.get(label, -1) for label in data.vocabulary] or [-1], dtype=np.int64)
        row = owner_of(data.offsets)
        cluster, item = clusters.of_slots(slots)[row], codes[data.items]
        return cls(row, cluster, item, clusters.chunk_of(cluster, item))
