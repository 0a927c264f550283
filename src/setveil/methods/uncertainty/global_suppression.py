"""GlobalSuppression: suppress whole items, in all records, until no known items reveal a sensitive one.

Paper    cao2010 (references.bib), SuppressControl, as described by jia2014 and our notes: we did not have the paper.
Departs  `payoff="sensitive"`, the default, is our own. It suppresses sensitive items only. All of them are suppressed and then tried, the
         most frequent first, ties in label order. An item stays suppressed only if some rule with it would be unsafe among the items that
         are restored by then, or if its search does not end within 5,000,000 steps. Suppressing an item makes nothing unsafe. So at the end
         no suppressed item can be restored alone, and the loss is at most that of suppressing all sensitive items.
         `payoff="cao"`: sensitive items in too many records are suppressed first (the empty set of known items, if it counts). Then all
         unsafe rules with one known item are listed, and after that those with two. The item with the most listed rules per occurrence,
         sensitive or not, is suppressed, ties in label order, until no listed rule is left. Rules with three and more known items are not
         listed, nor more than 30,000,000 of one size: remaining unsafe rules are settled as with `sensitive`.
Cost     `sensitive`: for each sensitive item, counting the other items of its records, which takes the records of the rarest of them; most
         items fail at once. `cao`: in addition, all sets of three items of a record, one of them sensitive.
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
from setveil.methods.uncertainty._live import LiveTable, always_inferable, items_to_suppress
from setveil.methods.uncertainty.base import ReachesUncertainty

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


MOST_RULES = 30_000_000
"""Maximum number of unsafe rules of one size that are listed: limits memory."""
ITEMS_AT_ONCE = 64
"""Number of first items whose rules one part of the work lists."""


class GlobalSuppression(ReachesUncertainty):
    """Suppress whole items, in all records, until no known items reveal a sensitive one."""

    name = "global-suppression"
    title = "GlobalSuppression"
    paper = "cao2010"
    truthful = "subset"

    payoff: Literal["sensitive", "cao"] = parameter(
        "sensitive",
        public=True,
        description="Which items to suppress: sensitive ones only, as few occurrences as a greedy choice finds (sensitive), or any items "
        "by the paper's payoff (cao).",
    )

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Suppress items until the records are proved safe."""
        del rng
        sensitive = self.sensitive.among(data)
        keeps = np.ones(len(data.vocabulary), np.bool_)
        if self.payoff == "cao":
            keeps = self._after_payoff(data, sensitive)
        reduced = data.keeping(keeps[data.items])
        contents, weights, _content_of = reduced.distinct()
        table = LiveTable(contents.offsets, contents.items, weights, sensitive)
        allowed = keeps & ~always_inferable(reduced, sensitive, self.guarantee)
        table.restore(allowed, self.rho.share)
        keeps &= table.alive[:-1]
        published = data.keeping(keeps[data.items])
        while unsafe := items_to_suppress(published, self.guarantee):
            keeps[[data.code_of[label] for label in unsafe]] = False
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
        """Return which items stay after suppression by payoff, for rules with no, one and two known items."""
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
            suppressed = np.zeros(len(data.vocabulary), np.bool_)
            run("suppressing items", partial(kernels.kill, rules, data.supports, suppressed), total=len(rules))
            keeps &= ~suppressed
        return keeps


def unsafe_rules(
    data: Transactions, sensitive: NDArray[np.bool_], rho: tuple[int, int], size: int
) -> NDArray[np.int32] | None:
    """List the unsafe rules with `size` known items, one per row: the known items, then the sensitive one. None if there are too many."""
    from setveil.methods.uncertainty import _payoff_kernels as kernels  # noqa: PLC0415 - imports Numba

    records = kernels.Records(data.offsets, data.items, *data.holders, read_only(sensitive))
    room = np.zeros(1, np.int64)

    def part(first: int, control: NDArray[np.int64]) -> NDArray[np.int32]:
        last = min(first + ITEMS_AT_ONCE, len(data.vocabulary))
        list_rules = kernels.rules_of_one if size == 1 else kernels.rules_of_two
        rules, number = list_rules(first, last, records, *rho, MOST_RULES - int(room[0]), control)
        room[0] += number
        found: NDArray[np.int32] = rules[:number].copy()
        return found

    parts = list(range(0, len(data.vocabulary), ITEMS_AT_ONCE))
    found = share("listing unsafe rules", parts, part, total=len(data.vocabulary))
    if sum(map(len, found)) > MOST_RULES:
        return None
    return read_only(np.concatenate(found)) if found else np.empty((0, size + 1), np.int32)
