"""Grouped data in a file: JSON Lines, a group a line, `{"rows": [["a", "b"], ["c"]], "sensitive": {"s": 1}}`."""

from __future__ import annotations

import json
from array import array
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.data.files.coded_labels import CodedLabels, as_array
from setveil.data.files.json_lines import Whole, item_text, json_value, kind_in_words, lines_of
from setveil.data.files.packing import writing
from setveil.data.files.side_files import first_unusable, shown
from setveil.data.grouped import Grouped
from setveil.data.own_format import OwnFormat
from setveil.data.records.labels import BLANKS
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.data.formats import Layout

_EXPECTED = '{"rows": [["milk", "tea"], ["milk"]], "sensitive": {"wine": 1}}'
_FIELDS = {"rows", "sensitive"}
_MOST_DIGITS = 18
_WRITTEN_GROUPS = 1 << 14


class GroupedLines(OwnFormat):
    """The one format of grouped data."""

    name: ClassVar[str] = "grouped"
    summary: ClassVar[str] = "JSON Lines, a line a group: its rows, and how often each sensitive item occurs in it"
    extensions: ClassVar[tuple[str, ...]] = (".jsonl",)

    def read(self, path: Path, layout: Layout) -> Grouped:
        """Read a file, or say in one sentence what is wrong with it and where."""
        del layout
        return read_grouped(path)

    def write(self, data: Grouped, path: Path, layout: Layout) -> None:
        """Write a file; packed if its name ends in .gz or .zst."""
        del layout
        write_grouped(data, path)


@check_arguments
def read_grouped(source: str | Path) -> Grouped:
    """Read grouped data; groups, rows and items may stand in any order."""
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
        raise BadData(f"is empty; expected a group a line, such as {_EXPECTED}", file=str(path))
    return reading.finish()


class _Reading:
    """What was read so far."""

    def __init__(self) -> None:
        self.items = CodedLabels()
        self.offsets = array("q", [0])
        self.group_starts = array("q", [0])
        self.sensitive = CodedLabels()
        self.sensitive_starts = array("q", [0])
        self.counts = array("q")

    def add(self, group: Any) -> None:
        """Take one group, or raise ValueError with what is wrong."""
        if not isinstance(group, dict):
            raise ValueError(f"is {kind_in_words(group)}; expected a group such as {_EXPECTED}")  # noqa: TRY004 - of the data
        if group.keys() != _FIELDS:
            other = sorted(group.keys() - _FIELDS)
            problem = (
                f"has the field {shown(other[0])}" if other else f"lacks the field {min(_FIELDS - group.keys())!r}"
            )
            raise ValueError(f"{problem}; a group has the fields 'rows' and 'sensitive' and no others")
        rows, sensitive = group["rows"], group["sensitive"]
        if not isinstance(rows, list) or not rows:
            what = kind_in_words(rows) if not isinstance(rows, list) else "an empty list"
            raise ValueError(f"the field 'rows' is {what}; expected at least one list of items")
        if not isinstance(sensitive, dict):
            what = kind_in_words(sensitive)
            raise ValueError(f"the field 'sensitive' is {what}; expected an object of items and counts")  # noqa: TRY004 - of the data
        for row in rows:
            self._add_row(row)
        self.group_starts.append(len(self.offsets) - 1)
        for label, count in sensitive.items():
            self._add_sensitive(label, count, len(rows))
        self.sensitive_starts.append(len(self.counts))

    def _add_row(self, row: Any) -> None:
        if not isinstance(row, list):
            raise ValueError(f"a row is {kind_in_words(row)}; expected a list of items")  # noqa: TRY004 - of the data
        labels = [item_text(item).strip(BLANKS) for item in row]
        if len(set(labels)) < len(labels):
            twice = next(label for place, label in enumerate(labels) if label in labels[:place])
            raise ValueError(f"a row names the item {shown(twice)} twice; each may stand once")
        for label in labels:
            self.items.add(label)
        self.offsets.append(len(self.items.codes))

    def _add_sensitive(self, label: str, count: Any, size: int) -> None:
        item = item_text(label).strip(BLANKS)
        if not isinstance(count, Whole):
            raise ValueError(f"the count of {shown(item)} is {kind_in_words(count)}; expected a whole number")  # noqa: TRY004 - of the data
        if len(count) > _MOST_DIGITS or not 1 <= int(count) <= size:
            problem = f"the count of {shown(item)} is {count[:_MOST_DIGITS]}{'...' * (len(count) > _MOST_DIGITS)}"
            raise ValueError(f"{problem} in a group of {size:,} rows; allowed is from 1 to once a row")
        self.sensitive.add(item)
        self.counts.append(int(count))

    def finish(self) -> Grouped:
        """Return what was read."""
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
    """Write grouped data; the same data give the same bytes."""
    if not data.groups:
        raise OutputRefused("JSON Lines cannot hold grouped data without groups")
    if wrong := first_unusable(data.vocabulary):
        raise OutputRefused(f"what no file can hold is an item: {wrong}")
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
