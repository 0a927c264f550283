"""Permutation: form groups of p records with common items, and publish sensitive items for each group as a whole.

Paper    ghinita2008 (references.bib), CAHD: sections IV (the order) and V (the groups). jia2014 compares with it as "Permutation".
Order    reverse Cuthill-McKee, so that records with common items are near each other. Ours uses the graph of records and items, which has
         one link per occurrence. The paper's graph links every pair of records with a common item (100 million links for BMS-WebView-2).
         One level of that graph corresponds to two levels of ours. Items in more than 1 % of the records do not influence the order: an
         item of nearly everyone brings no records together. Of equal nodes the first in the data goes first; SciPy's routine uses an
         unstable sort here, which differs between processors.
Groups   for each record with a sensitive item, in that order: the candidates are the alpha·p nearest remaining records before it, and as
         many after it, that share no sensitive item with it. Of these, the group takes the p - 1 with the most other items in common that
         share no sensitive item with each other. If the remaining records could then no longer be grouped, the record waits. The rest
         forms one last group.
Departs  where fewer than p - 1 candidates fit together, the record waits too. Of equally good candidates the nearer is taken, then the
         earlier one.
Cost     linear in the data for the order; for the groups 2·alpha·p records per group, and more where many records share a sensitive item,
         since these are passed over.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.advice import Advice
from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.data.forms.grouped import Grouped
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import offsets_of, owner_of, read_only
from setveil.data.records.transactions import Transactions
from setveil.guarantees.permutation_privacy import PermutationPrivacy
from setveil.kernels.threads import run
from setveil.methods.base import Method, Outcome
from setveil.parameters.sensitive_items import SensitiveItems

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


ORDER_SUPPORT_PERCENT = 1
"""Items in a larger share of the records do not influence the order."""


class Permutation(Method):
    """Group records with common items, and publish sensitive items as counts per group."""

    name = "permutation"
    title = "Permutation"
    paper = "ghinita2008"
    truthful = "subset"
    form = Grouped

    sensitive: SensitiveItems = parameter(public=False, inferable=True, description="Items that must not be inferred.")
    p: int = parameter(
        ge=2,
        public=True,
        examples=[4],
        description="In each group, at most one in p rows may hold any one sensitive item.",
    )
    alpha: int = parameter(
        3,
        ge=1,
        public=True,
        description="Search width: alpha times p records on each side of a record are examined to form its group.",
    )

    @property
    def guarantee(self) -> PermutationPrivacy:
        """The guarantee that the release is checked for."""
        return PermutationPrivacy(sensitive=self.sensitive, p=self.p)

    def bound_in(self, data: Transactions) -> str:
        """Return whether the most frequent sensitive item is rare enough for groups of p records."""
        most = int(data.supports[self.sensitive.among(data)].max(initial=0))
        verdict = "groups are impossible" if most * self.p > data.records else "groups are possible"
        return (
            f"the most frequent sensitive item is in {most:,} of {quantity(data.records, 'record')}, and at most one record in "
            f"{self.p:,} may hold it: {verdict}"
        )

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Order the records, group them, and separate the sensitive items from the others."""
        del rng
        is_sensitive = self.sensitive.among(data)
        most = int(data.supports[is_sensitive].max(initial=0))
        advice = Advice()
        group = np.zeros(data.records, np.int64)
        account: dict[str, Any] = {"groups": min(data.records, 1), "records-in-the-last-group": data.records}
        if most * self.p > data.records:
            advice = self._advice(most, data.records)
        elif most:
            group, account = self._grouped(data, is_sensitive)
        order = np.argsort(group, kind="stable")
        published = Grouped.of_records(data.take(order, ids=None), is_sensitive, group[order])
        return Outcome(published, Alignment(order), account, advice)

    def _advice(self, most: int, records: int) -> Advice:
        """Return why p cannot be reached, and what would help."""
        why = f"The most frequent sensitive item is in {most:,} of the {records:,} records"
        largest = records // most
        if largest < 2:
            steps = ["name fewer sensitive items", "remove that item from the data"]
            return Advice(f"{why}, more than half of them, so no p can be reached.", steps, {"largest-p": None})
        steps = ["choose a smaller p", "name fewer sensitive items"]
        return Advice(f"{why}, so p can be at most {largest:,}, not {self.p:,}.", steps, {"largest-p": largest})

    def _grouped(self, data: Transactions, is_sensitive: NDArray[np.bool_]) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """Return the group of each record, the last one for the rest, and an account."""
        from setveil.methods.uncertainty import _permutation_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        side = min(self.alpha * self.p, data.records)
        hidden = is_sensitive[data.items]
        in_pattern = ~is_sensitive & (data.supports <= max(data.records * ORDER_SUPPORT_PERCENT // 100, 2 * side))
        order = cuthill_mckee(data, in_pattern)
        ordered = data.take(order, ids=None)
        hidden = is_sensitive[ordered.items]
        code = np.where(is_sensitive, np.cumsum(is_sensitive), np.cumsum(~is_sensitive)) - 1
        parts = [
            (read_only(offsets_of(kept)[ordered.offsets]), read_only(code[ordered.items[kept]], np.int32))
            for kept in (~hidden, hidden)
        ]
        group_of = np.full(data.records, -1, np.int64)
        room = make_room(data.records, data.supports[is_sensitive], int(np.count_nonzero(~is_sensitive)), side)
        work = partial(kernels.make_groups, kernels.Ordered(*parts[0], *parts[1]), self.p, side, room, group_of)
        groups, lonely, held_back = run("grouping records", work, total=data.records)
        rest = group_of < 0
        group_of[rest] = groups
        group = np.empty(data.records, np.int64)
        group[order] = group_of
        return group, {
            "groups": groups + bool(rest.any()),
            "records-in-the-last-group": int(np.count_nonzero(rest)),
            "records-with-too-few-partners": lonely,
            "records-held-back-for-others": held_back,
            "items-that-shape-the-order": int(np.count_nonzero(in_pattern & (data.supports > 0))),
        }


def make_room(records: int, left: NDArray[np.int64], others: int, side: int) -> Any:
    """Return the working memory of grouping; `left` has the records with each sensitive item, `others` is how many other items are."""
    from setveil.methods.uncertainty import _permutation_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    return kernels.Room(
        before=np.arange(-1, records),
        after=np.arange(1, records + 2),  # the position after the last record is the end
        left=left.copy(),
        many=np.bincount(left, minlength=records + 1),
        own=np.full(len(left), -1, np.int64),
        taken=np.full(len(left), -1, np.int64),
        known=np.full(others, -1, np.int64),
        candidates=np.empty(2 * side, np.int64),
        keys=np.empty(2 * side, np.int64),
        places=np.empty(2 * side, np.int64),
    )


def cuthill_mckee(data: Transactions, in_pattern: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the records in reverse Cuthill-McKee order of the graph of records and the items `in_pattern`."""
    from setveil.methods.uncertainty import _permutation_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

    kept = in_pattern[data.items]
    record = owner_of(data.offsets)[kept]
    item = data.items[kept].astype(np.int64) + data.records
    nodes = data.records + len(data.vocabulary)
    one, other = np.concatenate((record, item)), np.concatenate((item, record))
    degree = np.bincount(one, minlength=nodes)
    by_degree = np.argsort(degree, kind="stable")
    rank = np.empty(nodes, np.int64)
    rank[by_degree] = np.arange(nodes)
    near = other[np.lexsort((rank[other], one))]
    starts = offsets_of(degree)
    queue = np.empty(nodes, np.int64)
    work = partial(kernels.breadth_first, read_only(starts), read_only(near), read_only(by_degree), queue)
    run("ordering records", work, total=nodes)
    return queue[queue < data.records][::-1].copy()
