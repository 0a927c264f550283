"""The people to test models on, and what the original achieves on them, which all releases of one original share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.base import progress
from setveil.data.records.ragged import owner_of, picked, ranks_of_sequences
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData
from setveil.metrics.once import Once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.pair_supports import PairSupports
    from setveil.metrics.tasks.resampling import GainKept

PEOPLE = 20_000
"""Maximum number of people to test on, drawn at random from more, unless everything is computed in full."""


class Cases(NamedTuple):
    """People who each have one hidden item, which a model has to find."""

    known: Any
    """A sparse table of the other items of each person."""
    hidden: NDArray[np.int64]
    """The hidden item of each person, by its number."""


class Heldout(Once):
    """The people to test on. Create one for all releases of the same original, which share the work on the original.

    Parameters
    ----------
    original : Transactions
        The records that releases are made from.
    people : Transactions, optional
        Records of people who are not in the original. By default, the records of the original are used, and figures are optimistic.
    exact : bool, default: False
        Whether to test on all people if there are more than 20,000.
    divided : bool, default: False
        Whether original and people are parts of the same data. Equal records are then of different people.

    Raises
    ------
    BadData
        If the people are those of the original. This is not checked for parts of the same data.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.read("sample:supermarket?records=3000")
    >>> train, test = data.take(range(2000)), data.take(range(2000, 3000))
    >>> heldout = Heldout(train, test)
    >>> heldout.is_optimistic, heldout.cases(items=100, seed=0).known.shape[1]
    (False, 100)
    """

    def __init__(
        self,
        original: Transactions,
        people: Transactions | None = None,
        *,
        exact: bool = False,
        divided: bool = False,
    ) -> None:
        if people is not None and not divided:
            _refuse_same_people(original, people)
        super().__init__()
        self.original = original
        self.people = original if people is None else people
        self.is_optimistic = people is None
        """Whether the people that models are tested on are in the original."""
        self.exact = exact

    def status_of(self, interval: tuple[float, float]) -> dict[str, Any]:
        """Return the details that state how far a figure with this 95 % interval is exact."""
        return {"status": "optimistic estimate" if self.is_optimistic else "estimate", "interval": interval}

    def share_kept(self, kept: GainKept, details: dict[str, Any], over: str) -> tuple[float | None, dict[str, Any]]:
        """Return the share of the original's gain over a baseline with its details, or why there is none; `over` names both for it."""
        low, high = kept.of_original
        details |= {"gain-of-original": {"from": low, "to": high}}
        if low <= 0:
            reason = f"the original itself does not clearly beat {over} is between {low:.3g} and {high:.3g}"
            return None, details | {"reason": reason}
        return kept.share, details | self.status_of(kept.interval)

    def labels(self, items: int) -> tuple[str, ...]:
        """Return the `items` most frequent items of the original, the most frequent first; equals are in label order."""
        return self.once(_labels, items)

    def pairs(self, items: int) -> PairSupports:
        """Return the supports of these items and of their pairs in the original."""
        return self.once(_pairs, items)

    def table(self, items: int) -> Any:
        """Return the people as a sparse table, with one column for each of the most frequent items."""
        return self.once(_table, items)

    def drawn(self, people: NDArray[np.int64], seed: int, most: int | None = None) -> NDArray[np.int64]:
        """Return at most `most` of these people (by default 20,000), drawn at random; all if everything is computed in full."""
        most = PEOPLE if most is None else most
        if self.exact or len(people) <= most:
            return people
        return np.sort(np.random.default_rng(seed).choice(people, most, replace=False))

    def cases(self, items: int, seed: int) -> Cases:
        """Return the people with at least two of the most frequent items, one of which is hidden at random."""
        return self.once(_cases, items, seed)


def _labels(heldout: Heldout, items: int) -> tuple[str, ...]:
    data = heldout.original
    by_support = np.argsort(-data.supports, kind="stable")[:items]
    return tuple(data.vocabulary[code] for code in by_support[data.supports[by_support] > 0])


def _pairs(heldout: Heldout, items: int) -> PairSupports:
    return heldout.original.pair_supports(heldout.labels(items))


def _table(heldout: Heldout, items: int) -> Any:
    from setveil.data.forms.pair_supports import as_table  # noqa: PLC0415 - imports SciPy

    return as_table(heldout.people, heldout.labels(items))


def _cases(heldout: Heldout, items: int, seed: int) -> Cases:
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    table = heldout.table(items)
    people = heldout.drawn(np.flatnonzero(np.diff(table.indptr) >= 2), seed)
    offsets, places = picked(table.indptr.astype(np.int64), people)
    columns = table.indices[places].astype(np.int64)
    # Items in the order of their numbers, so that the order of labels in a file does not decide which is hidden.
    columns = columns[np.lexsort((columns, owner_of(offsets)))]
    hidden = offsets[:-1] + np.random.default_rng((seed, 1)).integers(0, np.diff(offsets))
    kept = np.ones(len(columns), np.bool_)
    kept[hidden] = False
    starts = offsets - np.arange(len(offsets))
    known = csr_array((np.ones(int(starts[-1])), columns[kept], starts), shape=(len(people), table.shape[1]))
    return Cases(known, columns[hidden])


def _refuse_same_people(original: Transactions, people: Transactions) -> None:
    """Refuse records that are those of the original, in any order; note if the original also holds each of them."""
    both = Transactions.concatenated([original, people])
    content = ranks_of_sequences(both.offsets, both.items)
    contents = int(content.max(initial=-1)) + 1
    before, held = (np.bincount(part, minlength=contents) for part in np.split(content, [original.records]))
    if not people.records or np.any(held > before):
        return
    if people.records == original.records:
        raise BadData(
            "the held-out records are those of the original; give records of people who are not in what the release was made from"
        )
    progress.note(
        "the original also holds each of the held-out records: if these are the same people, figures of models are optimistic"
    )
