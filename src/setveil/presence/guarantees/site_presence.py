"""δ-site-presence of a joined table: a provider cannot infer from it which of its users are customers of the other provider.

Paper    takenouchi2012 (references.bib), definition 1, with inclusive bounds and the four shares named.
Checked  exactly, in whole numbers: with δ = n/d, n_min·a ≤ d·c ≤ n_max·a, where the provider has a users in a cell and c of them are
         common. A cell without users satisfies every bound.
Cells    A user counts in the group that contains it, not by its generalized values, because the intervals of different groups may overlap
         in single attributes. The definition covers the values of any set of attributes. Such a value occurs in some groups, so its two
         counts are sums over these groups: Σc and Σa. If every c lies between δ_min·a and δ_max·a, so does the sum (the mediant lies
         between the smallest and the largest share). A cell without users has no common users and adds nothing. So it is enough to check
         the finest cells: for A the groups, for B the sensitive values of each group. With scope `qi`, which is weaker, B's cells are the
         groups too.
Parties  With both tables and the groups of both providers, the *whole* guarantee is checked, including that the counts of the table are
         true. A provider alone checks its own half: combinations of its own intervals over its own users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from pydantic import model_validator

from setveil.base.declaration import Declaration, parameter
from setveil.base.display import quantity
from setveil.base.verdict import Reach, Verdict
from setveil.data.records.ragged import distinct
from setveil.errors import BadData, Missing
from setveil.guarantees.base import Coverage, Guarantee
from setveil.parameters.shares import Share
from setveil.presence.guarantees._site_shares import UNGROUPED, Findings, Shares, box_numbers, users_outside
from setveil.presence.tables import EXAMPLE_LINES
from setveil.presence.tables.joined_table import JoinedTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.tables.originals import BothGroups, Originals, SideGroups

Scope = Literal["qi+sa", "qi"]

UNION = "population-is-the-union"
DIFFERENT_GROUPS = "groups-not-alike"
OUTSIDE = "user-outside-the-intervals"
NO_GROUP = "common-user-without-group"
WRONG_COUNTS = "counts-not-true"
UNKNOWN_COMBINATION = "combination-of-no-group"
MISSING_GROUP = "group-not-in-the-table"
_ROLES = ("a", "b")


class PresenceLimit(Declaration):
    """The limits of the share of common users among a provider's users in a group."""

    max_a: Share = parameter(
        public=True, examples=["95%"], description="Of A's users in any group, the largest share that B may also have."
    )
    min_a: Share = parameter(
        public=True, examples=["5%"], description="Of A's users in any group, the smallest share that B may also have."
    )
    max_b: Share = parameter(
        public=True, examples=["95%"], description="Of B's users in any group, the largest share that A may also have."
    )
    min_b: Share = parameter(
        public=True, examples=["5%"], description="Of B's users in any group, the smallest share that A may also have."
    )
    scope: Scope = parameter(
        "qi+sa",
        public=True,
        description="Whether B's limits apply to each sensitive value of a group (qi+sa), or to the group as a whole (qi: weaker).",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for side, least, most in (("a", self.min_a, self.max_a), ("b", self.min_b, self.max_b)):
            if least.share > most.share:
                raise ValueError(
                    f"min_{side} is {least} and max_{side} is {most}; expected min_{side} at most max_{side}"
                )
        return self


class SitePresence(PresenceLimit, Guarantee):
    """In any part of a joined table, the share of a provider's users that the other provider also has is within limits."""

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
        attacker="is one of the two providers, has its own table, the groups of ids and the joined table, and wants to know which of its "
        "users the other provider also has",
        singling_out="not bounded by this guarantee: k-anonymity bounds it",
        linking="bounded for the providers: in any part of the table, the share of common users among a provider's users is limited",
        inference="presence and absence at the other provider are bounded; the sensitive value of a common user is not",
        not_covered=(
            "what a provider learned while the table was made: after a failed cut, what it infers can be outside the limits",
            "dummies that a provider can distinguish from real users, because their values are unrelated to its own attributes",
            "a provider that cooperates with the collector",
            "two joined tables of the same providers",
            "a provider that lies about its own users",
        ),
    )

    @property
    def statement(self) -> str:
        """The guarantee in one sentence."""
        each_value = " with each sensitive value" if self.scope == "qi+sa" else ""
        return (
            f"In every group, the share of A's users who are also users of B is between {self.min_a} and {self.max_a}, and the share of "
            f"B's users{each_value} who are also users of A is between {self.min_b} and {self.max_b}."
        )

    def check(
        self, published: JoinedTable, *, original: Originals | None = None, alignment: BothGroups | None = None
    ) -> Verdict:
        """Check the whole guarantee, or the half of the one provider whose table and groups are given."""
        self.refuse_other_form(published)
        if original is None:
            raise Missing(
                "site-presence needs the original: the table of provider A (`a=`), of provider B (`b=`), or both"
            )
        if alignment is None:
            raise Missing(
                "site-presence needs the alignment: the group of each id, which is in the private folder of a provider"
            )
        given = [role for role in _ROLES if any(getattr(one, role) is not None for one in (original, alignment))]
        if not given:
            raise Missing(
                "site-presence needs the original: the table of provider A (`a=`), of provider B (`b=`), or both"
            )
        if published.schema != original.schema:
            raise BadData(
                "the joined table has other attributes than the tables of the providers; expected the tables that it was made from"
            )
        sides = {role: _Side(original, alignment, role) for role in given}
        findings = Findings()
        for role, side in sides.items():
            findings.add_users_outside(OUTSIDE, *users_outside(side.users, side.cells, side.groups), owner=role)
        # Groups with the same intervals cannot be distinguished, so they count as one group.
        table = JoinedTable.arranged(published.schema, published.lows, published.highs, published.counts)
        if len(given) == 2:
            counts = self._whole(table, original, sides, findings)
            reason = "checked completely, with the tables and groups of both providers"
        else:
            role = given[0]
            counts = self._alone(table, original, role, sides[role], findings)
            reason = f"checked by provider {role.upper()} alone: the shares of its own users, but not that the counts of the table are true"
        if self.scope == "qi" and "b" in given:
            reason += "; limits applied to whole groups, not to each sensitive value (scope = qi), which is weaker than the definition"
        status: Literal["holds", "violated"] = "violated" if findings.violations else "holds"
        reach = Reach.whole(table.records, holds=not findings.violations)
        return Verdict(status, self.name, counts, findings.violations, 0, tuple(findings.witnesses), reason, reach)

    def _limits(self, role: str) -> tuple[Share, Share]:
        return (self.min_a, self.max_a) if role == "a" else (self.min_b, self.max_b)

    def _by_value(self, role: str) -> bool:
        """Return whether the cells of a provider are the sensitive values of each group, not whole groups."""
        return role == "b" and self.scope == "qi+sa"

    def _whole(
        self, table: JoinedTable, original: Originals, sides: dict[str, _Side], findings: Findings
    ) -> dict[str, int]:
        a, b = sides["a"], sides["b"]
        if a.groups.groups != b.groups.groups:
            detail = f"A has {quantity(a.groups.groups, 'group')} and B has {b.groups.groups:,}; expected the same groups at both"
            findings.add(DIFFERENT_GROUPS, 1, [("the groups", detail, None)])
            return {}
        moved = np.flatnonzero(a.groups.group_of != b.groups.group_of)
        findings.add(
            DIFFERENT_GROUPS,
            len(moved),
            [
                (
                    _place(int(g)),
                    "an id of the population is in this group at A, and in another group or in no group at B",
                    int(g),
                )
                for g in a.groups.group_of[moved]
            ],
        )
        common = (a.users >= UNGROUPED) & (b.users >= UNGROUPED)
        ungrouped = int(np.count_nonzero(common & ((a.users < 0) | (b.users < 0))))
        if ungrouped:
            findings.add(
                NO_GROUP,
                ungrouped,
                [
                    (
                        "the population",
                        f"{quantity(ungrouped, 'common user')} {'is' if ungrouped == 1 else 'are'} in no group",
                        None,
                    )
                ],
            )
        if bool(np.all((a.users >= UNGROUPED) | (b.users >= UNGROUPED))):
            detail = "every id is at A or at B, so a person who is not at A is certainly at B; take the population from a third source"
            findings.add(UNION, 1, [("the population", detail, None)])
        values = original.sensitive()
        for role, side in sides.items():
            of_value = values if self._by_value(role) else None
            shares = Shares.of_users(role, side.users, common, side.groups.groups, of_value, original.schema.sensitive)
            findings.add_bad_shares(shares, *self._limits(role), _place)
        held = common & (a.users >= 0) & (a.users == b.users)
        true = _true_table(original, sides, held, values)
        self._compare(table, true, findings)
        return {
            "groups": table.groups,
            "groups-of-ids": a.groups.groups,
            "records": table.records,
            "common-users": int(np.count_nonzero(common)),
            "users-of-a": int(np.count_nonzero(a.users >= UNGROUPED)),
            "users-of-b": int(np.count_nonzero(b.users >= UNGROUPED)),
            "users-of-a-in-no-group": int(np.count_nonzero(a.users == UNGROUPED)),
            "users-of-b-in-no-group": int(np.count_nonzero(b.users == UNGROUPED)),
        }

    def _compare(self, table: JoinedTable, true: JoinedTable, findings: Findings) -> None:
        """Add the differences between the published table and the true table of common users."""
        boxes = [np.column_stack((one.lows, one.highs)) for one in (table, true)]
        (shown, expected), distinct = box_numbers(boxes)
        at_true = np.full(distinct, -1, dtype=np.int64)
        at_true[expected] = np.arange(true.groups)
        partner = at_true[shown]
        unknown = np.flatnonzero(partner < 0)
        findings.add(
            UNKNOWN_COMBINATION,
            len(unknown),
            [(_row(g), "no group of common users has these intervals", int(g)) for g in unknown],
        )
        missing = np.flatnonzero(~np.isin(expected, shown))
        findings.add(
            MISSING_GROUP,
            len(missing),
            [
                (
                    "the table",
                    f"has no group with the intervals of {quantity(int(true.counts[g].sum()), 'common user')}",
                    None,
                )
                for g in missing
            ],
        )
        both = np.flatnonzero(partner >= 0)
        wrong = both[np.any(table.counts[both] != true.counts[partner[both]], axis=1)]
        findings.add(
            WRONG_COUNTS, len(wrong), [self._wrong_counts(table, true, int(g), int(partner[g])) for g in wrong]
        )

    @staticmethod
    def _wrong_counts(table: JoinedTable, true: JoinedTable, group: int, partner: int) -> tuple[str, str, int]:
        value = int(np.flatnonzero(table.counts[group] != true.counts[partner])[0])
        published, correct = int(table.counts[group, value]), int(true.counts[partner, value])
        label = table.schema.sensitive.values[value]
        return (
            _row(group),
            f"has {quantity(published, 'record')} with {label!r}; the true number of common users is {correct:,}",
            group,
        )

    def _alone(
        self, table: JoinedTable, original: Originals, role: str, side: _Side, findings: Findings
    ) -> dict[str, int]:
        """Compare, per combination of a provider's own intervals, the records of the table with the users of the provider."""
        first = 0 if role == "a" else len(original.schema.a)
        columns = slice(first, first + len(original.schema.of(role)))
        shown = np.column_stack((table.lows[:, columns], table.highs[:, columns]))
        own = np.column_stack((side.groups.lows, side.groups.highs))
        (of_row, of_group), combinations = box_numbers([shown, own])
        row_of = np.full(combinations, -1, dtype=np.int64)
        row_of[of_row[::-1]] = np.arange(len(of_row))[::-1]  # the first row of each combination
        unknown = np.setdiff1d(distinct(of_row), distinct(of_group), assume_unique=True)
        findings.add(
            UNKNOWN_COMBINATION,
            len(unknown),
            [
                (_row(row_of[c]), f"no group of provider {role.upper()} has these intervals", int(row_of[c]))
                for c in unknown
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
            return _row(row) if row >= 0 else "a combination of intervals that is not in the table"

        findings.add_bad_shares(shares, *self._limits(role), place)
        return {
            "groups": table.groups,
            "groups-of-ids": side.groups.groups,
            "records": table.records,
            f"combinations-of-{role}": combinations,
            f"users-of-{role}": int(np.count_nonzero(users >= UNGROUPED)),
            f"users-of-{role}-in-no-group": int(np.count_nonzero(users == UNGROUPED)),
        }


class _Side:
    """The table and the groups of one provider, after a check that they belong together."""

    def __init__(self, original: Originals, alignment: BothGroups, role: str) -> None:
        self.cells = original.codes(role)
        self.groups: SideGroups = alignment.side(role)
        group_of = self.groups.group_of
        if len(group_of) != len(original.population):
            raise BadData(
                f"the groups of provider {role.upper()} belong to another population; expected one group number per id of this one"
            )
        if np.any(group_of < -1) or np.any(group_of >= self.groups.groups):
            raise BadData(f"the groups of provider {role.upper()} contain an id whose group does not exist")
        wanted = (self.groups.groups, len(original.schema.of(role)))
        if self.groups.lows.shape != wanted or self.groups.highs.shape != wanted:
            raise BadData(
                f"the groups of provider {role.upper()} do not have one interval per attribute of the provider"
            )
        existing = original.existing(role)
        self.users: NDArray[np.int64] = np.where(existing, group_of, UNGROUPED - 1)
        """The group of each id: UNGROUPED for a user in no group, UNGROUPED - 1 for an id that the provider does not have."""


def _true_table(
    original: Originals, sides: dict[str, _Side], held: NDArray[np.bool_], values: NDArray[np.int64]
) -> JoinedTable:
    """Return the table of the common users that both providers have in the same group."""
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
