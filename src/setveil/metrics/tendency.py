"""What a release still reveals about the tendencies of records."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.ragged import among, distinct, owner_of, picked, starts_of
from setveil.data.records.tendency import Kind, Tendencies, tendencies, weights
from setveil.metrics.base import Metric
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair

MOST_TESTED = 100_000
"""Number of records of each half that guessers are tested on; of a larger half, a random sample."""
SEED = 2019
"""The first of the two seeds of a sample; the second is the number of the half."""
CELLS_AT_ONCE = 1 << 16
"""Number of (row, category) cells that are scored together: their tables fit into a cache."""

MOST_WITHOUT_THREADS = 1 << 18
"""Up to this number of multiplications, OpenBLAS uses a single thread."""
FEWEST_ROWS = 16
"""Smaller pieces of a matrix take longer than threads."""


def _has_tendency(kind: NDArray[np.int8]) -> NDArray[np.bool_]:
    return np.isin(kind, (Kind.PARTIAL, Kind.FULL))


def _why_not(pair: Pair, categories: Categories) -> str:
    """Return the reason why tendencies cannot be measured, or an empty text."""
    if not categories:
        return "no categories were given"
    if pair.has_split_records:
        return "records were split, so no released row corresponds to a whole record"
    return ""


class _Weighed(NamedTuple):
    """The tendencies of the original records, and the category weights of the released rows."""

    before: Tendencies
    row: NDArray[np.int64]
    cat: NDArray[np.int64]
    weight: NDArray[np.int64]
    categories: int


def _weighed(pair: Pair, given: Categories) -> _Weighed:
    """Weigh both data sets, with the original's category codes."""
    original, published = pair.original, pair.published
    category, names = given.bind(original)
    categories = len(names)
    of_label = {label: category[code] for label, code in original.code_of.items()}
    # An item that is not in the original has no category and does not count.
    released = np.array([of_label.get(label, categories) for label in published.vocabulary], dtype=np.int32)
    row, cat, weight = weights(published, released, categories + 1)
    known = cat < categories
    if not known.all():
        row, cat, weight = row[known], cat[known], weight[known]
    return _Weighed(tendencies(original, category, categories), row, cat, weight, categories)


def kept_heavy(pair: Pair, given: Categories) -> dict[str, int]:
    """Count records with several heaviest categories, or a second category above the mean weight, and those whose row keeps one."""
    before, row, cat, _weight, categories = pair.once(_weighed, given)
    records, width = pair.original.records, categories + 1
    record, other = before.heaviest
    tied = np.bincount(record, minlength=records) > 1
    own, own_cat, own_weight = weights(pair.original, given.bind(pair.original)[0], categories)
    present = np.bincount(own, minlength=records)
    second = own_weight * present[own] > pair.original.lengths[own]
    second &= (own_weight < before.top_weight[own]) & _has_tendency(before.kind)[own]
    own, own_cat = own[second], own_cat[second]
    record, other = record[tied[record]], other[tied[record]]
    concerned = tied.copy()
    concerned[own] = True
    kept = concerned[pair.rows[row]]
    shown = pair.rows[row[kept]] * width + cat[kept]
    shown.sort()
    return {
        "tied-records": int(np.count_nonzero(tied)),
        "tied-records-that-keep-one": len(distinct(record[among(record * width + other, shown)])),
        "records-with-a-second-tendency": len(distinct(own)),
        "second-tendencies-kept": len(distinct(own[among(own * width + own_cat, shown)])),
    }


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

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Find the heaviest categories of every record in its released row."""
        if reason := _why_not(pair, self.categories):
            return None, {"reason": reason}
        before, row, cat, weight, _categories = pair.once(_weighed, self.categories)
        concerned = _has_tendency(before.kind)[pair.rows]
        if not concerned.any():
            return None, {"reason": "no record has a tendency"}
        largest = np.zeros(pair.published.records, dtype=np.int64)
        np.maximum.at(largest, row, weight)
        on_top = concerned[row] & (weight == largest[row]) & before.among_heaviest(pair.rows[row], cat)
        count = len(distinct(row[on_top]))
        return count / int(concerned.sum()), {"records": count, "of": int(concerned.sum())}


class TendencyPosterior(Metric):
    """Share of the records with a tendency for which an attacker who knows the method guesses a heaviest category."""

    name = "tendency-posterior"
    title = "Tendency posterior"
    unit = "share of records with a tendency"
    better = "lower"
    about = "privacy"
    quick = True
    formula = (
        "the best of three guessers, each trained on half of the true pairs (row, g') and tested on the other half: the most common absent"
        " category; the absent category most common beside the row's heaviest one; naive Bayes over absent and present categories, the"
        " heaviest one and its size. Any heaviest category of the record is correct. base-rate: always guessing the most common g'. A half"
        " of more than 100,000 records is tested on a sample of 100,000"
    )
    blind_to = (
        "attackers who know some items of the person, and stronger guessers: it is a lower bound of what can be learned"
    )
    needs = ("alignment", "categories")

    categories: Categories = parameter(public=False, description="The category of each item.")

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Train three guessers on one half and test them on the other, then vice versa."""
        value, details = pair.once(_guessed, self.categories)
        return value, dict(details)


def _guessed(pair: Pair, given: Categories) -> tuple[float | None, dict[str, Any]]:
    """Return the share of correct guesses, which both this metric and the attack absent-category need."""
    if reason := _why_not(pair, given):
        return None, {"reason": reason}
    before, row, cat, weight, categories = pair.once(_weighed, given)
    concerned = np.flatnonzero(_has_tendency(before.kind)[pair.rows])
    if len(concerned) < 2:
        return None, {"reason": "fewer than two records have a tendency"}
    place = np.full(pair.published.records, -1, dtype=np.int64)
    place[concerned] = np.arange(len(concerned))
    inside = place[row] >= 0
    rows = _Rows(place[row[inside]], cat[inside], weight[inside], len(concerned), categories)
    records = pair.rows[concerned]
    truth = before.top[records].astype(np.int64)
    half = (records % 2).astype(bool)
    beside = rows.counted(truth, half, categories)
    tests = []
    for number, trained in enumerate((half, ~half)):
        tested = np.flatnonzero(~trained)
        size = len(tested)
        if size > MOST_TESTED and not pair.exact:
            tested = np.sort(np.random.default_rng([SEED, number]).choice(tested, MOST_TESTED, replace=False))
        common = np.full(len(tested), np.bincount(truth[trained], minlength=categories).argmax())
        guesses = (common, *_guesses(rows, truth, trained, tested, beside[1 - number]))
        right = [int(np.count_nonzero(before.among_heaviest(records[tested], guess))) for guess in guesses]
        tests.append(_Test(np.array(right), len(tested), size))
    shares = _shares(tests)
    details: dict[str, Any] = {"base-rate": shares[0], "records": len(concerned)}
    details |= dict(zip(("absent", "beside-heaviest", "bayes"), shares[1:], strict=True))
    best = int(np.argmax(shares))
    if any(test.tested < test.size for test in tests):
        interval = _interval(tests, best, shares[best])
        details |= {"sample": sum(test.tested for test in tests), "status": "estimate", "interval": interval}
    return shares[best], details


class _Test(NamedTuple):
    """A test of the base rate and the three guessers on one half of the records."""

    right: NDArray[np.int64]
    """For each of the four: the number of correct guesses."""
    tested: int
    size: int
    """The number of records tested, and of records in the half."""


def _shares(tests: list[_Test]) -> list[float]:
    """Return the share of correct guesses of each guesser, over all records."""
    right = sum(test.right * (test.size / max(test.tested, 1)) for test in tests)
    return (np.asarray(right) / sum(test.size for test in tests)).tolist()  # type: ignore[no-any-return]


def _interval(tests: list[_Test], guesser: int, value: float) -> tuple[float, float]:
    """Return the 95 % interval of a guesser's share: normal approximation for a sample without replacement from each half."""
    size = sum(test.size for test in tests)
    variance = 0.0
    for test in tests:
        share = (test.right[guesser] + 2) / (
            test.tested + 4
        )  # as if two more guesses were right and two wrong: never 0 or 1
        left_out = 1 - test.tested / max(test.size, 1)
        variance += (test.size / size) ** 2 * share * (1 - share) / max(test.tested, 1) * left_out
    half = NormalDist().inv_cdf(0.975) * variance**0.5
    return max(value - half, 0.0), min(value + half, 1.0)


SIZES = 8
"""Sizes of a heaviest category that a guesser distinguishes; larger ones count as the largest."""


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
        self.size = np.minimum(best // (categories + 1), SIZES - 1)

    def counted(self, truth: NDArray[np.int64], half: NDArray[np.bool_], categories: int) -> NDArray[np.int64]:
        """Return for each half, true category and category present the number of rows."""
        kind = (half * categories + truth) * categories
        counts = np.bincount(kind[self.row] + self.cat, minlength=2 * categories * categories)
        return counts.reshape(2, categories, categories)

    def present(self, chosen: NDArray[np.int64], categories: int) -> NDArray[np.float64]:
        """Return a table of 0 and 1: which categories each of the chosen rows holds."""
        table = np.zeros((len(chosen), categories))
        offsets, entries = picked(self.start, chosen)
        table[owner_of(offsets), self.cat[entries]] = 1
        return table


def _pairs(one: NDArray[np.int64], other: NDArray[np.int64], ones: int, others: int) -> NDArray[np.int64]:
    """Return how often each of `ones` numbers is at the same place as each of `others` numbers."""
    return np.bincount(one * others + other, minlength=ones * others).reshape(ones, others)


def _product(table: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix product. Small pieces are multiplied without threads, which wait for each other in a busy loop."""
    rows = MOST_WITHOUT_THREADS // factors.size
    if rows < FEWEST_ROWS:
        return table @ factors
    return np.concatenate([table[first : first + rows] @ factors for first in range(0, len(table), rows)])


def _guesses(
    rows: _Rows,
    truth: NDArray[np.int64],
    trained: NDArray[np.bool_],
    tested: NDArray[np.int64],
    together: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the guess of each of the three guessers for every tested row.

    `together` has the number of trained rows with each true category and category present.
    """
    known, categories = np.flatnonzero(trained), len(together)
    prior = np.bincount(truth[known], minlength=categories) + 1.0
    beside = 1e-3 + _pairs(rows.heaviest[known], truth[known], categories + 1, categories)
    sizes = 1.0 + _pairs(rows.size[known], truth[known], SIZES, categories)
    share = (together + 1.0) / (prior + 1)[:, None]  # both prior and table are one more than the counts
    log_present, log_absent = np.log(share), np.log1p(-np.minimum(share, 1 - 1e-9))
    log_size, log_prior, log_beside = np.log(sizes / sizes.sum(axis=0)), np.log(prior), np.log(beside)
    log_ratio = (log_present - log_absent).T
    named = np.empty((3, len(tested)), dtype=np.int64)
    at_once = max(CELLS_AT_ONCE // categories, 1)
    for first in range(0, len(tested), at_once):
        block = tested[first : first + at_once]
        present = rows.present(block, categories)
        absent_only = np.where(present > 0, -np.inf, 0.0)
        by_heaviest = log_beside[rows.heaviest[block]]
        guesses = (
            log_prior + absent_only,
            by_heaviest + absent_only,
            by_heaviest + log_size[rows.size[block]] + _product(present, log_ratio) + log_absent.sum(axis=1),
        )
        named[:, first : first + at_once] = [guess.argmax(axis=1) for guess in guesses]
    return named
