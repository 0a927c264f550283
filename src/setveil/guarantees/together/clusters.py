"""k^m-anonymity of several disassociated releases: at least k records may hold what an attacker knows, in joint worlds.

A joint world gives every record items so that each release is true of it. In each cluster, the parts of its records over the items of a
record chunk are the subrecords of that chunk. At least one of its records holds each item of the term chunk. Every record holds items of
its clusters only, and none is empty. A *candidate* for a set S is a record that holds S in some joint world. Records of one cell, which
share their cluster in every release, can be swapped: either all or none of them are candidates. So candidates are counted cell by cell,
between two bounds:

below  the cells in which a record holds S in the original, which is a joint world, or would hold it with items that are in the term chunk
       of all its clusters, which can be added to any of their records; or after a few changes (`worlds`);
above  the cells whose clusters can all hold S, each by itself, except those that `worlds` rules out.

Only sets of exactly m items, and whole shorter records, are checked: a smaller set has at least the same candidates.

Inference is not bounded by k^m-anonymity. So items that all records of a cell must hold (*exact links*) are counted and shown, but are no
violations. They follow from the counts of record chunks: if the other cells of a cluster have no room for all records with an item.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.base import progress
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Verdict, Witness
from setveil.data.files.side_files import shown
from setveil.data.forms.comparing import Aligned, listed
from setveil.data.records.ragged import distinct, offsets_of, owner_of, picked, record_ranges
from setveil.guarantees.km_anonymity import KmAnonymity
from setveil.guarantees.together.base import (
    Found,
    JointDefinition,
    Linked,
    different_guarantees,
    joint_verdict,
    stated_by,
)
from setveil.guarantees.together.subsets import count_sets, numbered, sets_in
from setveil.guarantees.together.worlds import Bounds, JointWorlds
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

TOO_FEW = "too-few-candidates"
EXACT_LINK = "exact-link"
MOST_SETS = 10_000_000
"""Maximum number of sets of items in the original records."""
BUDGET = 3_000_000
"""Maximum number of steps of the search for joint worlds."""
BLOCK = 1 << 20


class JointClusters(JointDefinition):
    """At least k records may hold any m items of a record, in joint worlds of all releases."""

    title = "cells of clusters"
    statement = (
        "For any m or fewer items of an original record, at least k records are candidates: they hold these items in some joint world, in "
        "which every release is true. k and m of each release are checked."
    )

    @classmethod
    def covers(cls, release: Linked) -> bool:
        """Return whether the release is disassociated with this guarantee."""
        return isinstance(release.guarantee, KmAnonymity) and release.data.has_support_bounds

    @classmethod
    def check(cls, releases: Sequence[Linked], original: Transactions) -> Iterator[Verdict]:
        """Count the candidates for the sets in each record, and find exact links."""
        for release in releases:
            if release.data.find_untrue(Aligned(original, release.rows), whole=True).cases:
                reason = f"{release.name} omits occurrences; joint worlds are defined for releases that show every occurrence"
                yield joint_verdict(KmAnonymity.name, Found({}), {}, original, reason=reason, open_cases=1)
                return
        worlds = JointWorlds.of(releases, original)
        links = _exact_links(worlds)
        for guarantee in different_guarantees(releases, KmAnonymity):
            verdict = _candidates(worlds, guarantee)
            if verdict and guarantee.attacker == "aware":
                reason = "joint worlds are not defined for an attacker who is aware of term chunks"
                verdict = joint_verdict(
                    guarantee.name, Found({}), verdict.counts, original, reason=reason, open_cases=1
                )
            witnesses = verdict.witnesses + tuple(_link_witness(worlds, link) for link in links.first)
            counts = verdict.counts | {
                "exact-links": links.number,
                "cells-with-exact-links": links.cells,
                "records-with-exact-links": links.records,
            }
            yield stated_by(replace(verdict, counts=counts, witnesses=witnesses), guarantee, releases)


# -- candidates -------------------------------------------------------------------------------------------------------------------


def _candidates(worlds: JointWorlds, guarantee: KmAnonymity) -> Verdict:
    original, cells = worlds.original, worlds.cells
    k, m = min(guarantee.k, original.records + 1), guarantee.m
    counts = {
        "records": original.records,
        "cells": cells.number,
        "records-in-the-smallest-cell": int(cells.sizes.min(initial=original.records)),
        "sets-to-examine": 0,
        "undecided-sets": 0,
    }
    if not cells.number or counts["records-in-the-smallest-cell"] >= k:
        return joint_verdict(guarantee.name, Found({}), counts, original)
    rare = _rare_sets(worlds, k, m)
    if rare is None:
        reason = (
            f"the records hold more than {quantity(MOST_SETS, 'set')} of {quantity(m, 'item')}: too many to examine"
        )
        return joint_verdict(guarantee.name, Found({}), counts, original, reason=reason, open_cases=1)
    counts["sets-to-examine"] = len(rare)
    cases, witnesses, unclear = _simply_decided(worlds, rare, k)
    if not cases:
        cases, witnesses, open_cases = _searched(worlds, unclear, k)
    else:
        open_cases = len(unclear)
    counts["undecided-sets"] = open_cases
    reason = ""
    if open_cases and not cases:
        reason = (
            f"for {quantity(open_cases, 'set')} of {quantity(m, 'item')} fewer than k = {k:,} records are shown to be candidates, but k "
            "records are not ruled out"
        )
    found = Found.of(TOO_FEW, cases, witnesses)
    return joint_verdict(guarantee.name, found, counts, original, reason=reason, open_cases=open_cases)


_Unclear = list[tuple[tuple[int, ...], int, Bounds]]
"""Sets that simple bounds do not decide, each with a cell of a record that holds it."""


def _simply_decided(
    worlds: JointWorlds, rare: list[tuple[tuple[int, ...], int]], k: int
) -> tuple[int, list[Witness], _Unclear]:
    """Return the number of sets with fewer than k candidates by the simple bounds, witnesses, and the sets that these do not decide."""
    cases = 0
    witnesses: list[Witness] = []
    unclear: _Unclear = []
    with progress.step("counting candidates", len(rare)) as advance:
        for done, (itemset, cell) in enumerate(rare):
            bounds = worlds.candidates(itemset, k)
            if bounds.above < k:
                cases += 1
                if len(witnesses) < MOST_WITNESSES:
                    witnesses.append(_too_few(worlds, itemset, cell, bounds.above, k))
            elif bounds.below < k:
                unclear.append((itemset, cell, bounds))
            if done % 256 == 0:
                advance(done)
    return cases, witnesses, unclear


def _searched(worlds: JointWorlds, unclear: _Unclear, k: int) -> tuple[int, list[Witness], int]:
    """Search joint worlds; return the number of sets with fewer than k candidates, witnesses, and the number of undecided sets."""
    cases, open_cases = 0, 0
    witnesses: list[Witness] = []
    worlds.steps = 0
    with progress.step("searching joint worlds", len(unclear)) as advance:
        for done, (itemset, cell, simple) in enumerate(unclear):
            if worlds.steps > BUDGET:
                open_cases += len(unclear) - done
                break
            bounds = worlds.closer(itemset, k, simple)
            if bounds.above < k:
                cases += 1
                witnesses.append(_too_few(worlds, itemset, cell, bounds.above, k))
            elif bounds.below < k:
                open_cases += 1
            advance(done)
    return cases, witnesses[:MOST_WITNESSES], open_cases


def _too_few(worlds: JointWorlds, itemset: tuple[int, ...], cell: int, above: int, k: int) -> Witness:
    labels = tuple(worlds.original.vocabulary[code] for code in itemset)
    detail = (
        f"a record of this cell holds {listed(labels)}, and at most {quantity(above, 'record')} can hold them in any joint world; at least "
        f"k = {k:,} must"
    )
    place = worlds.cells.place(cell, worlds.names, "cluster")
    return Witness(TOO_FEW, place, detail, items=labels, group=int(worlds.cells.groups[0, cell]))


def _rare_sets(worlds: JointWorlds, k: int, m: int) -> list[tuple[tuple[int, ...], int]] | None:
    """Return the sets of m items, and whole shorter records, in cells of fewer than k records together, each with such a cell.

    None stands for too many sets. A set in a cell of k records has k candidates.
    """
    data, cells = worlds.original, worlds.cells
    small, longest = cells.sizes[cells.of_record] < k, int(data.lengths.max(initial=0))
    records_of = {m: np.flatnonzero(small & (data.lengths >= m))}
    records_of |= {size: np.flatnonzero(small & (data.lengths == size)) for size in range(1, min(m, longest + 1))}
    if sum(count_sets(data.lengths[records], size) for size, records in records_of.items()) > MOST_SETS:
        return None
    found: list[tuple[tuple[int, ...], int]] = []
    for size, records in records_of.items():
        blocks = list(sets_in(data, records, size))
        if blocks:
            homes, sets = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
            found += _in_few(worlds, sets, cells.of_record[homes], k)
    return found


def _in_few(
    worlds: JointWorlds, sets: NDArray[np.int64], home: NDArray[np.int64], k: int
) -> list[tuple[tuple[int, ...], int]]:
    """Return the distinct sets whose cells have fewer than k records together, of all sets in small cells; `home` is the cell of each."""
    number = np.unique(numbered(sets, worlds.width), return_inverse=True)[1]
    first = np.unique(number * worlds.cells.number + home, return_index=True)[1]
    which = number[first]
    records = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(records, which, worlds.cells.sizes[home[first]])
    example = np.zeros(len(records), dtype=np.int64)
    example[which] = first
    few = np.flatnonzero(records < k)
    chosen, size = example[few], sets.shape[1]
    # A set that further records hold is in a cell of at least k records too.
    offsets = np.arange(len(few) + 1, dtype=np.int64) * size
    held = supports(worlds.original, (offsets, sets[chosen].ravel()))
    chosen = chosen[held == np.bincount(number, minlength=len(records))[few]]
    return [(tuple(one), cell) for one, cell in zip(sets[chosen].tolist(), home[chosen].tolist(), strict=True)]


# -- exact links ------------------------------------------------------------------------------------------------------------------


class _Link(NamedTuple):
    """An item that all records of a cell must hold."""

    cell: int
    item: int
    release: int


class _Links(NamedTuple):
    """The number of exact links, of their cells and of the records in them, and the first links."""

    number: int
    cells: int
    records: int
    first: tuple[_Link, ...]


def _exact_links(worlds: JointWorlds) -> _Links:
    """Return the items that all records of a cell hold in every joint world, though not all records of any of its clusters must."""
    cells, width = worlds.cells, worlds.width
    found = [np.empty(0, np.int64)]
    release_of: dict[int, int] = {}
    with progress.step("finding exact links", len(worlds.shows)) as advance:
        for release, shows in enumerate(worlds.shows):
            starts, in_order = cells.of_groups[release]
            in_cluster = np.diff(starts)
            items_of = np.flatnonzero((shows.counts > 0) & (shows.counts < shows.sizes[shows.cluster]))
            offsets = offsets_of(in_cluster[shows.cluster[items_of]])
            for first, last in record_ranges(offsets, BLOCK, BLOCK):
                mine = items_of[first:last]
                places, at = picked(starts, shows.cluster[mine])
                entry, cell = owner_of(places), in_order[at]
                room = worlds.room(cell, shows.item[mine][entry], without=release)
                total = np.zeros(len(mine), np.int64)
                np.add.at(total, entry, room)
                must = shows.counts[mine][entry] - (total[entry] - room)
                linked = np.flatnonzero(must >= cells.sizes[cell])
                keys = cell[linked] * width + shows.item[mine][entry[linked]]
                keys = keys[~worlds.known_alone(keys)]
                found.append(keys)
                for key in keys[:MOST_WITNESSES].tolist():
                    release_of.setdefault(key, release)
            advance(release + 1)
    links = distinct(np.concatenate(found))
    linked_cells = distinct(links // width)
    first_links = sorted(release_of)[:MOST_WITNESSES]
    return _Links(
        len(links),
        len(linked_cells),
        int(cells.sizes[linked_cells].sum()),
        tuple(_Link(key // width, key % width, release_of[key]) for key in first_links),
    )


def _link_witness(worlds: JointWorlds, link: _Link) -> Witness:
    label = worlds.original.vocabulary[link.item]
    size = int(worlds.cells.sizes[link.cell])
    shows, cluster = worlds.shows[link.release], int(worlds.cells.groups[link.release, link.cell])
    count = shows.count(cluster, link.item)
    detail = (
        f"all of its {quantity(size, 'record')} hold {shown(label)}: {quantity(count, 'record')} of its cluster in "
        f"{worlds.names[link.release]} hold it, and those outside this cell have room for at most {count - size:,}"
    )
    place = worlds.cells.place(link.cell, worlds.names, "cluster")
    return Witness(EXACT_LINK, place, detail, items=(label,), group=int(worlds.cells.groups[0, link.cell]))
