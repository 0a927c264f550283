"""Grouped data: groups of rows without their sensitive items, and for each group the count of each sensitive item.

The data do not show which row of a group holds which sensitive item. Rows show all other items unchanged.

The file format is JSON Lines with one line per group: `{"rows": [["a", "b"], ["c"]], "sensitive": {"s": 1}}`.
"""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES, Witness
from setveil.data.files.coded_labels import CodedLabels, as_array
from setveil.data.files.json_lines import Whole, item_text, json_type_name, json_value, lines_of
from setveil.data.files.packing import writing
from setveil.data.files.side_files import first_unusable, shown
from setveil.data.forms.base import Published
from setveil.data.forms.comparing import NOT_TRUTHFUL, Untrue, codes_in, spans_of_items, untrue_rows
from setveil.data.forms.own_format import OwnFormat
from setveil.data.forms.sightings import Sightings, united
from setveil.data.forms.views import Part, View, items_of, places_of_records, views_of_rows
from setveil.data.records.alignment import Alignment
from setveil.data.records.labels import BLANKS, Vocabulary, are_in_order, are_texts, as_arrow, label_order
from setveil.data.records.ragged import (
    among,
    distinct,
    offsets_of,
    order_of_sequences,
    owner_of,
    picked,
    places_of,
    rises_within_records,
    runs,
    sealed,
    starts_of,
)
from setveil.data.records.transactions import Transactions, whole_numbers
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from setveil.data.formats import Layout
    from setveil.data.forms.base import Naming
    from setveil.data.forms.comparing import Aligned
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.forms.pair_supports import PairSupports
    from setveil.data.records.transactions import Unit

_EXPECTED = '{"rows": [["milk", "tea"], ["milk"]], "sensitive": {"wine": 1}}'
_FIELDS = {"rows", "sensitive"}
_MOST_DIGITS = 18
_WRITTEN_GROUPS = 1 << 14


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(Published):
    """Grouped data: groups of rows without sensitive items, and the count of each sensitive item in a group.

    The method `Permutation` makes them. Use `read_grouped` to read them from a file, or `Grouped.from_groups` for Python lists.

    Parameters
    ----------
    rows : Transactions
        The items of each row that are not sensitive; the rows of a group are contiguous.
    group_starts : array of int64
        Group g has the rows `group_starts[g]` to `group_starts[g + 1]` - 1; no group is empty.
    sensitive_starts : array of int64
        The sensitive items of group g are at `sensitive_starts[g]` to `sensitive_starts[g + 1]` - 1.
    sensitive_codes : array of int32
        Codes into `sensitive_vocabulary`, strictly increasing within a group.
    sensitive_counts : array of int64
        The number of rows of the group that hold the item at the same position.
    sensitive_vocabulary : tuple of str
        The labels of the sensitive items, in label order.

    Raises
    ------
    BadData
        If the arrays are inconsistent, or rows have ids.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.Grouped.from_groups([([["milk"], ["tea", "milk"]], {"wine": 1})])
    Grouped(1 group, 2 rows, 3 items, 4 occurrences)
    """

    form_name: ClassVar[str] = "grouped"
    form_title: ClassVar[str] = "grouped data"
    about_form: ClassVar[str] = (
        "Rows are in groups and show only items that are not sensitive. Each group shows how often each sensitive item occurs in it, but "
        "not in which rows."
    )
    why_nameless: ClassVar[str] = "rows of grouped data have no ids, because a row is not a whole record"
    counts_rows: ClassVar[bool] = True
    less_exactly: ClassVar[str] = "counted for a group of records only"

    rows: Transactions
    group_starts: NDArray[np.int64]
    sensitive_starts: NDArray[np.int64]
    sensitive_codes: NDArray[np.int32]
    sensitive_counts: NDArray[np.int64]
    sensitive_vocabulary: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, dtype in (
            ("group_starts", np.int64),
            ("sensitive_starts", np.int64),
            ("sensitive_codes", np.int32),
            ("sensitive_counts", np.int64),
        ):
            what = name.replace("_", " ")
            object.__setattr__(self, name, sealed(whole_numbers(getattr(self, name), dtype, what), dtype))
        if not isinstance(self.sensitive_vocabulary, Vocabulary):
            labels = tuple(self.sensitive_vocabulary)
            if not are_texts(labels) or not are_in_order(labels):
                raise BadData("the labels of sensitive items must be distinct texts in label order")
            object.__setattr__(self, "sensitive_vocabulary", Vocabulary(labels))
        if self.rows.ids is not None:
            raise BadData("rows of grouped data have no ids; drop the ids")
        self._check_groups()
        self._check_sensitive()

    def _check_groups(self) -> None:
        starts = self.group_starts
        if not len(starts) or starts[0] != 0 or starts[-1] != self.rows.records:
            raise BadData("groups must start at row 0 and end at the number of rows")
        if np.any(starts[1:] <= starts[:-1]):
            raise BadData("every group must have at least one row, and every row must be in one group")

    def _check_sensitive(self) -> None:
        starts, codes, counts = self.sensitive_starts, self.sensitive_codes, self.sensitive_counts
        if len(starts) != len(self.group_starts) or starts[0] != 0 or np.any(starts[1:] < starts[:-1]):
            raise BadData("every group must have its sensitive items, in the order of the groups")
        if starts[-1] != len(codes) or len(counts) != len(codes):
            raise BadData("every sensitive item of a group needs one code and one count")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(self.sensitive_vocabulary):
            raise BadData("the code of a sensitive item is outside the vocabulary")
        if not rises_within_records(starts, codes):
            raise BadData("the codes of the sensitive items of a group must be strictly increasing")
        wrong = np.flatnonzero((counts < 1) | (counts > self.group_sizes[self.group_of_sensitive]))
        if len(wrong):
            group = int(self.group_of_sensitive[wrong[0]])
            label = shown(self.sensitive_vocabulary[codes[wrong[0]]])
            size = int(self.group_sizes[group])
            raise BadData(
                f"group {group + 1:,} of {quantity(size, 'row')} counts the sensitive item {label} {int(counts[wrong[0]]):,} times; "
                f"allowed is 1 to {size:,}"
            )

    # -- creating -------------------------------------------------------------------------------------------------------------

    @classmethod
    def from_groups(
        cls, groups: Iterable[tuple[Iterable[Iterable[str]], Mapping[str, int]]], *, unit: Unit = "record"
    ) -> Grouped:
        """Make grouped data from Python lists.

        Parameters
        ----------
        groups : iterable of pairs
            For each group, its rows and a mapping from sensitive item to count.
        unit : {'person', 'record'}, default: 'record'
            Whether every row is one person.

        Returns
        -------
        Grouped
            The data.

        Raises
        ------
        BadData
            If a group has no row, an item is not text, or a count is not from 1 to the number of rows.
        """
        rows: list[Iterable[str]] = []
        starts, sensitive_starts = [0], [0]
        code_of: dict[str, int] = {}
        codes: list[int] = []
        counts: list[int] = []
        for lists, sensitive in groups:
            rows.extend(lists)
            starts.append(len(rows))
            for label, count in sensitive.items():
                if not isinstance(label, str) or isinstance(count, bool) or not isinstance(count, int | np.integer):
                    raise BadData("the sensitive items of a group must be texts, each with a whole number")
                codes.append(code_of.setdefault(label, len(code_of)))
                counts.append(int(count))
            sensitive_starts.append(len(codes))
        return cls.of_any_order(
            Transactions.from_lists(rows, unit=unit),
            np.array(starts),
            np.array(sensitive_starts),
            np.array(codes, dtype=np.int64),
            np.array(counts, dtype=np.int64),
            tuple(code_of),
        )

    @classmethod
    def of_any_order(
        cls,
        rows: Transactions,
        group_starts: NDArray[Any],
        sensitive_starts: NDArray[Any],
        codes: NDArray[Any],
        counts: NDArray[Any],
        labels: tuple[str, ...],
    ) -> Grouped:
        """Make grouped data from codes and labels in any order; drop labels that no group holds."""
        if not are_texts(labels):
            raise BadData("the labels of sensitive items must be texts that can be encoded as UTF-8")
        used = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
        kept = [labels[code] for code in used]
        order = label_order(kept)
        rank = np.zeros(len(labels), dtype=np.int32)
        rank[used[order]] = np.arange(len(used), dtype=np.int32)
        ranked = rank[codes]
        place = np.lexsort((ranked, owner_of(np.asarray(sensitive_starts, dtype=np.int64))))
        vocabulary = tuple(kept[at] for at in order)
        return cls(rows, group_starts, sensitive_starts, ranked[place], counts[place], vocabulary)

    @classmethod
    def of_records(cls, data: Transactions, is_sensitive: NDArray[np.bool_], group: NDArray[np.int64]) -> Grouped:
        """Make grouped data from records; `group` is the group of each record, in increasing order starting with 0."""
        hidden = is_sensitive[data.items]
        rows = data.keeping(~hidden).with_ids(None).compacted()
        groups = int(group[-1]) + 1 if len(group) else 0
        width = max(len(data.vocabulary), 1)
        keys, counts = np.unique(group[owner_of(data.offsets)[hidden]] * width + data.items[hidden], return_counts=True)
        starts, sensitive_starts = starts_of(group, groups), starts_of(keys // width, groups)
        return cls.of_any_order(rows, starts, sensitive_starts, keys % width, counts, data.vocabulary)

    # -- queries --------------------------------------------------------------------------------------------------------------

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.group_starts) - 1

    @property
    def records(self) -> int:
        """The number of rows in all groups together."""
        return self.rows.records

    @property
    def row_parts(self) -> Transactions:
        """The rows, without their sensitive items."""
        return self.rows

    @property
    def aligned_rows(self) -> Transactions:
        """The rows, without their sensitive items."""
        return self.rows

    @property
    def unit(self) -> Unit:
        """`person` if every person has exactly one row, `record` otherwise."""
        return self.rows.unit

    @property
    def occurrences(self) -> int:
        """The number of occurrences in all rows, and of sensitive items in all groups."""
        return self.rows.occurrences + int(self.sensitive_counts.sum())

    @property
    def empty_records(self) -> int:
        """The number of rows without items; the data do not show which of them hold a sensitive item."""
        return self.rows.empty_records

    @cached_property
    def group_sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return sealed(np.diff(self.group_starts), np.int64)

    @cached_property
    def group_of_sensitive(self) -> NDArray[np.int64]:
        """The group of each entry in `sensitive_codes`."""
        return sealed(owner_of(self.sensitive_starts), np.int64)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """All labels, of rows and of groups, in label order."""
        labels = tuple({*self.rows.vocabulary, *self.sensitive_vocabulary})
        return Vocabulary(labels[place] for place in label_order(labels))

    @cached_property
    def labels(self) -> Any:
        """The vocabulary as an Arrow column."""
        return as_arrow(self.vocabulary)

    @cached_property
    def supports(self) -> NDArray[np.int64]:
        """The number of records that hold each item of `vocabulary`."""
        code_of = {label: code for code, label in enumerate(self.vocabulary)}
        found = np.zeros(len(self.vocabulary), dtype=np.int64)
        for labels, numbers in (
            (self.rows.vocabulary, self.rows.supports),
            (self.sensitive_vocabulary, self.sensitive_supports),
        ):
            found[[code_of[label] for label in labels]] += numbers
        return sealed(found, np.int64)

    @cached_property
    def sensitive_supports(self) -> NDArray[np.int64]:
        """The number of records that hold each item of `sensitive_vocabulary`."""
        found = np.zeros(len(self.sensitive_vocabulary), dtype=np.int64)
        np.add.at(found, self.sensitive_codes, self.sensitive_counts)
        return sealed(found, np.int64)

    def pair_supports(self, labels: Sequence[str]) -> PairSupports:
        """Return the expected numbers if each sensitive item of a group is in random rows of it, independently of the others."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        from setveil.data.forms.pair_supports import (  # noqa: PLC0415 - imports SciPy
            Linked,
            PairSupports,
            as_table,
            count_pairs,
            sums_of_rows,
            with_diagonal,
        )

        rows, group = as_table(self.rows, labels), owner_of(self.group_starts)
        column = {label: number for number, label in enumerate(labels)}
        columns = np.array([column.get(label, -1) for label in self.sensitive_vocabulary], np.int64)
        known = np.flatnonzero(columns[self.sensitive_codes] >= 0) if len(columns) else np.empty(0, np.int64)
        cells = self.group_of_sensitive[known], columns[self.sensitive_codes[known]] if len(columns) else known
        shape = self.groups, len(labels)
        single = csr_array((self.sensitive_counts[known].astype(np.float64), cells), shape=shape)
        linked = Linked(self.group_sizes, sums_of_rows(rows, group, self.groups), np.arange(self.groups), single)
        items = rows.sum(axis=0) + single.sum(axis=0)
        return PairSupports(with_diagonal(count_pairs(rows) + linked.between_parts(), items), self.records)

    def __len__(self) -> int:
        return self.records

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grouped):
            return NotImplemented
        arrays = ("group_starts", "sensitive_starts", "sensitive_codes", "sensitive_counts")
        return (
            self.rows == other.rows
            and self.sensitive_vocabulary == other.sensitive_vocabulary
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)
        )

    __hash__ = None  # type: ignore[assignment]  # too large for dictionary keys

    def __repr__(self) -> str:
        groups = quantity(self.groups, "group")
        return f"Grouped({groups}, {self.records:,} rows, {len(self.vocabulary):,} items, {self.occurrences:,} occurrences)"

    def to_groups(self) -> list[tuple[list[list[str]], dict[str, int]]]:
        """Return the groups in the form that `from_groups` accepts."""
        lists = self.rows.to_lists()
        names = [self.sensitive_vocabulary[code] for code in self.sensitive_codes]
        counts = self.sensitive_counts.tolist()
        rows, places = self.group_starts.tolist(), self.sensitive_starts.tolist()
        return [
            (
                lists[rows[g] : rows[g + 1]],
                dict(zip(names[places[g] : places[g + 1]], counts[places[g] : places[g + 1]], strict=True)),
            )
            for g in range(self.groups)
        ]

    # -- deriving -------------------------------------------------------------------------------------------------------------

    def with_unit(self, unit: Unit) -> Self:
        """Return the same groups with another unit."""
        rows = self.rows.with_unit(unit)
        return self if rows is self.rows else replace(self, rows=rows)

    def arranged(self) -> tuple[Grouped, NDArray[np.int64]]:
        """Return the same groups in an order that reveals nothing, and the former number of each row.

        Rows of a group are sorted by content, and groups by their rows, then by their sensitive items.
        """
        compact = self._compacted()
        content = compact.rows.distinct()[2]
        within = np.lexsort((content, owner_of(self.group_starts)))  # groups keep their positions
        order = compact._group_order(content[within])  # noqa: SLF001 - same class
        starts, places = picked(self.group_starts, order)
        rows = within[places]
        sensitive_starts, places = picked(self.sensitive_starts, order)
        made = Grouped(
            compact.rows.take(rows),
            starts,
            sensitive_starts,
            compact.sensitive_codes[places],
            compact.sensitive_counts[places],
            compact.sensitive_vocabulary,
        )
        return made, rows

    def _compacted(self) -> Grouped:
        """Return the same groups with vocabularies of occurring items only."""
        return Grouped.of_any_order(
            self.rows.compacted(),
            self.group_starts,
            self.sensitive_starts,
            self.sensitive_codes,
            self.sensitive_counts,
            self.sensitive_vocabulary,
        )

    def _group_order(self, content: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the group numbers sorted by content; `content` is the content number of each row, sorted within groups."""
        # One word per row, a zero, two words per sensitive item.
        numbers = np.diff(self.sensitive_starts)
        lengths = self.group_sizes + 1 + 2 * numbers
        starts = offsets_of(lengths)
        words = np.zeros(starts[-1], dtype=np.int64)
        words[runs(starts[:-1], self.group_sizes)] = content + 1
        first = np.repeat(starts[:-1] + self.group_sizes + 1 - 2 * self.sensitive_starts[:-1], numbers)
        places = first + 2 * np.arange(len(self.sensitive_codes))
        words[places] = self.sensitive_codes
        words[places + 1] = self.sensitive_counts
        return order_of_sequences(starts, words)

    # -- releasing ------------------------------------------------------------------------------------------------------------

    def arrange(self, rows: NDArray[np.int64], naming: Naming) -> tuple[Grouped, Alignment]:
        """Sort rows within groups, and groups, by content."""
        del naming
        published, order = self.arranged()
        return published, Alignment(rows[order])

    @classmethod
    def formats(cls) -> Mapping[str, DataFormat]:
        """Return the only format of grouped data."""
        return {GroupedLines.name: GroupedLines()}

    # -- comparing ------------------------------------------------------------------------------------------------------------

    def shown_of(self, original: Published, alignment: Alignment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often each item is in rows, and how often groups count it."""
        del alignment
        in_rows = original.in_own_order(self.rows.vocabulary, self.rows.supports)
        return in_rows, original.in_own_order(self.sensitive_vocabulary, self.sensitive_supports)

    def views(self, original: Transactions, alignment: Alignment, records: Sequence[int]) -> Iterable[View]:
        """Return the row of each record, and the sensitive items that its group counts."""
        places = places_of_records(alignment, records)
        for view, (record, rows) in zip(views_of_rows(self.rows, original, places), places.items(), strict=True):
            parts, removed = list(view.parts), set(view.removed)
            for group in sorted({int(np.searchsorted(self.group_starts, row, side="right")) - 1 for row in rows}):
                codes = self.sensitive_codes[self.sensitive_starts[group] : self.sensitive_starts[group + 1]].tolist()
                counted = [self.sensitive_vocabulary[code] for code in codes]
                own = tuple((item, "listed") for item in items_of(original, record) if item in counted)
                where = f"counts of the group, {quantity(int(self.group_sizes[group]), 'row')}"
                parts.append(Part(where, own, len(counted) - len(own)))  # type: ignore[arg-type]  # the texts of `How`
                removed -= set(counted)
            yield View(tuple(parts), tuple(item for item in view.removed if item in removed))

    def sightings(self, items: Sequence[str]) -> Sightings:
        """Return the rows that hold each item, and all rows of the groups that count it."""
        shown = Sightings.in_rows(self.rows, ((item,) for item in items))
        number = {label: code for code, label in enumerate(self.sensitive_vocabulary)}
        starts, entries = places_of(self.sensitive_codes.astype(np.int64), len(self.sensitive_vocabulary))
        lists = list(shown.lists)
        for place, item in enumerate(items):
            if item in number:
                groups = self.group_of_sensitive[entries[starts[number[item]] : starts[number[item] + 1]]]
                lists[place] = united([lists[place], runs(self.group_starts[groups], self.group_sizes[groups])])
        return shown._replace(lists=lists)

    def find_untrue(self, aligned: Aligned, *, whole: bool) -> Untrue:
        """Return rows that are not part of their records, and groups whose counts of sensitive items are wrong."""
        found = untrue_rows(self.rows, aligned, spans_of_items(self.rows, aligned.original), whole=False)
        width = max(len(aligned.original.vocabulary), 1)
        group_of_row = owner_of(self.group_starts)
        row, item = aligned.occurrences()
        held = np.sort(group_of_row[row] * width + item)
        code = codes_in(as_arrow(self.sensitive_vocabulary), aligned.original)[self.sensitive_codes]
        counted = self.group_of_sensitive * width + code
        times = np.searchsorted(held, counted, side="right") - np.searchsorted(held, counted)
        times[code < 0] = 0

        def of_group(number: int, detail: str, items: tuple[str, ...] = ()) -> Witness:
            return Witness(NOT_TRUTHFUL, f"group {number + 1:,}", detail, None, items, number)

        def witness(place: int) -> Witness:
            label = self.sensitive_vocabulary[self.sensitive_codes[place]]
            detail = f"it counts {int(self.sensitive_counts[place]):,} of {shown(label)}, and {int(times[place]):,} of its records hold it"
            return of_group(int(self.group_of_sensitive[place]), detail, (label,))

        wrong = np.flatnonzero(times != self.sensitive_counts)
        found += Untrue(len(wrong), tuple(map(witness, wrong[:MOST_WITNESSES].tolist())))
        if not whole or found.cases:
            return found
        # Rows are parts of their records and counts are right: a group shows all items of its records, or omits some.
        shown_code = codes_in(self.rows.labels, aligned.original)[self.rows.items]
        shown_in = group_of_row[owner_of(self.rows.offsets)]
        only_shown = shown_in[~among(shown_in * width + shown_code, distinct(counted))]
        said = np.bincount(only_shown, minlength=self.groups)
        np.add.at(said, self.group_of_sensitive, self.sensitive_counts)
        missing = np.bincount(group_of_row[row], minlength=self.groups) - said
        short = np.flatnonzero(missing)
        details = (
            of_group(g, f"it omits {quantity(int(missing[g]), 'item')} of its records") for g in short[:MOST_WITNESSES]
        )
        return Untrue(len(short), tuple(details))


# -- files --------------------------------------------------------------------------------------------------------------------


class GroupedLines(OwnFormat):
    """The only format of grouped data."""

    name: ClassVar[str] = "grouped"
    summary: ClassVar[str] = "JSON Lines with one line per group: its rows, and the count of each sensitive item"
    extensions: ClassVar[tuple[str, ...]] = (".jsonl",)

    def read(self, path: Path, layout: Layout) -> Grouped:
        """Read a file, or raise `BadData` that says what is wrong and where."""
        del layout
        return read_grouped(path)

    def as_table(self, extension: str, layout: Layout) -> Mapping[str, Any]:
        """Return the rows and the counts of a group."""
        del extension, layout
        return {"schema": {"fields": [{"name": "rows", "type": "array"}, {"name": "sensitive", "type": "object"}]}}

    def write(self, data: Grouped, path: Path, layout: Layout) -> None:
        """Write a file, compressed if its name ends in .gz or .zst."""
        del layout
        write_grouped(data, path)


@check_arguments
def read_grouped(source: str | Path) -> Grouped:
    """Read grouped data from a JSON Lines file with one group per line.

    Parameters
    ----------
    source : str or Path
        The file, also compressed (`.gz`, `.zst`). Groups, rows and items may be in any order.

    Returns
    -------
    Grouped
        The data.

    Raises
    ------
    BadData
        If the file is missing, empty or invalid; the message names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import setveil as sv
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.jsonl"
    >>> _ = path.write_text('{"rows": [["milk", "tea"], ["milk"]], "sensitive": {"wine": 1}}')
    >>> sv.read_grouped(path)
    Grouped(1 group, 2 rows, 3 items, 4 occurrences)
    """
    path = Path(source)
    reading = _Reading()
    number = 0
    for line in lines_of(path):
        number += 1
        try:
            reading.add(json_value(line))
        except ValueError as error:
            raise BadData(str(error), file=str(path), line=number) from None
    if not number:
        raise BadData(f"is empty; expected one group per line, such as {_EXPECTED}", file=str(path))
    return reading.finish()


class _Reading:
    """Collects the groups of a file."""

    def __init__(self) -> None:
        self.items = CodedLabels()
        self.offsets = array("q", [0])
        self.group_starts = array("q", [0])
        self.sensitive = CodedLabels()
        self.sensitive_starts = array("q", [0])
        self.counts = array("q")

    def add(self, group: Any) -> None:
        """Add a group, or raise `ValueError` if it is invalid."""
        if not isinstance(group, dict):
            raise ValueError(f"is {json_type_name(group)}; expected a group such as {_EXPECTED}")  # noqa: TRY004 - an error in the data
        if group.keys() != _FIELDS:
            other = sorted(group.keys() - _FIELDS)
            problem = f"has the field {shown(other[0])}" if other else f"has no field {min(_FIELDS - group.keys())!r}"
            raise ValueError(f"{problem}; a group has the fields 'rows' and 'sensitive' and no others")
        rows, sensitive = group["rows"], group["sensitive"]
        if not isinstance(rows, list) or not rows:
            what = json_type_name(rows) if not isinstance(rows, list) else "an empty list"
            raise ValueError(f"the field 'rows' is {what}; expected at least one list of items")
        if not isinstance(sensitive, dict):
            what = json_type_name(sensitive)
            raise ValueError(f"the field 'sensitive' is {what}; expected an object of items and counts")  # noqa: TRY004 - an error in the data
        for row in rows:
            self._add_row(row)
        self.group_starts.append(len(self.offsets) - 1)
        for label, count in sensitive.items():
            self._add_sensitive(label, count, len(rows))
        self.sensitive_starts.append(len(self.counts))

    def _add_row(self, row: Any) -> None:
        if not isinstance(row, list):
            raise ValueError(f"a row is {json_type_name(row)}; expected a list of items")  # noqa: TRY004 - an error in the data
        labels = [item_text(item).strip(BLANKS) for item in row]
        if len(set(labels)) < len(labels):
            twice = next(label for place, label in enumerate(labels) if label in labels[:place])
            raise ValueError(f"a row holds the item {shown(twice)} twice; expected each item once")
        for label in labels:
            self.items.add(label)
        self.offsets.append(len(self.items.codes))

    def _add_sensitive(self, label: str, count: Any, size: int) -> None:
        item = item_text(label).strip(BLANKS)
        if not isinstance(count, Whole):
            raise ValueError(f"the count of {shown(item)} is {json_type_name(count)}; expected a whole number")  # noqa: TRY004 - an error in the data
        if len(count) > _MOST_DIGITS or not 1 <= int(count) <= size:
            problem = f"the count of {shown(item)} is {count[:_MOST_DIGITS]}{'...' * (len(count) > _MOST_DIGITS)}"
            raise ValueError(f"{problem} in a group of {quantity(size, 'row')}; allowed is 1 to {size:,}")
        self.sensitive.add(item)
        self.counts.append(int(count))

    def finish(self) -> Grouped:
        """Return the data."""
        rows = Transactions.from_codes(as_array(self.offsets), as_array(self.items.codes), self.items.labels)
        return Grouped.of_any_order(
            rows,
            as_array(self.group_starts),
            as_array(self.sensitive_starts),
            as_array(self.sensitive.codes),
            as_array(self.counts),
            self.sensitive.labels,
        )


def write_grouped(data: Grouped, path: Path) -> None:
    """Write grouped data; equal data give equal bytes."""
    if not data.groups:
        raise OutputRefused("JSON Lines cannot hold grouped data without groups; add at least one group")
    if wrong := first_unusable(data.vocabulary):
        raise OutputRefused(f"an item cannot be written: {wrong}")
    with writing(path) as file:
        for block in _blocks(data):
            file.write(block)


def _blocks(data: Grouped) -> Iterator[bytes]:
    labels, sensitive = (
        np.array([json.dumps(label, ensure_ascii=False) for label in vocabulary] or [""], dtype=object)
        for vocabulary in (data.rows.vocabulary, data.sensitive_vocabulary)
    )
    for first in range(0, data.groups, _WRITTEN_GROUPS):
        last = min(first + _WRITTEN_GROUPS, data.groups)
        starts = data.group_starts[first : last + 1].tolist()
        offsets = data.rows.offsets[starts[0] : starts[-1] + 1].tolist()
        texts = labels[data.rows.items[offsets[0] : offsets[-1]]].tolist()
        rows = [f"[{', '.join(texts[a - offsets[0] : b - offsets[0]])}]" for a, b in pairwise(offsets)]
        places = data.sensitive_starts[first : last + 1].tolist()
        names = sensitive[data.sensitive_codes[places[0] : places[-1]]].tolist()
        counts = data.sensitive_counts[places[0] : places[-1]].tolist()
        held = [f"{name}: {count}" for name, count in zip(names, counts, strict=True)]
        lines = []
        for g in range(last - first):
            group = ", ".join(rows[starts[g] - starts[0] : starts[g + 1] - starts[0]])
            multiset = ", ".join(held[places[g] - places[0] : places[g + 1] - places[0]])
            lines.append(f'{{"rows": [{group}], "sensitive": {{{multiset}}}}}\n')
        yield "".join(lines).encode()
