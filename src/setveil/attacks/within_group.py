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
    from setveil.attacks.target import Target


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
        groups, sensitive = data.group_of_sensitive[entries], data.sensitive_codes[entries]
        sizes = data.group_sizes[groups]
        asked = runs(data.group_starts[groups], sizes)
        number = np.repeat(np.arange(len(entries)), sizes)
        starts, places = picked(rows.offsets, asked)
        each = fit[rows.items[places], sensitive[number][owner_of(starts)]]
        score = np.bincount(owner_of(starts), each, minlength=len(asked))
        order = np.lexsort((score, number))
        ends = np.cumsum(sizes) - 1
        record = target.alignment.rows[asked]
        code = np.array([original.code_of[label] for label in data.sensitive_vocabulary])[sensitive]
        has = target.true_pairs(record, code[number])
        best = score[order[ends]]
        is_best = score == best[number]
        right = np.bincount(number, has & is_best, minlength=len(entries)) / np.bincount(number, is_best)
        by_chance = float(share[entries].mean())
        p = target.known.get("p")
        return self.finding(
            Trial(float(right.sum()), len(entries)),
            Trial.known(by_chance),
            bound=None if p is None else 1 / p,
            details={"largest-share-of-a-group": float(share.max())},
        )
