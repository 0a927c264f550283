"""Hidden itemsets: none of the named itemsets is frequent in the release, and each is held by at most as many records as its target.

Paper    gunawan2021 (references.bib), section III: no sensitive itemset is frequent in D'.
Checked  on the released file: every named itemset is counted again and compared with its target, and with the threshold for the
         number of records with and without the empty ones, since analysts' programs leave these out or not.
Departs  the paper knows one threshold and no targets. See docs/decisions/0014.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, model_validator

from setveil.base.declaration import parameter, split_commas
from setveil.base.verdict import MOST_WITNESSES, Reach, Status, Verdict, Witness
from setveil.guarantees.base import Coverage, Guarantee
from setveil.mining.supports import supports
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

ABOVE_TARGET = "above-target"
STILL_FREQUENT = "still-frequent"
SHOWN_ITEMS = 12
MOST_RECORDS = 10**18 - 1
"""No target is higher, as no support is: such numbers fit the machine's."""


def _one_or_several(value: Any) -> Any:
    """Let one number stand for all itemsets, as it does for the methods."""
    return (value,) if isinstance(value, int) and not isinstance(value, bool) else split_commas(value)


def _possible(targets: tuple[int, ...]) -> tuple[int, ...]:
    wrong = [target for target in targets if not 0 <= target <= MOST_RECORDS]
    if wrong:
        raise ValueError(f"a target is {wrong[0]}; allowed is a number of records from 0 to {MOST_RECORDS:,}")
    return targets


class HiddenItemsets(Guarantee):
    """None of the named itemsets is frequent in the release, and each is at or below its target."""

    name = "hidden-itemsets"
    title = "Hidden itemsets"
    paper = "gunawan2021"
    protects = "itemsets"
    coverage = Coverage(
        attacker="mines the release for frequent itemsets, at the threshold that was agreed or at a higher one",
        singling_out="not bounded",
        linking="not bounded",
        inference="bounded for the itemsets that the owner named: none of them is frequent in the release",
        not_covered=(
            "people: this keeps the owner's secrets, not theirs",
            "an attacker who mines at a lower threshold",
            "that an itemset was made infrequent on purpose: it is rarer than its items let expect, most of all with a target of 0",
            "a second release of the same data: the itemsets whose supports differ most between the two are likely the secrets",
            "an attacker who has the original data or part of it",
            "secrets that the owner did not name, such as parts of a named itemset",
        ),
    )

    itemsets: NamedItemsets = parameter(public=False, description="The itemsets that must not be found.")
    min_support: MinSupport = parameter(
        public=False,
        description="From which support on an itemset is frequent; a share is rounded up to whole records.",
    )
    targets: Annotated[tuple[int, ...], BeforeValidator(_one_or_several), AfterValidator(_possible)] = parameter(
        (),
        public=False,
        description=(
            "At most how many records may hold each itemset: one number for all, or one for each in their order; none for just below the "
            "threshold."
        ),
    )

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if len(self.targets) not in (0, 1, len(self.itemsets)):
            raise ValueError(
                f"there are {len(self.targets)} targets for {len(self.itemsets)} itemsets; give one, or one for each"
            )
        return self

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        return (
            "None of the itemsets that the owner of the data named is frequent in this release, whether empty records are counted or "
            "not; which itemsets these are and from which support on an itemset counts as frequent is not told."
        )

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line."""
        return "people; secrets whose support a model of the release predicts; a second release of the same data"

    def check(
        self, published: Transactions, *, original: Transactions | None = None, alignment: Alignment | None = None
    ) -> Verdict:
        """Count every named itemset in the release."""
        del alignment
        self.refuse_other_form(published)
        found = supports(published, self.itemsets)
        lengths = (published.records, published.records - published.empty_records)
        frequent_from = min(self.min_support.count(records) for records in lengths)
        targets = np.empty(len(self.itemsets), dtype=np.int64)
        targets[:] = self.targets or frequent_from - 1
        violations: dict[str, int] = {}
        witnesses: list[Witness] = []
        for kind, most in ((STILL_FREQUENT, np.full(len(targets), frequent_from - 1)), (ABOVE_TARGET, targets)):
            broken = np.flatnonzero(found > most)
            if kind == ABOVE_TARGET:
                broken = broken[found[broken] < frequent_from]
            if len(broken):
                violations[kind] = len(broken)
            worst = broken[np.argsort(-(found - most)[broken], kind="stable")][:MOST_WITNESSES]
            witnesses += [
                self._witness(kind, int(one), int(found[one]), int(targets[one]), frequent_from) for one in worst
            ]
        counts = {
            "itemsets-to-hide": len(self.itemsets),
            "held-by-no-record": int(np.count_nonzero(found == 0)),
        }
        total = len(self.itemsets)
        doubt = "" if self.itemsets.places_in(published) else self.itemsets.doubt(original)
        status: Status = "violated" if violations else "undecided" if doubt else "holds"
        occurring = self.itemsets.places_in(published if original is None else original)
        hidden = np.count_nonzero(found[occurring] <= np.minimum(targets, frequent_from - 1)[occurring])
        rest = {"name an item that does not occur": total - len(occurring)}
        reach = Reach(0 if doubt else int(hidden), total, "named itemsets", rest)
        return Verdict(status, self.name, counts, violations, 0, tuple(witnesses), doubt, reach)

    def _witness(self, kind: str, one: int, support: int, target: int, frequent_from: int) -> Witness:
        items = self.itemsets[one]
        shown = ", ".join(items[:SHOWN_ITEMS]) + (", …" if len(items) > SHOWN_ITEMS else "")
        detail = f"{support:,} released records hold it; its target is {target:,}, and from {frequent_from:,} on it is frequent"
        return Witness(kind, f"itemset {{{shown}}}", detail, items=items)
