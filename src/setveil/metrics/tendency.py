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
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.metrics.pair import Pair

MOST_TESTED = 100_000
"""Number of records of each half that guessers are tested on; of a larger half, a random sample."""
SEED = 2019
"""The first of the two seeds of a sample; the second is the number of the half."""
AT_ONCE = 1 << 18
"""Number of occurrences of rows or records that are weighed together; it limits the memory."""
ROWS_AT_ONCE = 1 << 15
"""About the number of tested rows that are weighed together."""
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


class _Weighing:
    """Weighs the categories of released rows and of their records, in pieces, with the original's category codes."""

    def __init__(self, pair: Pair, given: Categories) -> None:
        self._pair = pair
        self.category, names = given.bind(pair.original)
        self.categories = len(names)
        of_label = {label: self.category[code] for label, code in pair.original.code_of.items()}
        # An item that is not in the original has no category and does not count.
        released = [of_label.get(label, self.categories) for label in pair.published.vocabulary]
        self._released = np.array(released, dtype=np.int32)

    def tendencies(self, records: Transactions) -> Tendencies:
        """Return the tendencies of some records of the original."""
        return tendencies(records, self.category, self.categories)

    def weights(self, rows: Transactions) -> tuple[NDArray[np.int64], ...]:
        """Return the weights of some rows, as arrays of row, category and number of items."""
        row, cat, weight = weights(rows, self._released, self.categories + 1)
        known = cat < self.categories
        return row[known], cat[known], weight[known]

    def pieces(self) -> Iterator[tuple[int, NDArray[np.int64], Tendencies, Transactions]]:
        """Yield all rows in pieces: the number of the first one, their records, the tendencies of these, and the rows."""
        for first, rows in self._pair.published.pieces(AT_ONCE):
            records = self._pair.rows[first : first + rows.records]
            yield first, records, self._before(records), rows

    def some(self, chosen: NDArray[np.int64]) -> tuple[Tendencies, Transactions]:
        """Return the tendencies of the records of some rows, and the rows."""
        return self._before(self._pair.rows[chosen]), self._pair.published.take(chosen, ids=None)

    def _before(self, records: NDArray[np.int64]) -> Tendencies:
        return self.tendencies(self._pair.original.take(records, ids=None))


def kept_heavy(pair: Pair, given: Categories) -> dict[str, int]:
    """Count records with several heaviest categories, or a second category above the mean weight, and those whose row keeps one."""
    weighing = _Weighing(pair, given)
    row_of = np.full(pair.original.records, -1, np.int64)
    row_of[pair.rows] = np.arange(len(pair.rows))
    total = np.zeros(4, np.int64)
    for first, records in pair.original.pieces(AT_ONCE):
        row = row_of[first : first + records.records]
        released = np.flatnonzero(row >= 0)
        shown, cat, _weight = weighing.weights(pair.published.take(row[released], ids=None))
        total += _kept_heavy(weighing, records, released[shown], cat)
    names = ("tied-records", "tied-records-that-keep-one", "records-with-a-second-tendency", "second-tendencies-kept")
    return dict(zip(names, total.tolist(), strict=True))


def _kept_heavy(
    weighing: _Weighing, records: Transactions, shown: NDArray[np.int64], cat: NDArray[np.int64]
) -> list[int]:
    """Return the counts of some records, whose rows show categories: pairs of a record and a category."""
    before, width = weighing.tendencies(records), weighing.categories + 1
    record, other = before.heaviest
    tied = np.bincount(record, minlength=records.records) > 1
    own, own_cat, own_weight = weights(records, weighing.category, weighing.categories)
    present = np.bincount(own, minlength=records.records)
    second = own_weight * present[own] > records.lengths[own]
    second &= (own_weight < before.top_weight[own]) & _has_tendency(before.kind)[own]
    own, own_cat = own[second], own_cat[second]
    record, other = record[tied[record]], other[tied[record]]
    keys = np.sort(shown * width + cat)
    return [
        int(np.count_nonzero(tied)),
        len(distinct(record[among(record * width + other, keys)])),
        len(distinct(own)),
        len(distinct(own[among(own * width + own_cat, keys)])),
    ]


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
        weighing = _Weighing(pair, self.categories)
        count = of = 0
        for _first, _records, before, published in weighing.pieces():
            row, cat, weight = weighing.weights(published)
            concerned = _has_tendency(before.kind)
            largest = np.zeros(published.records, dtype=np.int64)
            np.maximum.at(largest, row, weight)
            on_top = concerned[row] & (weight == largest[row]) & before.among_heaviest(row, cat)
            count += len(distinct(row[on_top]))
            of += int(np.count_nonzero(concerned))
        if not of:
            return None, {"reason": "no record has a tendency"}
        return count / of, {"records": count, "of": of}


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
    weighing = _Weighing(pair, given)
    counts, concerned = _counted(weighing)
    if len(concerned) < 2:
        return None, {"reason": "fewer than two records have a tendency"}
    half = (pair.rows[concerned] % 2).astype(bool)
    tests = []
    for number, trained in enumerate((half, ~half)):
        tested = np.flatnonzero(~trained)
        size = len(tested)
        if size > MOST_TESTED and not pair.exact:
            tested = np.sort(np.random.default_rng([SEED, number]).choice(tested, MOST_TESTED, replace=False))
        right = _Guessers(counts, 1 - number).right(weighing, concerned[tested])
        tests.append(_Test(right, len(tested), size))
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

    def __init__(self, weighing: _Weighing, rows: Transactions) -> None:
        row, self.cat, weight = weighing.weights(rows)
        categories = weighing.categories
        self.start = starts_of(row, rows.records)
        best = np.zeros(rows.records, dtype=np.int64)
        np.maximum.at(best, row, weight * (categories + 1) + categories - self.cat)
        self.heaviest = np.where(best > 0, categories - best % (categories + 1), categories)
        self.size = np.minimum(best // (categories + 1), SIZES - 1)

    def present(self, first: int, last: int, categories: int) -> NDArray[np.float64]:
        """Return a table of 0 and 1: which categories each of the rows `first` to `last` - 1 holds."""
        offsets = self.start[first : last + 1]
        table = np.zeros((len(offsets) - 1, categories))
        table[owner_of(offsets), self.cat[offsets[0] : offsets[-1]]] = 1
        return table


class _Counts(NamedTuple):
    """The number of rows of each half with each true category."""

    alone: NDArray[np.int64]
    present: NDArray[np.int64]
    """And with each category present."""
    heaviest: NDArray[np.int64]
    """And with each heaviest category, or none."""
    size: NDArray[np.int64]
    """And with each size of the heaviest category."""


def _counted(weighing: _Weighing) -> tuple[_Counts, NDArray[np.int64]]:
    """Return the counts, and the numbers of the rows whose record has a tendency."""
    n = weighing.categories
    counts = _Counts(*(np.zeros((2, n, *more), np.int64) for more in ((), (n,), (n + 1,), (SIZES,))))
    found = [np.empty(0, np.int64)]
    for first, records, before, published in weighing.pieces():
        concerned = np.flatnonzero(_has_tendency(before.kind))
        found.append(first + concerned)
        rows, half, truth = _Rows(weighing, published), records[concerned] % 2, before.top[concerned]
        _add(counts.alone, half, truth)
        _add(counts.heaviest, half, truth, rows.heaviest[concerned])
        _add(counts.size, half, truth, rows.size[concerned])
        offsets, places = picked(rows.start, concerned)
        owner = owner_of(offsets)
        _add(counts.present, half[owner], truth[owner], rows.cat[places])
    return counts, np.concatenate(found)


def _add(table: NDArray[np.int64], *places: NDArray[Any]) -> None:
    """Add 1 at each of the places, given by an index for each axis."""
    np.add.at(table.reshape(-1), np.ravel_multi_index(places, table.shape), 1)


class _Guessers:
    """The base rate and the three guessers, as the rows of one half teach them."""

    def __init__(self, counts: _Counts, half: int) -> None:
        prior = counts.alone[half] + 1.0
        beside = 1e-3 + counts.heaviest[half].T
        sizes = 1.0 + counts.size[half].T
        share = (counts.present[half] + 1.0) / (prior + 1)[:, None]  # both prior and table are one more than the counts
        log_present, self._log_absent = np.log(share), np.log1p(-np.minimum(share, 1 - 1e-9))
        self._log_size, self._log_prior, self._log_beside = (
            np.log(sizes / sizes.sum(axis=0)),
            np.log(prior),
            np.log(beside),
        )
        self._log_ratio = (log_present - self._log_absent).T
        self._common = int(counts.alone[half].argmax())

    def right(self, weighing: _Weighing, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each of the four the number of correct guesses about the chosen rows."""
        at_once = max(CELLS_AT_ONCE // weighing.categories, 1)
        step = at_once * max(ROWS_AT_ONCE // at_once, 1)
        right = np.zeros(4, np.int64)
        for first in range(0, len(chosen), step):
            before, published = weighing.some(chosen[first : first + step])
            rows, numbers = _Rows(weighing, published), np.arange(published.records)
            named = [
                self._guesses(rows, one, min(one + at_once, len(numbers))) for one in range(0, len(numbers), at_once)
            ]
            guesses = (np.full(len(numbers), self._common), *np.concatenate(named, axis=1))
            right += [int(np.count_nonzero(before.among_heaviest(numbers, guess))) for guess in guesses]
        return right

    def _guesses(self, rows: _Rows, first: int, last: int) -> NDArray[np.int64]:
        """Return the guess of each of the three guessers for the rows `first` to `last` - 1."""
        present = rows.present(first, last, len(self._log_prior))
        absent_only = np.where(present > 0, -np.inf, 0.0)
        by_heaviest = self._log_beside[rows.heaviest[first:last]]
        by_size = self._log_size[rows.size[first:last]]
        guesses = (
            self._log_prior + absent_only,
            by_heaviest + absent_only,
            by_heaviest + by_size + _product(present, self._log_ratio) + self._log_absent.sum(axis=1),
        )
        return np.array([guess.argmax(axis=1) for guess in guesses])


def _product(table: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix product. Small pieces are multiplied without threads, which wait for each other in a busy loop."""
    rows = MOST_WITHOUT_THREADS // factors.size
    if rows < FEWEST_ROWS:
        return table @ factors
    return np.concatenate([table[first : first + rows] @ factors for first in range(0, len(table), rows)])
