"""What a release still reveals about the tendencies of records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.ragged import distinct, owner_of, picked, starts_of
from setveil.data.records.tendency import Kind, tendencies, weights
from setveil.metrics.base import Metric
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

CELLS_AT_ONCE = 1 << 22
"""Number of (row, category) cells that are scored together."""


def _has_tendency(kind: NDArray[np.int8]) -> NDArray[np.bool_]:
    return np.isin(kind, (Kind.PARTIAL, Kind.FULL))


def _why_not(categories: Categories, alignment: Alignment) -> str:
    """Return the reason why tendencies cannot be measured, or an empty text."""
    if not categories:
        return "no categories were given"
    if len(distinct(alignment.rows)) < len(alignment.rows):
        return "records were split, so no released row corresponds to a whole record"
    return ""


def _released_weights(
    original: Transactions, published: Transactions, category: NDArray[np.int32], categories: int
) -> tuple[NDArray[np.int64], ...]:
    """Return the category weights of the released rows, with the original's category codes."""
    of_label = {label: category[code] for label, code in original.code_of.items()}
    # An item that is not in the original has no category and does not count.
    released = np.array([of_label.get(label, categories) for label in published.vocabulary], dtype=np.int32)
    row, cat, weight = weights(published, released, categories + 1)
    known = cat < categories
    return row[known], cat[known], weight[known]


class StillOnTop(Metric):
    """Share of the records with a tendency whose released row still has one of their heaviest categories on top."""

    name = "still-on-top"
    title = "Still on top"
    unit = "share of records with a tendency"
    better = "lower"
    about = "privacy"
    formula = "|{t with a tendency : the weight in t~ of a heaviest category of t is positive and the largest}| / |{t with a tendency}|"
    blind_to = "a tendency that its absence reveals: see tendency-posterior"
    needs = ("alignment", "categories")

    categories: Categories = parameter(public=False, description="The category of each item.")

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Find the heaviest categories of every record in its released row."""
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
        count = len(distinct(row[on_top]))
        return count / int(concerned.sum()), {"records": count, "of": int(concerned.sum())}


class TendencyPosterior(Metric):
    """Share of the records with a tendency for which an attacker who knows the method guesses a heaviest category."""

    name = "tendency-posterior"
    title = "Tendency posterior"
    unit = "share of records with a tendency"
    better = "lower"
    about = "privacy"
    formula = (
        "the best of three guessers, each trained on half of the true pairs (row, g') and tested on the other half: the most common absent"
        " category; the absent category most common beside the row's heaviest one; naive Bayes over absent and present categories, the"
        " heaviest one and its size. Any heaviest category of the record is correct. base-rate: always guessing the most common g'"
    )
    blind_to = (
        "attackers who know some items of the person, and stronger guessers: it is a lower bound of what can be learned"
    )
    needs = ("alignment", "categories")

    categories: Categories = parameter(public=False, description="The category of each item.")

    def measure(
        self, original: Transactions, published: Transactions, alignment: Alignment | None
    ) -> tuple[float | None, dict[str, Any]]:
        """Train three guessers on one half and test them on the other, then vice versa."""
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
        for trained in (half, ~half):
            tested = records[~trained]
            common = np.full(len(tested), np.bincount(truth[trained], minlength=len(names)).argmax())
            base += int(np.count_nonzero(before.among_heaviest(tested, common)))
            guesses = _guesses(rows, truth, trained, len(names))
            right += [int(np.count_nonzero(before.among_heaviest(tested, guess))) for guess in guesses]
        names_of = ("absent", "beside-heaviest", "bayes")
        details = {n: float(r / len(concerned)) for n, r in zip(names_of, right, strict=True)}
        best = max(*details.values(), base / len(concerned))
        return best, {"base-rate": base / len(concerned), "records": len(concerned), **details}


class _Rows:
    """What an attacker sees in the rows: the categories present, the heaviest one and its weight."""

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
        """Return a table of 0 and 1: which categories each of the chosen rows holds."""
        table = np.zeros((len(chosen), categories))
        offsets, entries = picked(self.start, chosen)
        table[owner_of(offsets), self.cat[entries]] = 1
        return table


def _guesses(rows: _Rows, truth: NDArray[np.int64], trained: NDArray[np.bool_], categories: int) -> NDArray[np.int64]:
    """Return the guess of each of the three guessers for every row of the test half."""
    known, tested = np.flatnonzero(trained), np.flatnonzero(~trained)
    prior = np.bincount(truth[known], minlength=categories) + 1.0
    beside = np.full((categories + 1, categories), 1e-3)
    np.add.at(beside, (rows.heaviest[known], truth[known]), 1)
    sizes = np.ones((8, categories))
    np.add.at(sizes, (rows.size[known], truth[known]), 1)
    entries = trained[rows.row]
    together = truth[rows.row[entries]] * categories + rows.cat[entries]
    seen = np.bincount(together, minlength=categories * categories).reshape(categories, categories) + 1.0
    share = seen / (prior + 1)[:, None]  # both prior and table are one more than the counts
    log_present, log_absent = np.log(share), np.log1p(-np.minimum(share, 1 - 1e-9))
    log_size = np.log(sizes / sizes.sum(axis=0))
    named = np.empty((3, len(tested)), dtype=np.int64)
    at_once = max(CELLS_AT_ONCE // categories, 1)
    for first in range(0, len(tested), at_once):
        block = tested[first : first + at_once]
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
