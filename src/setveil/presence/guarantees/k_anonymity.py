"""k-anonymity of a joined table: every combination of quasi-identifiers in it has at least k records.

Checked  exactly, on the published table alone: the number of records and of different sensitive values of each combination of intervals,
         and that no two combinations overlap. If two overlap, the values of one person can fit both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.base.declaration import Declaration, parameter
from setveil.base.display import quantity
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
    """The minimum size and diversity of a group."""

    k: int = parameter(2, ge=1, le=1_000_000, public=True, description="Minimum number of records in every group.")
    l: int = parameter(  # noqa: E741 - the name that l-diversity uses
        1, ge=1, le=1_000, public=True, description="Minimum number of different sensitive values in every group."
    )


class KAnonymity(GroupLimit, Guarantee):
    """Every combination of intervals in a joined table has at least k records with at least l different sensitive values."""

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
        attacker="knows all quasi-identifiers of a person exactly, and looks for the person's record",
        singling_out="bounded: at least k records fit the person equally well",
        linking="bounded in this table: the values of a person in it fit at least k records; not bounded across two tables",
        inference="not bounded with l = 1: all records of a group may have the same sensitive value; with l > 1, at least l values are "
        "possible",
        not_covered=(
            "the probability of a sensitive value: the l values of a group may be very unevenly distributed",
            "whether a person is in the table: the guarantee site-presence bounds this, for the two providers only",
            "an attacker who knows the sensitive values of other people in a group",
            "other tables or releases about the same people",
        ),
    )

    @property
    def statement(self) -> str:
        """The guarantee in one sentence."""
        mixed = f" with at least {self.l:,} different sensitive values" if self.l > 1 else ""
        return (
            f"Every combination of quasi-identifiers in the table has at least {quantity(self.k, 'record')}{mixed}, and no two "
            "combinations overlap."
        )

    def check(self, published: JoinedTable, *, original: Any = None, alignment: Any = None) -> Verdict:
        """Count the records and sensitive values of every combination, and find combinations that overlap."""
        del original, alignment
        self.refuse_other_form(published)
        # Groups with the same intervals cannot be distinguished, so they count as one group.
        table = JoinedTable.arranged(published.schema, published.lows, published.highs, published.counts)
        sizes, values = table.counts.sum(axis=1), np.count_nonzero(table.counts, axis=1)
        overlaps, pairs = overlapping(table.lows, table.highs, most=MOST_WITNESSES)
        violations: dict[str, int] = {}
        witnesses: list[Witness] = []
        for kind, noun, found, least, name in (
            (TOO_FEW_RECORDS, "record", sizes, self.k, "k"),
            (TOO_FEW_VALUES, "different sensitive value", values, self.l, "l"),
        ):
            violating = np.flatnonzero(found < least)
            if len(violating):
                violations[kind] = len(violating)
                worst = violating[np.argsort(found[violating], kind="stable")][:MOST_WITNESSES]
                details = [
                    f"has {quantity(int(found[group]), noun)}; {name} = {least:,} requires at least {least:,}"
                    for group in worst
                ]
                witnesses += [_witness(kind, int(group), detail) for group, detail in zip(worst, details, strict=True)]
        if overlaps:
            violations[OVERLAP] = overlaps
            witnesses += [
                _witness(OVERLAP, one, f"its intervals overlap the intervals of group {other + 1:,} in every attribute")
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
    """Return the number of pairs of boxes that overlap in every attribute, and the first `most` of them.

    Boxes are sorted by their lower end on the attribute that separates them best. So each box is compared only with boxes that begin
    before it ends. Pairs that do not overlap in one attribute are dropped before the next attribute is compared.
    """
    groups, width = lows.shape
    if groups < 2:
        return 0, []
    # First comes the attribute on which an interval covers, on average, the smallest part of the table's range.
    cover = (highs - lows).mean(axis=0) / (highs.max(axis=0) - lows.min(axis=0))
    attributes = np.argsort(cover, kind="stable")
    order = np.argsort(lows[:, attributes[0]], kind="stable")
    low, high = lows[order], highs[order]
    ends = np.searchsorted(low[:, attributes[0]], high[:, attributes[0]], side="left")
    # For each box, the number of later boxes that begin before it ends. At least 0, because no box is empty.
    later = ends - np.arange(groups) - 1
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
