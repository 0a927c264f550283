"""Hidden tendency: no released row shows the category that its record leans to.

Paper    gunawan2019 (references.bib), Definitions 3 and 4.
Checked  for every record that must be hidden: its released row holds no item of its heaviest categories (`ties='all'`), or of the first
         of them, and the record lost items of these categories only (Definition 4, "modest distortion"). For all records: rows and
         records correspond one to one, pseudonyms agree with the alignment, and every item occurs as often as before.
Departs  the paper gives no check. "Items of the category are swapped to another record" is read as: all of them are gone, which implies
         that the heaviest category differs. See docs/decisions/0004. The paper hides one of several equally heavy categories. See
         docs/decisions/0023.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.declaration import parameter
from setveil.base.display import quantity
from setveil.base.sql import table
from setveil.base.verdict import FAILURE, MOST_WITNESSES, Reach, Verdict, Witness
from setveil.data.records.in_blocks import ROW, as_block, as_records, need_blocks
from setveil.data.records.ragged import among, distinct, owner_of, picked, record_ranges
from setveil.data.records.tendency import Kind, Tendencies, tendencies
from setveil.engines.blocks import current_engine
from setveil.errors import Missing
from setveil.guarantees.base import Coverage, Guarantee
from setveil.guarantees.recounts import Recount, Recounts
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions
    from setveil.engines.blocks import BlockKey


BLOCK = 1 << 20
"""The number of occurrences or ids that are compared at a time: what is needed to compare all of them takes much memory."""
PART_RECORDS = 1 << 17
"""The maximum number of records that one thread compares at a time if data are in blocks. The verdict does not depend on it."""
TAKEN = "more-taken-than-the-tendency"
RECORD, FOUND = "record", "found"
"""Columns of a block: the original record of a row, and what was found in a part of the data."""
NO_ROW = -1
"""The number of the released row of an original record in a block."""


class HiddenTendency(Guarantee):
    """No released row holds an item of the heaviest category of its record."""

    name = "hidden-tendency"
    title = "Hidden tendency"
    paper = "gunawan2019"
    needs = ("original", "alignment")
    example_lines = (
        'data = sv.read("sample:supermarket?records=1000")',
        'method = sv.PartSwap(categories=sv.read_categories("sample:supermarket"))',
        "release = sv.publish(data, method, metrics=[])",
        "guarantee = {call}",
        "verdict = guarantee.check(release.data, original=data, alignment=release.alignment)",
    )
    coverage = Coverage(
        attacker=(
            "knows which released row is a person's, the categories and the method, but not the seed and no item of the tendency"
            " itself"
        ),
        singling_out="not bounded",
        linking="not bounded: an attacker who knows other items of a person can find the row",
        inference="bounded for the heaviest category of a record: none of its items is in the person's row",
        not_covered=(
            "an attacker who knows items of the tendency itself",
            "the absence of a category from a row, which reveals something if there are few categories",
            "the other categories of a record, which are lighter than its heaviest one",
            "records without a tendency: those with equally many items of each of their categories, and those without items",
            "a second release of the same data: items link the rows of a person, and what both rows show is probably true",
            "people with several records, unless the unit is person",
        ),
    )

    categories: Categories = parameter(public=False, description="The category of each item.")
    records: Literal["all", "mixed", "whole"] = parameter(
        "all",
        public=True,
        description="Which records must be hidden: those of several categories (mixed), of one category (whole), or both (all).",
    )
    ties: Literal["first", "all"] = parameter(
        "first",
        public=True,
        description="Which of several equally heavy categories of a record must be hidden: the first by name, or all.",
    )
    full_min: int = parameter(
        2,
        public=True,
        ge=1,
        le=2,
        description="Minimum number of items of a record of one category that must be hidden.",
    )
    lossless: bool = parameter(
        True,
        public=True,
        description="Whether every item must occur exactly as often as before; otherwise at most as often.",
    )

    @property
    def statement(self) -> str:
        """The guarantee in short sentences."""
        one = "records of a single category" + (" with more than one item" if self.full_min == 2 else "")
        several = "records of several categories that are not all equally heavy"
        covered = {
            "all": f"This covers {several}, and {one}.",
            "mixed": f"This covers {several}. Records of a single category are not covered.",
            "whole": f"This covers {one}. Records of several categories are not covered.",
        }
        equal = (
            ", nor of an equally heavy one" if self.ties == "all" else ", but may hold items of an equally heavy one"
        )
        hidden = "The row of a record holds no item of the heaviest category of the record"
        supports = (
            "Every item occurs exactly as often as in the original."
            if self.lossless
            else "No item occurs more often than in the original."
        )
        return f"{hidden}{'' if self.records == 'whole' else equal}. {covered[self.records]} {supports}"

    def coverage_for(self, form: type) -> Coverage:
        """Return the coverage, with the records and categories that these parameters do not cover."""
        del form
        not_covered = []
        if self.records == "whole":
            not_covered.append("records of several categories, even with a tendency: they are published unchanged")
        elif self.ties == "first":
            not_covered.append(
                "categories that are as heavy as the heaviest one of a record: only the first by name is hidden"
            )
        if self.records == "mixed":
            not_covered.append("records of a single category: they need not be hidden")
        elif self.full_min == 2:
            not_covered.append("records of a single item: they need not be hidden")
        inference = "bounded for records of a single category: no item of that category is in the person's row"
        return replace(
            self.coverage,
            inference=inference if self.records == "whole" else self.coverage.inference,
            not_covered=(*not_covered, *self.coverage.not_covered),
        )

    def recounts(self, form: type, labels: Sequence[str]) -> Recounts:
        """Count the records whose row holds an item of a category that must be hidden, and the items whose supports differ."""
        del form
        of_item = {item: self.categories[item] for item in labels}
        number = {name: place for place, name in enumerate(sorted(set(of_item.values())))}
        listed = table("category", ("item", "category"), ((item, number[name]) for item, name in of_item.items()))
        several, one = (
            "heaviest * categories > items AND categories > 1",
            f"categories = 1 AND items >= {self.full_min}",
        )
        due = {"all": f"({several}) OR ({one})", "mixed": several, "whole": one}[self.records]
        first = "" if self.ties == "all" else "\n    QUALIFY category = min(category) OVER (PARTITION BY record)"
        left = f"""
  WITH weighed AS (
    SELECT record, category, count(*) AS weight FROM original JOIN category USING (item) GROUP BY record, category
  ), shape AS (
    SELECT record, max(weight) AS heaviest, count(*) AS categories, sum(weight) AS items FROM weighed GROUP BY record
  ), hidden AS (
    SELECT record, category FROM weighed JOIN shape USING (record) WHERE weight = heaviest AND ({due}){first}
  )
  SELECT count(DISTINCT hidden.record) FROM hidden
  JOIN origin ON origin.original_record = hidden.record
  JOIN released ON released.record = origin.record
  JOIN category ON category.item = released.item AND category.category = hidden.category"""
        changed = f"""
  SELECT count(*) FROM (SELECT item, count(*) AS support FROM released GROUP BY item) AS after
  FULL JOIN (SELECT item, count(*) AS support FROM original GROUP BY item) AS before USING (item)
  WHERE coalesce(after.support, 0) {"<>" if self.lossless else ">"} coalesce(before.support, 0)"""
        return Recounts(
            (listed,),
            (
                Recount("records whose row holds an item of a category to hide", left, needs_original=True),
                Recount("items with another support than in the original", changed, needs_original=True),
            ),
        )

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line."""
        others = "records of several categories" if self.records == "whole" else "other categories of a record"
        return f"{others}; people whose other items an attacker knows; a second release of the same data"

    def check(
        self, published: Transactions, *, original: Transactions | None = None, alignment: Alignment | None = None
    ) -> Verdict:
        """Compare every released row with the record it came from; see `Guarantee.check`."""
        self.refuse_other_form(published)
        if original is None or alignment is None:
            what = "the original data: give `original=`"
            if original is not None:
                what = "the alignment, which is in the private folder: give `alignment`"
            raise Missing(f"{self.name} compares rows with the records they came from and needs {what}")
        cases = _Cases()
        if not _corresponds(published, original, alignment, cases):
            return cases.verdict(self.name, {"records": published.records})
        self._compare_supports(published, original, cases)
        category, names = self.categories.bind(original)
        compared = _Compared(self, original.vocabulary, published.vocabulary, category, names)
        if need_blocks(original):
            counts = _in_parts(compared, published, original, alignment.rows, cases)
        else:
            rows = _Rows(compared, published, original, alignment.rows, np.arange(published.records))
            counts = rows.compare(cases)
        return cases.verdict(self.name, counts)

    def hidden_categories(self, original: Transactions) -> NDArray[np.int64]:
        """Return each record that must be hidden with each of its categories to hide: record times number of categories, plus category."""
        category, names = self.categories.bind(original)
        found = tendencies(original, category, len(names))
        due = self.due(found.kind)
        record, cat = found.heaviest if self.ties == "all" else (np.arange(original.records), found.top)
        return (record * max(len(names), 1) + cat)[due[record]]

    def due(self, kind: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return for each record whether it must be hidden."""
        due = np.zeros(len(Kind), dtype=bool)
        due[Kind.PARTIAL] = self.records in ("all", "mixed")
        due[Kind.FULL] = self.records in ("all", "whole")
        due[Kind.SINGLE] = due[Kind.FULL] and self.full_min == 1
        return due[kind]

    def _compare_supports(self, published: Transactions, original: Transactions, cases: _Cases) -> None:
        after = dict(zip(published.vocabulary, published.supports.tolist(), strict=True))
        before = dict(zip(original.vocabulary, original.supports.tolist(), strict=True))
        for label in sorted(before.keys() | after.keys()):
            was, now = before.get(label, 0), after.get(label, 0)
            if now > was or (self.lossless and now != was):
                cases.add(
                    "support-changed",
                    f"item {label!r}",
                    f"its support is {now:,} in the release and {was:,} in the original",
                    items=(label,),
                )


class _Cases:
    """The violations so far: all are counted, and the first of each kind become witnesses."""

    def __init__(self, counts: dict[str, int] | None = None, witnesses: list[Witness] | None = None) -> None:
        self.counts: dict[str, int] = counts or {}
        self.witnesses: list[Witness] = witnesses or []

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

    def add_parts(self, kind: str, parts: list[_Cases]) -> None:
        """Count the violations of one kind in all parts, and describe the first ones."""
        if count := sum(part.counts.get(kind, 0) for part in parts):
            self.counts[kind] = count
        self.witnesses += [one for part in parts for one in part.witnesses if one.kind == kind][:MOST_WITNESSES]

    def verdict(self, guarantee: str, counts: dict[str, int]) -> Verdict:
        status: Literal["holds", "violated"] = "violated" if self.counts else "holds"
        failures = self.counts.get(FAILURE, 0)
        number = Counter(counts)
        reach = Reach(
            number["hidden"],
            number["records"],
            rest={
                "are not hidden": number["not-hidden"],
                "keep an equally heavy category": number["tied"],
                "have a tendency that is not covered": number["not-covered"],
                "hold a single item": number["single-item"],
                "have no tendency": number["uniform"] + number["empty"],
                "in all are published unchanged": number["published-unchanged"],
            },
        )
        return Verdict(status, guarantee, counts, self.counts, failures, tuple(self.witnesses), reach=reach)


def _corresponds(published: Transactions, original: Transactions, alignment: Alignment, cases: _Cases) -> bool:
    """Return whether rows and records correspond one to one and their ids agree; otherwise nothing can be compared."""
    rows = alignment.rows
    if len(rows) != published.records or published.records != original.records:
        cases.add(
            "rows-do-not-correspond",
            "the alignment",
            f"has {quantity(len(rows), 'row')}; the release has {published.records:,}, the original {original.records:,}",
        )
        return False
    if not _is_permutation(rows):
        hits = np.bincount(rows[(rows >= 0) & (rows < original.records)], minlength=original.records)
        wrong = np.flatnonzero(hits != 1)
        for record in wrong[:MOST_WITNESSES]:
            place, detail = (
                f"original record {record + 1:,}",
                f"has {quantity(int(hits[record]), 'released row')}; expected 1",
            )
            cases.add("rows-do-not-correspond", place, detail)
        cases.counts["rows-do-not-correspond"] = len(wrong)
        return False
    pairs = [("published", published.ids is not None, lambda part: published.ids[part], alignment.published_ids)]
    if alignment.original_ids is not None:
        pairs.append(("original", True, lambda part: original.names_of(rows[part]), alignment.original_ids))
    for which, has_ids, ids_of, in_alignment in pairs:
        if has_ids != (in_alignment is not None):
            cases.add(
                "names-do-not-agree", f"the {which} ids", "are either in the data or in the alignment, but not in both"
            )
        elif has_ids:
            wrong = _differing(ids_of, in_alignment)
            cases.add_rows(
                "names-do-not-agree", wrong, ((f"its {which} id is not the one in the alignment", ()) for _ in wrong)
            )
    return not cases.counts


def _is_permutation(rows: NDArray[np.int64]) -> bool:
    """Return whether each number from 0 to the length is there once."""
    seen = np.zeros(len(rows), dtype=bool)
    for first in range(0, len(rows), BLOCK):
        some = rows[first : first + BLOCK]
        if some.min() < 0 or some.max() >= len(rows):
            return False
        seen[some] = True
    return bool(seen.all())


def _differing(ids_of: Callable[[slice], Any], others: Any) -> NDArray[np.int64]:
    """Return the places at which ids differ; a missing id counts as a difference."""
    found = [np.empty(0, np.int64)]
    for first in range(0, len(others), BLOCK):
        ids = ids_of(slice(first, first + BLOCK))
        differs = pc.fill_null(pc.not_equal(ids, others[first : first + BLOCK].cast(ids.type)), fill_value=True)
        found.append(first + np.flatnonzero(differs.to_numpy(zero_copy_only=False)))
    return np.concatenate(found)


class _Compared(NamedTuple):
    """What is the same for all parts of the data that are compared."""

    guarantee: HiddenTendency
    vocabulary: tuple[str, ...]
    published_vocabulary: tuple[str, ...]
    category: NDArray[np.int32]
    """The category of each item of the original."""
    names: tuple[str, ...]


def _in_parts(
    compared: _Compared, published: Transactions, original: Transactions, rows: NDArray[np.int64], cases: _Cases
) -> dict[str, int]:
    """Compare blocks of records with their rows; return the counts, and add what was found to the cases."""
    engine = current_engine()
    borders = engine.borders(original.records)
    read = partial(_records_then_rows, published, original, rows, borders)
    both = engine.blocks(read, np.tile(np.diff(borders), 2))
    size = min(engine.block_records, PART_RECORDS)
    parts = both.regroup("gathering the rows of records", partial(_part_of, size), -(-original.records // size))
    made = parts.map("comparing rows with records", partial(_compare_part, compared))
    counts, found = Counter[str](), list[_Cases]()
    for part in made:
        one = json.loads(part.column(FOUND)[0].as_py())
        counts.update(one["counts"])
        witnesses = [Witness(**{**witness, "items": tuple(witness["items"])}) for witness in one["witnesses"]]
        found.append(_Cases(one["violations"], witnesses))
    for kind in (FAILURE, TAKEN):
        cases.add_parts(kind, found)
    return dict(counts)


def _records_then_rows(
    published: Transactions, original: Transactions, rows: NDArray[np.int64], borders: NDArray[np.int64], key: BlockKey
) -> Any:
    """Return a block of original records, or after all of these a block of released rows."""
    is_of_rows, number = divmod(key.number, len(borders) - 1)
    first, last = borders[number : number + 2]
    numbers = np.arange(first, last)
    if is_of_rows:
        return as_block(published, first, last, **{RECORD: rows[first:last], ROW: numbers})
    return as_block(original, first, last, **{RECORD: numbers, ROW: np.full(last - first, NO_ROW)})


def _part_of(size: int, block: Any, _key: BlockKey) -> NDArray[np.int64]:
    part: NDArray[np.int64] = block.column(RECORD).to_numpy() // size
    return part


def _compare_part(compared: _Compared, block: Any, _key: BlockKey) -> Any:
    """Compare original records with their released rows, which follow them in a block."""
    record, row = block.column(RECORD).to_numpy(), block.column(ROW).to_numpy()
    records = int(np.count_nonzero(row == NO_ROW))
    original = as_records(block.slice(0, records), compared.vocabulary)
    published = as_records(block.slice(records), compared.published_vocabulary)
    cases = _Cases()
    counts = _Rows(compared, published, original, record[records:] - record[0], row[records:]).compare(cases)
    found = {"counts": counts, "violations": cases.counts, "witnesses": [asdict(one) for one in cases.witnesses]}
    return pa.record_batch({FOUND: [json.dumps(found)]})


@dataclass(frozen=True, eq=False)
class _Rows:
    """Released rows, and the records that they came from."""

    compared: _Compared
    published: Transactions
    original: Transactions
    record: NDArray[np.int64]
    """The record that each row came from."""
    number: NDArray[np.int64]
    """The number of each row in the release."""

    def compare(self, cases: _Cases) -> dict[str, int]:
        """Add the records that are not hidden and those that lost too much, and return the counts."""
        due = self.compared.guarantee.due(self.before.kind)
        hide_all = self.compared.guarantee.ties == "all"
        left = _find_left(self, due, cases, hide_all=hide_all)
        _find_taken(self, due & (self.before.kind == Kind.PARTIAL), cases, hide_all=hide_all)
        return _counted(self, due, left)

    @cached_property
    def before(self) -> Tendencies:
        """The tendencies of the records."""
        return tendencies(self.original, self.compared.category, len(self.compared.names))

    @cached_property
    def of_record(self) -> NDArray[np.int64]:
        """The row of each record."""
        found = np.empty(len(self.record), dtype=np.int64)
        found[self.record] = np.arange(len(self.record))
        return found

    @cached_property
    def code(self) -> NDArray[np.int32]:
        """The original code of each released label, -1 if the original does not have it."""
        codes = [self.original.code_of.get(label, -1) for label in self.published.vocabulary]
        return np.array(codes, dtype=np.int32)

    @cached_property
    def released(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """For each released occurrence of an original item: the number of its original record, and the original code of the item."""
        record = np.repeat(self.record, self.published.lengths)
        code = self.code[self.published.items]
        if len(self.code) and self.code.min() >= 0:
            return record, code
        known = code >= 0
        return record[known], code[known]

    @cached_property
    def gone(self) -> NDArray[np.int64]:
        """The positions in the items of the original that are missing in the released row of their record."""
        offsets, items, width = self.original.offsets, self.original.items, max(len(self.original.vocabulary), 1)
        found = [np.empty(0, np.int64)]
        for first, last in record_ranges(offsets, BLOCK, BLOCK):
            start, end = offsets[first], offsets[last]
            wanted = owner_of(offsets[first : last + 1] - start)
            wanted *= width
            wanted += items[start:end]
            found.append(start + np.flatnonzero(~among(wanted, self._held(first, last, width))))
        return np.concatenate(found)

    def _held(self, first: int, last: int, width: int) -> NDArray[np.int64]:
        """Return what the released rows of these records hold, as sorted keys: number of the record times `width`, plus original code."""
        offsets, places = picked(self.published.offsets, self.of_record[first:last])
        code = self.code[self.published.items[places]]
        keys = owner_of(offsets)
        keys *= width
        keys += code
        keys = keys[code >= 0]
        keys.sort()
        return keys

    def unchanged(self) -> int:
        """Return the number of rows that hold exactly the items of their record."""
        same = self.published.lengths[self.of_record] == self.original.lengths
        same[owner_of(self.original.offsets)[self.gone]] = False
        return int(np.count_nonzero(same))


def _hidden_category(
    rows: _Rows, record: NDArray[np.int64], code: NDArray[Any], *, hide_all: bool
) -> NDArray[np.bool_]:
    """Return for each item whether its category must be hidden in its record."""
    cat = rows.compared.category[code]
    return rows.before.among_heaviest(record, cat) if hide_all else cat == rows.before.top[record]


def _find_left(rows: _Rows, due: NDArray[np.bool_], cases: _Cases, *, hide_all: bool) -> NDArray[np.bool_]:
    """Add the records that still hold an item of a category that must be hidden, and return which these are."""
    record, code = rows.released
    left = due[record] & _hidden_category(rows, record, code, hide_all=hide_all)
    record, code = record[left], code[left]
    left_records = distinct(record)

    def detail(one: int) -> tuple[str, tuple[str, ...]]:
        some = code[record == one][:5]
        items = tuple(rows.original.vocabulary[c] for c in some)
        leans_to = " and ".join(repr(rows.compared.names[g]) for g in distinct(rows.compared.category[some]))
        return f"still holds {', '.join(map(repr, items))} of {leans_to}, which the record leans to", items

    numbers = rows.number[rows.of_record[left_records]]
    cases.add_rows(FAILURE, numbers, (detail(one) for one in left_records))
    found = np.zeros(len(due), dtype=bool)
    found[left_records] = True
    return found


def _find_taken(rows: _Rows, partial: NDArray[np.bool_], cases: _Cases, *, hide_all: bool) -> None:
    """Add the records that lost an item of a category that need not be hidden."""
    record = owner_of(rows.original.offsets)[rows.gone]
    code = rows.original.items[rows.gone]
    taken = partial[record] & ~_hidden_category(rows, record, code, hide_all=hide_all)
    record, code = record[taken], code[taken]
    taken_records = distinct(record)

    def detail(one: int) -> tuple[str, tuple[str, ...]]:
        items = tuple(rows.original.vocabulary[c] for c in code[record == one][:5])
        return f"lost {', '.join(map(repr, items))}, outside the categories that must be hidden", items

    cases.add_rows(TAKEN, rows.number[rows.of_record[taken_records]], (detail(one) for one in taken_records))


def _counted(rows: _Rows, due: NDArray[np.bool_], left: NDArray[np.bool_]) -> dict[str, int]:
    """Return the counts; each record is in exactly one of those from `hidden` to `empty` (docs/guarantees.md)."""
    kind = rows.before.kind
    record, code = rows.released
    heavy = np.zeros(len(due), dtype=bool)
    heavy[record[rows.before.among_heaviest(record, rows.compared.category[code])]] = True
    of_one_kind = {
        "hidden": due & ~left & ~heavy,
        "tied": due & ~left & heavy,
        "not-hidden": left,
        "not-covered": ~due & np.isin(kind, (Kind.PARTIAL, Kind.FULL)),
        "single-item": ~due & (kind == Kind.SINGLE),
        "uniform": kind == Kind.UNIFORM,
        "empty": kind == Kind.EMPTY,
    }
    return {
        "records": len(due),
        "to-hide": int(np.count_nonzero(due)),
        **{name: int(np.count_nonzero(which)) for name, which in of_one_kind.items()},
        "published-unchanged": rows.unchanged(),
    }
