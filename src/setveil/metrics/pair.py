"""A release and its original, with the results that several metrics need, each computed once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from setveil.data.forms.comparing import shared_items
from setveil.metrics.mined import Mined
from setveil.metrics.tasks.heldout import Heldout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions
    from setveil.metrics.base import Metric

Result = TypeVar("Result")


class Pair:
    """A release and its original. Create one for all metrics that measure the same release.

    Parameters
    ----------
    original, published : data
        The original records and the release.
    alignment : Alignment, optional
        Which original record each released row came from.
    metrics : iterable of Metric
        The metrics that will measure it; each plans what it needs.
    exact : bool, default: False
        Whether metrics compute in full where they otherwise estimate.
    heldout : Transactions or Heldout, optional
        People who are not in the original, to test models on. By default, models are tested on the people of the original. Give the same
        `Heldout` to the pairs of several releases of one original: they then share the work on the original.

    Examples
    --------
    >>> import setveil as sv
    >>> before, after = sv.from_lists([["tea", "milk"], ["tea"]]), sv.from_lists([["tea"], ["tea"]])
    >>> metrics = [sv.InfoLoss(), sv.FiSimilarity(min_support=2)]
    >>> pair = Pair(before, after, metrics=metrics)
    >>> [metric.of(pair).value for metric in metrics]
    [0.3333333333333333, 1.0]
    """

    def __init__(
        self,
        original: Transactions,
        published: Any,
        alignment: Alignment | None = None,
        *,
        metrics: Iterable[Metric] = (),
        exact: bool = False,
        heldout: Transactions | Heldout | None = None,
        before: Mined | None = None,
    ) -> None:
        self.original = original
        self.published = published
        self.alignment = alignment
        self.exact = exact
        self.heldout = heldout if isinstance(heldout, Heldout) else Heldout(original, heldout, exact=exact)
        """The people to test models on."""
        self.before = before or Mined(original, "original")
        """The frequent itemsets of the original."""
        self.after = Mined(published, "release", lambda: self.before if self.only_removes else None)
        """The frequent itemsets of the release, if it is plain records."""
        self._metrics = tuple(metrics)
        self._made: dict[Any, Any] = {}
        for metric in self._metrics:
            if isinstance(published, metric.takes):
                metric.plan(self)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The original record of each released row; only for metrics that need the alignment."""
        assert self.alignment is not None
        return self.alignment.rows

    @cached_property
    def sets(self) -> list[Pair]:
        """Each of the sets of records of the release with the original, whose itemsets are mined once."""
        shared: dict[str, Any] = {"exact": self.exact, "heldout": self.heldout, "before": self.before}
        given: dict[str, Any] = {"metrics": self._metrics, **shared}
        return [Pair(self.original, one, **given) for one in self.published.sets]

    @cached_property
    def rows_per_record(self) -> NDArray[np.int64]:
        """The number of released rows of each original record."""
        return np.bincount(self.rows, minlength=self.original.records)

    @property
    def has_split_records(self) -> bool:
        """Whether some record became several rows."""
        return bool(self.rows_per_record.max(initial=0) > 1)

    @cached_property
    def shared_items(self) -> NDArray[np.int64]:
        """For each released row, how many of its items are in its original record."""
        return shared_items(self.original, self.published, self.rows)

    @cached_property
    def only_removes(self) -> bool:
        """Whether every released row is a part of an original record of its own: no itemset is then more frequent than before.

        This is found out without trusting the alignment. It is also false without an alignment and for other vocabularies.
        """
        if self.alignment is None or self.published.vocabulary != self.original.vocabulary:
            return False
        rows, records = self.rows, self.original.records
        if len(rows) != self.published.records or (len(rows) and not 0 <= rows.min() <= rows.max() < records):
            return False
        return not self.has_split_records and bool((self.shared_items == self.published.lengths).all())

    def once(self, work: Callable[..., Result], *given: Any) -> Result:
        """Return `work(self, *given)`, computed at the first call."""
        key = (work, *given)
        if key not in self._made:
            self._made[key] = work(self, *given)
        result: Result = self._made[key]
        return result
