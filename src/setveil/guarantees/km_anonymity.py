"""k^m-anonymity: any m or fewer items that an attacker may know of a person are in at least k records.

Papers   terrovitis2008 for plain records, terrovitis2012 for disassociated data, awad2020 (references.bib).
Checked  on the released file alone. Plain and generalized records: every set of at most m items, or nodes, that occurs is in at least k
         records; the violations are the minimal sets that are not. Disassociated data: the chunks of a cluster have no item in common
         and fit into its records, every cluster has at least k records, every record chunk satisfies what plain records must, and a
         cluster without a term chunk has enough subrecords for its other records (Lemma 2).
Departs  records of any length are searched; `attacker="aware"` requires more than the paper does. See docs/decisions/0016.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np

from setveil.base.declaration import Declaration, parameter
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Reach, Verdict, Witness
from setveil.data.files.side_files import shown
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.generalized import Generalized
from setveil.data.records.ragged import distinct
from setveil.data.records.transactions import Transactions
from setveil.guarantees.base import Coverage, Guarantee
from setveil.guarantees.recounts import Recount, Recounts, sets_below
from setveil.mining.chunk_links import ChunkItems, chunk_links
from setveil.mining.rare_itemsets import RareItemsets, rare_itemsets, rare_itemsets_in_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment

RARE = "rare-itemset"
BELOW_K = "cluster-below-k"
IN_TWO_CHUNKS = "item-in-two-chunks"
IN_TERM_CHUNK_TOO = "item-in-term-chunk-too"
TOO_MANY = "more-subrecords-than-records"
EMPTY = "empty-subrecord"
WITHOUT_ITEMS = "records-without-items"
TOO_FEW = "too-few-subrecords"
TOO_FEW_IF_AWARE = "too-few-subrecords-if-aware"
STEPS_BEFORE = 30_000_000
"""Maximum number of steps for the original, which may have too many rare sets to count."""
OF_CLUSTERS = (
    IN_TWO_CHUNKS,
    IN_TERM_CHUNK_TOO,
    TOO_MANY,
    EMPTY,
    BELOW_K,
    RARE,
    WITHOUT_ITEMS,
    TOO_FEW,
    TOO_FEW_IF_AWARE,
)
"""The kinds of violations of disassociated data in the order of the verdict."""
SHOWN_ITEMS = 12


class KmLimit(Declaration):
    """The parameters k and m, which methods share with their guarantee."""

    k: int = parameter(
        ge=1, public=True, examples=[3], description="Minimum number of records that known items must lead to."
    )
    m: int = parameter(
        ge=1, public=True, examples=[2], description="Maximum number of items of a person that an attacker knows."
    )


class KmAnonymity(KmLimit, Guarantee):
    """Any m or fewer items that an attacker may know of a person are in at least k records."""

    name = "km-anonymity"
    title = "k^m-anonymity"
    paper = "terrovitis2012"
    takes = (Transactions, Generalized, Disassociated)
    counts_of_one_kind = False
    coverage = Coverage(
        attacker="knows at most m items of a person's record, and looks for records that hold them",
        singling_out="bounded for at most m known items: at least k records hold them",
        linking="not bounded: an attacker who knows more than m items, or has other releases about the same people, may link them",
        inference="inference of other items is not bounded: all records that hold the known items may also hold another one",
        not_covered=(
            "an attacker who knows more than m items of a person, or that a person does not have an item",
            "what the k records have in common: other items of the person may be certain",
            "an attacker who has other data, or another release, about the same people",
        ),
    )

    attacker: Literal["oblivious", "aware"] = parameter(
        "oblivious",
        public=True,
        description="Disassociated data only: whether the attacker knows that an item of a term chunk is in fewer than k records.",
    )
    budget: int = parameter(
        1_000_000_000,
        ge=0,
        public=True,
        description="Maximum number of steps of the search for rare itemsets; if it ends without an answer, the verdict is undecided.",
    )

    def recounts(self, form: type, labels: Sequence[str]) -> Recounts:
        """Count the clusters below k records, and the sets of at most two items that are in fewer than k records."""
        del labels
        sizes = min(self.m, 2)
        if form is not Disassociated:
            found = sets_below(self.k, sizes, "released", "1", ("record",))
            rare = [f"sets of {quantity(n, 'item')} in fewer than {self.k} records" for n in (1, 2)]
            more = f"Sets of 3 to {self.m} items are not counted." if self.m > 2 else ""
            return Recounts((), tuple(map(Recount, rare, found)), more)
        in_chunks = sets_below(self.k, sizes, "chunk", "t0.copies", ("cluster", "chunk", "subrecord"))
        rare = [f"sets of {quantity(n, 'item')} in fewer than {self.k} subrecords of a chunk" for n in (1, 2)]
        queries = [
            Recount("clusters of fewer than k records", f"SELECT count(*) FROM cluster WHERE records < {self.k}"),
            Recount(
                "items in two chunks of a cluster",
                "SELECT count(*) FROM (SELECT 1 FROM chunk GROUP BY cluster, item HAVING count(DISTINCT chunk) > 1)",
            ),
            *map(Recount, rare, in_chunks),
        ]
        more = "Whether a cluster without a term chunk has enough subrecords (Lemma 2) is not counted."
        return Recounts((), tuple(queries), more)

    @property
    def statement(self) -> str:
        """The guarantee in one sentence."""
        return f"{self._known} finds {self._many('released record')} that {self._hold('hold')}, or none at all."

    def statement_for(self, form: type) -> str:
        """Return the guarantee in short sentences for plain records, generalized records or disassociated data."""
        if form is Generalized:
            shown = f"{self._hold('show')}{', each' if self.m > 1 else ''} as itself or as a node above it"
            return f"{self._known} finds {self._many('released record')} that {shown}, or none at all."
        if form is not Disassociated:
            return self.statement
        aware = (
            " This holds even if the attacker knows that an item of a term chunk is in fewer records: for a set with such "
            f"an item, {self._many('record')} may be the person's."
            if self.attacker == "aware"
            else ""
        )
        return (
            f"{self._known} cannot rule out that {self._many('record')} {self._hold('hold')}: some way to combine the chunks has that many."
            f"{aware}"
        )

    @property
    def _known(self) -> str:
        """The attacker, as the beginning of every statement."""
        return f"An attacker who knows {'up to ' if self.m > 1 else ''}{quantity(self.m, 'item')} of a person"

    def _many(self, noun: str) -> str:
        return f"at least {quantity(self.k, noun)}"

    def _hold(self, verb: str) -> str:
        """Return that records hold or show what the attacker knows; one record `holds`."""
        return f"{verb if self.k > 1 else verb + 's'} {'all of them' if self.m > 1 else 'it'}"

    def coverage_for(self, form: type) -> Coverage:
        """Return what it protects against in plain records, generalized records or disassociated data."""
        first, *others = self.coverage.not_covered
        if form is Generalized:
            return replace(
                self.coverage,
                attacker="knows at most m items of a person's record, and looks for records that show them or nodes above them",
                singling_out="bounded for at most m known items: at least k records show each of them, as itself or as a node above it",
                inference="inference of other items is not bounded: all records that show the known items may also show another one",
                not_covered=(
                    first,
                    *others,
                    "which item below a node a person has: one of them may be much more likely than the others",
                ),
            )
        if form is Disassociated:
            return replace(
                self.coverage,
                singling_out="bounded for at most m known items: at least k records of some cluster may hold them",
                inference="inference of other items is not bounded: all records that may hold the known items may also hold another one",
                not_covered=(
                    first,
                    "what the records of a cluster have in common: other items of the person may be certain",
                    "probabilities: some way to combine the chunks has k such records, but other ways may be much more likely",
                    "links that follow from counts: an item in all records of a cluster occurs with every other item of the cluster",
                    "an attacker who knows that an item of a term chunk is in fewer than k records: any record of the cluster may hold it",
                    others[-1],
                ),
            )
        return self.coverage

    def before(self, original: Transactions) -> Verdict:
        """Return the rare itemsets of the original, as far as they can be counted in a short time."""
        return self._check_records(original, min(self.budget, STEPS_BEFORE))

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line."""
        return f"attackers who know more than {quantity(self.m, 'item')} of a person; inference of further items"

    def check(
        self,
        published: Published,
        *,
        original: Transactions | None = None,
        alignment: Alignment | None = None,
    ) -> Verdict:
        """Prove that no itemset is rare and no cluster is too small, or return those that are; see `Guarantee.check`."""
        del original, alignment
        self.refuse_other_form(published)
        records = published.plain
        if records is None:
            return self._check_clusters(cast("Disassociated", published))
        return self._check_records(records, self.budget)

    # -- plain records --------------------------------------------------------------------------------------------------------

    def _check_records(self, data: Transactions, budget: int) -> Verdict:
        found = rare_itemsets(data, self.k, self.m, budget=budget, limit=MOST_WITNESSES)
        witnesses = []
        for codes, support in zip(found.sets, found.supports.tolist(), strict=True):
            labels = tuple(data.vocabulary[code] for code in codes.tolist())
            detail = f"in {support:,} of the {data.records:,} released records, fewer than k = {self.k:,}"
            witnesses.append(Witness(RARE, f"{{{_listed(labels)}}}", detail, items=labels))
        counts = {"records": data.records, "records-with-a-rare-itemset": found.exposed}
        counts |= {f"rare-itemsets-of-{size}-item{'s' * (size > 1)}": n for size, n in found.by_size.items()}
        violations = {RARE: found.found} if found.found else {}
        return self._verdict(data.records, found, counts, violations, witnesses, budget)

    def _verdict(
        self,
        records: int,
        found: RareItemsets,
        counts: dict[str, int],
        violations: dict[str, int],
        witnesses: list[Witness],
        budget: int,
    ) -> Verdict:
        """Return the verdict; without violations, a search that did not end is undecided."""
        reason = ""
        if found.undecided:
            reason = (
                f"no rare itemset was found, but not all sets of at most {quantity(self.m, 'item')} were searched within "
                f"{quantity(budget, 'step')}; a larger budget may decide it"
            )
        elif not found.complete:
            reason = "there are more rare itemsets, and perhaps more records with one: counting all of them would take too long"
        status: Literal["holds", "violated", "undecided"] = "holds" if found.complete else "undecided"
        if violations:
            status = "violated"
        reach = Reach.whole(records, holds=status == "holds")
        return Verdict(status, self.name, counts, violations, 0, tuple(witnesses), reason, reach)

    # -- disassociated data -----------------------------------------------------------------------------------------------------

    def _check_clusters(self, data: Disassociated) -> Verdict:
        """Check the clusters in pieces: they are independent of each other."""
        cases, witnesses, counts = Counter[str](), defaultdict[str, list[Witness]](list), Counter[str]()

        def note(kind: str, places: NDArray[np.int64], witness: Callable[[int], Witness]) -> None:
            cases[kind] += len(places)
            witnesses[kind] += map(witness, places[: MOST_WITNESSES - len(witnesses[kind])].tolist())

        first = 0
        for clusters in data.in_pieces():
            piece, items = _Piece(clusters, first, data.clusters), ChunkItems.of(clusters)
            self._note_faults(piece, items, note)
            counts.update(_links(clusters, items))
            counts["clusters-that-fail-if-aware"] += self._note_lemma(piece, note)
            first += clusters.clusters
        whole = _Piece(data, 0, data.clusters)
        below = np.flatnonzero(data.sizes < self.k)
        note(BELOW_K, below, lambda c: _of_cluster(BELOW_K, whole, c, self._below(data, c)))
        found = rare_itemsets_in_chunks(data, self.k, self.m, budget=self.budget, limit=MOST_WITNESSES)
        cases[RARE] = found.found
        witnesses[RARE] = [self._rare_in_chunk(whole, found, place) for place in range(len(found.sets))]
        figures = {
            "clusters": data.clusters,
            "records-in-the-smallest-cluster": int(data.sizes.min(initial=data.records)),
            "record-chunks": data.chunks,
            "items-in-term-chunks": len(data.terms),
        }
        violations = {kind: cases[kind] for kind in OF_CLUSTERS if cases[kind]}
        listed = [witness for kind in violations for witness in witnesses[kind]]
        return self._verdict(data.records, found, figures | counts, violations, listed, self.budget)

    def _note_faults(
        self,
        piece: _Piece,
        items: ChunkItems,
        note: Callable[[str, NDArray[np.int64], Callable[[int], Witness]], None],
    ) -> None:
        """Add the violations of the format: data that are not disassociated data at all."""
        data = piece.data
        width = max(len(data.vocabulary), 1)
        keys, chunks_with = np.unique(items.cluster * width + items.item, return_counts=True)

        def with_item(kind: str, detail: str) -> Callable[[int], Witness]:
            return lambda key: _of_cluster(kind, piece, key // width, detail, label=data.vocabulary[key % width])

        note(
            IN_TWO_CHUNKS,
            keys[chunks_with > 1],
            with_item(IN_TWO_CHUNKS, "is in more than one of its record chunks"),
        )
        terms = np.repeat(np.arange(data.clusters), np.diff(data.term_starts)) * width + data.terms
        note(
            IN_TERM_CHUNK_TOO,
            np.intersect1d(distinct(terms), keys, assume_unique=True),
            with_item(IN_TERM_CHUNK_TOO, "is in its term chunk and in a record chunk"),
        )
        sizes, records = data.chunk_sizes, data.sizes[data.cluster_of_chunk]
        note(
            TOO_MANY,
            np.flatnonzero(sizes > records),
            lambda chunk: _of_chunk(
                TOO_MANY,
                piece,
                chunk,
                f"has {quantity(int(sizes[chunk]), 'subrecord')}, but the cluster has {quantity(int(records[chunk]), 'record')}",
            ),
        )
        empty = distinct(data.chunk_of_subrecord[data.subrecords.lengths == 0])
        note(EMPTY, empty, lambda chunk: _of_chunk(EMPTY, piece, chunk, "has a subrecord without an item"))

    def _note_lemma(
        self, piece: _Piece, note: Callable[[str, NDArray[np.int64], Callable[[int], Witness]], None]
    ) -> int:
        """Add the clusters in which records would be empty if k others held a set; return how many fail for an aware attacker.

        A set meets at most h record chunks. For k records to hold it, each of these chunks needs k subrecords, and every other record needs
        one subrecord too.
        """
        data = piece.data
        sizes, terms = data.sizes, np.diff(data.term_starts)
        total = np.zeros(data.clusters, np.int64)
        np.add.at(total, data.cluster_of_chunk[data.chunk_of_subrecord], data.counts * (data.subrecords.lengths > 0))
        met = np.maximum(np.minimum(np.diff(data.cluster_starts), min(self.m, data.chunks)), 1)
        k = min(self.k, int(sizes.max(initial=0)) + 1)
        needed = sizes + k * (met - 1)
        concerned = (sizes >= k) & (k > 1)
        nothing = (terms == 0) & (total < sizes)
        too_few = concerned & (terms == 0) & (total >= sizes) & (total < needed)
        if_aware = concerned & (total + (k - 1) * terms < needed)

        def detail(cluster: int, further: str = "") -> str:
            return (
                f"its chunks have {quantity(int(total[cluster]), 'subrecord')}{further} for {quantity(int(sizes[cluster]), 'record')}; at "
                f"least {needed[cluster]:,} are needed for any set to be in {quantity(k, 'record')} and no record to be empty"
            )

        def few(cluster: int) -> str:
            return (
                f"has no term chunk, and its chunks have {quantity(int(total[cluster]), 'subrecord')} for "
                f"{quantity(int(sizes[cluster]), 'record')}"
            )

        note(WITHOUT_ITEMS, np.flatnonzero(nothing), lambda c: _of_cluster(WITHOUT_ITEMS, piece, c, few(c)))
        note(TOO_FEW, np.flatnonzero(too_few), lambda c: _of_cluster(TOO_FEW, piece, c, detail(c)))
        if self.attacker == "aware":
            note(
                TOO_FEW_IF_AWARE,
                np.flatnonzero(if_aware & (terms > 0)),
                lambda c: _of_cluster(
                    TOO_FEW_IF_AWARE,
                    piece,
                    c,
                    detail(
                        c,
                        f", and its term chunk has {quantity(int(terms[c]), 'item')} at most {quantity(k - 1, 'time')} each,",
                    ),
                ),
            )
        return int(np.count_nonzero(if_aware))

    def _below(self, data: Disassociated, cluster: int) -> str:
        return f"has {quantity(int(data.sizes[cluster]), 'record')}, fewer than k = {self.k:,}"

    def _rare_in_chunk(self, whole: _Piece, found: RareItemsets, place: int) -> Witness:
        labels = tuple(whole.data.vocabulary[code] for code in found.sets[place].tolist())
        detail = f"{{{_listed(labels)}}} is in {found.supports[place]:,} of its subrecords, fewer than k = {self.k:,}"
        return _of_chunk(RARE, whole, int(found.parts[place]), detail, items=labels)


class _Piece(NamedTuple):
    """Some clusters of a release."""

    data: Disassociated
    first: int
    """The number of the first one in the release."""
    clusters: int
    """The number of clusters of the release."""


def _of_cluster(kind: str, piece: _Piece, cluster: int, detail: str, *, label: str | None = None) -> Witness:
    number = piece.first + cluster
    place = f"cluster {number + 1:,} of {piece.clusters:,}"
    if label is None:
        return Witness(kind, place, detail, group=number)
    return Witness(kind, place, f"{shown(label)} {detail}", items=(label,), group=number)


def _of_chunk(kind: str, piece: _Piece, chunk: int, detail: str, *, items: tuple[str, ...] = ()) -> Witness:
    cluster = int(np.searchsorted(piece.data.cluster_starts, chunk, side="right")) - 1
    number = chunk - int(piece.data.cluster_starts[cluster])
    return Witness(
        kind,
        f"cluster {piece.first + cluster + 1:,}, record chunk {number + 1:,} of it",
        detail,
        items=items,
        group=piece.first + cluster,
        chunk=number,
    )


def _links(clusters: Disassociated, items: ChunkItems) -> dict[str, int]:
    """Return the numbers of links that follow from the counts."""
    links = chunk_links(clusters, items)
    return {
        "clusters-with-certain-links-of-record-chunks": links.clusters_with_certain,
        "certain-links-of-record-chunks": links.certain,
        "clusters-with-certain-links-to-term-chunks": links.clusters_with_certain_to_terms,
        "certain-links-to-term-chunks": links.certain_to_terms,
        "forced-links-of-record-chunks": links.forced,
    }


def _listed(labels: tuple[str, ...]) -> str:
    return ", ".join(labels[:SHOWN_ITEMS]) + (", …" if len(labels) > SHOWN_ITEMS else "")
