"""Hidden itemsets: linked rows must not make a named itemset frequent, and its supports must not expose it.

An itemset that two releases hide by different swaps can have different supports in them, while unnamed itemsets of its kind keep theirs. A
named itemset is exposed if its supports differ more than those of every unnamed itemset of the same size that is infrequent in both
releases. Only records whose rows differ can change a support, so only their itemsets are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.base import progress
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Witness
from setveil.data.forms.comparing import codes_in
from setveil.data.records.ragged import among, distinct, owner_of, starts_of
from setveil.data.records.transactions import Transactions
from setveil.guarantees.hidden_itemsets import HiddenItemsets
from setveil.guarantees.together.base import (
    Found,
    JointDefinition,
    Linked,
    different_guarantees,
    joint_verdict,
    stated_by,
)
from setveil.guarantees.together.rows import joint_view
from setveil.guarantees.together.subsets import count_sets, numbered, sets_in
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.base.verdict import Verdict

EXPOSED = "exposed-itemset"
SHOWN_ITEMS = 12
BUDGET = 200_000_000
"""Maximum number of itemsets that are counted in rows that differ, for each size; each row is counted by itself."""
LARGEST_TABLE = 1 << 24
"""The largest number of possible itemsets of a size for which all are counted in one table."""
SETS_AT_ONCE = 10_000
"""The number of itemsets whose supports are counted at once, those with the largest differences first."""


class JointItemsets(JointDefinition):
    """Linked rows make no named itemset frequent, and the supports of two releases single out no named itemset."""

    title = "supports of both releases"
    statement = (
        "In the union of the linked rows, the support of each named itemset must satisfy the guarantee of each release. And the difference "
        "of the two supports of a named itemset is at most that of some unnamed itemset of the same size that is infrequent in both."
    )
    pairwise: ClassVar[bool] = True

    @classmethod
    def covers(cls, release: Linked) -> bool:
        """Return whether the release hides itemsets."""
        return isinstance(release.guarantee, HiddenItemsets)

    @classmethod
    def groups(cls, releases: Sequence[Linked]) -> Iterator[tuple[Linked, ...]]:
        """Yield the pairs, and all releases if there are more: the union of all can show what that of no pair shows."""
        yield from super().groups(releases)
        if len(releases) > 2:
            yield tuple(releases)

    @classmethod
    def check(cls, releases: Sequence[Linked], original: Transactions) -> Iterator[Verdict]:
        """Check the union of the rows, then compare the supports of two releases."""
        view = joint_view(releases, original.records)
        for guarantee in different_guarantees(releases, HiddenItemsets):
            yield stated_by(guarantee.check(view, original=original), guarantee, releases)
        if len(releases) == 2:
            yield _exposed(releases, original)


def _exposed(releases: Sequence[Linked], original: Transactions) -> Verdict:
    """Return whether a named itemset is the one whose supports differ most, for each size of named itemsets."""
    rows = [_rows_in_order(release, original) for release in releases]
    guarantees: list[Any] = [release.guarantee for release in releases]
    named: dict[frozenset[str], None] = {}
    for guarantee in guarantees:
        named |= dict.fromkeys(map(frozenset, guarantee.itemsets))
    sets = list(named)
    counted = np.array([supports(one, sets) for one in rows])
    least = [
        min(guarantee.min_support.count(records) for records in (one.records, one.records - one.empty_records))
        for guarantee, one in zip(guarantees, rows, strict=True)
    ]
    differs = np.abs(counted[0] - counted[1])
    sizes = sorted({len(one) for one, by in zip(sets, differs.tolist(), strict=True) if by})
    cases, undecided = 0, 0
    witnesses: list[Witness] = []
    with progress.step("comparing supports of both releases", len(sizes)) as advance:
        for done, size in enumerate(sizes):
            mine = [place for place, one in enumerate(sets) if len(one) == size and differs[place]]
            others = _largest_of_others(rows, size, named, least)
            if others is None:
                undecided += len(mine)
            else:
                worst = sorted((place for place in mine if differs[place] > others), key=lambda place: -differs[place])
                cases += len(worst)
                witnesses += [_witness(sets[one], counted[:, one], others) for one in worst]
            advance(done + 1)
    reason = ""
    if undecided and not cases:
        reason = (
            f"{quantity(undecided, 'named itemset')} could not be compared with unnamed ones: more than {quantity(BUDGET, 'itemset')} of "
            "that size are in rows that differ"
        )
    counts = {
        "named-itemsets": len(sets),
        "named-itemsets-whose-supports-differ": int(np.count_nonzero(differs)),
        "largest-difference-of-a-named-itemset": int(differs.max(initial=0)),
        "undecided-itemsets": undecided,
    }
    found = Found.of(EXPOSED, cases, witnesses[:MOST_WITNESSES])
    return joint_verdict(HiddenItemsets.name, found, counts, original, reason=reason, open_cases=undecided)


def _witness(itemset: frozenset[str], held: NDArray[np.int64], others: int) -> Witness:
    items = tuple(sorted(itemset))
    listed = ", ".join(items[:SHOWN_ITEMS]) + (", …" if len(items) > SHOWN_ITEMS else "")
    detail = (
        f"its support is {held[0]:,} in one release and {held[1]:,} in the other; unnamed itemsets of {quantity(len(items), 'item')} that "
        f"are infrequent in both differ by at most {others:,}"
    )
    return Witness(EXPOSED, f"itemset {{{listed}}}", detail, items=items)


def _rows_in_order(release: Linked, original: Transactions) -> Transactions:
    """Return the rows in the order of the original records, with the codes of the original."""
    rows, width = release.data.as_records(), max(len(original.vocabulary), 1)
    keys = release.rows[owner_of(rows.offsets)]
    keys *= width
    keys += codes_in(rows.labels, original)[rows.items]
    keys.sort()
    starts = starts_of(keys // width, original.records)
    return Transactions(starts, (keys % width).astype(np.int32), original.vocabulary, unit=rows.unit)


def _largest_of_others(
    rows: Sequence[Transactions], size: int, named: Iterable[frozenset[str]], least: Sequence[int]
) -> int | None:
    """Return the largest difference of the supports of an unnamed itemset that is infrequent in both; None beyond the budget."""
    changed = _changed(rows)
    if sum(count_sets(one.lengths[changed], size) for one in rows) > BUDGET:
        return None
    width, code_of = max(len(rows[0].vocabulary), 1), rows[0].code_of
    codes = [sorted(code_of[label] for label in one) for one in named if len(one) == size and code_of.keys() >= one]
    sets, difference = _differences(rows, changed, size)
    number = numbered(np.concatenate((np.array(codes, np.int64).reshape(-1, size), sets)), width)
    is_named = among(number[len(codes) :], np.sort(number[: len(codes)]))
    sets, difference = sets[~is_named], difference[~is_named]
    order = np.argsort(-difference, kind="stable")
    for first in range(0, len(order), SETS_AT_ONCE):
        block = order[first : first + SETS_AT_ONCE]
        offsets = np.arange(len(block) + 1, dtype=np.int64) * size
        held = [supports(one, (offsets, sets[block].ravel())) for one in rows]
        rare = np.flatnonzero((held[0] < least[0]) & (held[1] < least[1]))
        if len(rare):
            return int(difference[block[rare[0]]])
    return 0


def _differences(
    rows: Sequence[Transactions], changed: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the itemsets of the changed rows whose supports differ, and the absolute difference of each."""
    width = max(len(rows[0].vocabulary), 1)
    blocks = ((sets, sign) for sign, one in zip((1, -1), rows, strict=True) for _, sets in sets_in(one, changed, size))
    if width**size <= LARGEST_TABLE:
        table = np.zeros(width**size, dtype=np.int64)
        for block, sign in blocks:
            np.add.at(table, numbered(block, width), sign)
        numbers = np.flatnonzero(table)
        powers = width ** np.arange(size - 1, -1, -1)
        return numbers[:, None] // powers % width, np.abs(table[numbers])
    sets, by = np.empty((0, size), np.int64), np.empty(0, np.int64)
    for block, sign in blocks:
        sets, by = np.concatenate((sets, block)), np.concatenate((by, np.full(len(block), sign)))
        _number, first, same = np.unique(numbered(sets, width), return_index=True, return_inverse=True)
        sets, total = sets[first], np.zeros(len(first), np.int64)
        np.add.at(total, same, by)
        by = total
    return sets[by != 0], np.abs(by[by != 0])


def _changed(rows: Sequence[Transactions]) -> NDArray[np.int64]:
    """Return the records whose rows differ."""
    width = max(len(rows[0].vocabulary), 1)
    keys = [owner_of(data.offsets) * width + data.items for data in rows]
    alone = [mine[~among(mine, others)] for mine, others in (keys, keys[::-1])]
    return distinct(np.concatenate(alone) // width)
