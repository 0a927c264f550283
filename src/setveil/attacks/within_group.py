"""Distinguish the rows of a group: which of them holds a sensitive item that the group counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.matrices import held
from setveil.attacks.trials import Trial
from setveil.data.forms.grouped import Grouped
from setveil.data.records.ragged import owner_of, picked, runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.attacks.target import Target

ROWS_AT_ONCE = 1_000_000
"""Number of rows that are scored together."""


class WithinGroup(Attack):
    """Name the row of a group that holds a sensitive item, by what the release teaches about items that go together."""

    name = "within-group"
    title = "Distinguishing the rows of a group"
    knows = "the release only"
    statistic = (
        "the row of a group that fits a sensitive item of the group best holds it. The fit is naive Bayes, learned from the groups: each"
        " row counts as if it held each sensitive item of its group with its share"
    )
    base_rate = "a row of the group at random"
    success = "row of a group that holds a sensitive item named right"
    blind_to = "attackers who learn in several rounds, or from data of their own"
    paper: ClassVar[str] = "kifer2009"
    fits = ("permutation-privacy",)
    bytes_per_occurrence = 60
    takes = (Grouped,)

    def run(self, target: Target) -> Finding:
        """Guess rows for sensitive items of groups drawn at random."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        data, original = cast("Grouped", target.published), target.original
        if not len(data.sensitive_codes):
            return self.without_result("no group holds a sensitive item")
        rows, width = data.rows, len(data.sensitive_vocabulary)
        share = data.sensitive_counts / data.group_sizes[data.group_of_sensitive]
        of_group = csr_array((share, data.sensitive_codes, data.sensitive_starts), shape=(data.groups, width))
        in_group = csr_array(
            (np.ones(rows.records), owner_of(data.group_starts), np.arange(rows.records + 1)),
            shape=(rows.records, data.groups),
        )
        items = held(rows.offsets, rows.items, len(rows.vocabulary))
        counts = (
            (items.T @ in_group) @ of_group
        ).toarray()  # expected number of rows with an item and a sensitive item
        total = np.asarray(data.sensitive_supports, np.float64)
        with_it = (counts + 1) / (total + 2)
        without = (rows.supports[:, None] - counts + 1) / (rows.records - total + 2)
        fit = np.log(with_it / without)
        entries = target.drawn(self.name, np.arange(len(data.sensitive_codes)))
        code = np.array([original.code_of[label] for label in data.sensitive_vocabulary])
        right = np.concatenate([_right(target, fit, code, some) for some in _blocks(data, entries)])
        by_chance = float(share[entries].mean())
        p = target.known.get("p")
        return self.finding(
            Trial(float(right.sum()), len(entries)),
            Trial.known(by_chance),
            bound=None if p is None else 1 / p,
            details={"largest-share-of-a-group": float(share.max())},
        )


def _blocks(data: Grouped, entries: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the entries in parts with few rows to score: one group can have nearly all rows."""
    done = np.cumsum(data.group_sizes[data.group_of_sensitive[entries]])
    return np.split(entries, np.flatnonzero(np.diff(done // ROWS_AT_ONCE)) + 1)


def _right(
    target: Target, fit: NDArray[np.float64], code: NDArray[np.int64], entries: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how likely the guess for each sensitive item of a group is right; of rows that fit equally well, one is named at random."""
    data = cast("Grouped", target.published)
    rows, groups, sensitive = data.rows, data.group_of_sensitive[entries], data.sensitive_codes[entries]
    sizes = data.group_sizes[groups]
    asked = runs(data.group_starts[groups], sizes)
    number = np.repeat(np.arange(len(entries)), sizes)
    starts, places = picked(rows.offsets, asked)
    each = fit[rows.items[places], sensitive[number][owner_of(starts)]]
    score = np.bincount(owner_of(starts), each, minlength=len(asked))
    best = np.maximum.reduceat(score, np.cumsum(sizes) - sizes)
    is_best = score == best[number]
    has = np.zeros(len(asked), np.bool_)
    has[is_best] = target.true_pairs(target.alignment.rows[asked[is_best]], code[sensitive[number[is_best]]])
    found: NDArray[np.float64] = np.bincount(number, has, minlength=len(entries)) / np.bincount(number, is_best)
    return found
