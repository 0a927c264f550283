"""Itemsets and their supports, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base.arguments import describe
from setveil.base.display import MOST_ROWS, ShownTable, quantity, share, to_html
from setveil.base.frames import as_pandas
from setveil.data.records.labels import as_arrow
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Sized

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Itemsets with their supports, as `mine` returns them.

    Iterating yields each itemset as a tuple of labels, with its support. The layout is that of `Transactions`.

    Attributes
    ----------
    offsets : array of int64
        `items[offsets[s]:offsets[s + 1]]` are the codes of itemset s, in rising order.
    items : array of int32
        Codes: positions in the vocabulary.
    supports : array of int64
        The number of records that hold all items of each itemset.
    vocabulary : tuple of str
        The labels of the items.
    records : int
        The number of records of the data.

    Examples
    --------
    >>> import setveil as sv
    >>> found = sv.mine(sv.from_lists([["a", "b"], ["a", "b", "c"], ["a"]]), 2)
    >>> found
    Itemsets(3 sets of up to 2 items, in 3 records)
    >>> next(iter(found.ordered()))
    (('a',), 3)
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    supports: NDArray[np.int64]
    vocabulary: tuple[str, ...]
    records: int

    def __post_init__(self) -> None:
        for array in (self.offsets, self.items, self.supports):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield each itemset as a tuple of labels, with its support."""
        for labels, support in zip(self.to_arrow().to_pylist(), self.supports.tolist(), strict=True):
            yield tuple(labels), support

    def __repr__(self) -> str:
        sets = f"{quantity(len(self), 'set')} of up to {quantity(self.longest, 'item')}"
        return f"Itemsets({sets}, in {quantity(self.records, 'record')})"

    def __str__(self) -> str:
        return self._shown().to_text()

    def _repr_html_(self) -> str:
        return to_html(self._shown())

    def _shown(self) -> ShownTable:
        """Return a table of the most frequent itemsets."""
        first = self.take(are_among_first(self.supports)).ordered()
        rows = [(", ".join(items), support, share(support / max(self.records, 1))) for items, support in first]
        return table_of_first(rows, ["items", "support", "share"], self)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of items of each itemset."""
        return np.diff(self.offsets)

    @property
    def longest(self) -> int:
        """The number of items of the longest itemset."""
        return int(self.lengths.max(initial=0))

    def as_records(self) -> Transactions:
        """Return the itemsets as records; the layout is the same, so nothing is copied."""
        return Transactions.of_parts(self.offsets, self.items, self.vocabulary, ids=None, unit="record")

    def take(self, chosen: NDArray[Any]) -> Itemsets:
        """Return some of the itemsets.

        Parameters
        ----------
        chosen : array of int or bool
            The numbers of the itemsets, in the order to return them, or a mask.

        Returns
        -------
        Itemsets
            These itemsets.
        """
        taken = self.as_records().take(chosen)
        return Itemsets(taken.offsets, taken.items, self.supports[chosen].copy(), self.vocabulary, self.records)

    def first(self, how_many: int) -> Itemsets:
        """Return the first `how_many` itemsets, without copying."""
        end = self.offsets[how_many]
        parts = self.offsets[: how_many + 1], self.items[:end], self.supports[:how_many]
        return Itemsets(*parts, self.vocabulary, self.records)

    def ordered(self) -> Itemsets:
        """Return the itemsets sorted for reading: by falling support, then by rising length, then in label order."""
        by_content = self.as_records().content_order()
        rank = np.lexsort((self.lengths[by_content], -self.supports[by_content]))
        return self.take(by_content[rank])

    def to_arrow(self) -> Any:
        """Return the itemsets as an Arrow array of lists of labels."""
        texts = as_arrow(self.vocabulary).take(pa.array(self.items))
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), texts)

    def to_table(self) -> Any:
        """Return an Arrow table with the columns `items`, `support` (number of records) and `share` (of all records)."""
        share = self.supports / max(self.records, 1)
        return pa.table({"items": self.to_arrow(), "support": self.supports, "share": share})

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_table`, and items as tuples. It requires pandas."""
        return as_pandas(self.to_table(), tuples="items")

    def to_lists(self) -> list[list[str]]:
        """Return the itemsets as lists of labels."""
        sets: list[list[str]] = self.to_arrow().to_pylist()
        return sets


def are_among_first(figures: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each figure whether a table of the largest may show it; of equal figures, all or none may."""
    if len(figures) <= MOST_ROWS:
        return np.ones(len(figures), dtype=np.bool_)
    found: NDArray[np.bool_] = figures >= np.partition(figures, -MOST_ROWS)[-MOST_ROWS]
    return found


def table_of_first(rows: Sequence[Sequence[Any]], header: Sequence[str], mined: Sized) -> ShownTable:
    """Return a table of the first results, with a note on how to get the others."""
    more = len(mined) - MOST_ROWS
    note = f"and {more:,} more; .ordered().to_pandas() returns all of them" if more > 0 else ""
    return ShownTable(rows[:MOST_ROWS], header, title=repr(mined), note=note)


def codes_of(sets: Iterable[Iterable[str]], data: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return offsets and codes of itemsets given as labels; the code of an item that is not in the data is -1."""
    code_of = data.code_of
    flat: list[int] = []
    offsets = [0]
    for one in sets:
        if isinstance(one, str):
            raise BadData(f"an itemset is the text {one[:40]!r}; expected a list of items, such as ['milk', 'bread']")
        if not isinstance(one, Iterable):
            raise BadData(f"an itemset is {describe(one)}; expected a list of items, such as ['milk', 'bread']")
        labels = list(one)
        if other := [label for label in labels if not isinstance(label, str)]:
            raise BadData(f"an item of an itemset is {describe(other[0])}; expected a text")
        flat.extend(sorted({code_of.get(label, -1) for label in labels}))
        offsets.append(len(flat))
    return np.array(offsets, dtype=np.int64), np.array(flat, dtype=np.int32)
