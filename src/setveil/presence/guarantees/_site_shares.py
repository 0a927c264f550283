"""Count a provider's users and its common users per cell, and find cells whose share of common users violates a limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from setveil.parameters.shares import Share
    from setveil.presence.tables.attributes import OrderedAttribute
    from setveil.presence.tables.originals import SideGroups

UNGROUPED = -1
"""The group number of a user in no group. The provider knows that the table does not contain these users, so they form one more cell,
which has no common users."""


@dataclass(frozen=True)
class Shares:
    """The number of a provider's users and of its common users per cell. A cell is a group, or a group and a sensitive value."""

    role: str
    users: NDArray[np.int64]
    """Groups x sensitive values (or x 1); the last row counts the users in no group."""
    common: NDArray[np.int64]
    labels: tuple[str, ...]
    """The sensitive values; empty if cells are whole groups."""

    @classmethod
    def of_users(
        cls,
        role: str,
        group_of: NDArray[np.int64],
        common: NDArray[np.bool_],
        groups: int,
        values: NDArray[np.int64] | None,
        sensitive: OrderedAttribute,
    ) -> Shares:
        """Count users and common users per cell."""
        labels = () if values is None else sensitive.values
        users = _counted(group_of, group_of >= UNGROUPED, groups, values, max(len(labels), 1))
        return cls(role, users, _counted(group_of, common, groups, values, max(len(labels), 1)), labels)

    @classmethod
    def of_records(
        cls,
        role: str,
        group_of: NDArray[np.int64],
        records: NDArray[np.int64],
        values: NDArray[np.int64] | None,
        sensitive: OrderedAttribute,
    ) -> Shares:
        """Count users per cell, and use the records of the table as the common users."""
        labels = () if values is None else sensitive.values
        users = _counted(group_of, group_of >= UNGROUPED, len(records), values, records.shape[1])
        return cls(role, users, np.vstack((records, np.zeros_like(records, shape=(1, records.shape[1])))), labels)


def _counted(
    group_of: NDArray[np.int64], chosen: NDArray[np.bool_], groups: int, values: NDArray[np.int64] | None, width: int
) -> NDArray[np.int64]:
    group = np.where(group_of[chosen] < 0, groups, group_of[chosen])
    cell = group * width + (0 if values is None else values[chosen])
    return np.bincount(cell, minlength=(groups + 1) * width).reshape(groups + 1, width)


@dataclass
class Findings:
    """Violations found so far: complete counts, and the first few witnesses of each kind."""

    violations: dict[str, int] = field(default_factory=dict)
    witnesses: list[Witness] = field(default_factory=list)

    def add(self, kind: str, count: int, cases: Iterable[tuple[str, str, int | None]]) -> None:
        """Add `count` violations of a kind; `cases` gives place, detail and group of some or all of them."""
        if not count:
            return
        self.violations[kind] = self.violations.get(kind, 0) + count
        free = MOST_WITNESSES - sum(one.kind == kind for one in self.witnesses)
        for place, detail, group in islice(cases, max(free, 0)):
            self.witnesses.append(Witness(kind, place, detail, group=group))

    def add_users_outside(self, kind: str, groups: NDArray[np.int64], users: NDArray[np.int64], *, owner: str) -> None:
        """Add the users of a provider who are outside the intervals of their groups, with their number per group."""
        cases = (
            (
                f"group {int(g) + 1:,} of ids",
                f"{int(u):,} of {owner.upper()}'s users in it {'is' if u == 1 else 'are'} outside its intervals",
                int(g),
            )
            for g, u in zip(groups, users, strict=True)
        )
        self.add(kind, int(users.sum()), cases)

    def add_bad_shares(self, shares: Shares, least: Share, most: Share, place: Callable[[int], str]) -> None:
        """Add the cells whose share of common users is not between `least` and `most`; `place` names a group."""
        low, high = least.share, most.share
        # Denominators are at most 10^9, so products fit into 64 bits with fewer than 9·10^9 users.
        too_few = low.denominator * shares.common < low.numerator * shares.users
        too_many = high.denominator * shares.common > high.numerator * shares.users
        side, other = ("A", "B") if shares.role == "a" else ("B", "A")
        for violating, which, limit, rule in (
            (too_few, "few", least, "requires at least"),
            (too_many, "many", most, "allows at most"),
        ):
            name = f"{'min' if which == 'few' else 'max'}_{shares.role}"

            def cases(
                violating: Any = violating, limit: Share = limit, rule: str = rule, name: str = name
            ) -> Iterable[tuple[str, str, int]]:
                for group, value in zip(*np.nonzero(violating), strict=True):
                    users, common = int(shares.users[group, value]), int(shares.common[group, value])
                    product = limit.share * users
                    allowed = (
                        -(-product.numerator // product.denominator) if rule == "requires at least" else int(product)
                    )
                    number = int(group) if group < len(shares.users) - 1 else UNGROUPED
                    with_value = f" with {shares.labels[value]!r}" if shares.labels else ""
                    detail = (
                        f"{common:,} of {side}'s {quantity(users, 'user')}{with_value} {'is' if common == 1 else 'are'} also at {other}; "
                        f"{name} = {limit} {rule} {allowed:,}"
                    )
                    yield place(number) if number >= 0 else f"{side}'s users in no group", detail, number

            self.add(f"too-{which}-of-{shares.role}", int(np.count_nonzero(violating)), cases())


def users_outside(
    users: NDArray[np.int64], cells: NDArray[np.int32], groups: SideGroups
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the groups with users outside their intervals, and the number of these users."""
    placed = np.flatnonzero(users >= 0)
    of = users[placed]
    out = np.any((cells[placed] < groups.lows[of]) | (cells[placed] >= groups.highs[of]), axis=1)
    found, how_many = np.unique(of[out], return_counts=True)
    return found, how_many.astype(np.int64)


def box_numbers(boxes: Sequence[NDArray[Any]]) -> tuple[list[NDArray[np.int64]], int]:
    """Return a number for each box of several lists, equal for equal boxes, and how many distinct boxes there are."""
    together = np.concatenate(boxes)
    if not len(together):
        return [np.empty(0, np.int64) for _ in boxes], 0
    distinct, numbers = np.unique(together, axis=0, return_inverse=True)
    return np.split(numbers.reshape(-1), np.cumsum([len(one) for one in boxes])[:-1]), len(distinct)
