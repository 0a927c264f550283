"""Grouped data: rows without their sensitive items, in groups, and for each group how often each sensitive item occurs in it.

Which row of a group holds which sensitive item is not told. Rows show all other items as they were.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.data.files.side_files import shown
from setveil.data.records.labels import Vocabulary, are_in_order, are_texts, as_arrow, label_order
from setveil.data.records.ragged import (
    offsets_of,
    order_of_sequences,
    owner_of,
    picked,
    rises_within_records,
    runs,
    sealed,
    starts_of,
)
from setveil.data.records.transactions import Transactions, whole_numbers
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Unit


@dataclass(frozen=True, eq=False, repr=False)
class Grouped:
    """Groups of rows, each with a multiset of sensitive items. Made with `from_groups` or by a method, or read from a file.

    >>> Grouped.from_groups([([["milk"], ["tea", "milk"]], {"wine": 1})])
    Grouped(1 group, 2 rows, 3 items, 4 occurrences)
    """

    form_in_words: ClassVar[str] = "grouped data"

    rows: Transactions
    """The items of each row that are not sensitive; the rows of a group stand together."""
    group_starts: NDArray[np.int64]
    """Group g is the rows from `group_starts[g]` to before `group_starts[g + 1]`; none is empty."""
    sensitive_starts: NDArray[np.int64]
    """The sensitive items of group g are at the places from `sensitive_starts[g]` to before `sensitive_starts[g + 1]`."""
    sensitive_codes: NDArray[np.int32]
    """Codes into `sensitive_vocabulary`; they rise within a group, each once."""
    sensitive_counts: NDArray[np.int64]
    """In how many rows of the group the item at the same place is."""
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
            raise BadData("rows of grouped data carry no ids")
        self._check_groups()
        self._check_sensitive()

    def _check_groups(self) -> None:
        starts = self.group_starts
        if not len(starts) or starts[0] != 0 or starts[-1] != self.rows.records:
            raise BadData("groups must start at row 0 and end at the number of rows")
        if np.any(starts[1:] <= starts[:-1]):
            raise BadData("a group must have at least one row, and each row stands in one group")

    def _check_sensitive(self) -> None:
        starts, codes, counts = self.sensitive_starts, self.sensitive_codes, self.sensitive_counts
        if len(starts) != len(self.group_starts) or starts[0] != 0 or np.any(starts[1:] < starts[:-1]):
            raise BadData("the sensitive items must be told for every group, in the order of the groups")
        if starts[-1] != len(codes) or len(counts) != len(codes):
            raise BadData("every sensitive item of a group needs one code and one count")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(self.sensitive_vocabulary):
            raise BadData("the code of a sensitive item lies outside the vocabulary")
        if not rises_within_records(starts, codes):
            raise BadData("the sensitive items of a group must rise, each once")
        wrong = np.flatnonzero((counts < 1) | (counts > self.group_sizes[self.group_of_sensitive]))
        if len(wrong):
            group = int(self.group_of_sensitive[wrong[0]])
            label = shown(self.sensitive_vocabulary[codes[wrong[0]]])
            size = int(self.group_sizes[group])
            raise BadData(
                f"group {group + 1:,} of {size:,} rows holds the sensitive item {label} {int(counts[wrong[0]]):,} times; "
                "allowed is from 1 to once a row"
            )

    # -- making ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def from_groups(
        cls, groups: Iterable[tuple[Iterable[Iterable[str]], Mapping[str, int]]], *, unit: Unit = "record"
    ) -> Grouped:
        """Make grouped data from Python: each group is its rows and how often each sensitive item occurs in it."""
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
        """Make grouped data from codes into labels in any order; labels that no group holds are left out."""
        if not are_texts(labels):
            raise BadData("the labels of sensitive items must be texts that can be written as UTF-8")
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
        """Part the sensitive items of records from the others; `group` tells the group of each record, and groups rise from 0 on."""
        hidden = is_sensitive[data.items]
        rows = data.keeping(~hidden).with_ids(None).compacted()
        groups = int(group[-1]) + 1 if len(group) else 0
        width = max(len(data.vocabulary), 1)
        keys, counts = np.unique(group[owner_of(data.offsets)[hidden]] * width + data.items[hidden], return_counts=True)
        starts, sensitive_starts = starts_of(group, groups), starts_of(keys // width, groups)
        return cls.of_any_order(rows, starts, sensitive_starts, keys % width, counts, data.vocabulary)

    # -- looking --------------------------------------------------------------------------------------------------------------

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.group_starts) - 1

    @property
    def records(self) -> int:
        """The number of rows in all groups together."""
        return self.rows.records

    @property
    def unit(self) -> Unit:
        """Whether a row is a person or one record of several."""
        return self.rows.unit

    @property
    def occurrences(self) -> int:
        """The number of items in all rows and groups together, sensitive ones as often as they occur."""
        return self.rows.occurrences + int(self.sensitive_counts.sum())

    @property
    def empty_records(self) -> int:
        """The number of rows without an item that is not sensitive: which of them hold a sensitive one is not told."""
        return self.rows.empty_records

    @cached_property
    def group_sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return sealed(np.diff(self.group_starts), np.int64)

    @cached_property
    def group_of_sensitive(self) -> NDArray[np.int64]:
        """For each place of a sensitive item the number of its group."""
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
        """In how many records each item of `vocabulary` is."""
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
        """How often each item of `sensitive_vocabulary` occurs in all groups together."""
        found = np.zeros(len(self.sensitive_vocabulary), dtype=np.int64)
        np.add.at(found, self.sensitive_codes, self.sensitive_counts)
        return sealed(found, np.int64)

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

    __hash__ = None  # type: ignore[assignment]  # arrays of any size: not meant for dictionaries

    def __repr__(self) -> str:
        groups = f"{self.groups:,} group{'s' * (self.groups != 1)}"
        return f"Grouped({groups}, {self.records:,} rows, {len(self.vocabulary):,} items, {self.occurrences:,} occurrences)"

    def to_groups(self) -> list[tuple[list[list[str]], dict[str, int]]]:
        """Return the groups as `from_groups` takes them."""
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

    def with_unit(self, unit: Unit) -> Grouped:
        """Return the same groups, their rows said to be one a person (`person`) or not (`record`)."""
        rows = self.rows.with_unit(unit)
        return self if rows is self.rows else replace(self, rows=rows)

    def arranged(self) -> tuple[Grouped, NDArray[np.int64]]:
        """Return the same groups in an order that tells nothing, and for each row the number of the row that it was.

        Rows of a group stand in the order of their content, and groups in the order of theirs: rows first, then sensitive items.
        """
        compact = self._compacted()
        content = compact.rows.distinct()[2]
        within = np.lexsort((content, owner_of(self.group_starts)))  # groups stay where they are
        order = compact._group_order(content[within])  # noqa: SLF001 - of the same class
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
        """Return the same groups with vocabularies that hold only items that occur."""
        return Grouped.of_any_order(
            self.rows.compacted(),
            self.group_starts,
            self.sensitive_starts,
            self.sensitive_codes,
            self.sensitive_counts,
            self.sensitive_vocabulary,
        )

    def _group_order(self, content: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the groups by what they hold; `content` tells for each row of each group, in its order, which content it has."""
        # A word a row, a zero, two words a sensitive item.
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
