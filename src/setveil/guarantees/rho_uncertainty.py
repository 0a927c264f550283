"""ρ-uncertainty: no items that an attacker may know of a person imply a sensitive item with a confidence above ρ.

Paper    jia2014 (references.bib), section 2.1, after cao2010: conf(q → e) ≤ ρ for every sensitive e and every set q of items, of any
         size, sensitive items included.
Checked  on the released file, exactly, with ρ as a fraction of whole numbers. Only closed q can have the highest confidence: the sets of
         all items that some records with e have in common. For each sensitive item the largest q come first: all other items of each
         of its records. They also give a lower bound on the number of records without e for every smaller q, which decides most cases.
         Otherwise the closed q are searched depth first, with that bound at each. Only the records with e are searched. All others are
         counted block by block, so data may be larger than memory, and the verdict is the same for all sizes of blocks.
         Generalized data: a node is sensitive if any item below it is, because it shows that the person has one of them. If records
         show such a node and sensitive names below it, the node is also checked together with these names, since each implies the node.
Departs  with `include_empty` the empty q counts: the share of all records with e. With `knows="whole"` the confidence among the records
         with exactly the same items that are not sensitive counts too. See docs/decisions/0015.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from setveil.base.declaration import Declaration, parameter
from setveil.base.display import quantity, share
from setveil.base.sql import table
from setveil.base.verdict import MOST_WITNESSES, Reach, Verdict, Witness
from setveil.data.forms.generalized import Generalized
from setveil.data.records.ragged import changes
from setveil.data.records.transactions import Transactions
from setveil.guarantees.base import Coverage, Guarantee
from setveil.guarantees.recounts import Recount, Recounts
from setveil.mining.rule_search import StrongestRules, strongest_rules
from setveil.mining.whole_parts import groups_of_equal_rest, whole_parts
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.parameters.shares import MaxConfidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.plain import RowsOfRecords
    from setveil.data.records.alignment import Alignment
    from setveil.mining.whole_parts import WholeParts
    from setveil.parameters.hierarchy import Hierarchy

INFERRED = "inferred-item"
INFERRED_FROM_WHOLE = "inferred-from-whole-record"
SHOWN_ITEMS = 12

_Cases = dict[str, tuple[int, Witness]]
"""For each sensitive name that can be inferred: the excess of its strongest case, and that case."""


class _Reading(NamedTuple):
    """One way to read a release: records, and the names in them to check."""

    data: Transactions
    inferred: NDArray[np.bool_]
    what: str = "it"


class _WholeCase(NamedTuple):
    """Records with exactly the same items that are not sensitive, and one sensitive item that too many of them hold."""

    item: int
    excess: int
    rest: tuple[int, ...]
    """The codes of the items that are not sensitive."""
    held: int
    size: int

    def is_stronger(self, other: _WholeCase) -> bool:
        """Return whether this case is shown rather than another one for the same item."""
        return (-self.excess, self.rest) < (-other.excess, other.rest)


class InferenceLimit(Declaration):
    """The limit on inference: the parameters that methods share with their guarantee."""

    sensitive: SensitiveItems = parameter(
        public=False, inferable=True, description="The items that must not be inferred."
    )
    rho: MaxConfidence = parameter(
        public=True, description="The highest confidence with which a sensitive item may be inferred."
    )
    include_empty: bool = parameter(
        True,
        public=True,
        description="Whether the limit also holds for an attacker who knows no item of a person.",
    )
    knows: Literal["subset", "whole"] = parameter(
        "subset",
        public=True,
        description="What an attacker may know of a person: some items of the record (subset); or, in addition, that the record has no "
        "further items, except perhaps sensitive ones (whole).",
    )


class RhoUncertainty(InferenceLimit, Guarantee):
    """No known items imply a sensitive item with a confidence above ρ."""

    name = "rho-uncertainty"
    title = "ρ-uncertainty"
    paper = "jia2014"
    takes = (Transactions, Generalized)
    counts_of_one_kind = False
    coverage = Coverage(
        attacker="knows any items of a person's record, sensitive items included, and looks for records that hold them",
        singling_out="not bounded: known items may lead to one record, which then holds no further sensitive item",
        linking="not bounded",
        inference="bounded for sensitive items: at most a share of ρ of the released records with the known items holds any further one",
        not_covered=(
            "finding a person: suppression makes itemsets rarer, so that known items may lead to fewer records than before",
            "which items are sensitive: the release itself shows it, because no other items predict them better than ρ",
            "what the original held: if a share is at the limit, an attacker may suspect suppressed items",
            "an attacker who knows that a person has certain items and no others, unless knows is 'whole'",
            "items that were not named as sensitive",
            "an attacker who has other data, or another release, about the same people",
        ),
    )

    budget: int = parameter(
        1_000_000_000,
        ge=0,
        public=True,
        description="Maximum number of steps of the search for the rules of one sensitive item; if it ends without an answer, the verdict "
        "is undecided.",
    )

    def recounts(self, form: type, labels: Sequence[str]) -> Recounts:
        """Count the rules from at most two known items to a sensitive one whose confidence is above the limit."""
        if form is Generalized:
            return super().recounts(form, labels)
        above = f"WHERE together * {self.rho.share.denominator} > {self.rho.share.numerator} *"
        one = f"""
  WITH rule AS (
    SELECT a.item, count(*) AS together FROM released AS s JOIN sensitive USING (item)
    JOIN released AS a ON a.record = s.record AND a.item <> s.item GROUP BY a.item, s.item
  ), known AS (
    SELECT item, count(*) AS holders FROM released GROUP BY item
  )
  SELECT count(*) FROM rule JOIN known USING (item) {above} holders"""
        two = f"""
  WITH rule AS (
    SELECT a.item AS first, b.item AS second, count(*) AS together FROM released AS s JOIN sensitive USING (item)
    JOIN released AS a ON a.record = s.record AND a.item <> s.item
    JOIN released AS b ON b.record = s.record AND b.item <> s.item AND b.item > a.item
    GROUP BY a.item, b.item, s.item
  ), known AS (
    SELECT a.item AS first, b.item AS second, count(*) AS holders FROM released AS a
    JOIN released AS b ON b.record = a.record AND b.item > a.item GROUP BY a.item, b.item
  )
  SELECT count(*) FROM rule JOIN known USING (first, second) {above} holders"""
        queries = [
            Recount("rules from one item above the limit", one),
            Recount("rules from two items above the limit", two),
        ]
        if self.include_empty:
            none = f"""
  WITH rule AS (SELECT count(*) AS together FROM released JOIN sensitive USING (item) GROUP BY item)
  SELECT count(*) FROM rule {above} (SELECT records FROM stated)"""
            queries.insert(0, Recount("sensitive items in a larger share of all records than the limit", none))
        listed = table("sensitive", ("item",), ((item,) for item in self.sensitive))
        return Recounts((listed,), tuple(queries), "Rules from three or more known items are not counted.")

    @property
    def statement(self) -> str:
        """The guarantee in short sentences."""
        nothing = ", or none" if self.include_empty else ""
        whole = (
            " The same holds for an attacker who knows that a person has no other items that are not sensitive."
            if self.knows == "whole"
            else ""
        )
        return (
            f"Take any items that an attacker may know of a person{nothing}. Of the released records that hold all of them, at most a "
            f"share of {self.rho} holds any one further sensitive item.{whole}"
        )

    def statement_for(self, form: type) -> str:
        """Return the guarantee in one sentence for plain or generalized records."""
        if form is not Generalized:
            return self.statement
        return f"{self.statement} A node is sensitive if any item below it is, and such a node counts like a sensitive item."

    def coverage_for(self, form: type) -> Coverage:
        """Return what it protects against in plain or generalized records."""
        if form is not Generalized:
            return self.coverage
        return replace(
            self.coverage,
            attacker="knows any items of a person's record, sensitive items included, and looks for records that show them",
        )

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line."""
        whole = "" if self.knows == "whole" else "; attackers who know a whole record (covered if knows is 'whole')"
        return f"people who can be found by their other items; which items are sensitive{whole}"

    def before(self, original: Transactions) -> Verdict:
        """Return the sensitive items that the original reveals, each with its strongest rule."""
        return self.check(original)

    def check(
        self,
        published: Transactions | Generalized,
        *,
        original: Transactions | None = None,
        alignment: Alignment | None = None,
    ) -> Verdict:
        """Prove that no rule is unsafe, or find the strongest rule for each item that can be inferred; see `Guarantee.check`."""
        del alignment
        self.refuse_other_form(published)
        data, is_sensitive, readings = self._readings(published)
        cases: dict[str, _Cases] = {INFERRED: {}, INFERRED_FROM_WHOLE: {}}
        exposed = undecided = 0
        for reading in readings:
            found = self._strongest(reading)
            exposed, undecided = max(exposed, found.exposed), undecided + found.undecided
            _add_stronger(cases[INFERRED], self._inferred(reading, found))
            if self.knows == "whole":
                _add_stronger(cases[INFERRED_FROM_WHOLE], self._inferred_from_whole(reading, is_sensitive))
        violations = {kind: len(cases_of_kind) for kind, cases_of_kind in cases.items() if cases_of_kind}
        witnesses: list[Witness] = []
        for cases_of_kind in cases.values():
            order = sorted(cases_of_kind.values(), key=lambda case: -case[0])
            witnesses += [witness for _excess, witness in order[:MOST_WITNESSES]]
        counts = {
            "sensitive-items": int(np.count_nonzero(data.supports[is_sensitive])),
            "sensitive-occurrences": int(data.supports[is_sensitive].sum()),
            "betrayed-by-their-whole-record": exposed,
        }
        if violations:
            reach = Reach.whole(data.records, holds=False)
            return Verdict("violated", self.name, counts, violations, 0, tuple(witnesses), reach=reach)
        if undecided:
            reason = (
                f"the search for the rules of {quantity(undecided, 'sensitive item')} did not end within {quantity(self.budget, 'step')} "
                "each; a larger budget may decide it"
            )
            counts["undecided-items"] = undecided
            return Verdict("undecided", self.name, counts, reason=reason, reach=Reach.whole(data.records, holds=False))
        if not counts["sensitive-items"] and (doubt := self.sensitive.doubt(original)):
            return Verdict("undecided", self.name, counts, reason=doubt, reach=Reach.whole(data.records, holds=False))
        # Such a limit holds for any data, and must not be mistaken for protection.
        reason = "a limit of 100 % allows every inference" if self.rho.share == 1 else ""
        return Verdict("holds", self.name, counts, reason=reason, reach=Reach.whole(data.records, holds=True))

    def _readings(self, published: RowsOfRecords) -> tuple[Transactions, NDArray[np.bool_], Iterable[_Reading]]:
        """Return the records, which of their names are sensitive, and the ways to read the records."""
        data, tree, is_sensitive = published.rows, published.tree, published.can_stand_for(self.sensitive)
        merged = iter(()) if tree is None else _with_nodes_for_names(data, tree, is_sensitive)
        return data, is_sensitive, chain((_Reading(data, is_sensitive),), merged)

    def _strongest(self, reading: _Reading) -> StrongestRules:
        rho, empty = self.rho.share, self.include_empty
        return strongest_rules(reading.data, reading.inferred, rho, include_empty=empty, budget=self.budget)

    def _inferred(self, reading: _Reading, found: StrongestRules) -> _Cases:
        """Return the strongest rule of each sensitive item that can be inferred from some items."""
        labels = [reading.data.vocabulary[code] for code in found.items]
        return {
            label: (int(found.excess[place]), self._witness(reading, found, place))
            for place, label in enumerate(labels)
        }

    def _inferred_from_whole(self, reading: _Reading, is_sensitive: NDArray[np.bool_]) -> _Cases:
        """Return the strongest case of each sensitive item among records with exactly the same items that are not sensitive."""
        strongest: dict[int, _WholeCase] = {}
        for records in groups_of_equal_rest(reading.data, is_sensitive):
            for case in self._whole_cases(whole_parts(records, is_sensitive), reading.inferred):
                if case.item not in strongest or case.is_stronger(strongest[case.item]):
                    strongest[case.item] = case
        cases: _Cases = {}
        for _item, case in sorted(strongest.items()):
            label = reading.data.vocabulary[case.item]
            shown = _shown([reading.data.vocabulary[code] for code in case.rest])
            detail = (
                f"{case.held:,} of the {case.size:,} released records with exactly these items that are not sensitive hold "
                f"{reading.what}: {share(case.held / case.size)}; at most {self.rho} is allowed"
            )
            witness = Witness(INFERRED_FROM_WHOLE, f"exactly {{{shown}}} → {label}", detail, items=(label,))
            cases[label] = case.excess, witness
        return cases

    def _whole_cases(self, found: WholeParts, inferred: NDArray[np.bool_]) -> Iterator[_WholeCase]:
        """Yield the strongest case of each sensitive item in some records, if it is too strong."""
        sizes, part, item, held = found.sizes, found.part, found.item, found.held
        num, den = self.rho.share.as_integer_ratio()
        excess = held * den - num * sizes[part]
        if not self.include_empty:
            excess[found.has_empty_part] = 0
        unsafe = np.flatnonzero((excess > 0) & inferred[item])
        unsafe = unsafe[np.lexsort((-excess[unsafe], item[unsafe]))]
        for case in unsafe[changes(item[unsafe])].tolist():
            first, last = found.parts.offsets[part[case] : part[case] + 2]
            rest = tuple(found.parts.items[first:last].tolist())
            yield _WholeCase(int(item[case]), int(excess[case]), rest, int(held[case]), int(sizes[part[case]]))

    def _witness(self, reading: _Reading, found: StrongestRules, place: int) -> Witness:
        data = reading.data
        label = data.vocabulary[found.items[place]]
        both = int(found.with_item[place])
        all_of_them = both + int(found.without_item[place])
        known = [data.vocabulary[code] for code in found.sets[place]]
        which = f"{all_of_them:,} released records" + (" with these items" if known else "")
        detail = (
            f"{both:,} of the {which} hold {reading.what}: {share(both / all_of_them)}; at most {self.rho} is allowed"
        )
        return Witness(INFERRED, f"{{{_shown(known)}}} → {label}", detail, items=(label,))


def _with_nodes_for_names(data: Transactions, tree: Hierarchy, is_sensitive: NDArray[np.bool_]) -> Iterator[_Reading]:
    """Yield, for each sensitive node with sensitive names below it in the records, the records with these names replaced by the node."""
    number_of = {name: number for number, name in enumerate(tree.nodes)}
    numbers = np.array([number_of.get(name, -1) for name in data.vocabulary], np.int64)
    codes = np.flatnonzero(is_sensitive & (numbers >= 0) & (data.supports > 0))
    codes = codes[np.argsort(numbers[codes])]  # depth first: the names below a node follow it
    ends = np.searchsorted(tree.leaf_starts[numbers[codes]], tree.leaf_ends[numbers[codes]])
    every_code = np.arange(len(data.vocabulary))
    for place in np.flatnonzero(ends > np.arange(1, len(codes) + 1)).tolist():
        node, name_of = codes[place], every_code.copy()
        name_of[codes[place : ends[place]]] = node
        merged = Transactions.from_codes(data.offsets, name_of[data.items], data.vocabulary)
        yield _Reading(merged, every_code == node, "it or a sensitive name below it")


def _add_stronger(cases: _Cases, others: _Cases) -> None:
    """Add the cases of another reading that are new or stronger."""
    for label, case in others.items():
        if label not in cases or case[0] > cases[label][0]:
            cases[label] = case


def _shown(labels: list[str]) -> str:
    return ", ".join(labels[:SHOWN_ITEMS]) + (", …" if len(labels) > SHOWN_ITEMS else "")
