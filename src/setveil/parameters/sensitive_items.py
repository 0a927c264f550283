"""Sensitive items, which nobody should be able to infer: from a file or from Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.display import quantity
from setveil.data.files.column_files import EXTENSIONS
from setveil.data.files.json_lines import item_text, json_value, lines_of
from setveil.data.files.packing import plain_suffix
from setveil.data.files.side_files import BETWEEN, first_unusable, lines_in, shown, side_file, unusable
from setveil.data.files.side_tables import ITEM, JSON_LINES, open_table
from setveil.data.records.labels import BLANKS, label_order, note_stripped, stripped
from setveil.errors import BadData
from setveil.parameters.kind import Origin
from setveil.parameters.layouts import ITEM_COLUMN, SIDE_ENCODING
from setveil.parameters.names_found import NameList

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from setveil.data.files.side_tables import Table
    from setveil.data.forms.base import Published
    from setveil.data.records.transactions import Transactions


class SensitiveItems(NameList, AbstractSet[str]):
    """An immutable set of sensitive items, for parameters; it may be empty. Iteration is in label order.

    Parameters
    ----------
    items : iterable of str
        The items. A repeated item counts once, with a note.

    Raises
    ------
    BadData
        If `items` is not a list of texts, or a name is empty or holds a control character.

    Examples
    --------
    >>> import setveil as sv
    >>> list(sv.SensitiveItems(["tea", "beer", "tea"]))
    ['beer', 'tea']
    """

    allowed_text: ClassVar[str] = "a file with one item per line, or a table with a column of items"
    python_type: ClassVar[str] = "SensitiveItems or a list of items"
    example: ClassVar[str] = 'sv.read_sensitive("sample:supermarket")'
    option_example = "sample:supermarket"
    reader = "read_sensitive"
    noun: ClassVar[str] = "items"
    ending = ".txt"
    options = (ITEM_COLUMN, SIDE_ENCODING)
    bad_values = ("a text", [3], [""], [["a"]], {"a": "b"}, ["a\nb"], 17, None)

    def __init__(self, items: Iterable[str]) -> None:
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            what = "a text" if isinstance(items, str) else type(items).__name__
            raise BadData(f"expected a list of items (setveil.read_sensitive reads them from a file), not {what}")
        given = list(items)
        wrong = [item for item in given if not isinstance(item, str)]
        if wrong:
            raise BadData(f"a sensitive item is of the type {type(wrong[0]).__name__}; items must be text")
        given, with_blanks = stripped(given)
        note_stripped(len(set(with_blanks)), "sensitive items")
        labels = sorted(set(given))
        if reason := first_unusable(labels):
            raise BadData(f"a sensitive item is invalid: {reason}")
        if len(labels) < len(given):
            progress.note(f"{quantity(len(given) - len(labels), 'repeated sensitive item')} counted once")
        self._items = dict.fromkeys(labels[place] for place in label_order(labels))

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        """Compare with a set or, in label order, with a tuple, which `read_sensitive` returned before."""
        return tuple(self._items) == other if isinstance(other, tuple) else super().__eq__(other)

    def __hash__(self) -> int:
        return self._hash()

    def __repr__(self) -> str:
        return f"SensitiveItems({quantity(len(self), 'item')})"

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        return tuple(self._items)[place]

    @classmethod
    def read(
        cls,
        source: str | Path,
        *,
        data: Published | None = None,
        item_column: str | None = None,
        side_encoding: str | None = None,
        **_given: Any,
    ) -> SensitiveItems:
        """Read items from a list, from a column of a table, or from `sample:NAME`."""
        with side_file(str(source), side_encoding):
            items, how = _read(str(source), item_column, None if data is None else data.vocabulary)
        named = cls(items)
        found = f"{quantity(len(named), 'item')}, {how}"
        return named.with_origin(Origin.of(source, found, item_column=item_column, side_encoding=side_encoding))

    @classmethod
    def example_for(cls, data: Transactions) -> SensitiveItems:
        """Return a random third of the items, at least one if there are any."""
        rng = np.random.default_rng(data.occurrences)
        return cls(rng.permutation(data.vocabulary)[: -(-len(data.vocabulary) // 3)].tolist())

    def to_json(self) -> list[str]:
        """Return the items as a list."""
        return list(self)

    def to_file(self) -> str:
        """Return the content of a file with one item per line."""
        return "".join(f"{item}\n" for item in self)

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """Each item as an entry of its own."""
        return tuple((item,) for item in self._items)

    def among(self, data: Transactions) -> NDArray[np.bool_]:
        """Return for each item code whether it is sensitive; sensitive items may be missing from the data."""
        mask = np.zeros(len(data.vocabulary), dtype=np.bool_)
        mask[[data.code_of[item] for item in self._items if item in data.code_of]] = True
        return mask


@check_arguments
def read_sensitive(
    source: str | Path,
    data: Transactions | None = None,
    *,
    item_column: str | None = None,
    side_encoding: str | None = None,
) -> SensitiveItems:
    """Read sensitive items from a list, from a column of a table, or from a sample.

    Blank lines of a list and blanks around an item are ignored. The result has the attribute `origin`: the source, the options, and a
    sentence about what was read.

    Parameters
    ----------
    source : str or Path
        A text file with one item per line, or a table: CSV with any usual separator, TSV or JSON Lines, Parquet or Arrow. Text may be
        compressed (`.gz`, `.zst`). Or `sample:NAME`.
    data : Transactions, optional
        If given, a list without any item that occurs in the data is refused. The data also help to find the column of the items.
    item_column : str, optional
        The column of a table that holds the items. Default: `item`, or the column that clearly matches the items of `data`.
    side_encoding : str, optional
        The encoding of text that is not UTF-8, such as `cp1252`.

    Returns
    -------
    SensitiveItems
        The items, each once, in label order. It is a set that can be indexed.

    Raises
    ------
    BadData
        If the file is missing, empty or invalid, or no item occurs in `data`.

    Examples
    --------
    >>> import setveil as sv
    >>> "acne-gel-30g" in sv.read_sensitive("sample:supermarket")
    True
    """
    named = SensitiveItems.read(source, data=data, item_column=item_column, side_encoding=side_encoding)
    if data is not None:
        named.found_in(data, "sensitive").refuse("accept", file=str(source))
    return named


def _read(file: str, item_column: str | None, labels: Collection[str] | None) -> tuple[list[str], str]:
    """Return the items of a file, and how they were read."""
    if file.startswith("sample:"):
        from setveil.data.samples import sample_sensitive  # noqa: PLC0415 - loaded only for samples

        return sample_sensitive(file), "the sensitive items of the sample"
    table = _table_in(file, item_column)
    if table is not None:
        table = table.with_item_column(item_column, labels, is_list=True)
        rows: Iterator[tuple[int, str]] = ((number, fields[0]) for number, fields in table.rows(table.item))
        how = f"from the column {shown(table.item)}"
    else:
        is_json = plain_suffix(Path(file)) in JSON_LINES
        rows = _json_texts(file) if is_json else iter(enumerate(lines_in(file), start=1))
        how = "from a list"
    items = []
    for number, text in rows:
        item = text.strip(BETWEEN + BLANKS)
        if not item and table is None:
            continue
        if wrong := unusable(item):
            problem = f"the item {shown(item)} {wrong}"
            raise BadData(problem, file=file, line=number) if table is None else table.wrong(problem, number)
        items.append(item)
    if not items:
        raise BadData("is empty; expected one sensitive item per line", file=file)
    return items, how


def _table_in(file: str, item_column: str | None) -> Table | None:
    """Return the table in a file, or None for a list of items.

    A CSV file is a list if its header is a single name other than the column of items. Any other text is a table only if it has the
    column that was asked for.
    """
    suffix = plain_suffix(Path(file))
    if suffix in JSON_LINES and not next(lines_of(Path(file)), b"{").lstrip().startswith(b"{"):
        return None
    if suffix in (*EXTENSIONS, *JSON_LINES):
        return open_table(file, item_column)
    is_csv = suffix in (".csv", ".tsv")
    if not is_csv and item_column is None:
        return None
    table = open_table(file, item_column)
    names = [ITEM] if item_column is None else [item_column, *(name.strip() for name in item_column.split(","))]
    if any(table.named(name) is not None for name in names):
        return table
    if is_csv and (item_column is not None or len(table.columns) > 1):
        return table
    if item_column is not None:
        progress.note(f"{file} is a list without columns, so `item_column=` does not apply to it")
    return None


def _json_texts(file: str) -> Iterator[tuple[int, str]]:
    """Yield the items in a file with one JSON text or whole number per line."""
    for number, line in enumerate(lines_of(Path(file)), start=1):
        try:
            yield number, item_text(json_value(line))
        except ValueError as error:
            raise BadData(str(error), file=file, line=number) from None
