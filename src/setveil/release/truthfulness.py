"""Compare a release with its original records, to check whether it is as true as its card states.

`subset` means that nothing is invented: what a row, a group or a cluster shows is true of its records. `yes` means that nothing is missing
either. Each form defines this for itself (`Published.find_untrue`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.base import progress
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES
from setveil.data.forms.comparing import NOT_TRUTHFUL, Aligned, Untrue, of_row
from setveil.data.records.ragged import are_distinct, pieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.base.verdict import Verdict
    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment

Truthful = Literal["yes", "subset", "no"]


def find_untrue(published: Published, truthful: Truthful, original: Published, alignment: Alignment) -> Untrue:
    """Compare a release with its original records, to the extent that it is declared true."""
    if truthful == "no":
        return Untrue()
    records = original.plain
    if records is None:
        return Untrue.one("the release", "it was not made from records")
    with progress.step("comparing with the original"):
        whole = truthful == "yes"
        aligned = Aligned(records, alignment.rows)
        wrong = _not_aligned(aligned, published.records, once=whole or published.counts_rows, whole=whole)
        return wrong if wrong.cases else published.find_untrue(aligned, whole=whole)


def with_truth(verdict: Verdict, found: Untrue, statement: str) -> Verdict:
    """Return the verdict, violated if something is not true; `statement` says who states that it is."""
    if not found.cases:
        return verdict
    violated = verdict.with_violations(NOT_TRUTHFUL, found.cases, found.witnesses)
    return replace(violated, reason="; ".join(filter(None, (verdict.reason, f"{statement}, which is wrong"))))


def _not_aligned(aligned: Aligned, rows: int, *, once: bool, whole: bool) -> Untrue:
    """Return the rows that are aligned with no record and, if each record may be used once only, those that share one."""
    behind, records = aligned.rows, aligned.original.records
    if len(behind) != rows:
        return Untrue.one("the alignment", f"it has {quantity(len(behind), 'row')}, but the release has {rows:,}")
    is_outside = ((part.start, (behind[part] < 0) | (behind[part] >= records)) for part in pieces(rows))
    outside = np.concatenate([first + np.flatnonzero(wrong) for first, wrong in is_outside] or [np.empty(0, np.int64)])
    found = _rows(outside, "it is aligned with no record of the original")
    if once and (len(outside) or not are_distinct(behind, records)):
        again = np.setdiff1d(np.arange(rows), np.unique(behind, return_index=True)[1], assume_unique=True)
        found += _rows(again, "it is aligned with the same record as an earlier row")
    if whole and rows < records:
        found += Untrue.one("the release", f"it lacks {quantity(records - rows, 'record')} of the original")
    return found


def _rows(rows: NDArray[np.int64], detail: str) -> Untrue:
    return Untrue(len(rows), tuple(of_row(row, detail) for row in rows[:MOST_WITNESSES].tolist()))
