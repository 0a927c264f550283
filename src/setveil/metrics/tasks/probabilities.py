"""How well a release predicts the probabilities of items and of pairs of items among people who are not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.generalized import Generalized
from setveil.data.forms.grouped import Grouped
from setveil.data.forms.reassociated import Reassociated
from setveil.data.records.ragged import changes, offsets_of, owner_of, runs, starts_of, sums_within
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.metrics.tasks.heldout import PEOPLE
from setveil.metrics.tasks.resampling import limits, weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.pair_supports import PairSupports
    from setveil.metrics.pair import Pair
    from setveil.metrics.tasks.heldout import Heldout

MOST_PAIRS = 1 << 24
"""Maximum number of pairs of items of all people tested; fewer people are drawn if their records are long."""


class PairProbabilities(Metric):
    """R² of the probabilities of pairs of items in the release, as predictions for people who are not in it."""

    name = "pair-probabilities"
    title = "Probabilities of pairs of items"
    unit = "R²"
    better = "higher"
    about = "utility"
    formula = (
        "R² = 1 − Σ (q − p)² / Σ (q − q̄)² over pairs of different items, p the expected share of the records of the release that hold both,"
        " q the share of the people tested, q̄ its mean. The same for single items, and for the original, is in the details"
    )
    blind_to = (
        "rare pairs, whose probabilities are all close to 0; items that are not among the most frequent; how far the figure differs between"
        " releases with different seeds, which the interval does not cover"
    )
    tests_people = True
    takes = (Transactions, Disassociated, Generalized, Grouped, Reassociated)

    items: int = parameter(
        2000, public=True, ge=2, le=5000, description="Number of most frequent items of the original to use."
    )
    seed: int = parameter(0, public=True, ge=0, description="Seed of the people tested and of the bootstrap.")

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Compare the probabilities of the release, and of the original, with those among the people tested."""
        heldout = pair.heldout
        if not heldout.people.records:
            return None, {"reason": "there is no record to test on"}
        seen = heldout.once(_seen, self.items, self.seed)
        spread = _spread(seen.shares[np.triu_indices(len(seen.shares), 1)])
        if not spread:
            return None, {"reason": "all pairs of items are equally probable among the people tested"}
        after, before = pair.published.pair_supports(heldout.labels(self.items)), heldout.pairs(self.items)
        value, of_items = _fit(seen, _shares(after))
        details = {
            "items": of_items,
            "original": dict(zip(("pairs", "items"), _fit(seen, _shares(before)), strict=True)),
            "sample": len(seen.starts) - 1,
        }
        drawn = _drawn_fits(seen, _shares(after), heldout.once(_drawn, self.items, self.seed), self.seed)
        # A bootstrap sample is further from the people than they are from each other: only its spread is used.
        low, high = limits(drawn - drawn.mean() + value)
        return value, details | heldout.status_of((low, min(high, 1.0)))


class _Seen(NamedTuple):
    """What the people tested hold."""

    shares: NDArray[np.float64]
    """The share of the people with each pair of items; on the diagonal, with each item."""
    starts: NDArray[np.int64]
    pairs: NDArray[np.int64]
    """The pairs of each person, as places in the flattened matrix: `pairs[starts[t] : starts[t + 1]]` of person t."""


class _Drawn(NamedTuple):
    """The sums of the shares of all pairs, and of their squares, in each bootstrap sample."""

    sums: NDArray[np.float64]
    squares: NDArray[np.float64]


def _shares(pairs: PairSupports) -> NDArray[np.float64]:
    return pairs.counts / max(pairs.records, 1)


def _spread(shares: NDArray[np.float64]) -> float:
    return float(((shares - shares.mean()) ** 2).sum()) if len(shares) and shares.min() < shares.max() else 0.0


def _fit(seen: _Seen, shares: NDArray[np.float64]) -> tuple[float, float | None]:
    """Return R² of pairs and of single items; None if all items are equally frequent."""
    found: list[float | None] = []
    for which in (np.triu_indices(len(shares), 1), np.diag_indices(len(shares))):
        spread = _spread(seen.shares[which])
        found.append(float(1 - ((seen.shares[which] - shares[which]) ** 2).sum() / spread) if spread else None)
    of_pairs, of_items = found
    assert of_pairs is not None
    return of_pairs, of_items


def _seen(heldout: Heldout, items: int, seed: int) -> _Seen:
    from setveil.data.forms.pair_supports import count_pairs  # noqa: PLC0415 - imports SciPy

    table = heldout.table(items)
    lengths = np.diff(table.indptr).astype(np.int64)
    each = max(float((lengths * (lengths - 1) / 2).mean()), 1.0)
    people = heldout.drawn(np.arange(table.shape[0]), seed, max(min(PEOPLE, int(MOST_PAIRS / each)), 1))
    table = table[people]
    starts = table.indptr.astype(np.int64)
    items_of = table.indices.astype(np.int64)
    # Each item of a person with each later one.
    later = np.repeat(starts[1:], np.diff(starts)) - np.arange(len(items_of)) - 1
    first, second = np.repeat(items_of, later), items_of[runs(np.arange(len(items_of)) + 1, later)]
    keys = np.minimum(first, second) * table.shape[1] + np.maximum(first, second)
    return _Seen(count_pairs(table) / len(people), offsets_of(sums_within(starts, later)), keys)


def _drawn(heldout: Heldout, items: int, seed: int) -> _Drawn:
    """Return the sums over pairs in each bootstrap sample. A pair of one person only needs no matrix."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    seen = heldout.once(_seen, items, seed)
    people = len(seen.starts) - 1
    order = np.argsort(seen.pairs, kind="stable")
    owners = owner_of(seen.starts)[order]
    number = np.cumsum(changes(seen.pairs[order])) - 1
    holders = np.bincount(number)
    alone = holders[number] == 1 if len(number) else np.empty(0, np.bool_)
    single = np.bincount(owners[alone], minlength=people).astype(np.float64)
    kept = np.flatnonzero(holders > 1)
    number = np.searchsorted(kept, number[~alone])
    shape = len(kept), people
    several = csr_array((np.ones(len(number)), owners[~alone], starts_of(number, len(kept))), shape=shape)
    lengths = np.diff(seen.starts).astype(np.float64)
    sums, squares = [], []
    for block in weights(people, seed):
        counts = several @ block.T
        sums.append(block @ lengths)
        squares.append(np.einsum("pd,pd->d", counts, counts) + block**2 @ single)
    return _Drawn(np.concatenate(sums), np.concatenate(squares))


def _drawn_fits(seen: _Seen, shares: NDArray[np.float64], drawn: _Drawn, seed: int) -> NDArray[np.float64]:
    """Return R² of pairs in each bootstrap sample, from sums of squares and products."""
    above = shares[np.triu_indices(len(shares), 1)]
    of_person = np.diff(np.concatenate(([0.0], np.cumsum(shares.ravel()[seen.pairs])))[seen.starts])
    products = np.concatenate([block @ of_person for block in weights(len(of_person), seed)])
    spread = drawn.squares - drawn.sums**2 / len(above)
    missed = drawn.squares - 2 * products + (above**2).sum()
    found: NDArray[np.float64] = 1 - missed[spread > 0] / spread[spread > 0]
    return found
