"""Joint worlds of several disassociated releases: what their clusters show, and which records may hold a set of items.

`JointWorlds.candidates` bounds the number of candidates (`clusters`). Cells that the simple bounds leave open are decided one by one:

rule out   no record may have the set and a part of every chunk at once, or an item cannot gain a record in the cell (`allocation`);
prove      a few records are changed so that one of the cell holds the set: after a change, the chunks with a part too many and one too few
           name the records to change next, until every chunk has its subrecords again. That is another joint world.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.forms.comparing import codes_in
from setveil.data.records.ragged import among, distinct, offsets_of, owner_of, places_of
from setveil.guarantees.together.allocation import Allocation
from setveil.guarantees.together.cells import Cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.guarantees.together.base import Linked

FIRST_CLUSTERS = 64
"""The number of clusters in which candidates for a set are looked for first: often they are enough."""
MOST_OPEN_CELLS = 2_000
"""Maximum number of cells that are decided one by one for a set."""
STEPS_PER_CELL = 2_000
"""Maximum number of steps of each search in a cell."""
MOST_CHANGES = 5
"""Maximum number of records that are changed to reach another joint world."""
MOST_REMEMBERED = 20_000
"""Maximum number of clusters, and a tenth of it of items, that are kept as Python objects."""

Items = frozenset[int]


@dataclass(frozen=True, eq=False)
class Shows:
    """What each cluster of a release shows: entries of cluster, item and count, sorted; the count is 0 in a term chunk."""

    data: Any
    sizes: NDArray[np.int64]
    cluster: NDArray[np.int64]
    item: NDArray[np.int64]
    counts: NDArray[np.int64]
    keys: NDArray[np.int64]
    codes: NDArray[np.int64]
    """The code in the original of each label of the release."""
    width: int
    by_item: tuple[NDArray[np.int64], NDArray[np.int64]]
    """The entries of each item, as starts and entries."""

    @classmethod
    def of(cls, data: Any, original: Transactions) -> Shows:
        """Return what the clusters of disassociated data show, with the item codes of the original."""
        width, codes = max(len(original.vocabulary), 1), codes_in(data.labels, original)
        subrecord = owner_of(data.subrecords.offsets)
        cluster = data.cluster_of_chunk[data.chunk_of_subrecord[subrecord]]
        keys, place = np.unique(cluster * width + codes[data.subrecords.items], return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, place, data.counts[subrecord])
        terms = owner_of(data.term_starts) * width + codes[data.terms]
        both = np.concatenate((keys, terms))
        order = np.argsort(both, kind="stable")
        keys, counts = both[order], np.concatenate((counts, np.zeros(len(terms), np.int64)))[order]
        item = keys % width
        return cls(data, data.sizes, keys // width, item, counts, keys, codes, width, places_of(item, width))

    def clusters_with(self, item: int) -> NDArray[np.int64]:
        """Return the clusters that show an item, in rising order."""
        starts, entries = self.by_item
        return self.cluster[entries[starts[item] : starts[item + 1]]]

    def count(self, cluster: int, item: int) -> int:
        """Return the count of an item in a cluster that shows it."""
        return int(self.counts[np.searchsorted(self.keys, cluster * self.width + item)])

    def most(self, cluster: NDArray[np.int64], item: NDArray[np.int64] | int) -> NDArray[np.int64]:
        """Return the largest possible number of records of each cluster with an item: its count, or all in a term chunk, or none."""
        wanted = cluster * self.width + item
        if not len(self.keys):
            return np.zeros(len(wanted), np.int64)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        count = np.where(self.counts[place] > 0, self.counts[place], self.sizes[cluster])
        return np.where(self.keys[place] == wanted, count, 0)

    def is_term(self, cluster: NDArray[np.int64], item: int) -> NDArray[np.bool_]:
        """Return for each cluster whether its term chunk lists an item that it shows."""
        found: NDArray[np.bool_] = self.counts[np.searchsorted(self.keys, cluster * self.width + item)] == 0
        return found


@dataclass(frozen=True, eq=False)
class Cluster:
    """One cluster of a release, as Python sets."""

    records: list[int]
    domains: list[Items]
    """The items of each record chunk."""
    parts: list[frozenset[Items]]
    """The different parts of records that each chunk has; the empty one if it has fewer subrecords than the cluster has records."""
    chunk_of: dict[int, int]
    terms: Items
    holders: Counter[int]
    """The number of original records of the cluster that hold each item of the term chunk."""

    @property
    def items(self) -> Items:
        """All items that the cluster shows."""
        return self.terms.union(self.chunk_of)

    def can_hold(self, itemset: Items) -> bool:
        """Return whether a record of the cluster may hold a set, by this release alone."""
        touched: dict[int, set[int]] = {}
        for item in itemset:
            if item not in self.terms:
                touched.setdefault(self.chunk_of[item], set()).add(item)
        return all(any(mine <= part for part in self.parts[chunk]) for chunk, mine in touched.items())


_NONE = np.empty(0, np.int64)


class Bounds(NamedTuple):
    """Bounds of the number of candidates for a set."""

    below: int
    above: int
    unsure: NDArray[np.int64]
    """The cells of which the bounds do not decide whether their records are candidates."""


Change = dict[int, Items]
"""The new items of some records."""


@dataclass(eq=False)
class JointWorlds:
    """Several disassociated releases of the same records, and what they allow together."""

    original: Transactions
    names: list[str]
    cells: Cells
    shows: list[Shows]
    width: int
    clusters: dict[tuple[int, int], Cluster] = field(default_factory=dict)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    steps: int = 0

    @classmethod
    def of(cls, releases: Sequence[Linked], original: Transactions) -> JointWorlds:
        """Return the joint worlds of releases that show every occurrence of the original."""
        data: list[Any] = [release.data for release in releases]
        cluster_of = []
        for release, one in zip(releases, data, strict=True):
            of_record = np.empty(original.records, dtype=np.int64)
            of_record[release.rows] = owner_of(offsets_of(one.sizes))
            cluster_of.append(of_record)
        shows = [Shows.of(one, original) for one in data]
        names = [release.name for release in releases]
        return cls(original, names, Cells.of(cluster_of), shows, max(len(original.vocabulary), 1))

    # -- bounds of counts -----------------------------------------------------------------------------------------------------

    def room(self, cell: NDArray[np.int64], item: NDArray[np.int64], *, without: int) -> NDArray[np.int64]:
        """Return how many records of each cell can hold an item, by its size and the counts of all other releases."""
        found = self.cells.sizes[cell]
        for release, shows in enumerate(self.shows):
            if release != without:
                found = np.minimum(found, shows.most(self.cells.groups[release, cell], item))
        return found

    def known_alone(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for pairs of cell and item whether a cluster of the cell has the item in all of its records."""
        cell, item = keys // self.width, keys % self.width
        known = np.zeros(len(keys), np.bool_)
        for release, shows in enumerate(self.shows):
            wanted = self.cells.groups[release, cell] * self.width + item
            alone = np.bincount(shows.cluster, minlength=len(shows.sizes)) == 1  # the records are not empty
            full = (shows.counts == shows.sizes[shows.cluster]) | alone[shows.cluster]
            known |= among(wanted, np.sort(shows.keys[full]))
        return known

    # -- candidates -----------------------------------------------------------------------------------------------------------

    def candidates(self, itemset: tuple[int, ...], k: int) -> Bounds:
        """Return simple bounds of the number of candidates for a set; the one below is only as exact as needed to show k candidates."""
        sizes = self.cells.sizes
        true = self._true_cells(itemset)
        below = at_first = int(sizes[true].sum())
        unsure = _NONE
        for most in (FIRST_CLUSTERS, self.original.records):
            if below >= k:
                return Bounds(below, self.original.records, _NONE)
            able = self._able_cells(itemset, most)
            unsure = able[~among(able, true)]
            freely = self._with_free_items(unsure, itemset)
            below = at_first + int(sizes[unsure[freely]].sum())
            unsure = unsure[~freely]
        above = below + int(sizes[unsure].sum())
        if below < k <= above and len(itemset) > 1 and len(unsure) <= MOST_OPEN_CELLS:
            wanted = frozenset(itemset)
            can_hold = [all(one.can_hold(wanted) for one in self.clusters_of(cell)) for cell in unsure.tolist()]
            unsure = unsure[np.array(can_hold, dtype=np.bool_)]
            above = below + int(sizes[unsure].sum())
        return Bounds(below, above, unsure)

    def closer(self, itemset: tuple[int, ...], k: int, bounds: Bounds) -> Bounds:
        """Return closer bounds, deciding one open cell after another until there are k candidates or cannot be."""
        below, above, unsure = bounds
        wanted = frozenset(itemset)
        for cell in unsure[:MOST_OPEN_CELLS].tolist():
            if below >= k or above < k:
                break
            if not self._may_hold(cell, wanted):
                above -= int(self.cells.sizes[cell])
            elif any(self._can_be_changed(record, cell, wanted) for record in self.cells.records_of(cell)[:3]):
                below += int(self.cells.sizes[cell])
        return Bounds(below, above, unsure)

    def _true_cells(self, itemset: Iterable[int]) -> NDArray[np.int64]:
        """Return the cells in which a record of the original holds a set."""
        starts, records = self.original.holders
        lists = sorted((records[starts[item] : starts[item + 1]] for item in itemset), key=len)
        held = reduce(lambda one, other: one[among(one, other)], lists)
        return distinct(self.cells.of_record[held])

    def _able_cells(self, itemset: Sequence[int], most: int) -> NDArray[np.int64]:
        """Return the cells whose clusters all show the items of a set: those of the first `most` clusters with its rarest item."""
        lists = [(shows.clusters_with(item), release) for release, shows in enumerate(self.shows) for item in itemset]
        clusters, release = min(lists, key=lambda one: len(one[0]))
        cells = self.cells.among(release, clusters[:most])
        for number, shows in enumerate(self.shows):
            for item in itemset:
                cells = cells[shows.most(self.cells.groups[number, cells], item) > 0]
        return np.sort(cells)

    def _with_free_items(self, cells: NDArray[np.int64], itemset: Sequence[int]) -> NDArray[np.bool_]:
        """Return the cells with a record that holds the part of a set that is not in the term chunks of all clusters of the cell."""
        fixed = np.zeros(len(cells), dtype=np.int64)
        for place, item in enumerate(itemset):
            is_free = np.ones(len(cells), dtype=np.bool_)
            for release, shows in enumerate(self.shows):
                is_free &= shows.is_term(self.cells.groups[release, cells], item)
            fixed += ~is_free << place
        found: NDArray[np.bool_] = fixed == 0
        for pattern in distinct(fixed[~found]).tolist():
            part = [item for place, item in enumerate(itemset) if pattern >> place & 1]
            if len(part) < len(itemset):
                found |= (fixed == pattern) & among(cells, self._true_cells(part))
        return found

    # -- one cell at a time ---------------------------------------------------------------------------------------------------

    def cluster(self, release: int, number: int) -> Cluster:
        """Return a cluster as Python sets; those used last are remembered."""
        key = release, number
        if key not in self.clusters:
            if len(self.clusters) >= MOST_REMEMBERED:
                self.clusters.clear()
            self.clusters[key] = self._cluster(release, number)
        return self.clusters[key]

    def _cluster(self, release: int, number: int) -> Cluster:
        shows = self.shows[release]
        data, codes = shows.data, shows.codes
        records = [
            one
            for cell in self.cells.among(release, np.array([number])).tolist()
            for one in self.cells.records_of(cell)
        ]
        domains: list[Items] = []
        parts: list[frozenset[Items]] = []
        chunk_of: dict[int, int] = {}
        for chunk in range(int(data.cluster_starts[number]), int(data.cluster_starts[number + 1])):
            subrecords = range(int(data.chunk_starts[chunk]), int(data.chunk_starts[chunk + 1]))
            offsets, items = data.subrecords.offsets, data.subrecords.items
            mine = {frozenset(codes[items[offsets[one] : offsets[one + 1]]].tolist()) for one in subrecords}
            if data.chunk_sizes[chunk] < data.sizes[number]:
                mine.add(frozenset())
            domain = frozenset[int]().union(*mine)
            chunk_of |= dict.fromkeys(domain, len(domains))
            domains.append(domain)
            parts.append(frozenset(mine))
        terms = frozenset(codes[data.terms[data.term_starts[number] : data.term_starts[number + 1]]].tolist())
        holders = Counter(item for record in records for item in self.items(record) & terms)
        return Cluster(records, domains, parts, chunk_of, terms, holders)

    def items(self, record: int) -> Items:
        """Return the items of an original record."""
        start, end = self.original.offsets[record : record + 2]
        return frozenset(self.original.items[start:end].tolist())

    def clusters_of(self, cell: int) -> list[Cluster]:
        """Return the clusters of a cell, one per release."""
        return [self.cluster(release, int(number)) for release, number in enumerate(self.cells.groups[:, cell])]

    def _may_hold(self, cell: int, wanted: Items) -> bool:
        """Return False if no record of a cell holds the set in any joint world."""
        if self._fitting(cell, wanted, frozenset()) is None:
            return False
        if len(self.shows) != 2:
            return True
        there = frozenset[int]().union(*map(self.items, self.cells.records_of(cell)))
        pair = int(self.cells.groups[0, cell]), int(self.cells.groups[1, cell])
        for item in wanted - there:
            allocation = self._allocation(item)
            before = allocation.steps
            gains = allocation.may_gain(pair)
            self.steps += allocation.steps - before
            if not gains:
                return False
        return True

    def _allocation(self, item: int) -> Allocation:
        """Return the records with an item in the cells of two releases."""
        if item not in self.allocations:
            if len(self.allocations) >= MOST_REMEMBERED // 10:
                self.allocations.clear()
            cells = self._able_cells([item], self.original.records)
            groups = [tuple(pair) for pair in self.cells.groups[:, cells].T.tolist()]
            sizes = dict(zip(groups, self.cells.sizes[cells].tolist(), strict=True))
            starts, records = self.original.holders
            held = dict.fromkeys(groups, 0)
            for pair in self.cells.groups[:, self.cells.of_record[records[starts[item] : starts[item + 1]]]].T.tolist():
                held[tuple(pair)] += 1
            slack = frozenset(
                (release, number)
                for release, shows in enumerate(self.shows)
                for number in shows.clusters_with(item).tolist()
                if shows.count(number, item) == 0
            )
            self.allocations[item] = Allocation(sizes, held, slack)
        return self.allocations[item]

    def _fitting(self, cell: int, wanted: Items, preferred: Items) -> Items | None:
        """Return items of a record with the set that have a part in every chunk of every cluster of the cell; None if there are none.

        Parts of `preferred` come first. If the search is too long, the set itself is returned.
        """
        clusters = self.clusters_of(cell)
        shown = frozenset.intersection(*(cluster.items for cluster in clusters))
        chunks = [(one.domains[chunk], one.parts[chunk]) for one in clusters for chunk in range(len(one.domains))]
        if not wanted <= shown:
            return None
        # Chunks with items of the set come first: they restrict the others.
        chunks.sort(key=lambda chunk: not (chunk[0] & wanted))
        limit = self.steps + STEPS_PER_CELL

        def search(place: int, held: Items, excluded: Items) -> Items | None:
            if self.steps > limit:
                return wanted
            if place == len(chunks):
                return held
            domain, parts = chunks[place]
            must, mine = held & domain, preferred & domain
            for part in sorted(parts, key=lambda part: (part != mine, len(part - held))):
                self.steps += 1
                if must <= part and part <= shown and part.isdisjoint(excluded):
                    found = search(place + 1, held | part, excluded | (domain - part))
                    if found is not None:
                        return found
            return None

        in_chunks = frozenset[int]().union(*(domain for domain, _parts in chunks))
        free = (preferred & shown) - in_chunks
        return search(0, wanted | free, frozenset())

    def _can_be_changed(self, record: int, cell: int, wanted: Items) -> bool:
        """Return whether changes of a few records lead to a joint world in which a record of a cell holds the set."""
        target = self._fitting(cell, wanted, self.items(record))
        if target is None:
            return False
        limit = self.steps + STEPS_PER_CELL

        def repaired(change: Change) -> bool:
            self.steps += 1
            if self.steps > limit:
                return False
            faults = self._faults(change)
            if faults is None:
                return False
            if not faults:
                return self._keeps_terms(change)
            if len(change) > MOST_CHANGES:
                return False
            return any(repaired({**change, other: items}) for other, items in self._repairs(faults, change))

        return repaired({record: target})

    def _faults(self, change: Change) -> dict[tuple[int, int, int], Counter[Items]] | None:
        """Return for each chunk how many parts of each kind it has too many; None if a record cannot have its items."""
        found: dict[tuple[int, int, int], Counter[Items]] = {}
        for record, items in change.items():
            before, cell = self.items(record), int(self.cells.of_record[record])
            if not items:
                return None
            for release, number in enumerate(self.cells.groups[:, cell].tolist()):
                cluster = self.cluster(release, number)
                if not items <= cluster.items:
                    return None
                for chunk in {cluster.chunk_of[item] for item in items ^ before if item in cluster.chunk_of}:
                    domain = cluster.domains[chunk]
                    if items & domain not in cluster.parts[chunk]:
                        return None
                    parts = found.setdefault((release, number, chunk), Counter())
                    parts[items & domain] += 1
                    parts[before & domain] -= 1
        return {key: parts for key, parts in found.items() if any(parts.values())}

    def _repairs(
        self, faults: dict[tuple[int, int, int], Counter[Items]], change: Change
    ) -> Iterator[tuple[int, Items]]:
        """Yield records with a part that a chunk has too many, with their items once the part is one that the chunk lacks."""
        (release, number, chunk), parts = next(iter(faults.items()))
        cluster = self.cluster(release, number)
        domain = cluster.domains[chunk]
        surplus = {part for part, more in parts.items() if more > 0}
        lacking = next(part for part, more in parts.items() if more < 0)
        found = []
        for record in cluster.records:
            items = self.items(record)
            if record not in change and items & domain in surplus:
                changed = (items - domain) | lacking
                others = self._faults({record: changed})
                self.steps += 1
                if others is not None:
                    found.append((len(others), record, changed))
        for _faults, record, changed in sorted(found, key=lambda one: one[:2]):
            yield record, changed

    def _keeps_terms(self, change: Change) -> bool:
        """Return whether each item of a term chunk is still in a record of its cluster."""
        moved: Counter[tuple[int, int, int]] = Counter()
        for record, items in change.items():
            before, cell = self.items(record), int(self.cells.of_record[record])
            for release, number in enumerate(self.cells.groups[:, cell].tolist()):
                terms = self.cluster(release, number).terms
                moved.update({(release, number, item): 1 for item in (items - before) & terms})
                moved.subtract({(release, number, item): 1 for item in (before - items) & terms})
        return all(self.cluster(*key[:2]).holders[key[2]] + more > 0 for key, more in moved.items())
