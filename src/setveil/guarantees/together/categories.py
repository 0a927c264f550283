"""Hidden tendencies: what several swapped rows of a record do not show narrows down the category that was hidden.

Every release of the record hides the same category. So it is among the categories that none of its rows shows. With fewer than two such
categories it is determined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Witness
from setveil.data.records.ragged import among, distinct, owner_of
from setveil.guarantees.hidden_tendency import HiddenTendency
from setveil.guarantees.together.base import Found, JointDefinition, Linked, different_guarantees, joint_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.base.verdict import Verdict
    from setveil.data.records.transactions import Transactions

LEAST = 2
"""Minimum number of categories that no row of a record shows."""
DETERMINED = "hidden-category-determined"
SHOWN = "hidden-category-shown"


class JointCategories(JointDefinition):
    """No set of linked rows determines the category that was hidden."""

    title = "categories that no row shows"
    statement = (
        f"For every record that must be hidden, at least {LEAST} categories are shown by none of its rows, and its hidden category is "
        "among them."
    )

    @classmethod
    def covers(cls, release: Linked) -> bool:
        """Return whether the release hides tendencies."""
        return isinstance(release.guarantee, HiddenTendency)

    @classmethod
    def groups(cls, releases: Sequence[Linked]) -> Iterator[tuple[Linked, ...]]:
        """Yield the releases with the same categories."""
        for guarantee in different_guarantees(releases, HiddenTendency):
            same = tuple(one for one in releases if one.guarantee.categories == guarantee.categories)  # type: ignore[union-attr]
            if len(same) > 1 and same[0].guarantee == guarantee:
                yield same

    @classmethod
    def check(cls, releases: Sequence[Linked], original: Transactions) -> Iterator[Verdict]:
        """Count the categories that no row of each record shows."""
        guarantees: list[HiddenTendency] = different_guarantees(releases, HiddenTendency)
        category, names = guarantees[0].categories.bind(original)
        width = max(len(names), 1)
        hidden = distinct(np.concatenate([one.hidden_categories(original) for one in guarantees]))
        due = distinct(hidden // width)
        of_rows = [_shown(release, original, category, width) for release in releases]
        together = distinct(np.concatenate(of_rows))
        absent = width - np.bincount(together // width, minlength=original.records)
        alone = [width - np.bincount(keys // width, minlength=original.records) for keys in of_rows]
        determined = due[absent[due] < LEAST]
        still_there = hidden[among(hidden, together)]

        def open_categories(record: int) -> Witness:
            left = sorted(set(range(width)) - set((together[together // width == record] % width).tolist()))
            shown = f"its rows show {width - len(left):,} of {quantity(width, 'category', 'categories')}"
            detail = (
                f"{shown}: only {names[left[0]]!r} can be the hidden one" if left else f"{shown}, also the hidden one"
            )
            return Witness(DETERMINED, f"original record {record + 1:,}", detail, items=tuple(names[c] for c in left))

        def shown_category(key: int) -> Witness:
            detail = f"one of its rows shows an item of {names[key % width]!r}, which must be hidden"
            return Witness(SHOWN, f"original record {key // width + 1:,}", detail)

        found = Found.of(
            DETERMINED, len(determined), map(open_categories, determined[:MOST_WITNESSES].tolist())
        ) + Found.of(SHOWN, len(still_there), map(shown_category, still_there[:MOST_WITNESSES].tolist()))
        counts = {
            "records": original.records,
            "to-hide": len(due),
            "categories": len(names),
            "fewest-categories-shown-by-no-row": int(absent[due].min(initial=width)),
            "determined-by-one-release-alone": int(
                np.count_nonzero(np.min([one[due] for one in alone], axis=0) < LEAST) if len(due) else 0
            ),
        }
        yield joint_verdict(HiddenTendency.name, found, counts, original)


def _shown(release: Linked, original: Transactions, category: NDArray[np.int32], width: int) -> NDArray[np.int64]:
    """Return the record and the category of each item that the rows show, as one number, each once."""
    rows = release.data.as_records()
    codes = np.array([original.code_of.get(label, -1) for label in rows.vocabulary], dtype=np.int64)
    code = codes[rows.items] if rows.occurrences else np.empty(0, np.int64)
    record = release.rows[owner_of(rows.offsets)]
    return distinct(record[code >= 0] * width + category[code[code >= 0]])
