"""Divide a set of users into groups from the top down, as Mondrian does (lefevre2006). All numbers are exact.

A group is one interval of cells per attribute. A cut at cell p of an attribute puts the members below p into the lower part and the other
members into the upper part. All cuts between two neighbouring occupied cells make the same parts. Of these, the middle one is used, so that
a cut reveals little about the values of members.

- The width of an attribute in a group is the range of its members' cells, divided by the range of all cells of the attribute. Attributes
  are tried from the widest to the narrowest. If two are equally wide, the first in the schema comes first.
- The cuts of an attribute are tried from the most even division of the members that have a cell there to the least even: the median cut,
  then outwards. If two are equally even, the lower one comes first.
- A cut passes if both parts satisfy the limits, and the members that leave the group satisfy the presence limits, because both providers
  know that these members are in neither part. A group without a cut that passes is final.

The counts of both parts of all cuts come from one table of counts and its running sums. So a group takes a few array operations, however
many cuts it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.base import progress
from setveil.base.advice import Advice
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadParameter, GuaranteeViolated

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from setveil.presence.guarantees.k_anonymity import GroupLimit
    from setveil.presence.guarantees.site_presence import PresenceLimit

MOST_BITS = 62
"""Products of counts with the numerators and denominators of limits are below 2 to this power."""
_NO_CELL = -1
_BEYOND = np.iinfo(np.int32).max
_SPARSE_RATIO = 4
"""If the range of an attribute in a group is more than this many times the number of members, only occupied cells are counted."""


@dataclass(frozen=True, eq=False, repr=False)
class Users:
    """The population, as both tables together describe it."""

    cells: NDArray[np.int32]
    """The cell of each id per attribute (ids x attributes); -1 for none. A cut at an attribute removes ids without a cell."""
    cells_of: NDArray[np.int64]
    """The number of cells of each attribute."""
    at_a: NDArray[np.bool_]
    sensitive: NDArray[np.int64]
    """The sensitive value of each of B's users; -1 for all other ids."""
    values: int
    """The number of sensitive values."""

    @property
    def common(self) -> NDArray[np.bool_]:
        """Whether each id is a user of both providers."""
        return self.at_a & (self.sensitive >= 0)


@dataclass(frozen=True, eq=False, repr=False)
class Numbers:
    """The counts that limits apply to, one row per group."""

    a: NDArray[np.int64]
    """Number of A's users."""
    b: NDArray[np.int64]
    """Number of B's users per sensitive value (groups x values)."""
    c: NDArray[np.int64]
    """Number of common users per sensitive value (groups x values)."""


@dataclass(frozen=True)
class Limits:
    """The limits of each group. A share is a pair: the smallest and largest share of common users. Both shares are given, or neither."""

    k: int
    l: int  # noqa: E741 - the name that l-diversity uses
    share_a: tuple[Fraction, Fraction] | None = None
    share_b: tuple[Fraction, Fraction] | None = None
    by_value: bool = True
    """Whether B's share applies to each sensitive value."""

    @classmethod
    def of(cls, group: GroupLimit, presence: PresenceLimit | None = None) -> Limits:
        """Return the limits that the parameters of a method declare."""
        if presence is None:
            return cls(group.k, group.l)
        return cls(
            group.k,
            group.l,
            (presence.min_a.share, presence.max_a.share),
            (presence.min_b.share, presence.max_b.share),
            presence.scope == "qi+sa",
        )

    def refuse_large_denominators(self, population: int) -> None:
        """Refuse shares whose products with counts would overflow."""
        for share in (self.share_a or ()) + (self.share_b or ()):
            if share.denominator * population >= 1 << MOST_BITS:
                raise BadParameter(
                    f"the share {share} has a denominator too large for {population:,} ids; allowed is at most "
                    f"{((1 << MOST_BITS) - 1) // population:,}. Write the share with a smaller denominator"
                )

    def violations(self, numbers: Numbers) -> dict[str, NDArray[np.bool_]]:
        """Return which groups violate each limit, keyed by the parameters that set the limit."""
        found: dict[str, NDArray[np.bool_]] = {"k": np.less(numbers.c.sum(axis=1), self.k)}
        if self.l > 1:
            found["l"] = np.count_nonzero(numbers.c, axis=1) < self.l
        return found | self.share_violations(numbers)

    def share_violations(self, numbers: Numbers) -> dict[str, NDArray[np.bool_]]:
        """Return which groups violate each presence limit."""
        c = numbers.c.sum(axis=1)
        found: dict[str, NDArray[np.bool_]] = {}
        if self.share_a is not None:
            found["min_a, max_a"] = _outside(c, numbers.a, self.share_a)
        if self.share_b is not None and self.by_value:
            found["min_b, max_b"] = np.logical_or.reduce(_outside(numbers.c, numbers.b, self.share_b), axis=1)
        elif self.share_b is not None:
            found["min_b, max_b"] = _outside(c, numbers.b.sum(axis=1), self.share_b)
        return found


@dataclass(frozen=True)
class Search:
    """The cuts of a group that are tried until one passes."""

    attributes: Literal["widest", "all"]
    cuts: Literal["median", "all"]
    sees_counts: bool
    """Whether the method may use the number of common users. If so, it does not try to cut groups with fewer than 2k."""


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """The final groups, in the order of their cells."""

    group_of: NDArray[np.int64]
    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    counts: NDArray[np.int64]
    """Number of common users per group and sensitive value."""
    checks: int
    """Number of cuts tried, without the check of all members as one group."""
    splits: int
    """Number of cuts that passed."""


def divide(users: Users, members: NDArray[np.int64], limits: Limits, search: Search, *, method: str) -> Partition:
    """Divide the members into groups; raise if all members as one group violate the limits."""
    limits.refuse_large_denominators(len(users.cells))
    # The kind of an id, as limits count it: at A or not, combined with the sensitive value, where 0 means not at B.
    kinds = users.at_a * (users.values + 1) + users.sensitive + 1
    _check_root(_numbers(_totals(kinds[members], users.values), users.values), limits, method)
    group_of = np.full(len(users.cells), -1, dtype=np.int64)
    whole = (members, np.zeros(len(users.cells_of), dtype=np.int64), users.cells_of.astype(np.int64))
    waiting = [whole]
    boxes: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    checks = done = 0
    with progress.step(f"dividing {len(members):,} users into groups ({method})", total=len(members)) as advance:
        while waiting:
            ids, low, high = waiting.pop()
            attribute, cut, tried = _first_cut(users, ids, kinds[ids], limits, search)
            checks += tried
            if attribute < 0:
                group_of[ids] = len(boxes)
                boxes.append((low, high))
                done += len(ids)
                advance(done)
                continue
            own = users.cells[ids, attribute]
            middle = np.arange(len(low)) == attribute
            # The lower part is on top of the stack, so groups become final in the order of their cells.
            waiting.append((ids[own >= cut], np.where(middle, cut, low), high))
            waiting.append((ids[(own < cut) & (own > _NO_CELL)], low, np.where(middle, cut, high)))
            done += int((own == _NO_CELL).sum())
    counts = np.zeros((len(boxes), users.values), dtype=np.int64)
    counted = users.common & (group_of >= 0)
    np.add.at(counts, (group_of[counted], users.sensitive[counted]), 1)
    lows, highs = (np.array([box[end] for box in boxes], dtype=np.int32) for end in (0, 1))
    return Partition(group_of, lows, highs, counts, checks, len(boxes) - 1)


def _first_cut(
    users: Users, ids: NDArray[np.int64], kinds: NDArray[np.int64], limits: Limits, search: Search
) -> tuple[int, int, int]:
    """Return the attribute and the cell of the first cut that passes (-1 if none does), and the number of cuts tried."""
    if search.sees_counts and np.count_nonzero(kinds > users.values + 1) < 2 * limits.k:
        return -1, -1, 0
    cells = users.cells[ids].astype(np.int64)
    low = np.where(cells == _NO_CELL, _BEYOND, cells).min(axis=0)
    high = cells.max(axis=0)
    width = (high - low) / np.maximum(users.cells_of - 1, 1)
    order = np.argsort(-width, kind="stable")
    order = order[width[order] > 0]
    if search.attributes == "widest":
        order = order[:1]
    if not len(order):
        return -1, -1, 0
    attribute, cell, counted = _counted(cells[:, order], low[order], high[order], kinds, 2 * (users.values + 1))
    last = np.searchsorted(attribute, np.arange(len(order)), side="right") - 1
    below = counted.cumsum(axis=0)
    below -= np.concatenate((np.zeros_like(below[:1]), below[last[:-1]]))[attribute]
    totals = below[last]
    cuts = np.flatnonzero(attribute[1:] == attribute[:-1])
    sizes = totals.sum(axis=1)
    uneven = np.abs(2 * below[cuts].sum(axis=1) - sizes[attribute[cuts]])
    cuts = cuts[np.lexsort((uneven, attribute[cuts]))]
    if search.cuts == "median":
        cuts = cuts[np.searchsorted(attribute[cuts], np.arange(len(order)))]
    lower = below[cuts]
    parts = np.concatenate((lower, totals[attribute[cuts]] - lower))
    passes = _satisfied(limits.violations(_numbers(parts, users.values))).reshape(2, -1).all(axis=0)
    if limits.share_a is not None and np.any(sizes < len(ids)):
        left = _numbers(_totals(kinds, users.values) - totals, users.values)
        passes &= _satisfied(limits.share_violations(left))[attribute[cuts]]
    if not passes.any():
        return -1, -1, len(cuts)
    first = int(passes.argmax())
    at = cuts[first]
    return int(order[attribute[at]]), int(cell[at] + 1 + cell[at + 1]) // 2, first + 1


def _counted(
    cells: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], kinds: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the occupied cells in the order of attributes: the attribute and number of each, and its number of ids per kind."""
    places = cells - low
    spans = high - low + 1
    occurring: dict[int, NDArray[np.int64]] = {}
    for one in np.flatnonzero(spans > _SPARSE_RATIO * len(cells)).tolist():
        occurring[one], places[:, one] = np.unique(cells[:, one], return_inverse=True)
        spans[one] = len(occurring[one])
    starts = offsets_of(spans)
    keys = (places + starts[:-1]) * width + kinds[:, None]
    table = np.bincount(keys[cells > _NO_CELL], minlength=int(starts[-1]) * width).reshape(-1, width)
    found = np.flatnonzero(table.any(axis=1))
    attribute = np.searchsorted(starts, found, side="right") - 1
    cell = found - starts[attribute] + low[attribute]
    for one, values in occurring.items():
        mine = attribute == one
        cell[mine] = values[found[mine] - starts[one]]
    return attribute, cell, table[found]


def _totals(kinds: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    return np.bincount(kinds, minlength=2 * (values + 1))[None, :]


def _numbers(of_kinds: NDArray[np.int64], values: int) -> Numbers:
    """Return the counts that limits apply to, from the number of users per kind."""
    elsewhere, at_a = np.moveaxis(of_kinds.reshape(-1, 2, values + 1), 1, 0)
    return Numbers(at_a.sum(axis=1), elsewhere[:, 1:] + at_a[:, 1:], at_a[:, 1:])


def _satisfied(violations: dict[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return which groups satisfy all limits."""
    satisfied: NDArray[np.bool_] = ~np.logical_or.reduce(list(violations.values()))
    return satisfied


def _outside(
    common: NDArray[np.int64], users: NDArray[np.int64], bounds: tuple[Fraction, Fraction]
) -> NDArray[np.bool_]:
    """Return where the share of common users is below the lower or above the upper bound. No users satisfy every bound."""
    least, most = bounds
    outside: NDArray[np.bool_] = (least.denominator * common < least.numerator * users) | (
        most.denominator * common > most.numerator * users
    )
    return outside


def _check_root(numbers: Numbers, limits: Limits, method: str) -> None:
    """Refuse tables that violate the limits as one group: then every joined table does."""
    violated = [name for name, found in limits.violations(numbers).items() if found[0]]
    if not violated:
        return
    of_b = "B's users with at least one of the sensitive values" if limits.by_value else "B's users"
    meaning = {
        "k": f"there are fewer common users than k = {limits.k}",
        "l": f"the common users have fewer different sensitive values than l = {limits.l}",
        "min_a, max_a": f"the share of A's users who are also at B is not {_between(limits.share_a)} (min_a, max_a)",
        "min_b, max_b": f"the share of {of_b} who are also at A is not {_between(limits.share_b)} (min_b, max_b)",
    }
    raise GuaranteeViolated(
        f"{method} publishes nothing, because all users as one group violate the limits: "
        f"{'; '.join(meaning[name] for name in violated)}. Dividing cannot change this: choose limits that the whole tables satisfy",
        advice=Advice("", ["choose limits that the whole tables satisfy"], {"violated": violated}),
    )


def _between(bounds: tuple[Fraction, Fraction] | None) -> str:
    return "" if bounds is None else f"between {bounds[0]} and {bounds[1]}"
