"""Permutation privacy: groups of several releases cut each other into cells, in which fewer records share the counts of an item.

For a cell and a sensitive item, a joint world is a choice of the records with the item that agrees with the count of every group. The
number of records of a cell that hold the item in a joint world is at most the smallest count of its groups, and at most its size. That
decides most cases. The true records are a joint world. Two releases: the rest is a transport problem (`allocation`). More releases: every
pair is checked in this way, and the cells of all of them by the two bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.base import progress
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Witness
from setveil.data.files.side_files import shown
from setveil.data.records.ragged import distinct, owner_of, picked
from setveil.guarantees.permutation_privacy import PermutationPrivacy
from setveil.guarantees.together.allocation import Allocation
from setveil.guarantees.together.base import Found, JointDefinition, Linked, joint_verdict
from setveil.guarantees.together.cells import Cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.base.verdict import Verdict
    from setveil.data.records.transactions import Transactions

TOO_OFTEN = "too-often-in-a-cell"
IN_A_ROW = "sensitive-item-in-a-row"
BUDGET = 20_000_000
"""Maximum number of steps of the searches for worlds with more records of a cell."""


class JointGroups(JointDefinition):
    """In each cell of the groups, no joint world has an item in more than one in p records."""

    title = "cells of groups"
    statement = (
        "For the records of one group in each release and every sensitive item that all these groups count: in no joint world more than "
        "one in p of these records holds the item, with the largest p of the releases that name it; and no row of any release shows it."
    )

    @classmethod
    def covers(cls, release: Linked) -> bool:
        """Return whether the release is grouped with this guarantee."""
        return isinstance(release.guarantee, PermutationPrivacy)

    @classmethod
    def check(cls, releases: Sequence[Linked], original: Transactions) -> Iterator[Verdict]:
        """Bound the number of records of each cell with each item, and decide the rest by alternating paths."""
        limits = _limits(releases, original)
        in_rows = _in_rows(releases, limits, original)
        groups = list(combinations(releases, 2))
        if len(releases) > 2:
            groups.append(tuple(releases))  # type: ignore[arg-type]
        budget = BUDGET
        cases = open_cases = cells = 0
        witnesses: list[Witness] = []
        with progress.step("checking cells of groups", len(groups)) as advance:
            for done, group in enumerate(groups):
                counted = _Counted.of(group, original, limits)
                found, still_open, steps = counted.decide(budget)
                budget -= steps
                cases, open_cases, cells = cases + len(found), open_cases + still_open, max(cells, counted.cells.number)
                witnesses += [counted.witness(*one) for one in found[: MOST_WITNESSES - len(witnesses)]]
                advance(done + 1)
        reason = ""
        if open_cases and not cases:
            reason = (
                f"for {quantity(open_cases, 'item')} of a cell the bounds do not decide how many of its records may hold it, and "
                f"{quantity(BUDGET, 'step')} of search were not enough"
            )
        counts = {
            "records": original.records,
            "sensitive-items": int(np.count_nonzero(limits)),
            "cells": cells,
            "undecided-items-of-cells": open_cases,
        }
        both = Found.of(TOO_OFTEN, cases, witnesses) + in_rows
        yield joint_verdict(PermutationPrivacy.name, both, counts, original, reason=reason, open_cases=open_cases)


def _limits(releases: Sequence[Linked], original: Transactions) -> NDArray[np.int64]:
    """Return the largest p for each item of the original, 0 if no release names it as sensitive."""
    limits = np.zeros(len(original.vocabulary), dtype=np.int64)
    for release in releases:
        guarantee: Any = release.guarantee
        named = guarantee.sensitive.among(original)
        limits[named] = np.maximum(limits[named], min(guarantee.p, original.records + 1))
    return limits


def _in_rows(releases: Sequence[Linked], limits: NDArray[np.int64], original: Transactions) -> Found:
    """Return the sensitive items that rows show: a release hides only those that itself names."""
    cases = 0
    witnesses: list[Witness] = []
    for release in releases:
        rows = release.data.row_parts
        assert rows is not None  # grouped data have rows
        codes = [original.code_of.get(label, -1) for label in rows.vocabulary]
        is_named = np.array([code >= 0 and limits[code] > 0 for code in codes], dtype=np.bool_)
        places = np.flatnonzero(is_named[rows.items]) if rows.occurrences else np.empty(0, np.int64)
        cases += len(places)
        row_of = owner_of(rows.offsets)
        for place in places[: MOST_WITNESSES - len(witnesses)].tolist():
            row, label = int(row_of[place]), rows.vocabulary[rows.items[place]]
            detail = f"shows {shown(label)}, which another release hides as sensitive"
            witnesses.append(Witness(IN_A_ROW, f"released row {row + 1:,} of {release.name}", detail, row, (label,)))
    return Found.of(IN_A_ROW, cases, witnesses)


class _Case(NamedTuple):
    """An item of a cell, and how many records of the cell hold it in some joint world."""

    entry: int
    number: int


@dataclass(frozen=True, eq=False)
class _Counted:
    """Cells with the sensitive items that all their groups count. Entries are pairs of a cell and an item."""

    releases: Sequence[Linked]
    cells: Cells
    labels: tuple[str, ...]
    cell: NDArray[np.int64]
    item: NDArray[np.int64]
    most: NDArray[np.int64]
    """The smallest count of the item in the groups of the cell, at most the size of the cell."""
    true: NDArray[np.int64]
    """The number of records of the cell that hold the item."""
    allowed: NDArray[np.int64]

    @classmethod
    def of(cls, releases: Sequence[Linked], original: Transactions, limits: NDArray[np.int64]) -> _Counted:
        width = max(len(original.vocabulary), 1)
        data: list[Any] = [release.data for release in releases]
        groups = []
        for release, one in zip(releases, data, strict=True):
            of_record = np.empty(original.records, dtype=np.int64)
            of_record[release.rows] = owner_of(one.group_starts)
            groups.append(of_record)
        cells = Cells.of(groups)
        codes = [_codes(one, original) for one in data]
        offsets, places = picked(data[0].sensitive_starts, cells.groups[0])
        cell, item, most = owner_of(offsets), codes[0][places], data[0].sensitive_counts[places]
        keep = item >= 0
        keep[keep] = limits[item[keep]] > 0
        cell, item, most = cell[keep], item[keep], most[keep]
        for number, one in enumerate(data[1:], start=1):
            key = one.group_of_sensitive * width + codes[number]
            order = np.argsort(key)
            wanted = cells.groups[number][cell] * width + item
            place = np.minimum(np.searchsorted(key[order], wanted), max(len(key) - 1, 0))
            there = key[order][place] == wanted if len(key) else np.zeros(len(wanted), np.bool_)
            cell, item, most = cell[there], item[there], most[there]
            most = np.minimum(most, one.sensitive_counts[order][place[there]])
        most = np.minimum(most, cells.sizes[cell])
        named = limits[original.items] > 0
        held = np.sort(cells.of_record[owner_of(original.offsets)[named]] * width + original.items[named])
        key = cell * width + item
        true = np.searchsorted(held, key, side="right") - np.searchsorted(held, key)
        allowed = cells.sizes[cell] // np.maximum(limits[item], 1)
        return cls(releases, cells, original.vocabulary, cell, item, most, true, allowed)

    def decide(self, budget: int) -> tuple[list[_Case], int, int]:
        """Return the cases above their limit, the number of cases that are not decided, and the number of steps."""
        sure = np.flatnonzero(self.true > self.allowed)
        worst = sure[np.argsort(-(self.true - self.allowed)[sure], kind="stable")]
        found = [_Case(entry, int(self.true[entry])) for entry in worst.tolist()]
        unclear = np.flatnonzero((self.most > self.allowed) & (self.true <= self.allowed))
        if found or not len(unclear):
            return found, 0, 0
        if len(self.releases) > 2:
            return [], len(unclear), 0
        steps = still_open = 0
        for item in distinct(self.item[unclear].astype(np.int64)).tolist():
            entries = np.flatnonzero(self.item == item)
            groups = [tuple(pair) for pair in self.cells.groups[:, self.cell[entries]].T.tolist()]
            sizes = dict(zip(groups, self.cells.sizes[self.cell[entries]].tolist(), strict=True))
            true = dict(zip(groups, self.true[entries].tolist(), strict=True))
            for group, entry in zip(groups, entries.tolist(), strict=True):
                if not self.true[entry] <= self.allowed[entry] < self.most[entry]:
                    continue
                if steps > budget:
                    still_open += 1
                    continue
                allocation = Allocation(sizes, dict(true))
                wanted = int(self.allowed[entry]) + 1
                if allocation.raise_to(group, wanted):
                    found.append(_Case(entry, wanted))
                steps += allocation.steps + len(sizes)
        return found, 0 if found else still_open, steps

    def witness(self, entry: int, number: int) -> Witness:
        """Return the witness of an item that too many records of a cell may hold."""
        label = self.labels[self.item[entry]]
        size = int(self.cells.sizes[self.cell[entry]])
        allowed = int(self.allowed[entry])
        how = "" if number <= self.true[entry] else " in a joint world"
        detail = f"{number:,} of its {quantity(size, 'record')} may hold {shown(label)}{how}; at most {allowed:,} are allowed"
        place = self.cells.place(int(self.cell[entry]), [one.name for one in self.releases], "group")
        return Witness(TOO_OFTEN, place, detail, items=(label,), group=int(self.cells.groups[0][self.cell[entry]]))


def _codes(data: Any, original: Transactions) -> NDArray[np.int64]:
    """Return the code in the original of each entry of sensitive items of the groups."""
    codes = np.array([original.code_of.get(label, -1) for label in data.sensitive_vocabulary], dtype=np.int64)
    return codes[data.sensitive_codes] if len(codes) else np.empty(0, np.int64)
