"""GlobalSuppression: whole types of items leave all records, until no known items betray a sensitive one.

Paper    cao2010 (references.bib), SuppressControl, as far as jia2014 and our notes tell: the paper was not at hand.
Departs  `payoff="sensitive"`, the default, is ours. Only sensitive types leave. All of them are taken out and then tried, the most frequent
         first, then in label order: a type stays out only if some rule that names it would be unsafe beside the types that are back by
         then, or was not searched to its end within 5,000,000 steps. Leaving a type out makes nothing unsafe, so afterwards no type that
         left can come back alone, and the loss is never above that of leaving out all sensitive items.
         `payoff="cao"`: sensitive types that too many records hold leave first (the empty set of known items, if it counts). Then for one
         known item, and after that for two, all unsafe rules are listed, and the type with the most of them for each of its occurrences
         leaves, sensitive or not, of equals the first in label order, until none is left. Rules of three and more known items are not
         listed, nor more than 30,000,000 of a size: what is still unsafe then loses sensitive types by the rule above.
Cost     `sensitive`: for each sensitive type counting its records' other items, which takes the records of the rarest of them; most types
         fail at once. `cao`: in addition all sets of three items in a record, one of them sensitive.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run, share
from setveil.methods.base import Outcome
from setveil.methods.uncertainty._live import STEPS_FOR_A_TYPE, LiveTable, inferred_unaided, to_leave_out
from setveil.methods.uncertainty.base import ReachesUncertainty

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


MOST_RULES = 30_000_000
"""So many unsafe rules of one size are listed at most: bounds memory."""
ITEMS_AT_ONCE = 64
"""First items of the rules that one part of the work lists."""


class GlobalSuppression(ReachesUncertainty):
    """Leave out whole types of items from all records until no known items betray a sensitive one."""

    name = "global-suppression"
    title = "GlobalSuppression"
    paper = "cao2010"
    truthful = "subset"

    payoff: Literal["sensitive", "cao"] = parameter(
        "sensitive",
        public=True,
        description="Which types of items leave: as few sensitive occurrences as a greedy choice finds, or any items by the paper's "
        "payoff.",
    )

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Leave out types until the records are proved safe."""
        del rng
        sensitive = self.sensitive.among(data)
        keeps = np.ones(len(data.vocabulary), np.bool_)
        if self.payoff == "cao":
            keeps = self._after_payoff(data, sensitive)
        reduced = data.keeping(keeps[data.items])
        contents, weights, _content_of = reduced.distinct()
        table = LiveTable(contents.offsets, contents.items, weights, sensitive)
        allowed = keeps & ~inferred_unaided(reduced, sensitive, self.guarantee)
        table.bring_back(allowed, self.rho.share, STEPS_FOR_A_TYPE)
        keeps &= table.alive[:-1]
        published = data.keeping(keeps[data.items])
        while left := to_leave_out(published, self.guarantee):
            keeps[[data.code_of[label] for label in left]] = False
            published = data.keeping(keeps[data.items])
        gone = ~keeps & (data.supports > 0)
        account: dict[str, Any] = {
            "types-suppressed": int(np.count_nonzero(gone)),
            "sensitive-types-suppressed": int(np.count_nonzero(gone & sensitive)),
            "occurrences-suppressed": data.occurrences - published.occurrences,
            "records-made-empty": published.empty_records - data.empty_records,
        }
        return Outcome(published, Alignment.identity(data.records), account)

    def _after_payoff(self, data: Transactions, sensitive: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which types stay after those with the highest payoffs left, for rules of no, one and two known items."""
        from setveil.methods.uncertainty import _payoff_kernels as kernels  # noqa: PLC0415 - imports Numba

        num, den = self.rho.share.as_integer_ratio()
        keeps = np.ones(len(data.vocabulary), np.bool_)
        if self.include_empty:
            keeps = ~(sensitive & (data.supports > 0) & (den * data.supports > num * data.records))
        for size in (1, 2):
            reduced = data.keeping(keeps[data.items])
            rules = unsafe_rules(reduced, sensitive, (num, den), size)
            if rules is None:
                break
            killed = np.zeros(len(data.vocabulary), np.bool_)
            run("leaving out types of items", partial(kernels.kill, rules, data.supports, killed), total=len(rules))
            keeps &= ~killed
        return keeps


def unsafe_rules(
    data: Transactions, sensitive: NDArray[np.bool_], rho: tuple[int, int], size: int
) -> NDArray[np.int32] | None:
    """List the unsafe rules that know one or two items, a row each: the known items, and the sensitive one; None if there are too many."""
    from setveil.methods.uncertainty import _payoff_kernels as kernels  # noqa: PLC0415 - imports Numba

    fixed = (data.offsets, data.items, *data.holders, read_only(sensitive), *rho)
    room = np.zeros(1, np.int64)

    def part(first: int, control: NDArray[np.int64]) -> NDArray[np.int32]:
        last = min(first + ITEMS_AT_ONCE, len(data.vocabulary))
        list_rules = kernels.rules_of_one if size == 1 else kernels.rules_of_two
        found: NDArray[np.int32] = list_rules(first, last, *fixed, MOST_RULES - int(room[0]), control)
        room[0] += len(found)
        return found

    parts = list(range(0, len(data.vocabulary), ITEMS_AT_ONCE))
    found = share("listing unsafe rules", parts, part, total=len(data.vocabulary))
    if sum(map(len, found)) > MOST_RULES:
        return None
    return read_only(np.concatenate(found)) if found else np.empty((0, size + 1), np.int32)
