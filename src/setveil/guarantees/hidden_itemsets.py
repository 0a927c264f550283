"""Hidden itemsets: no named itemset is frequent in the release, and the support of each is at most its target.

Paper    gunawan2021 (references.bib), section III: no sensitive itemset is frequent in D'.
Checked  on the released file: every named itemset is counted again and compared with its target and with the threshold. The threshold
         is computed for all records and for the records that are not empty, because some analysis programs skip empty records.
Departs  the paper has one threshold and no targets. See docs/decisions/0014.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, model_validator

from setveil.base.declaration import parameter, split_commas
from setveil.base.display import quantity
from setveil.base.sql import table
from setveil.base.verdict import MOST_WITNESSES, Reach, Status, Verdict, Witness
from setveil.guarantees.base import Coverage, Guarantee
from setveil.guarantees.recounts import Recount, Recounts
from setveil.mining.supports import supports
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

ABOVE_TARGET = "above-target"
STILL_FREQUENT = "still-frequent"
SHOWN_ITEMS = 12
MOST_RECORDS = 10**18 - 1
"""Largest target. No support is larger, and numbers up to this one fit into 64 bits."""


def _one_or_several(value: Any) -> Any:
    """Accept one number for all itemsets, as methods do."""
    return (value,) if isinstance(value, int) and not isinstance(value, bool) else split_commas(value)


def _possible(targets: tuple[int, ...]) -> tuple[int, ...]:
    wrong = [target for target in targets if not 0 <= target <= MOST_RECORDS]
    if wrong:
        raise ValueError(f"a target is {wrong[0]}; allowed is a number of records from 0 to {MOST_RECORDS:,}")
    return targets


class HiddenItemsets(Guarantee):
    """No named itemset is frequent in the release, and the support of each is at most its target."""

    name = "hidden-itemsets"
    title = "Hidden itemsets"
    paper = "gunawan2021"
    protects = "itemsets"
    coverage = Coverage(
        attacker="mines the release for frequent itemsets, at the agreed threshold or a higher one",
        singling_out="not bounded",
        linking="not bounded",
        inference="bounded for the itemsets that the owner named: none of them is frequent in the release",
        not_covered=(
            "people: the guarantee protects secrets of the data owner, not the people in the data",
            "an attacker who mines at a lower threshold",
            "the fact that an itemset was hidden: it is rarer than its items suggest, most of all with a target of 0",
            "a second release of the same data: the itemsets whose supports differ most between the two are probably the secrets",
            "an attacker who has the original data or part of it",
            "secrets that the owner did not name, such as parts of a named itemset",
        ),
    )

    itemsets: NamedItemsets = parameter(public=False, description="The itemsets that must not be found.")
    min_support: MinSupport = parameter(
        public=False,
        description="Minimum support of a frequent itemset; a share is rounded up to whole records.",
    )
    targets: Annotated[tuple[int, ...], BeforeValidator(_one_or_several), AfterValidator(_possible)] = parameter(
        (),
        public=False,
        description=(
            "Maximum number of records that may hold each itemset: one number for all, or one per itemset in their order; without a "
            "number, one less than the minimum support."
        ),
    )

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if len(self.targets) not in (0, 1, len(self.itemsets)):
            raise ValueError(
                f"there are {len(self.targets):,} targets for {quantity(len(self.itemsets), 'itemset')}; give one target for all, or one "
                "per itemset"
            )
        return self

    @property
    def statement(self) -> str:
        """The guarantee in one sentence."""
        return (
            "None of the itemsets that the data owner named is frequent in this release, whether empty records are counted or not. "
            "These itemsets, and the minimum support of a frequent itemset, are not disclosed."
        )

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line."""
        return "people; secrets whose support a model of the release predicts; a second release of the same data"

    def recounts(self, form: type, labels: Sequence[str]) -> Recounts:
        """Count the records that hold each named itemset."""
        del form, labels
        items = [(number, item) for number, one in enumerate(self.itemsets, 1) for item in one]
        held = """
  WITH hit AS (
    SELECT itemset, record FROM secret JOIN released USING (item) GROUP BY itemset, record
    HAVING count(*) = (SELECT count(*) FROM secret AS whole WHERE whole.itemset = secret.itemset)
  ), held AS (
    SELECT itemset, count(*) AS holders FROM hit GROUP BY itemset
  )
  SELECT count(*) FROM held"""
        frequent = f"holders >= {self.min_support.count(0)}"
        if share := self.min_support.share:
            filled = "(SELECT count(DISTINCT record) FROM released)"
            frequent = f"holders * {share.denominator} >= {share.numerator} * {filled}"
        queries = [Recount("named itemsets that are frequent", f"{held} WHERE {frequent}")]
        tables = [table("secret", ("itemset", "item"), items)]
        if self.targets:
            targets = self.targets * len(self.itemsets) if len(self.targets) == 1 else self.targets
            tables.append(table("target", ("itemset", "most"), enumerate(targets, 1)))
            above = f"{held} JOIN target USING (itemset) WHERE holders > most"
            queries.append(Recount("named itemsets above their target", above))
        return Recounts(tuple(tables), tuple(queries))

    def check(
        self, published: Transactions, *, original: Transactions | None = None, alignment: Alignment | None = None
    ) -> Verdict:
        """Count every named itemset in the release; see `Guarantee.check`."""
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
        rest = {"contain an item that does not occur": total - len(occurring)}
        reach = Reach(0 if doubt else int(hidden), total, "named itemsets", rest)
        return Verdict(status, self.name, counts, violations, 0, tuple(witnesses), doubt, reach)

    def _witness(self, kind: str, one: int, support: int, target: int, frequent_from: int) -> Witness:
        items = self.itemsets[one]
        shown = ", ".join(items[:SHOWN_ITEMS]) + (", …" if len(items) > SHOWN_ITEMS else "")
        detail = (
            f"its support in the release is {support:,}; its target is {target:,}, and it is frequent at a support of at least "
            f"{frequent_from:,}"
        )
        return Witness(kind, f"itemset {{{shown}}}", detail, items=items)
