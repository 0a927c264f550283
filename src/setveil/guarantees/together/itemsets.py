"""Hidden itemsets: linked rows must not make a named itemset frequent, and its supports must not expose it.

An itemset that two releases hide by different swaps can have different supports in them, while unnamed itemsets of its kind keep theirs. A
named itemset is exposed if its supports differ more than those of every unnamed itemset of the same size that is infrequent in both
releases. Only records whose rows differ can change a support, so only their itemsets are counted.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from setveil.base import progress
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Witness
from setveil.data.records.ragged import among, distinct, owner_of, starts_of
from setveil.data.records.transactions import Transactions
from setveil.guarantees.hidden_itemsets import HiddenItemsets
from setveil.guarantees.together.base import Found, JointDefinition, Linked, different_guarantees, joint_verdict
from setveil.guarantees.together.rows import joint_view
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.base.verdict import Verdict

EXPOSED = "exposed-itemset"
SHOWN_ITEMS = 12
BUDGET = 5_000_000
"""Maximum number of itemsets that are counted in records whose rows differ, for each size."""


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
    def check(cls, releases: Sequence[Linked], original: Transactions) -> Iterator[Verdict]:
        """Check the union of the rows, then compare the supports in both releases."""
        view = joint_view(releases, original.records)
        for guarantee in different_guarantees(releases, HiddenItemsets):
            yield guarantee.check(view, original=original)
        yield _exposed(releases, original)


class _Difference(NamedTuple):
    """An itemset with its supports in both releases."""

    itemset: frozenset[int]
    first: int
    second: int

    @property
    def size(self) -> int:
        return abs(self.first - self.second)


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
    rows = release.data.as_records()
    code = np.array([original.code_of.get(label, -1) for label in rows.vocabulary], dtype=np.int64)
    record, item = release.rows[owner_of(rows.offsets)], code[rows.items] if rows.occurrences else rows.items
    order = np.lexsort((item, record))
    return Transactions(
        starts_of(record[order], original.records), item[order].astype(np.int32), original.vocabulary, unit=rows.unit
    )


def _largest_of_others(
    rows: Sequence[Transactions], size: int, named: Iterable[frozenset[str]], least: Sequence[int]
) -> int | None:
    """Return the largest difference of the supports of an unnamed itemset that is infrequent in both; None beyond the budget."""
    difference: dict[tuple[int, ...], int] = defaultdict(int)
    changed = _changed(rows)
    work = 0
    for one, other in changed:
        for mine, sign in ((one, 1), (other, -1)):
            new = mine - (one & other)
            work += comb(len(mine), size)
            if work > BUDGET:
                return None
            for itemset in combinations(sorted(mine), size):
                if not new.isdisjoint(itemset):
                    difference[itemset] += sign
    code_of = rows[0].code_of
    excluded = {tuple(sorted(code_of[label] for label in one)) for one in named if all(map(code_of.__contains__, one))}
    by_size: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for itemset, by in difference.items():
        if by and itemset not in excluded:
            by_size[abs(by)].append(itemset)
    for by in sorted(by_size, reverse=True):
        itemsets = by_size[by]
        flat = np.array([code for itemset in itemsets for code in itemset], dtype=np.int64)
        offsets = np.arange(len(itemsets) + 1, dtype=np.int64) * size
        held = [supports(one, (offsets, flat)) for one in rows]
        if any((held[0] < least[0]) & (held[1] < least[1])):
            return by
    return 0


def _changed(rows: Sequence[Transactions]) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """Yield the two rows of each record whose rows differ."""
    one, other = rows
    width = max(len(one.vocabulary), 1)
    keys = [owner_of(data.offsets) * width + data.items for data in rows]
    alone = [mine[~among(mine, others)] for mine, others in (keys, keys[::-1])]
    for record in distinct(np.concatenate(alone) // width).tolist():
        yield (
            frozenset(one.items[one.offsets[record] : one.offsets[record + 1]].tolist()),
            frozenset(other.items[other.offsets[record] : other.offsets[record + 1]].tolist()),
        )
