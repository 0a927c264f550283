"""A swapped release beside a release with true rows: the true rows show what the other one hides.

The release with true rows satisfies its own guarantee, but it undoes that of the swapped one: a true row shows an item of the hidden
category, a named itemset has its old support, or a true row holds an item that the swapped row of the same record lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.base.verdict import MOST_WITNESSES, Verdict, Witness
from setveil.data.files.side_files import shown
from setveil.data.forms.comparing import codes_in
from setveil.data.records.ragged import among, owner_of
from setveil.guarantees.hidden_itemsets import HiddenItemsets
from setveil.guarantees.hidden_tendency import HiddenTendency
from setveil.guarantees.together.base import Found, JointDefinition, Linked, joint_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

HIDDEN_SHOWN = "hidden-category-shown"
CONTRADICTED = "rows-contradict"


class JointTruth(JointDefinition):
    """True rows do not contradict the swapped rows of the same records."""

    title = "swapped rows beside true rows"
    statement = (
        "The true rows must not show what the swapped release hides: an item of a hidden category, a named itemset above its target, or an "
        "item that the swapped row of the same record lacks."
    )
    pairwise: ClassVar[bool] = True

    @classmethod
    def covers(cls, release: Linked) -> bool:
        """Return whether the release has rows of records, true or swapped."""
        return release.data.aligned_rows is not None

    @classmethod
    def groups(cls, releases: Sequence[Linked]) -> Iterator[tuple[Linked, ...]]:
        """Yield the pairs of a swapped release with a guarantee and a release with true rows."""
        for group in super().groups(releases):
            is_swapped = [one.truthful == "no" for one in group]
            if any(is_swapped) and not all(is_swapped) and group[is_swapped.index(True)].guarantee is not None:
                yield group

    @classmethod
    def check(cls, releases: Sequence[Linked], original: Transactions) -> Iterator[Verdict]:
        """Compare the rows, and check the guarantee of the swapped release on the true rows."""
        swapped, true = sorted(releases, key=lambda one: one.truthful != "no")
        guarantee: Any = swapped.guarantee
        rows = _keys(true, original)
        found = Found({})
        if isinstance(guarantee, HiddenTendency):
            found = _hidden_categories(guarantee, rows, true, original)
        elif isinstance(guarantee, HiddenItemsets) and true.data.rows_are_records:
            verdict = guarantee.check(true.data.as_records())
            found = Found(dict(verdict.violations), verdict.witnesses)
        contradicted = _contradictions(swapped, rows, true, original)
        if not found.cases:
            found = contradicted
        counts = {"records": original.records, "items-that-contradict": sum(contradicted.cases.values())}
        reason = "" if found.cases else f"no row contradicts another one, but {cls.title} have no guarantee together"
        yield joint_verdict(guarantee.name, found, counts, original, reason=reason, open_cases=1)


def _keys(release: Linked, original: Transactions) -> NDArray[np.int64]:
    """Return the record and the item of each occurrence in the rows, as one number, in rising order; nodes of a hierarchy are ignored."""
    rows = release.data.aligned_rows
    assert rows is not None  # `covers` asked for them
    if not rows.occurrences:
        return np.empty(0, np.int64)
    code, record = codes_in(rows.labels, original)[rows.items], release.rows[owner_of(rows.offsets)]
    return np.sort((record * len(original.vocabulary) + code)[code >= 0])


def _hidden_categories(
    guarantee: HiddenTendency, rows: NDArray[np.int64], true: Linked, original: Transactions
) -> Found:
    """Return the records of which a true row shows an item of a category to hide."""
    category, names = guarantee.categories.bind(original)
    width, items = max(len(names), 1), max(len(original.vocabulary), 1)
    key = rows // items * width + category[rows % items]
    places = np.flatnonzero(among(key, np.sort(guarantee.hidden_categories(original))))
    records, first = np.unique(rows[places] // items, return_index=True)

    def witness(place: int) -> Witness:
        label = original.vocabulary[rows[place] % items]
        detail = f"its row in {true.name} shows {shown(label)} of {names[key[place] % width]!r}, which must be hidden"
        return Witness(HIDDEN_SHOWN, f"original record {rows[place] // items + 1:,}", detail, items=(label,))

    return Found.of(HIDDEN_SHOWN, len(records), map(witness, places[first[:MOST_WITNESSES]].tolist()))


def _contradictions(swapped: Linked, rows: NDArray[np.int64], true: Linked, original: Transactions) -> Found:
    """Return the items that true rows hold and the swapped rows of their records lack."""
    items = max(len(original.vocabulary), 1)
    lacking = rows[~among(rows, _keys(swapped, original))]

    def witness(key: int) -> Witness:
        label = original.vocabulary[key % items]
        detail = f"its row in {true.name} holds {shown(label)}, and its row in {swapped.name} does not: the latter was swapped"
        return Witness(CONTRADICTED, f"original record {key // items + 1:,}", detail, items=(label,))

    return Found.of(CONTRADICTED, len(lacking), map(witness, lacking[:MOST_WITNESSES].tolist()))
