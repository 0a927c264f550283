"""How well the joint counts of sensitive and other items can be reconstructed from a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.grouped import Grouped
from setveil.data.records.ragged import owner_of, sums_within
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.parameters.sensitive_items import SensitiveItems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair


class ReconstructionKl(Metric):
    """Error of the joint counts of sensitive and other items, reconstructed from a release (after ghinita2008, section VI)."""

    name = "reconstruction-kl"
    title = "Reconstruction error"
    unit = "mean KL divergence in nats"
    better = "lower"
    about = "utility"
    formula = (
        "mean over sensitive items s of Σ over cells c of A(c) ln(A(c) / E(c)). The cell of a record is which of the items_in_cell most"
        " frequent items that are not sensitive it holds. A(c) is the share of the original records with s that are in c, E(c) the same in"
        " the release; for grouped data E(c) is Σ over groups a(c) b(s) / rows, divided by Σ over groups b(s)"
    )
    blind_to = (
        "items that are not among the most frequent; sensitive items beside each other; how many occurrences are gone"
    )
    example_lines = (
        'data = sv.read("sample:supermarket?records=1000")',
        'method = sv.Permutation(sensitive=sv.read_sensitive("sample:supermarket"), p=4)',
        "release = sv.publish(data, method, metrics=[])",
        "metric = {call}",
        "(measured,) = sv.measure(data, release, [metric])",
    )
    variants = ({}, {"smoothing": 0.5})
    takes = (Transactions, Grouped)

    sensitive: SensitiveItems = parameter(public=False, description="The items that must not be inferred.")
    items_in_cell: int = parameter(
        4, ge=1, le=12, public=True, description="Number of items that are not sensitive that define the cells."
    )
    smoothing: float = parameter(
        0.0,
        ge=0,
        le=1000,
        allow_inf_nan=False,
        public=True,
        description="Number of records to add to every cell before and after, so that no share is 0.",
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the distribution over cells of each sensitive item that the original holds."""
        original = pair.original
        is_sensitive = self.sensitive.among(original)
        labels = [original.vocabulary[code] for code in np.flatnonzero(is_sensitive & (original.supports > 0))]
        if not labels:
            return None, {"reason": "the original holds no sensitive item"}
        asked = self._asked(original, is_sensitive)
        if not asked:
            return None, {"reason": "the original holds no item that is not sensitive"}
        true, estimated = pair.once(_counted, tuple(labels), tuple(asked))
        gone = int(np.count_nonzero(estimated.sum(axis=1) == 0))
        lost = int(np.count_nonzero(((true > 0) & (estimated == 0)).any(axis=1)))
        details = {
            "sensitive-items": len(labels),
            "cells": true.shape[1],
            "items-gone": gone,
            "items-with-lost-cells": lost,
        }
        if lost and not self.smoothing:
            return None, {
                "reason": f"{lost:,} of {len(labels):,} sensitive items are missing in cells where they occurred"
                + (f", {gone:,} of them in all cells" if gone else "")
                + "; with smoothing there is a figure"
            }
        divergence = _divergences(true + self.smoothing, estimated + self.smoothing)
        return float(divergence.mean()), details | {"largest": float(divergence.max())}

    def _asked(self, original: Transactions, is_sensitive: NDArray[np.bool_]) -> list[str]:
        """Return the most frequent items that are not sensitive; ties are in label order."""
        supports = np.where(is_sensitive, 0, original.supports)
        order = np.argsort(-supports, kind="stable")[: self.items_in_cell]
        return [original.vocabulary[code] for code in order if supports[code]]


def _counted(
    pair: Pair, labels: Sequence[str], asked: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the joint counts of sensitive items and cells in the original, and those that the release gives."""
    rows = pair.published.plain
    grouped = cast("Grouped", pair.published)  # the other form to which it applies
    estimated = _estimates(grouped, labels, asked) if rows is None else _joint_counts(rows, labels, asked)
    return _joint_counts(pair.original, labels, asked), estimated


def _cells(rows: Transactions, asked: Sequence[str]) -> NDArray[np.int64]:
    """Return the cell of each row: bit k is set if it holds the k-th item."""
    bit = np.zeros(len(rows.vocabulary), dtype=np.int64)
    for place, label in enumerate(asked):
        if label in rows.code_of:
            bit[rows.code_of[label]] = 1 << place
    return sums_within(rows.offsets, bit[rows.items])


def _joint_counts(data: Transactions, labels: Sequence[str], asked: Sequence[str]) -> NDArray[np.float64]:
    """Return for each sensitive item and cell the number of records with the item in the cell."""
    place = {label: number for number, label in enumerate(labels)}
    number_of = np.array([place.get(label, -1) for label in data.vocabulary] or [-1], dtype=np.int64)
    number = number_of[data.items]
    held = number >= 0
    cell = _cells(data, asked)[owner_of(data.offsets)[held]]
    size = 1 << len(asked)
    counts = np.bincount(number[held] * size + cell, minlength=len(labels) * size)
    return counts.reshape(len(labels), size).astype(np.float64)


def _estimates(data: Grouped, labels: Sequence[str], asked: Sequence[str]) -> NDArray[np.float64]:
    """Return the expected joint counts if all rows of a group are equally likely to hold each of its sensitive items."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and used here only

    place = {label: number for number, label in enumerate(labels)}
    number_of = np.array([place.get(label, -1) for label in data.sensitive_vocabulary] or [-1], dtype=np.int64)
    number = number_of[data.sensitive_codes]
    held = number >= 0
    group = data.group_of_sensitive[held]
    weight = data.sensitive_counts[held] / data.group_sizes[group]
    groups, size = data.groups, 1 << len(asked)
    of_item = csr_array((weight, (number[held], group)), shape=(len(labels), groups))
    ones = np.ones(data.records)
    in_cells = csr_array((ones, (owner_of(data.group_starts), _cells(data.rows, asked))), shape=(groups, size))
    estimates: NDArray[np.float64] = (of_item @ in_cells).toarray()
    return estimates


def _divergences(true: NDArray[np.float64], estimated: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Kullback-Leibler divergence of each row of counts from its estimate, with 0 ln 0 = 0."""
    actual = true / true.sum(axis=1, keepdims=True)
    estimate = estimated / estimated.sum(axis=1, keepdims=True)
    terms = np.zeros_like(actual)
    there = actual > 0
    terms[there] = actual[there] * np.log(actual[there] / estimate[there])
    divergences: NDArray[np.float64] = np.maximum(terms.sum(axis=1), 0.0)  # rounding may give slightly less than 0
    return divergences
