"""Supports in several sets of re-associated data, with 95 % intervals: the sets are multiple imputations of the lost links.

The chunks of disassociated data do not show which parts belong to the same record. Each set fills this in at random. Rubin's rules
(rubin1987) combine the sets: with the share p_s of the records of set s that hold an itemset, M sets and n records per set,

mean      q = mean of p_s
within    W = mean of p_s (1 - p_s) / n: other people could have been in the data.
between   B = variance of p_s: the links could have been other ones.
total     T = W + (1 + 1 / M) B, with v = (M - 1) (1 + W / ((1 + 1 / M) B))² degrees of freedom of Student's t.

The interval holds the shares p for which |q - p| is at most t times the standard error at p, sqrt(p (1 - p) / n · T / W) (Wilson's interval
for imputed data, lott2020). So it is within 0 and n, and not empty for itemsets that no set holds.

The intervals are about people like those in the data, and about the links. They do not cover what the sets cannot know: chunks that depend
on each other within a cluster, and items that were suppressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base.arguments import check_arguments
from setveil.base.display import ShownTable, share
from setveil.data.forms.reassociated import Reassociated
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter
from setveil.kernels.threads import with_threads
from setveil.mining.frequent import LIMIT, Kind, mine, top
from setveil.mining.itemsets import Itemsets, are_among_first, table_of_first
from setveil.mining.supports import supports
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SupportIntervals:
    """Supports with 95 % intervals, as `support_intervals` returns them.

    Attributes
    ----------
    supports : array of float64
        The mean number of records of a set that hold each itemset.
    low, high : array of float64
        The limits of the 95 % interval.
    """

    supports: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.supports)


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedItemsets(Itemsets):
    """Itemsets with the 95 % intervals of their supports, as `mine_intervals` returns them.

    Attributes
    ----------
    supports : array of float64
        The mean number of records of a set that hold each itemset. The other attributes of `Itemsets` are the same.
    low, high : array of float64
        The limits of the 95 % interval.
    """

    supports: NDArray[np.float64]  # type: ignore[assignment]  # means
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __repr__(self) -> str:
        return super().__repr__().replace("Itemsets", "EstimatedItemsets", 1)

    def take(self, chosen: NDArray[Any]) -> EstimatedItemsets:
        """Return some of the itemsets, chosen by their numbers or by a mask."""
        taken = self.as_records().take(chosen)
        supports, low, high = (column[chosen].copy() for column in (self.supports, self.low, self.high))
        return EstimatedItemsets(taken.offsets, taken.items, supports, self.vocabulary, self.records, low, high)

    def to_table(self) -> Any:
        """Return an Arrow table with the columns `items`, `support`, `low` and `high` (numbers of records) and `share` (of all records)."""
        columns = {"items": self.to_arrow(), "support": self.supports, "low": self.low, "high": self.high}
        return pa.table(columns | {"share": self.supports / max(self.records, 1)})

    def _shown(self) -> ShownTable:
        """Return a table of the most frequent itemsets."""
        first = self.take(are_among_first(self.supports)).ordered().to_table().to_pylist()
        rows = [
            (
                ", ".join(row["items"]),
                *(f"{row[name]:,.1f}" for name in ("support", "low", "high")),
                share(row["share"]),
            )
            for row in first
        ]
        return table_of_first(rows, ["items", "support", "low", "high", "share"], self)


@with_threads
@check_arguments
def support_intervals(
    data: Reassociated,
    itemsets: Itemsets | Iterable[Iterable[str]],
    *,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> SupportIntervals:
    """Return the support of each itemset in several sets of re-associated data, with 95 % intervals.

    Parameters
    ----------
    data : Reassociated
        At least two sets of the same disassociated data, such as `Reassociation(copies=20)` makes.
    itemsets : Itemsets or iterable of lists of str
        The itemsets, as `supports` accepts them.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    SupportIntervals
        Three arrays with one entry per itemset: `supports`, the means of the sets, and the limits `low` and `high`.

    Raises
    ------
    BadParameter
        If there is only one set.

    Examples
    --------
    >>> import setveil as sv
    >>> sets = [["tea", "milk"], ["tea"], []], [["tea"], ["tea", "milk"], []], [["tea"], ["tea"], ["milk"]]
    >>> found = sv.support_intervals(sv.Reassociated(tuple(map(sv.from_lists, sets))), [["tea"], ["tea", "milk"]])
    >>> found.supports.round(2).tolist(), found.low.round(2).tolist(), found.high.round(2).tolist()
    ([2.0, 0.67], [0.62, 0.04], [2.82, 2.6])
    """
    _refuse_one_set(data)
    listed = itemsets if isinstance(itemsets, Itemsets) else [list(one) for one in itemsets]
    counts = np.array([supports(one, listed) for one in data.datasets], np.float64)
    return combined(counts, np.array([one.records for one in data.datasets], np.float64))


@with_threads
@check_arguments
def mine_intervals(
    data: Reassociated,
    min_support: MinSupport | str | float,
    *,
    kind: Kind = "all",
    min_length: int = 1,
    max_length: int | None = None,
    limit: int = LIMIT,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> EstimatedItemsets:
    """Return the itemsets whose mean support in several sets of re-associated data is high enough, with 95 % intervals.

    Parameters
    ----------
    data : Reassociated
        At least two sets of the same disassociated data.
    min_support : int, float, str or MinSupport
        Minimum of the mean support: a number of records of a set (30) or a share of them ("0.1%" or 0.001).
    kind : {"all", "closed", "maximal"}, default: "all"
        Which frequent itemsets to return, by their mean supports.
    min_length, max_length : int, default: 1 and None
        Minimum and maximum number of items of an itemset.
    limit : int, default: 2,000,000
        Maximum number of itemsets.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    EstimatedItemsets
        The itemsets with their mean supports and the limits `low` and `high`; `ordered()` puts the most frequent first.

    Raises
    ------
    TooManyItemsets
        If there are more itemsets than `limit`.
    BadParameter
        If there is only one set, or a parameter has a value that is not allowed.

    Examples
    --------
    >>> import setveil as sv
    >>> sets = [["tea", "milk"], ["tea"], []], [["tea"], ["tea", "milk"], []], [["tea"], ["tea"], ["milk"]]
    >>> found = sv.mine_intervals(sv.Reassociated(tuple(map(sv.from_lists, sets))), 1).ordered()
    >>> found.to_lists(), found.supports.tolist()
    ([['tea'], ['milk']], [2.0, 1.0])
    """
    _refuse_one_set(data)
    least = count_together(data, MinSupport(min_support))
    found = mine(
        Transactions.concatenated(data.datasets),
        least,
        kind=kind,
        min_length=min_length,
        max_length=max_length,
        limit=limit,
    )
    return with_intervals(data, found)


def top_intervals(data: Reassociated, how_many: int, **chosen: Any) -> EstimatedItemsets:
    """Return the itemsets with the highest mean supports, with 95 % intervals; `chosen` are parameters of `top`."""
    return with_intervals(data, top(Transactions.concatenated(data.datasets), how_many, **chosen))


def count_together(data: Reassociated, min_support: MinSupport) -> int:
    """Return the minimum support in all sets together."""
    return min_support.count(records_of_a_set(data)) * len(data)


def records_of_a_set(data: Reassociated) -> int:
    """Return the mean number of records of a set, rounded: sets can differ in records without items."""
    return round(data.records / len(data))


def with_intervals(data: Reassociated, found: Itemsets) -> EstimatedItemsets:
    """Return itemsets of all sets together with their mean supports and intervals."""
    each = support_intervals(data, found)
    return EstimatedItemsets(
        found.offsets, found.items, each.supports, found.vocabulary, records_of_a_set(data), each.low, each.high
    )


def combined(counts: NDArray[np.float64], records: NDArray[np.float64]) -> SupportIntervals:
    """Combine supports by Rubin's rules; `counts` has one row per set and one column per itemset."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    sets, n = len(counts), records.mean()
    shares = counts / np.maximum(records, 1)[:, None]
    mean = shares.mean(axis=0)
    within = (shares * (1 - shares) / np.maximum(records, 1)[:, None]).mean(axis=0)
    between = (1 + 1 / sets) * shares.var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(between > 0, (sets - 1) * (1 + within / between) ** 2, np.inf)
        inflated = np.where(between > 0, 1 + between / within, 1.0)
    t = stdtrit(np.minimum(freedom, 1e9), 0.975)
    width = t**2 * np.minimum(inflated, 1e12) / max(n, 1)
    root = np.sqrt(np.maximum((2 * mean + width) ** 2 - 4 * (1 + width) * mean**2, 0))
    limits = ((2 * mean + width + sign * root) / (2 * (1 + width)) for sign in (-1, 1))
    low, high = (np.clip(limit, 0, 1) * n for limit in limits)
    return SupportIntervals(counts.mean(axis=0), low, high)


def _refuse_one_set(data: Reassociated) -> None:
    if len(data) < 2:
        raise BadParameter("an interval requires at least two sets of records; re-associate the data with `copies=20`")
