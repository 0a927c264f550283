"""Dividing a set of users into groups from the top down, as Mondrian does (lefevre2006), with every number exact.

A group is an interval of cells of each attribute. A cut at cell p of an attribute puts the members below p into the lower part and the
others into the upper one. Of the cuts between two cells that have members, which all make the same parts, the middle one counts, so that a
cut tells little about where members stand.

- The width of an attribute in a group is the range of its members' cells, divided by the range of all its cells. Wider attributes come
  first, and of equally wide ones the one that comes first in the schema.
- Cuts of an attribute come in the order of how evenly they divide the members that have a cell there, the lowest of equal ones first: the
  median cut, and from there outwards.
- A cut passes if both parts keep the limits, and those who leave keep the limits of presence: everybody knows where they are not. A group
  without a cut that passes is final.

The numbers of both parts of all cuts come from one table of counts and its running sums, so a group costs a few calls however many cuts
there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.base import progress
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadParameter, GuaranteeViolated

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from setveil.presence.guarantees.k_anonymity import GroupLimit
    from setveil.presence.guarantees.site_presence import PresenceLimit

MOST_BITS = 62
"""Products of counts with the numerators and denominators of limits stay below two to this power."""
_NO_CELL = -1
_BEYOND = np.iinfo(np.int32).max
_ROOMY = 4
"""An attribute whose range in a group is more than so many times its members is counted by the cells that occur."""


@dataclass(frozen=True, eq=False, repr=False)
class Users:
    """The population as both tables at once tell of it."""

    cells: NDArray[np.int32]
    """The cell of each attribute of each id (ids x attributes); -1 for none, and such an id leaves a group that is cut there."""
    cells_of: NDArray[np.int64]
    """How many cells each attribute has."""
    at_a: NDArray[np.bool_]
    sensitive: NDArray[np.int64]
    """The sensitive value of those who are at B, -1 for the others."""
    values: int
    """How many sensitive values there are."""

    @property
    def common(self) -> NDArray[np.bool_]:
        """Who is at both providers."""
        return self.at_a & (self.sensitive >= 0)


@dataclass(frozen=True, eq=False, repr=False)
class Numbers:
    """What limits are about, of many groups at once: a row each."""

    a: NDArray[np.int64]
    """Users of A."""
    b: NDArray[np.int64]
    """Users of B with each sensitive value (groups x values)."""
    c: NDArray[np.int64]
    """Users of both with each sensitive value."""


@dataclass(frozen=True)
class Limits:
    """What each group must keep. Shares are those of common users, at least and at most; A's and B's are both given, or none is."""

    k: int
    l: int  # noqa: E741 - what l-diversity calls it
    share_a: tuple[Fraction, Fraction] | None = None
    share_b: tuple[Fraction, Fraction] | None = None
    by_value: bool = True
    """Whether B's share is asked of each sensitive value."""

    @classmethod
    def of(cls, group: GroupLimit, presence: PresenceLimit | None = None) -> Limits:
        """Take them from a declaration."""
        if presence is None:
            return cls(group.k, group.l)
        return cls(
            group.k,
            group.l,
            (presence.min_a.share, presence.max_a.share),
            (presence.min_b.share, presence.max_b.share),
            presence.scope == "qi+sa",
        )

    def refuse_large(self, population: int) -> None:
        """Refuse bounds whose products with counts would not be exact."""
        for share in (self.share_a or ()) + (self.share_b or ()):
            if share.denominator * population >= 1 << MOST_BITS:
                raise BadParameter(
                    f"the share {share} has a denominator too large for {population:,} ids; "
                    f"expected at most {((1 << MOST_BITS) - 1) // population:,}"
                )

    def broken(self, numbers: Numbers) -> dict[str, NDArray[np.bool_]]:
        """Tell of each limit, by the parameters that set it, which groups break it."""
        found: dict[str, NDArray[np.bool_]] = {"k": np.less(numbers.c.sum(axis=1), self.k)}
        if self.l > 1:
            found["l"] = np.count_nonzero(numbers.c, axis=1) < self.l
        return found | self.broken_shares(numbers)

    def broken_shares(self, numbers: Numbers) -> dict[str, NDArray[np.bool_]]:
        """Tell it of the limits of presence."""
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
    """Which cuts of a group are tried until one passes."""

    attributes: Literal["widest", "all"]
    cuts: Literal["median", "all"]
    sees_counts: bool
    """Whether the method may look at the number of common users: then it tries nothing where fewer than 2k are left."""


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """The final groups, those with lower cells first."""

    group_of: NDArray[np.int64]
    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    counts: NDArray[np.int64]
    """How many common users of each group have each sensitive value."""
    checks: int
    """How many cuts were tried; the check of all members as one group is not among them."""
    splits: int
    """How many of them passed."""


def divide(users: Users, members: NDArray[np.int64], limits: Limits, search: Search, *, method: str) -> Partition:
    """Divide the members, or raise if not even all of them as one group keep the limits."""
    limits.refuse_large(len(users.cells))
    # Who an id is to the limits: at A or not, times the sensitive value, the first of which stands for not being at B.
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
            # The lower part is on top of the stack, so groups become final from the lower ones on.
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
    """Return attribute and cell of the first cut that passes, -1 where none does, and how many were tried."""
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
    passes = _none(limits.broken(_numbers(parts, users.values))).reshape(2, -1).all(axis=0)
    if limits.share_a is not None and np.any(sizes < len(ids)):
        left = _numbers(_totals(kinds, users.values) - totals, users.values)
        passes &= _none(limits.broken_shares(left))[attribute[cuts]]
    if not passes.any():
        return -1, -1, len(cuts)
    first = int(passes.argmax())
    at = cuts[first]
    return int(order[attribute[at]]), int(cell[at] + 1 + cell[at + 1]) // 2, first + 1


def _counted(
    cells: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], kinds: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells that occur, attribute after attribute: whose each is, which it is, and how many of each kind are in it."""
    places = cells - low
    spans = high - low + 1
    occurring: dict[int, NDArray[np.int64]] = {}
    for one in np.flatnonzero(spans > _ROOMY * len(cells)).tolist():
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
    """Turn the numbers of users of each kind into those that limits are about."""
    elsewhere, at_a = np.moveaxis(of_kinds.reshape(-1, 2, values + 1), 1, 0)
    return Numbers(at_a.sum(axis=1), elsewhere[:, 1:] + at_a[:, 1:], at_a[:, 1:])


def _none(broken: dict[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Tell which groups break no limit."""
    kept: NDArray[np.bool_] = ~np.logical_or.reduce(list(broken.values()))
    return kept


def _outside(
    common: NDArray[np.int64], users: NDArray[np.int64], bounds: tuple[Fraction, Fraction]
) -> NDArray[np.bool_]:
    """Tell where common users are less than the lower or more than the upper share of users; nobody of nobody is any share."""
    least, most = bounds
    outside: NDArray[np.bool_] = (least.denominator * common < least.numerator * users) | (
        most.denominator * common > most.numerator * users
    )
    return outside


def _check_root(numbers: Numbers, limits: Limits, method: str) -> None:
    """Refuse tables that break the limits as one group: every joined table would."""
    broken = [name for name, found in limits.broken(numbers).items() if found[0]]
    if not broken:
        return
    of_b = "B's users with some sensitive value" if limits.by_value else "B's users"
    meaning = {
        "k": f"there are fewer common users than k = {limits.k}",
        "l": f"the common users have fewer different sensitive values than l = {limits.l}",
        "min_a, max_a": f"of A's users the share that is at B too is not {_between(limits.share_a)} (min_a, max_a)",
        "min_b, max_b": f"of {of_b} the share that is at A too is not {_between(limits.share_b)} (min_b, max_b)",
    }
    raise GuaranteeViolated(
        f"{method} releases nothing: not even one group of all users keeps the limits, because "
        f"{'; '.join(meaning[name] for name in broken)}. No division can mend that: choose limits that the tables as a whole keep"
    )


def _between(bounds: tuple[Fraction, Fraction] | None) -> str:
    return "" if bounds is None else f"between {bounds[0]} and {bounds[1]}"
