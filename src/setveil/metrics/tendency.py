"""What a release still tells about what people lean to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.ragged import owner_of, picked, starts_of
from setveil.data.records.tendency import Kind, tendencies, weights
from setveil.metrics.base import Metric
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

CELLS_AT_ONCE = 1 << 22
"""Rows are scored in blocks of so many (row, category) cells."""


def _has_tendency(kind: NDArray[np.int8]) -> NDArray[np.bool_]:
    return np.isin(kind, (Kind.PARTIAL, Kind.FULL))


def _why_not(categories: Categories, alignment: Alignment) -> str:
    """Say why nothing can be told of what rows lean to; empty where it can."""
    if not categories:
        return "no categories were given"
    if len(np.unique(alignment.rows)) < len(alignment.rows):
        return "records were split, so that no released row stands for a whole record"
    return ""


def _released_weights(
    original: Transactions, published: Transactions, category: NDArray[np.int32], categories: int
) -> tuple[NDArray[np.int64], ...]:
    """Return the category weights of the released rows, with the original's category codes."""
    of_label = {label: category[code] for label, code in original.code_of.items()}
    # An item that the original does not hold has no category; it counts for none.
    released = np.array([of_label.get(label, categories) for label in published.vocabulary], dtype=np.int32)
    row, cat, weight = weights(published, released, categories + 1)
    known = cat < categories
    return row[known], cat[known], weight[known]


class StillOnTop(Metric):
    """How many records with a tendency still have one of their heaviest categories on top in their released row."""

    name = "still-on-top"
    title = "Still on top"
    unit = "share of records with a tendency"
    better = "lower"
    about = "privacy"
    formula = "|{t with a tendency : the weight in t~ of a heaviest category of t is positive and the largest}| / |{t with a tendency}|"
    blind_to = "a tendency that shows by its absence: see tendency-posterior"
    needs = ("alignment", "categories")

    categories: Categories = parameter(public=False, description="Which category each item belongs to.")

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Look up the old heaviest categories in every released row."""
        assert alignment is not None
        if reason := _why_not(self.categories, alignment):
            return None, {"reason": reason}
        category, names = self.categories.bind(original)
        before = tendencies(original, category, len(names))
        row, cat, weight = _released_weights(original, published, category, len(names))
        concerned = _has_tendency(before.kind)[alignment.rows]
        if not concerned.any():
            return None, {"reason": "no record has a tendency"}
        largest = np.zeros(published.records, dtype=np.int64)
        np.maximum.at(largest, row, weight)
        on_top = concerned[row] & (weight == largest[row]) & before.among_heaviest(alignment.rows[row], cat)
        count = len(np.unique(row[on_top]))
        return count / int(concerned.sum()), {"records": count, "of": int(concerned.sum())}


class TendencyPosterior(Metric):
    """How often an attacker who knows the method names a heaviest category of the record from the released row."""

    name = "tendency-posterior"
    title = "Tendency posterior"
    unit = "share of records with a tendency"
    better = "lower"
    about = "privacy"
    formula = (
        "the best of three guessers, each taught on half of the true pairs (row, g') and tried on the other half: the most common absent"
        " category; the one most common beside the row's heaviest category; a naive Bayes over absent and present categories and the"
        " heaviest one with its size; right is any heaviest category of the record. base-rate: always naming the most common g'"
    )
    blind_to = (
        "attackers who know some items of the person, and cleverer guessers: it is a lower bound of what can be learnt"
    )
    needs = ("alignment", "categories")

    categories: Categories = parameter(public=False, description="Which category each item belongs to.")

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Teach three guessers on one half, try them on the other, both ways round."""
        assert alignment is not None
        if reason := _why_not(self.categories, alignment):
            return None, {"reason": reason}
        category, names = self.categories.bind(original)
        before = tendencies(original, category, len(names))
        concerned = np.flatnonzero(_has_tendency(before.kind)[alignment.rows])
        if len(concerned) < 2:
            return None, {"reason": "fewer than two records have a tendency"}
        place = np.full(published.records, -1, dtype=np.int64)
        place[concerned] = np.arange(len(concerned))
        row, cat, weight = _released_weights(original, published, category, len(names))
        inside = place[row] >= 0
        rows = _Rows(place[row[inside]], cat[inside], weight[inside], len(concerned), len(names))
        records = alignment.rows[concerned]
        truth = before.top[records].astype(np.int64)
        half = (records % 2).astype(bool)
        right = np.zeros(3, dtype=np.int64)
        base = 0
        for taught in (half, ~half):
            tried = records[~taught]
            common = np.full(len(tried), np.bincount(truth[taught], minlength=len(names)).argmax())
            base += int(np.count_nonzero(before.among_heaviest(tried, common)))
            guesses = _guesses(rows, truth, taught, len(names))
            right += [int(np.count_nonzero(before.among_heaviest(tried, guess))) for guess in guesses]
        names_of = ("absent", "beside-heaviest", "bayes")
        details = {n: float(r / len(concerned)) for n, r in zip(names_of, right, strict=True)}
        best = max(*details.values(), base / len(concerned))
        return best, {"base-rate": base / len(concerned), "records": len(concerned), **details}


class _Rows:
    """What an attacker sees of the rows: which categories are there, which one is heaviest, and how heavy."""

    def __init__(
        self, row: NDArray[np.int64], cat: NDArray[np.int64], weight: NDArray[np.int64], rows: int, categories: int
    ) -> None:
        self.start = starts_of(row, rows)
        self.row, self.cat = row, cat
        best = np.zeros(rows, dtype=np.int64)
        np.maximum.at(best, row, weight * (categories + 1) + categories - cat)
        self.heaviest = np.where(best > 0, categories - best % (categories + 1), categories)
        self.size = np.minimum(best // (categories + 1), 7)

    def present(self, chosen: NDArray[np.int64], categories: int) -> NDArray[np.float64]:
        """Return a table of 0 and 1: which categories the chosen rows hold."""
        table = np.zeros((len(chosen), categories))
        offsets, entries = picked(self.start, chosen)
        table[owner_of(offsets), self.cat[entries]] = 1
        return table


def _guesses(rows: _Rows, truth: NDArray[np.int64], taught: NDArray[np.bool_], categories: int) -> NDArray[np.int64]:
    """Return the category that each of the three guessers names for every row outside the taught half."""
    known, tried = np.flatnonzero(taught), np.flatnonzero(~taught)
    prior = np.bincount(truth[known], minlength=categories) + 1.0
    beside = np.full((categories + 1, categories), 1e-3)
    np.add.at(beside, (rows.heaviest[known], truth[known]), 1)
    sizes = np.ones((8, categories))
    np.add.at(sizes, (rows.size[known], truth[known]), 1)
    entries = taught[rows.row]
    together = truth[rows.row[entries]] * categories + rows.cat[entries]
    seen = np.bincount(together, minlength=categories * categories).reshape(categories, categories) + 1.0
    share = seen / (prior + 1)[:, None]  # prior holds one more than the count, and so does the table
    log_present, log_absent = np.log(share), np.log1p(-np.minimum(share, 1 - 1e-9))
    log_size = np.log(sizes / sizes.sum(axis=0))
    named = np.empty((3, len(tried)), dtype=np.int64)
    at_once = max(CELLS_AT_ONCE // categories, 1)
    for first in range(0, len(tried), at_once):
        block = tried[first : first + at_once]
        present = rows.present(block, categories)
        absent_only = np.where(present > 0, -np.inf, 0.0)
        guesses = (
            np.log(prior) + absent_only,
            np.log(beside[rows.heaviest[block]]) + absent_only,
            np.log(beside[rows.heaviest[block]])
            + log_size[rows.size[block]]
            + present @ (log_present - log_absent).T
            + log_absent.sum(axis=1),
        )
        named[:, first : first + at_once] = [guess.argmax(axis=1) for guess in guesses]
    return named
