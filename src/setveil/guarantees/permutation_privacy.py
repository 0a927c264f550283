"""Permutation privacy: in every group each sensitive item belongs to at most one in p rows, and no row shows a sensitive item.

Paper    ghinita2008 (references.bib), definitions 2 and 3, privacy degree p.
Checked  on the released file, exactly, in whole numbers: count · p ≤ rows of the group, for each group and each sensitive item in it; and
         that no row holds a sensitive item.
Compare  ρ-uncertainty with ρ = 1/p, which is stronger: here the attacker may not know a sensitive item. See docs/guarantees.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.base.declaration import parameter
from setveil.base.verdict import MOST_WITNESSES, Reach, Status, Verdict, Witness
from setveil.data.files.side_files import shown
from setveil.data.forms.grouped import Grouped
from setveil.data.records.ragged import owner_of
from setveil.guarantees.base import Coverage, Guarantee
from setveil.parameters.sensitive_items import SensitiveItems

if TYPE_CHECKING:
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

TOO_OFTEN = "too-often-in-a-group"
IN_A_ROW = "sensitive-item-in-a-row"


class PermutationPrivacy(Guarantee):
    """In every group each sensitive item belongs to at most one in p rows, and no row shows a sensitive item."""

    name = "permutation-privacy"
    example_lines = (
        'data = sv.read("sample:supermarket?records=1000")',
        'method = sv.Permutation(sensitive=sv.read_sensitive("sample:supermarket"), p=4)',
        "release = sv.publish(data, method, metrics=[])",
        "guarantee = {call}",
        "verdict = guarantee.check(release.data)",
    )
    title = "Permutation privacy"
    paper = "ghinita2008"
    takes = (Grouped,)
    counts_of_one_kind = False
    coverage = Coverage(
        attacker="knows items of a person's record that are not sensitive, and uses them to find the person's row or group",
        singling_out="not bounded: a row shows all items that are not sensitive, and only one person may have them",
        linking="not bounded: the rows of two releases can be compared",
        inference="bounded for sensitive items: any one of them belongs to at most one in p rows of a group",
        not_covered=(
            "an attacker who knows a sensitive item of a person: a group with that item can reveal the person's other items",
            "ρ-uncertainty with ρ = 1/p, which is stronger: it also holds if the attacker knows sensitive items",
            "an attacker who knows which sensitive items other people of a group have",
            "an attacker who knows which items often occur with which sensitive ones: rows of a group need not be equally likely",
            "which items are sensitive, which the release itself shows",
            "an attacker who has other data about the same people",
        ),
    )

    sensitive: SensitiveItems = parameter(
        public=False, inferable=True, description="The items that must not be inferred."
    )
    p: int = parameter(
        ge=2,
        public=True,
        examples=[4],
        description="At most one in p rows of a group may hold any one sensitive item.",
    )

    @property
    def statement(self) -> str:
        """The guarantee in short sentences."""
        return (
            "Rows are in groups, and no row shows a sensitive item. "
            f"Each sensitive item of a group belongs to at most one in {self.p:,} of its rows. "
            "The release does not show to which of them."
        )

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line."""
        return "people who can be found by their other items; attackers who know a sensitive item, or which items occur together"

    def check(
        self, published: Grouped, *, original: Transactions | None = None, alignment: Alignment | None = None
    ) -> Verdict:
        """Count every sensitive item in every group, and find sensitive items in rows; see `Guarantee.check`."""
        del alignment
        self.refuse_other_form(published)
        violations: dict[str, int] = {}
        witnesses = []
        for kind, found in ((TOO_OFTEN, self._too_often(published)), (IN_A_ROW, self._in_rows(published))):
            if found[0]:
                violations[kind] = found[0]
                witnesses += found[1]
        named = np.array([label in self.sensitive for label in published.sensitive_vocabulary], dtype=np.bool_)
        counts = {
            "groups": published.groups,
            "rows-in-the-smallest-group": int(published.group_sizes.min(initial=published.records)),
            "rows-in-the-largest-group": int(published.group_sizes.max(initial=0)),
            "sensitive-items": int(np.count_nonzero(named)),
            "sensitive-occurrences": int(published.sensitive_supports[named].sum()),
        }
        doubt = "" if violations or counts["sensitive-items"] else self.sensitive.doubt(original)
        status: Status = "violated" if violations else "undecided" if doubt else "holds"
        reach = Reach.whole(published.records, holds=status == "holds")
        return Verdict(status, self.name, counts, violations, 0, tuple(witnesses), doubt, reach)

    def _too_often(self, published: Grouped) -> tuple[int, list[Witness]]:
        """Return the number of items that too many rows of a group hold, and witnesses, largest excess first."""
        named = np.array([label in self.sensitive for label in published.sensitive_vocabulary], dtype=np.bool_)
        held = published.sensitive_counts
        # count · p ≤ size if and only if count ≤ size // p. Any p above the number of rows allows nothing, so p is capped.
        most = (published.group_sizes // min(self.p, published.records + 1))[published.group_of_sensitive]
        broken = np.flatnonzero((held > most) & named[published.sensitive_codes])
        worst = broken[np.argsort(-(held - most)[broken], kind="stable")][:MOST_WITNESSES]
        return len(broken), [self._witness(published, int(place)) for place in worst]

    def _witness(self, published: Grouped, place: int) -> Witness:
        group = int(published.group_of_sensitive[place])
        label = published.sensitive_vocabulary[published.sensitive_codes[place]]
        size = int(published.group_sizes[group])
        detail = (
            f"{int(published.sensitive_counts[place]):,} of its {size:,} rows hold {shown(label)}; p = {self.p:,} allows at most "
            f"{size // self.p:,}"
        )
        return Witness(TOO_OFTEN, f"group {group + 1:,}", detail, items=(label,), group=group)

    def _in_rows(self, published: Grouped) -> tuple[int, list[Witness]]:
        """Return the number of sensitive items in rows, and witnesses."""
        rows = published.rows
        places = np.flatnonzero(self.sensitive.among(rows)[rows.items]) if rows.occurrences else np.empty(0, np.int64)
        row_of = owner_of(rows.offsets)
        witnesses = []
        for place in places[:MOST_WITNESSES]:
            row, label = int(row_of[place]), rows.vocabulary[rows.items[place]]
            group = int(np.searchsorted(published.group_starts, row, side="right")) - 1
            where = f"group {group + 1:,}, row {row - int(published.group_starts[group]) + 1:,} of it"
            detail = f"shows the sensitive item {shown(label)}"
            witnesses.append(Witness(IN_A_ROW, where, detail, row=row, items=(label,), group=group))
        return len(places), witnesses
