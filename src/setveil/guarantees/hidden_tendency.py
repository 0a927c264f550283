"""Hidden tendency: no released record shows what its person leaned to.

Paper    gunawan2019 (references.bib), Definitions 3 and 4.
Checked  for every record that must be hidden: no item of its top category is left in its released row, and (Definition 4, "modest
         distortion") nothing but that category was taken away; for all: rows and records correspond one to one, pseudonyms agree with
         the alignment, and every item occurs as often as before.
Departs  the paper gives no check. "Items of the category are swapped to another record" is read as: all of them are gone, which implies
         that the top differs. See docs/decisions/0004.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.categories import Categories
from setveil.data.tendency import Kind, tendencies
from setveil.data.tidying import record_numbers
from setveil.declaration import parameter
from setveil.errors import Missing
from setveil.guarantees.base import FAILURE, MOST_WITNESSES, Coverage, Guarantee, Reach, Verdict, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from setveil.data.alignment import Alignment
    from setveil.data.transactions import Transactions


class HiddenTendency(Guarantee):
    """No released record holds an item of the category that its person leaned to."""

    name: ClassVar[str] = "hidden-tendency"
    title: ClassVar[str] = "Hidden tendency"
    paper: ClassVar[str] = "gunawan2019"
    needs: ClassVar[tuple[str, ...]] = ("original", "alignment")
    coverage: ClassVar[Coverage] = Coverage(
        attacker=(
            "knows which released row is a person's, the categories and the method, but neither the seed nor items of the"
            " tendency itself"
        ),
        singling_out="not bounded",
        linking="not bounded: a person whose other items are known can be found",
        inference="bounded for the top category of a record: none of its items is in the person's row",
        not_covered=(
            "someone who knows items of the tendency itself",
            "that a category is absent from a row, which tells something where categories are few",
            "categories other than the heaviest one of a record",
            "people with several records, unless the unit is person",
        ),
    )

    categories: Categories = parameter(public=False, description="Which category each item belongs to.")
    records: Literal["all", "mixed", "whole"] = parameter(
        "all",
        public=True,
        description="Which records must be hidden: those of several categories (mixed), of one category (whole), or both (all).",
    )
    full_min: int = parameter(
        2, public=True, ge=1, le=2, description="From how many items on a record of one category must be hidden."
    )
    lossless: bool = parameter(
        True,
        public=True,
        description="Whether every item must occur exactly as often as before; else at most as often.",
    )

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        several = "records with a tendency among several categories"
        one = "records of a single category" + (" with more than one item" if self.full_min == 2 else "")
        who = {"all": f"{several} and {one}", "mixed": several, "whole": one}[self.records]
        supports = (
            "every item occurs exactly as often as in the original"
            if self.lossless
            else "no item occurs more often than before"
        )
        return f"In the row of each of the {who}, no item of its heaviest category is left; {supports}."

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line."""
        return "other categories of a record; people whose other items are known; a second release of the same data"

    def check(
        self, published: Transactions, *, original: Transactions | None = None, alignment: Alignment | None = None
    ) -> Verdict:
        """Compare every released row with the record it came from."""
        self.refuse_other_form(published)
        if original is None or alignment is None:
            what = "the original data" if original is None else "the alignment, which is in the private folder"
            raise Missing(f"{self.name} compares rows with the records they came from and needs {what}")
        cases = _Cases()
        if not _corresponds(published, original, alignment, cases):
            return cases.verdict(self.name, {"records": published.records})
        category, names = self.categories.bind(original)
        before = tendencies(original, category, len(names))
        due = self._due(before.kind)
        rows = alignment.rows
        row_of = np.empty(len(rows), dtype=np.int64)
        row_of[rows] = np.arange(len(rows))

        self._compare_supports(published, original, cases)
        occurs, code = _occurrences(published, original, rows)
        _find_left(occurs, code, category, before.top, due, row_of, original, names, cases)
        _find_taken(occurs, code, category, before, due, row_of, original, cases)
        counts = {
            "records": original.records,
            "to-hide": int(np.count_nonzero(due)),
            "published-unchanged": self._as_they_are(before.kind),
            "without-tendency": int(np.count_nonzero(before.kind == Kind.UNIFORM)),
        }
        return cases.verdict(self.name, counts)

    def _due(self, kind: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Tell for each kind of record whether it must be hidden."""
        due = np.zeros(len(Kind), dtype=bool)
        due[Kind.PARTIAL] = self.records in ("all", "mixed")
        due[Kind.FULL] = self.records in ("all", "whole")
        due[Kind.SINGLE] = due[Kind.FULL] and self.full_min == 1
        return due[kind]

    def _as_they_are(self, kind: NDArray[np.int8]) -> int:
        """Count the records of one category that need not be hidden."""
        one_category = (kind == Kind.FULL) | (kind == Kind.SINGLE)
        return int(np.count_nonzero(one_category & ~self._due(kind)))

    def _compare_supports(self, published: Transactions, original: Transactions, cases: _Cases) -> None:
        after = dict(zip(published.vocabulary, published.supports.tolist(), strict=True))
        before = dict(zip(original.vocabulary, original.supports.tolist(), strict=True))
        for label in sorted(before.keys() | after.keys()):
            was, now = before.get(label, 0), after.get(label, 0)
            if now > was or (self.lossless and now != was):
                cases.add(
                    "support-changed",
                    f"item {label!r}",
                    f"occurs in {now:,} rows, in the original in {was:,}",
                    items=(label,),
                )


class _Cases:
    """Collects violations: all are counted, the first of each kind are kept as witnesses."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.witnesses: list[Witness] = []

    def add(self, kind: str, place: str, detail: str, *, row: int | None = None, items: tuple[str, ...] = ()) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= MOST_WITNESSES:
            self.witnesses.append(Witness(kind, place, detail, row, items))

    def add_rows(self, kind: str, rows: NDArray[Any], details: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Count all rows, and describe the first ones."""
        if len(rows):
            self.counts[kind] = self.counts.get(kind, 0) + len(rows)
        for row, (detail, items) in zip(rows[:MOST_WITNESSES], details, strict=False):
            self.witnesses.append(Witness(kind, f"released row {row + 1:,}", detail, int(row), items))

    def verdict(self, guarantee: str, counts: dict[str, int]) -> Verdict:
        status: Literal["holds", "violated"] = "violated" if self.counts else "holds"
        failures = self.counts.get(FAILURE, 0)
        reach = Reach(
            counts.get("to-hide", 0) - failures,
            counts["records"],
            rest={
                "have no tendency": counts.get("without-tendency", 0),
                "are published unchanged": counts.get("published-unchanged", 0),
            },
        )
        return Verdict(status, guarantee, counts, self.counts, failures, tuple(self.witnesses), reach=reach)


def _corresponds(published: Transactions, original: Transactions, alignment: Alignment, cases: _Cases) -> bool:
    """Check that rows and records correspond one to one and that the names beside them agree; without that nothing can be compared."""
    rows = alignment.rows
    if len(rows) != published.records or published.records != original.records:
        cases.add(
            "rows-do-not-correspond",
            "the alignment",
            f"has {len(rows):,} rows; the release has {published.records:,}, the original {original.records:,}",
        )
        return False
    hits = np.bincount(rows[(rows >= 0) & (rows < original.records)], minlength=original.records)
    wrong = np.flatnonzero(hits != 1)
    if len(wrong):
        for record in wrong[:MOST_WITNESSES]:
            place, detail = f"original record {record + 1:,}", f"has {hits[record]} released rows; expected 1"
            cases.add("rows-do-not-correspond", place, detail)
        cases.counts["rows-do-not-correspond"] = len(wrong)
        return False
    pairs = [("published", published.ids, alignment.published_ids)]
    if alignment.original_ids is not None:
        pairs.append(("original", original.names().take(pa.array(rows)), alignment.original_ids))
    for which, in_data, in_alignment in pairs:
        if (in_data is None) != (in_alignment is None):
            cases.add("names-do-not-agree", f"the {which} ids", "are in the data or in the alignment, but not in both")
        elif in_data is not None:
            # A name that is missing is not known to agree.
            differs = pc.fill_null(pc.not_equal(in_data, in_alignment.cast(in_data.type)), fill_value=True)
            wrong = np.flatnonzero(differs.to_numpy(zero_copy_only=False))
            cases.add_rows(
                "names-do-not-agree", wrong, ((f"its {which} id is not the one in the alignment", ()) for _ in wrong)
            )
    return not cases.counts


def _occurrences(
    published: Transactions, original: Transactions, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each released occurrence as the number of its original record and the item's code there (-1 if it never occurred)."""
    code = np.array([original.code_of.get(label, -1) for label in published.vocabulary], dtype=np.int64)
    return rows[record_numbers(published.offsets)], code[published.items] if len(code) else np.empty(0, np.int64)


def _find_left(
    record: NDArray[np.int64],
    code: NDArray[np.int64],
    category: NDArray[np.int32],
    top: NDArray[np.int32],
    due: NDArray[np.bool_],
    row_of: NDArray[np.int64],
    original: Transactions,
    names: tuple[str, ...],
    cases: _Cases,
) -> None:
    """Find the records that still hold an item of their top category."""
    known = code >= 0
    record, code = record[known], code[known]
    left = due[record] & (category[code] == top[record])
    record, code = record[left], code[left]
    left_records = np.unique(record)

    def detail(one: int) -> tuple[str, tuple[str, ...]]:
        items = tuple(original.vocabulary[c] for c in code[record == one][:5])
        return (
            f"still holds {', '.join(map(repr, items))} of {names[top[one]]!r}, the category the record leans to",
            items,
        )

    cases.add_rows(FAILURE, row_of[left_records], (detail(one) for one in left_records))


def _find_taken(
    record: NDArray[np.int64],
    code: NDArray[np.int64],
    category: NDArray[np.int32],
    before: Any,
    due: NDArray[np.bool_],
    row_of: NDArray[np.int64],
    original: Transactions,
    cases: _Cases,
) -> None:
    """Find the records that lost an item outside their top category: then more was changed than the tendency."""
    width = max(len(original.vocabulary), 1)
    original_record = record_numbers(original.offsets)
    keep = (due & (before.kind == Kind.PARTIAL))[original_record] & (
        category[original.items] != before.top[original_record]
    )
    expected = (original_record * width + original.items)[keep]
    known = code >= 0
    found = np.sort(record[known] * width + code[known])
    at = np.searchsorted(found, expected)
    gone = (
        expected[(at >= len(found)) | (found[np.minimum(at, max(len(found) - 1, 0))] != expected)]
        if len(found)
        else expected
    )
    gone_records = np.unique(gone // width)

    def detail(one: int) -> tuple[str, tuple[str, ...]]:
        items = tuple(original.vocabulary[key % width] for key in gone[gone // width == one][:5])
        return f"lost {', '.join(map(repr, items))}, which is not of the category the record leans to", items

    cases.add_rows("more-taken-than-the-tendency", row_of[gone_records], (detail(one) for one in gone_records))
