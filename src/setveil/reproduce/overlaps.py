"""The estimated bound: how much every way of leaving out items must leave out at least, as far as an easy argument tells.

A record that keeps a set K with a sensitive item e needs K without e in at least 1/ρ records of the release, hence in ⌈1/ρ⌉ records of the
original, itself among them. So K has at most one item more than the record shares with the (⌈1/ρ⌉ - 1)-th of the other records, those
first that share most. A record that keeps no sensitive item keeps the others at best. It ignores that those records must lack e, and that
they lose items themselves: the true least loss is higher, and nobody knows it.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import inverted, read_only, sorted_within, sums_within
from setveil.kernels.threads import share

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

AT_ONCE = 500
"""Distinct contents that one part of the work looks at."""


def needed_others(rho: Fraction) -> int:
    """Return in how many other records a set must be, at least, beside which a sensitive item may stand.

    >>> from fractions import Fraction
    >>> [needed_others(Fraction(share, 10)) for share in (1, 3, 5, 7)]
    [9, 3, 1, 1]
    """
    return max(ceil(1 / rho) - 1, 0)


def best_overlaps(data: Transactions, k: int) -> NDArray[np.int64]:
    """Return for each record how many items it shares with the k other records that share most with it, most first."""
    from setveil.reproduce import _overlap_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    contents, weights, content_of = data.distinct()
    rank = np.empty(len(data.vocabulary), np.int64)
    rank[np.argsort(contents.supports, kind="stable")] = np.arange(len(rank))
    items = sorted_within(contents.offsets, rank[contents.items], len(rank))
    holders = inverted(contents.offsets, items, len(rank))
    table = kernels.Contents(contents.offsets, read_only(items), read_only(weights), *map(read_only, holders))
    best = np.zeros((contents.records, k), np.int64)
    ends = [*range(0, contents.records, AT_ONCE), contents.records]
    share(
        "comparing records",
        [*pairwise(ends)],
        lambda part, control: kernels.best_overlaps(*part, table, best, control),
        total=contents.records,
    )
    return best[content_of]


def estimated_bound(
    data: Transactions, is_sensitive: NDArray[np.bool_], rho: Fraction, overlaps: NDArray[np.int64]
) -> float:
    """Return the share of all occurrences that must be left out, by the argument above."""
    sensitive = sums_within(data.offsets, is_sensitive[data.items])
    others = needed_others(rho)
    with_one = data.lengths if not others else np.minimum(1 + overlaps[:, others - 1], data.lengths)
    kept = np.where(sensitive > 0, np.maximum(data.lengths - sensitive, with_one), data.lengths)
    return float((data.occurrences - kept.sum()) / max(data.occurrences, 1))


def most_needed(rhos: Iterable[Fraction]) -> int:
    """Return how many columns of overlaps the bounds of these ρ look at, at least one."""
    return max(1, *map(needed_others, rhos))
