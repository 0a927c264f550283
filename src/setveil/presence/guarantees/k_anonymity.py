"""k-anonymity of a joined table: nobody's quasi-identifiers are shown by fewer than k records.

Checked  on the released table alone, exactly: how many records, and how many different sensitive values, each combination of intervals
         has; and that no two combinations overlap, since then somebody's values would fit both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.declaration import Declaration, parameter
from setveil.base.verdict import MOST_WITNESSES, Reach, Verdict, Witness
from setveil.data.records.ragged import runs
from setveil.guarantees.base import Coverage, Guarantee
from setveil.presence.tables import EXAMPLE_LINES
from setveil.presence.tables.joined_table import JoinedTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOO_FEW_RECORDS = "too-few-records"
TOO_FEW_VALUES = "too-few-sensitive-values"
OVERLAP = "groups-overlap"

_PAIRS_AT_ONCE = 1 << 21


class GroupLimit(Declaration):
    """How large and how mixed a group is at least."""

    k: int = parameter(2, ge=1, le=1_000_000, public=True, description="Records of a group at least.")
    l: int = parameter(  # noqa: E741 - what l-diversity calls it
        1, ge=1, le=1_000, public=True, description="Different sensitive values among the records of a group at least."
    )


class KAnonymity(GroupLimit, Guarantee):
    """Every combination of intervals that a joined table shows has at least k records, with at least l sensitive values."""

    name = "k-anonymity"
    example_lines = (
        *EXAMPLE_LINES,
        "outcome = sv.Mondrian(k=2).apply(originals, keys=keys)",
        "guarantee = {call}",
        "verdict = guarantee.check(outcome.table)",
    )
    title = "k-anonymity"
    paper = "takenouchi2012"
    takes = (JoinedTable,)
    counts_of_one_kind = False
    coverage = Coverage(
        attacker="knows the quasi-identifiers of a person, all of them and exactly, and looks for the person's record",
        singling_out="bounded: at least k records fit the person equally well",
        linking="bounded in this table: nobody's values fit fewer than k records; two tables can be compared",
        inference="with l = 1 not bounded: all records of a group may have the same sensitive value; with more, at least l values remain",
        not_covered=(
            "how likely each sensitive value is: l values in a group may be very unequal",
            "whether a person is in the table at all, which site-presence bounds for the two providers",
            "someone who knows which sensitive values other people of a group have",
            "other tables or releases about the same people",
        ),
    )

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        mixed = f" with at least {self.l:,} different sensitive values" if self.l > 1 else ""
        return (
            f"Every combination of quasi-identifiers that the table shows has at least {self.k:,} records{mixed}, and no two combinations "
            "overlap."
        )

    def check(self, published: JoinedTable, *, original: Any = None, alignment: Any = None) -> Verdict:
        """Count records and sensitive values of every combination, and look for combinations that overlap."""
        del original, alignment
        self.refuse_other_form(published)
        # Groups with the same intervals look like one, whatever the table calls them.
        table = JoinedTable.arranged(published.schema, published.lows, published.highs, published.counts)
        sizes, values = table.counts.sum(axis=1), np.count_nonzero(table.counts, axis=1)
        overlaps, pairs = overlapping(table.lows, table.highs, most=MOST_WITNESSES)
        violations: dict[str, int] = {}
        witnesses: list[Witness] = []
        for kind, what, found, least, name in (
            (TOO_FEW_RECORDS, "records", sizes, self.k, "k"),
            (TOO_FEW_VALUES, "different sensitive values", values, self.l, "l"),
        ):
            broken = np.flatnonzero(found < least)
            if len(broken):
                violations[kind] = len(broken)
                worst = broken[np.argsort(found[broken], kind="stable")][:MOST_WITNESSES]
                details = [
                    f"has {int(found[group]):,} {what}; with {name} = {least:,} it needs {least:,}" for group in worst
                ]
                witnesses += [_witness(kind, int(group), detail) for group, detail in zip(worst, details, strict=True)]
        if overlaps:
            violations[OVERLAP] = overlaps
            witnesses += [
                _witness(OVERLAP, one, f"its intervals overlap those of group {other + 1:,} in every attribute")
                for one, other in pairs
            ]
        counts = {
            "groups": table.groups,
            "records": table.records,
            "records-in-the-smallest-group": int(sizes.min()) if table.groups else 0,
            "sensitive-values-in-the-least-mixed-group": int(values.min()) if table.groups else 0,
        }
        status: Literal["holds", "violated"] = "violated" if violations else "holds"
        reach = Reach.whole(table.records, holds=not violations)
        return Verdict(status, self.name, counts, violations, 0, tuple(witnesses), reach=reach)


def _witness(kind: str, group: int, detail: str) -> Witness:
    return Witness(kind, f"group {group + 1:,} in the order of intervals", detail, group=group)


def overlapping(lows: NDArray[np.int32], highs: NDArray[np.int32], *, most: int) -> tuple[int, list[tuple[int, int]]]:
    """Return how many pairs of boxes overlap in every attribute, and the first of them.

    Boxes are sorted by where they begin on the attribute that tells most of them apart, so that each is compared only with those that
    begin before it ends; pairs that do not overlap in one attribute are dropped before the next is looked at.
    """
    groups, width = lows.shape
    if groups < 2:
        return 0, []
    # The attribute on which an interval covers the smallest part of what the table shows comes first.
    cover = (highs - lows).mean(axis=0) / (highs.max(axis=0) - lows.min(axis=0))
    attributes = np.argsort(cover, kind="stable")
    order = np.argsort(lows[:, attributes[0]], kind="stable")
    low, high = lows[order], highs[order]
    ends = np.searchsorted(low[:, attributes[0]], high[:, attributes[0]], side="left")
    later = (
        ends - np.arange(groups) - 1
    )  # how many begin after it and before it ends; always at least 0, as it begins before it ends
    total, first = 0, 0
    found: list[tuple[int, int]] = []
    while first < groups:
        last = first + 1 + int(np.searchsorted(np.cumsum(later[first + 1 :]), _PAIRS_AT_ONCE))
        last = min(last, groups)
        one = np.repeat(np.arange(first, last), later[first:last])
        other = runs(np.arange(first + 1, last + 1), later[first:last])
        for attribute in attributes[1:width]:
            both = (low[one, attribute] < high[other, attribute]) & (low[other, attribute] < high[one, attribute])
            one, other = one[both], other[both]
        total += len(one)
        if len(found) < most:
            pairs = np.sort(np.column_stack((order[one], order[other])), axis=1)
            found += [(int(a), int(b)) for a, b in pairs[: most - len(found)]]
        first = last
    return total, found
