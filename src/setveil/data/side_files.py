"""Files that stand beside the data: tables with a header, sensitive items, itemsets.

All are UTF-8 text, with or without a byte order mark, packed or not. A name is what an item may be: not empty, no control characters in it.
What is wrong with one is said in a sentence that names the line; up to three labels may stand in it (docs/decisions/0009).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil import progress
from setveil.data.json_lines import JSON_KINDS, item_text, json_value
from setveil.data.labels import are_texts, label_order
from setveil.data.packing import plain_suffix, read_bytes
from setveil.data.texts import CONTROL, check_separator, in_words, not_utf8
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from setveil.data.transactions import Transactions

_BLANKS = " \t\r\v\f"
_CONTROL_BYTE = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_CONTROL = re.compile(CONTROL)
_SHOWN = 60
_JSON_LINES = (".jsonl", ".ndjson")
_JSON_EXAMPLE = '["milk", "bread"]'
# Comparing a word with a million labels takes longer than a person waits for an error.
_HINT_LABELS = 20_000


def shown(label: str) -> str:
    """Return a label as it stands in a sentence: in quotes, and cut if it is very long."""
    text = repr(label)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def unusable(label: str) -> str | None:
    """Say why no item or node can have this name, if so."""
    if not label:
        return "is empty"
    if _CONTROL.search(label):
        return "holds a control character"
    return None if are_texts([label]) else "holds half a character (a lone surrogate)"


def first_unusable(labels: Iterable[str]) -> str | None:
    """Say what is wrong with the first name that no item or node can have, if there is one."""
    given = list(labels)
    if (
        are_texts(given) and "" not in given and not _CONTROL.search("".join(given))
    ):  # a million at once, not one by one
        return None
    for label in given:
        if not isinstance(label, str):
            return f"a name is a {type(label).__name__}; expected a text"
        if wrong := unusable(label):
            return f"the name {shown(label)} {wrong}"
    return None


# -- tables ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A CSV file with a header that has the column `item` and at least one more; its rows can be gone through once."""

    file: str
    columns: list[str]
    rows: Iterator[tuple[int, list[str]]]
    """Each with the number of the line on which it starts, and with as many fields as there are columns."""

    @property
    def levels(self) -> list[str]:
        """The columns beside `item`."""
        return [name for name in self.columns if name != "item"]

    @property
    def is_parents(self) -> bool:
        """Whether a row is a node and its parent."""
        return self.levels == ["parent"]

    def places(self, names: Iterable[str]) -> list[int]:
        """Return where the columns of these names stand, or refuse a name that is no level."""
        place_of = {name: place for place, name in enumerate(self.columns) if name != "item"}
        places = []
        for name in names:
            if name not in place_of:
                known = in_words(place_of)
                raise BadData(f"has no level {shown(name)}; the levels are: {known}", file=self.file, line=1)
            places.append(place_of[name])
        return places


def read_table(source: str) -> Table:
    """Open a CSV file, or the taxonomy of `sample:NAME`."""
    if source.startswith("sample:"):
        from setveil.data.samples import sample_taxonomy  # noqa: PLC0415 - only who asks for a sample pays for it

        header, sample_rows = sample_taxonomy(source)
        return Table(source, header, enumerate(sample_rows, start=2))
    content = read_bytes(Path(source))
    if wrong := not_utf8(content, source):
        raise wrong
    reader = csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True)
    columns = [name.strip() for name in next(_rows(reader, source), (1, []))[1]]
    count_of = Counter(columns)
    for name, count in count_of.items():
        if count > 1:
            raise BadData(f"has {count} columns {shown(name)}; each may stand once", file=source, line=1)
    if "item" not in count_of:
        known = in_words(columns)
        raise BadData(f"expected a header with the column 'item'; the columns are: {known}", file=source, line=1)
    if len(columns) == 1:
        raise BadData("has no column beside 'item'; expected one with the categories", file=source, line=1)
    return Table(source, columns, _rows(reader, source, len(columns)))


def _rows(reader: Any, file: str, width: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Give each row with the number of the line on which it starts: a quoted value can hold line breaks."""
    starts = reader.line_num + 1
    try:
        for row in reader:
            if width is None or len(row) == width:
                yield starts, row
            elif row:
                raise BadData(f"has {len(row)} fields where the header has {width}", file=file, line=starts)
            starts = reader.line_num + 1
    except csv.Error as error:
        raise BadData(f"is not a line of CSV ({error})", file=file, line=reader.line_num) from None


# -- lists of items ----------------------------------------------------------------------------------------------------


def read_sensitive(source: str | Path, data: Transactions | None = None) -> tuple[str, ...]:
    """Read sensitive items from a text file, one a line, or take those of `sample:NAME`; they come in label order.

    Blank lines and blanks around an item do not count. With `data`, an item that does not occur there is refused; of a sample's items,
    those that the data does not hold are left out.
    """
    file = str(source)
    if file.startswith("sample:"):
        return _sensitive_of_sample(file, data)
    line_of: dict[str, int] = {}
    repeated = 0
    for number, line in enumerate(_lines(file), start=1):
        item = line.strip(_BLANKS)
        if not item:
            continue
        _refuse_unusable(item, file, number)
        if line_of.setdefault(item, number) != number:
            repeated += 1
    if not line_of:
        raise BadData("is empty; expected a sensitive item a line", file=file)
    if repeated:
        progress.note(f"{repeated:,} repeated sensitive items count once")
    _refuse_unknown(line_of, data, file)
    return _in_label_order(line_of)


def _sensitive_of_sample(source: str, data: Transactions | None) -> tuple[str, ...]:
    from setveil.data.samples import sample_sensitive  # noqa: PLC0415 - only who asks for a sample pays for it

    items = sample_sensitive(source)
    if data is None:
        return _in_label_order(items)
    # A small sample does not hold every product of the shop, and that is no mistake of the person.
    there = [item for item in items if item in data.code_of]
    if not there:
        raise BadData(f"none of its {len(items):,} sensitive items is in the data", file=source)
    if len(there) < len(items):
        progress.note(f"{len(items) - len(there):,} sensitive items of {source} are not in the data")
    return _in_label_order(there)


def read_itemsets(
    source: str | Path, data: Transactions | None = None, *, separator: str | None = None
) -> tuple[tuple[str, ...], ...]:
    """Read itemsets, one a line: as in a basket file, or JSON lists in a file that ends in .jsonl or .ndjson.

    They come in the order of the file, each once, their items in label order. With `data`, an item that does not occur there is refused.
    """
    file = str(source)
    if separator is not None:
        check_separator(separator)
        separator = None if separator == " " else separator
    is_json = plain_suffix(Path(file)) in _JSON_LINES
    itemsets: dict[frozenset[str], None] = {}
    line_of: dict[str, int] = {}
    repeated_items = repeated_itemsets = 0
    blank: int | None = None
    for number, line in enumerate(_lines(file), start=1):
        items = _json_items(line, file, number) if is_json else _text_items(line, separator, file, number)
        if not items:
            blank = blank or number
            continue
        if blank:  # lines after the last itemset hold none; one between two of them is a mistake
            raise BadData("is blank; expected an itemset of at least one item", file=file, line=blank)
        itemset = frozenset(items)
        repeated_items += len(items) - len(itemset)
        repeated_itemsets += itemset in itemsets
        itemsets[itemset] = None
        for item in items:
            line_of.setdefault(item, number)
    if not itemsets:
        raise BadData("is empty; expected an itemset a line", file=file)
    if repeated_items:
        progress.note(f"{repeated_items:,} repeated items within an itemset count once")
    if repeated_itemsets:
        progress.note(f"{repeated_itemsets:,} repeated itemsets count once")
    _refuse_unknown(line_of, data, file)
    rank = {label: place for place, label in enumerate(_in_label_order(line_of))}
    return tuple(tuple(sorted(itemset, key=rank.__getitem__)) for itemset in itemsets)


def _lines(file: str) -> list[str]:
    content = read_bytes(Path(file))
    if control := _CONTROL_BYTE.search(content):
        line = content.count(b"\n", 0, control.start()) + 1
        raise BadData(f"holds the control byte 0x{control[0][0]:02x}; expected text in UTF-8", file=file, line=line)
    if wrong := not_utf8(content, file):
        raise wrong
    return content.decode("utf-8").split("\n")


def _text_items(line: str, separator: str | None, file: str, number: int) -> list[str]:
    if separator is None:
        return [item for item in re.split(f"[{_BLANKS}]+", line) if item]
    items = [item.strip(_BLANKS) for item in line.split(separator)]
    if items == [""]:
        return []
    if "" in items:
        raise BadData(f"an item between two {separator!r} is empty", file=file, line=number)
    for item in items:
        _refuse_unusable(item, file, number)
    return items


def _refuse_unusable(item: str, file: str, number: int) -> None:
    if wrong := unusable(item):
        raise BadData(f"the item {shown(item)} {wrong}", file=file, line=number)


def _json_items(line: str, file: str, number: int) -> list[str]:
    if not line.strip(_BLANKS):
        return []
    try:
        return _items_of_list(json_value(line))
    except ValueError as error:
        expected = f"expected a list of items such as {_JSON_EXAMPLE}"
        raise BadData(f"{str(error).partition('; ')[0]}; {expected}", file=file, line=number) from None


def _items_of_list(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise ValueError(f"is {JSON_KINDS.get(type(value), 'a single item')}")  # noqa: TRY004 - of the data
    if not value:
        raise ValueError("is an empty list")
    items = [item_text(item) for item in value]
    for item in items:
        if wrong := unusable(item):
            raise ValueError(f"the item {shown(item)} {wrong}")
    return items


def _in_label_order(labels: Iterable[str]) -> tuple[str, ...]:
    given = tuple(labels)
    return tuple(given[place] for place in label_order(given))


def _refuse_unknown(line_of: Mapping[str, int], data: Transactions | None, file: str) -> None:
    """Refuse items that the data does not hold: the first by its line, the others by their number."""
    if data is None:
        return
    unknown = [item for item in line_of if item not in data.code_of]
    if not unknown:
        return
    first = unknown[0]
    candidates = data.vocabulary
    if len(candidates) > _HINT_LABELS:
        candidates = tuple(label for label in candidates if label[0:1] == first[0:1])[:_HINT_LABELS]
    near = get_close_matches(first, candidates, n=1) if len(first) <= _SHOWN else []
    hint = f", did you mean {shown(near[0])}?" if near else "; expected items of the data"
    count = f"{len(unknown):,} of {len(line_of):,} items are not"
    raise BadData(f"the item {shown(first)} is not in the data ({count}){hint}", file=file, line=line_of[first])
