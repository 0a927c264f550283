"""δ-site-presence of a joined table: neither provider can tell from it who is a customer of the other.

Paper    takenouchi2012 (references.bib), definition 1, with its bounds inclusive and the four shares named.
Checked  exactly, in whole numbers: with δ = n/d, n_min·a ≤ d·c ≤ n_max·a, where a provider has a users in a cell and c of them are common.
         Nothing over nothing holds.
Cells    A user of a generalised value is told by the group it is in, not by the value, since intervals of different groups may overlap in
         single attributes. The definition asks for the values of any set of attributes. Such a value is shown by some groups, so that its
         two counts are sums over them: Σc over Σa. If every c lies between δ_min·a and δ_max·a, so does the sum (the mediant lies between
         the smallest and the largest share). A cell without users has no common ones and adds nothing. So it is enough to look at the
         finest cells: the groups for A, and a group's sensitive values for B; with scope `qi`, which is weaker, the groups for B too.
Who      With both tables and both sides' groups the *whole* promise is checked, that the table tells the truth included. A provider by
         itself checks its own half: combinations of its own intervals over its own users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from pydantic import model_validator

from setveil.base.declaration import Declaration, parameter
from setveil.base.verdict import Reach, Verdict
from setveil.errors import BadData, Missing
from setveil.guarantees.base import Coverage, Guarantee
from setveil.parameters.shares import Share
from setveil.presence.guarantees._site_shares import LEFT_OUT, Findings, Shares, box_numbers, users_outside
from setveil.presence.tables import EXAMPLE_LINES
from setveil.presence.tables.joined_table import JoinedTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.tables.originals import BothGroups, Originals, SideGroups

Scope = Literal["qi+sa", "qi"]

UNION = "population-is-the-union"
OTHER_GROUPS = "groups-not-alike"
OUTSIDE = "user-outside-the-intervals"
NO_GROUP = "common-user-without-group"
OTHER_COUNTS = "counts-not-true"
NOBODYS = "combination-of-no-group"
MISSING_GROUP = "group-not-in-the-table"
_ROLES = ("a", "b")


class PresenceLimit(Declaration):
    """Between which shares of a provider's users in a group the common ones may lie."""

    max_a: Share = parameter(
        public=True, examples=["95%"], description="Of A's users in a group, the largest share that may be at B too."
    )
    min_a: Share = parameter(
        public=True, examples=["5%"], description="Of A's users in a group, the smallest share that may be at B too."
    )
    max_b: Share = parameter(
        public=True, examples=["95%"], description="Of B's users in a group, the largest share that may be at A too."
    )
    min_b: Share = parameter(
        public=True, examples=["5%"], description="Of B's users in a group, the smallest share that may be at A too."
    )
    scope: Scope = parameter(
        "qi+sa",
        public=True,
        description="Whether B's shares hold for each sensitive value of a group (qi+sa), or for groups as a whole (qi: weaker).",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for side, least, most in (("a", self.min_a, self.max_a), ("b", self.min_b, self.max_b)):
            if least.share > most.share:
                raise ValueError(f"min_{side} is {least} and max_{side} is {most}; expected that min is not above max")
        return self


class SitePresence(PresenceLimit, Guarantee):
    """Of a provider's users in any part of a joined table, the share that the other has too lies between two bounds."""

    name = "site-presence"
    title = "δ-site-presence"
    paper = "takenouchi2012"
    needs = ("original", "alignment")
    example_lines = (
        *EXAMPLE_LINES,
        'method = sv.ExtendedMondrian(max_a="95%", min_a="5%", max_b="95%", min_b="5%")',
        "outcome = method.apply(originals, keys=keys)",
        "guarantee = {call}",
        "verdict = guarantee.check(outcome.table, original=originals, alignment=outcome.groups)",
    )
    takes = (JoinedTable,)
    counts_of_one_kind = False
    coverage = Coverage(
        attacker="is one of the two providers, has its own table and the groups of ids, sees the joined table, and asks which of its users "
        "the other one has too",
        singling_out="not bounded here: that is what k-anonymity is for",
        linking="bounded for the providers: of the users that any part of the table may stand for, the share of common ones has two bounds",
        inference="presence and absence at the other provider are bounded; the sensitive value of a common user is not",
        not_covered=(
            "what a provider saw while the table was made: the outcome of a cut that failed can take its belief out of the bounds",
            "dummies that a provider can tell from real users, since theirs do not go with its own attributes",
            "a provider together with the collector",
            "two tables of the same providers",
            "a provider that lies about its own users",
        ),
    )

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        cells = (
            "any sensitive value of any group"
            if self.scope == "qi+sa"
            else "any group, its sensitive values not told apart"
        )
        return (
            f"Of A's users in any group between {self.min_a} and {self.max_a} are at B too, and of B's users with {cells} between "
            f"{self.min_b} and {self.max_b} are at A too."
        )

    def check(
        self, published: JoinedTable, *, original: Originals | None = None, alignment: BothGroups | None = None
    ) -> Verdict:
        """Check the whole promise, or the half of the one provider whose table and groups are given."""
        self.refuse_other_form(published)
        if original is None:
            raise Missing("site-presence needs the original: the table of a provider, or both (`a=`, `b=`)")
        if alignment is None:
            raise Missing("site-presence needs the alignment: who is in which group, which is in the private folder")
        given = [role for role in _ROLES if any(getattr(one, role) is not None for one in (original, alignment))]
        if not given:
            raise Missing("site-presence needs the original: the table of a provider, or both (`a=`, `b=`)")
        if published.schema != original.schema:
            raise BadData("the joined table has other attributes than the tables of the providers")
        sides = {role: _Side(original, alignment, role) for role in given}
        findings = Findings()
        for role, side in sides.items():
            findings.add(OUTSIDE, *users_outside(side.users, side.cells, side.groups), owner=role)
        # The table as people see it: groups with the same intervals are one.
        table = JoinedTable.arranged(published.schema, published.lows, published.highs, published.counts)
        if len(given) == 2:
            counts = self._whole(table, original, sides, findings)
            reason = "checked whole, with the tables and groups of both providers"
        else:
            role = given[0]
            counts = self._alone(table, original, role, sides[role], findings)
            reason = f"checked by {role.upper()} alone: its own shares, and not that the counts of the table are true"
        if self.scope == "qi" and "b" in given:
            reason += "; sensitive values were not told apart (scope qi), which is weaker than the definition"
        status: Literal["holds", "violated"] = "violated" if findings.violations else "holds"
        reach = Reach.whole(table.records, holds=not findings.violations)
        return Verdict(status, self.name, counts, findings.violations, 0, tuple(findings.witnesses), reason, reach)

    def _limits(self, role: str) -> tuple[Share, Share]:
        return (self.min_a, self.max_a) if role == "a" else (self.min_b, self.max_b)

    def _by_value(self, role: str) -> bool:
        """Tell whether the cells of a provider are the sensitive values of its groups."""
        return role == "b" and self.scope == "qi+sa"

    def _whole(
        self, table: JoinedTable, original: Originals, sides: dict[str, _Side], findings: Findings
    ) -> dict[str, int]:
        a, b = sides["a"], sides["b"]
        if a.groups.groups != b.groups.groups:
            detail = f"A has {a.groups.groups:,} groups and B has {b.groups.groups:,}; expected the same ones"
            findings.tell(OTHER_GROUPS, 1, [("the groups", detail, None)])
            return {}
        moved = np.flatnonzero(a.groups.group_of != b.groups.group_of)
        findings.tell(
            OTHER_GROUPS,
            len(moved),
            [
                (
                    _place(int(g)),
                    "an id of the population that is in it at A is in another one, or in none, at B",
                    int(g),
                )
                for g in a.groups.group_of[moved]
            ],
        )
        common = (a.users >= LEFT_OUT) & (b.users >= LEFT_OUT)
        homeless = int(np.count_nonzero(common & ((a.users < 0) | (b.users < 0))))
        if homeless:
            findings.tell(NO_GROUP, homeless, [("the population", f"{homeless:,} common users are in no group", None)])
        if bool(np.all((a.users >= LEFT_OUT) | (b.users >= LEFT_OUT))):
            detail = "every id of it is at A or at B, so that whoever is not at the one is at the other; it must come from a third source"
            findings.tell(UNION, 1, [("the population", detail, None)])
        values = original.sensitive()
        for role, side in sides.items():
            of_value = values if self._by_value(role) else None
            shares = Shares.of_users(role, side.users, common, side.groups.groups, of_value, original.schema.sensitive)
            findings.shares(shares, *self._limits(role), _place)
        held = common & (a.users >= 0) & (a.users == b.users)
        true = _true_table(original, sides, held, values)
        self._compare(table, true, findings)
        return {
            "groups": table.groups,
            "groups-of-ids": a.groups.groups,
            "records": table.records,
            "common-users": int(np.count_nonzero(common)),
            "users-of-a": int(np.count_nonzero(a.users >= LEFT_OUT)),
            "users-of-b": int(np.count_nonzero(b.users >= LEFT_OUT)),
            "users-of-a-in-no-group": int(np.count_nonzero(a.users == LEFT_OUT)),
            "users-of-b-in-no-group": int(np.count_nonzero(b.users == LEFT_OUT)),
        }

    def _compare(self, table: JoinedTable, true: JoinedTable, findings: Findings) -> None:
        """Tell where the table is not what the common users give."""
        boxes = [np.column_stack((one.lows, one.highs)) for one in (table, true)]
        (shown, expected), distinct = box_numbers(boxes)
        at_true = np.full(distinct, -1, dtype=np.int64)
        at_true[expected] = np.arange(true.groups)
        partner = at_true[shown]
        alone = np.flatnonzero(partner < 0)
        findings.tell(
            NOBODYS, len(alone), [(_row(g), "no group of common users has these intervals", int(g)) for g in alone]
        )
        absent = np.flatnonzero(~np.isin(expected, shown))
        findings.tell(
            MISSING_GROUP,
            len(absent),
            [
                ("the table", f"has no group with the intervals of {int(true.counts[g].sum()):,} common users", None)
                for g in absent
            ],
        )
        both = np.flatnonzero(partner >= 0)
        wrong = both[np.any(table.counts[both] != true.counts[partner[both]], axis=1)]
        findings.tell(
            OTHER_COUNTS, len(wrong), [self._other_counts(table, true, int(g), int(partner[g])) for g in wrong]
        )

    @staticmethod
    def _other_counts(table: JoinedTable, true: JoinedTable, group: int, partner: int) -> tuple[str, str, int]:
        value = int(np.flatnonzero(table.counts[group] != true.counts[partner])[0])
        said, is_ = int(table.counts[group, value]), int(true.counts[partner, value])
        label = table.schema.sensitive.values[value]
        return _row(group), f"has {said:,} records with {label!r} where there are {is_:,} such common users", group

    def _alone(
        self, table: JoinedTable, original: Originals, role: str, side: _Side, findings: Findings
    ) -> dict[str, int]:
        """Compare the records of each combination of a provider's own intervals with its users in the groups that have it."""
        first = 0 if role == "a" else len(original.schema.a)
        columns = slice(first, first + len(original.schema.of(role)))
        shown = np.column_stack((table.lows[:, columns], table.highs[:, columns]))
        own = np.column_stack((side.groups.lows, side.groups.highs))
        (of_row, of_group), combinations = box_numbers([shown, own])
        row_of = np.full(combinations, -1, dtype=np.int64)
        row_of[of_row[::-1]] = np.arange(len(of_row))[::-1]  # the first row that shows a combination
        nobodys = np.setdiff1d(of_row, of_group)
        findings.tell(
            NOBODYS,
            len(nobodys),
            [
                (_row(row_of[c]), f"no group of {role.upper()} has the intervals that it shows", int(row_of[c]))
                for c in nobodys
            ],
        )
        users = side.users.copy()
        users[users >= 0] = of_group[users[users >= 0]]
        by_value = self._by_value(role)
        records = np.zeros((combinations, table.counts.shape[1] if by_value else 1), dtype=np.int64)
        np.add.at(records, of_row, table.counts if by_value else table.counts.sum(axis=1, keepdims=True))
        values = original.sensitive() if by_value else None
        shares = Shares.of_records(role, users, records, values, original.schema.sensitive)

        def place(combination: int) -> str:
            row = int(row_of[combination])
            return _row(row) if row >= 0 else "a combination of intervals that the table does not show"

        findings.shares(shares, *self._limits(role), place)
        return {
            "groups": table.groups,
            "groups-of-ids": side.groups.groups,
            "records": table.records,
            f"combinations-of-{role}": combinations,
            f"users-of-{role}": int(np.count_nonzero(users >= LEFT_OUT)),
            f"users-of-{role}-in-no-group": int(np.count_nonzero(users == LEFT_OUT)),
        }


class _Side:
    """What is given of one provider, found to fit together."""

    def __init__(self, original: Originals, alignment: BothGroups, role: str) -> None:
        self.cells = original.codes(role)
        self.groups: SideGroups = alignment.side(role)
        group_of = self.groups.group_of
        if len(group_of) != len(original.population):
            raise BadData(f"the groups of provider {role.upper()} are of another population than this")
        if np.any(group_of < -1) or np.any(group_of >= self.groups.groups):
            raise BadData(f"the groups of provider {role.upper()} have an id in a group that is not there")
        wanted = (self.groups.groups, len(original.schema.of(role)))
        if self.groups.lows.shape != wanted or self.groups.highs.shape != wanted:
            raise BadData(f"the groups of provider {role.upper()} do not have an interval of each of its attributes")
        existing = original.existing(role)
        self.users: NDArray[np.int64] = np.where(existing, group_of, LEFT_OUT - 1)
        """The group of each user, LEFT_OUT for one in none, less for an id that the provider does not have."""


def _true_table(
    original: Originals, sides: dict[str, _Side], held: NDArray[np.bool_], values: NDArray[np.int64]
) -> JoinedTable:
    """Return the table that common users give, those left out whom the providers do not have in the same group."""
    groups, sensitive = sides["a"].groups.groups, original.schema.sensitive.cells
    counts = np.zeros((groups, sensitive), dtype=np.int64)
    np.add.at(counts, (sides["a"].users[held], values[held]), 1)
    kept = counts.sum(axis=1) > 0
    lows, highs = (
        np.column_stack([getattr(sides[role].groups, edge)[kept] for role in _ROLES]) for edge in ("lows", "highs")
    )
    return JoinedTable.arranged(original.schema, lows, highs, counts[kept])


def _place(group: int) -> str:
    return f"group {group + 1:,} of ids" if group >= 0 else "the ids in no group"


def _row(group: Any) -> str:
    return f"group {int(group) + 1:,} of the table"
