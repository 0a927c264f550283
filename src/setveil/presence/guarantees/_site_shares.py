"""Cells of a provider's users, the common ones among them, and what is wrong with their shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.verdict import MOST_WITNESSES, Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from setveil.parameters.shares import Share
    from setveil.presence.tables.attributes import OrderedAttribute
    from setveil.presence.tables.originals import SideGroups

LEFT_OUT = -1
"""The group of a user who is in none. The provider knows that the table does not hold such a user: they are a cell without common ones."""


@dataclass(frozen=True)
class Shares:
    """How many users a provider has in each cell, and how many of them are common: cells of groups, or of groups and sensitive values."""

    role: str
    users: NDArray[np.int64]
    """Groups and last the users in none (x sensitive values, or x 1)."""
    common: NDArray[np.int64]
    labels: tuple[str, ...]
    """The sensitive values; empty where they are not told apart."""

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
        """Count users and common users."""
        labels = () if values is None else sensitive.values
        users = _counted(group_of, group_of >= LEFT_OUT, groups, values, max(len(labels), 1))
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
        """Count users, and take the records of the table for the common ones."""
        labels = () if values is None else sensitive.values
        users = _counted(group_of, group_of >= LEFT_OUT, len(records), values, records.shape[1])
        return cls(role, users, np.vstack((records, np.zeros_like(records, shape=(1, records.shape[1])))), labels)


def _counted(
    group_of: NDArray[np.int64], chosen: NDArray[np.bool_], groups: int, values: NDArray[np.int64] | None, width: int
) -> NDArray[np.int64]:
    group = np.where(group_of[chosen] < 0, groups, group_of[chosen])
    cell = group * width + (0 if values is None else values[chosen])
    return np.bincount(cell, minlength=(groups + 1) * width).reshape(groups + 1, width)


@dataclass
class Findings:
    """Violations found so far; counts are complete, witnesses are the first of each kind."""

    violations: dict[str, int] = field(default_factory=dict)
    witnesses: list[Witness] = field(default_factory=list)

    def tell(self, kind: str, count: int, cases: Iterable[tuple[str, str, int | None]]) -> None:
        """Add so many cases of a kind, some of which are told by place, detail and group."""
        if not count:
            return
        self.violations[kind] = self.violations.get(kind, 0) + count
        free = MOST_WITNESSES - sum(one.kind == kind for one in self.witnesses)
        for place, detail, group in islice(cases, max(free, 0)):
            self.witnesses.append(Witness(kind, place, detail, group=group))

    def add(self, kind: str, groups: NDArray[np.int64], users: NDArray[np.int64], *, owner: str) -> None:
        """Add users of a provider who are where they must not be, told by group."""
        cases = (
            (
                f"group {int(g) + 1:,} of ids",
                f"{int(u):,} of {owner.upper()}'s users in it lie outside its intervals",
                int(g),
            )
            for g, u in zip(groups, users, strict=True)
        )
        self.tell(kind, int(users.sum()), cases)

    def shares(self, shares: Shares, least: Share, most: Share, place: Callable[[int], str]) -> None:
        """Add the cells whose share of common users is not within its bounds."""
        low, high = least.share, most.share
        # Denominators are at most 10^9, so that with fewer than 9·10^9 users nothing leaves 64 bits.
        too_few = low.denominator * shares.common < low.numerator * shares.users
        too_many = high.denominator * shares.common > high.numerator * shares.users
        side, other = ("A", "B") if shares.role == "a" else ("B", "A")
        for broken, which, limit, word in (
            (too_few, "few", least, "at least"),
            (too_many, "many", most, "at most"),
        ):
            name = f"{'min' if which == 'few' else 'max'}_{shares.role}"

            def cases(
                broken: Any = broken, limit: Share = limit, word: str = word, name: str = name
            ) -> Iterable[tuple[str, str, int]]:
                for group, value in zip(*np.nonzero(broken), strict=True):
                    users, common = int(shares.users[group, value]), int(shares.common[group, value])
                    product = limit.share * users
                    allowed = -(-product.numerator // product.denominator) if word == "at least" else int(product)
                    number = int(group) if group < len(shares.users) - 1 else LEFT_OUT
                    with_value = f" with {shares.labels[value]!r}" if shares.labels else ""
                    detail = (
                        f"{common:,} of {side}'s {users:,} users{with_value} are at {other} too; with {name} = {limit} allowed are "
                        f"{word} {allowed:,}"
                    )
                    yield place(number) if number >= 0 else f"{side}'s users in no group", detail, number

            self.tell(f"too-{which}-of-{shares.role}", int(np.count_nonzero(broken)), cases())


def users_outside(
    users: NDArray[np.int64], cells: NDArray[np.int32], groups: SideGroups
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the groups that have users outside their intervals, and how many."""
    placed = np.flatnonzero(users >= 0)
    of = users[placed]
    out = np.any((cells[placed] < groups.lows[of]) | (cells[placed] >= groups.highs[of]), axis=1)
    found, how_many = np.unique(of[out], return_counts=True)
    return found, how_many.astype(np.int64)


def box_numbers(boxes: Sequence[NDArray[Any]]) -> tuple[list[NDArray[np.int64]], int]:
    """Give equal boxes of several lists the same number; return the numbers of each list, and how many different boxes there are."""
    together = np.concatenate(boxes)
    if not len(together):
        return [np.empty(0, np.int64) for _ in boxes], 0
    distinct, numbers = np.unique(together, axis=0, return_inverse=True)
    return np.split(numbers.reshape(-1), np.cumsum([len(one) for one in boxes])[:-1]), len(distinct)
