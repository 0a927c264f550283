"""Named itemsets, such as trade secrets to hide: from a file or from Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.display import quantity
from setveil.data.files.side_files import first_unusable, shown, side_file
from setveil.data.records.labels import label_order, note_stripped, stripped
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadData
from setveil.parameters.itemset_files import itemsets_in
from setveil.parameters.kind import CommandExample, Origin
from setveil.parameters.layouts import ITEM_COLUMN, SIDE_ENCODING
from setveil.parameters.names_found import NameList

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class NamedItemsets(NameList, Sequence[tuple[str, ...]]):
    """An immutable sequence of itemsets, for parameters. The items of each itemset are in label order.

    Itemsets keep their order, because targets refer to it. Itemsets from a Python set, which has no order, are sorted by label.

    Parameters
    ----------
    itemsets : iterable of iterables of str
        The itemsets, at least one, none of them empty. A repeated itemset counts once, with a note.

    Raises
    ------
    BadData
        If there is no itemset, an itemset is empty, or an item is invalid.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.NamedItemsets([["milk", "bread"], ["bread", "milk"]])
    NamedItemsets(1 itemset of up to 2 items)
    """

    allowed_text: ClassVar[str] = "a file of itemsets"
    python_type: ClassVar[str] = "NamedItemsets or lists of items"
    example: ClassVar[str] = '[["baking-powder-170g", "caster-sugar-1kg"]]'
    option_example = "itemsets.txt"
    reader = "read_itemsets"
    example_command = CommandExample(
        "mine",
        ("sample:supermarket",),
        (("min_support", "1%"), ("length", "2"), ("sample", "5"), ("out", "itemsets.txt")),
    )
    noun: ClassVar[str] = "itemsets"
    ending = ".jsonl"
    options = (ITEM_COLUMN, SIDE_ENCODING)
    bad_values = ("a text", [], [[]], ["a text"], [[3]], 17, None)

    def __init__(self, itemsets: Iterable[Iterable[str]]) -> None:
        if isinstance(itemsets, str | bytes | Mapping) or not isinstance(itemsets, Iterable):
            what = "a text" if isinstance(itemsets, str) else type(itemsets).__name__
            raise BadData(f"expected lists of items (setveil.read_itemsets reads them from a file), not {what}")
        found: dict[frozenset[str], None] = {}
        given = repeated_items = 0
        with_blanks: set[str] = set()
        for one in itemsets:
            items, changed = stripped(_checked(one))
            with_blanks.update(changed)
            found[frozenset(items)] = None
            given += 1
            repeated_items += len(items) - len(set(items))
        if not found:
            raise BadData("no itemset was named; expected at least one itemset")
        labels = sorted(set().union(*found))
        if wrong := first_unusable(labels):
            raise BadData(f"a named itemset has an invalid item: {wrong}")
        note_stripped(len(with_blanks), "items in itemsets")
        if repeated_items:
            progress.note(f"{quantity(repeated_items, 'repeated item')} within an itemset counted once")
        if given > len(found):
            progress.note(f"{quantity(given - len(found), 'repeated itemset')} counted once")
        rank = {labels[place]: number for number, place in enumerate(label_order(labels))}
        by_rank = [sorted(map(rank.__getitem__, one)) for one in found]
        if isinstance(itemsets, AbstractSet):  # its order differs between runs, and targets refer to the order
            by_rank.sort()
        in_order = sorted(labels, key=rank.__getitem__)
        self._itemsets = tuple(tuple(in_order[number] for number in one) for one in by_rank)

    def __len__(self) -> int:
        return len(self._itemsets)

    @overload
    def __getitem__(self, place: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[str, ...], ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        return self._itemsets[place]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NamedItemsets):
            return self._itemsets == other._itemsets
        return self._itemsets == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._itemsets)

    def __repr__(self) -> str:
        longest = max(map(len, self._itemsets))
        return f"NamedItemsets({quantity(len(self), 'itemset')} of up to {quantity(longest, 'item')})"

    @classmethod
    def read(
        cls,
        source: str | Path,
        *,
        separator: str | None = None,
        item_column: str | None = None,
        side_encoding: str | None = None,
        **_given: Any,
    ) -> NamedItemsets:
        """Read itemsets from a file in any format of data, one itemset per line, row or id."""
        with side_file(str(source), side_encoding):
            named = cls(itemsets_in(Path(source), separator, item_column))
        options = {"separator": separator, "item_column": item_column, "side_encoding": side_encoding}
        return named.with_origin(Origin.of(source, quantity(len(named), "itemset"), **options))

    @classmethod
    def example_for(cls, data: Transactions) -> NamedItemsets:
        """Return a few itemsets that records hold, most of them frequent; for data without items, one that every method refuses."""
        rng = np.random.default_rng(data.occurrences)
        records = [set(record) for record in data if record]
        if not records:
            return cls([["an item that no record holds"]])
        named = []
        for _ in range(4):
            one, other = (records[place] for place in rng.integers(0, len(records), 2))
            held = sorted(one & other or one)
            named.append(rng.choice(held, min(len(held), int(rng.integers(1, 4))), replace=False).tolist())
        return cls(named)

    def to_json(self) -> list[list[str]]:
        """Return the itemsets as lists."""
        return [list(one) for one in self]

    def to_file(self) -> str:
        """Return the content of a file with one JSON list per line."""
        return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in self)

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """The itemsets."""
        return self._itemsets

    def take(self, places: Iterable[int]) -> NamedItemsets:
        """Return the itemsets at these positions."""
        taken = NamedItemsets(self._itemsets[place] for place in places)
        return taken if self.origin is None else taken.with_origin(self.origin)

    def bind(self, data: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return offsets and sorted item codes of the itemsets; all items must occur in the data."""
        code_of = data.code_of
        codes = [sorted(code_of[label] for label in one) for one in self._itemsets]
        offsets = offsets_of([len(one) for one in codes])
        return offsets, np.array([code for one in codes for code in one], dtype=np.int32)


def _checked(one: Any) -> list[str]:
    if isinstance(one, str | bytes | Mapping) or not isinstance(one, Iterable):
        what = f"the text {shown(one)}" if isinstance(one, str) else f"of the type {type(one).__name__}"
        raise BadData(f"an itemset is {what}; expected a list of items")
    items = list(one)
    if not items:
        raise BadData("an itemset is empty; expected at least one item")
    wrong = [item for item in items if not isinstance(item, str)]
    if wrong:
        raise BadData(f"an item is of the type {type(wrong[0]).__name__}; items must be text")
    return items


@check_arguments
def read_itemsets(
    source: str | Path,
    data: Transactions | None = None,
    *,
    separator: str | None = None,
    item_column: str | None = None,
    side_encoding: str | None = None,
) -> NamedItemsets:
    """Read itemsets from a file in any format of data: one itemset per line, row or id.

    The result has the attribute `origin`: the source, the options, and a sentence about what was read.

    Parameters
    ----------
    source : str or Path
        A text file with one itemset per line, JSON Lines (`.jsonl`, `.ndjson`) with one list per line, or a table (CSV, TSV, Parquet or
        Arrow) with a column `items`, or with the columns `id` and `item`. Text may be compressed (`.gz`, `.zst`).
    data : Transactions, optional
        If given, a list without any itemset that occurs in the data is refused.
    separator : str, optional
        The character between items of a text. Default: blanks.
    item_column : str, optional
        The column of a table that holds the items. Default: `items`, or `item` beside `id`.
    side_encoding : str, optional
        The encoding of text that is not UTF-8, such as `cp1252`.

    Returns
    -------
    NamedItemsets
        The itemsets, each once, in the order of the file; their items are in label order. It is a sequence of tuples.

    Raises
    ------
    BadData
        If the file is missing, empty or invalid, or no itemset occurs in `data`.
    BadParameter
        If `separator` is not one printable ASCII character or a tab.

    Examples
    --------
    >>> import setveil as sv
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "itemsets.txt"
    >>> path.write_text("beer diapers")
    12
    >>> list(sv.read_itemsets(path))
    [('beer', 'diapers')]
    """
    named = NamedItemsets.read(source, separator=separator, item_column=item_column, side_encoding=side_encoding)
    if data is not None:
        named.found_in(data, "itemsets").refuse("accept", file=str(source))
    return named
