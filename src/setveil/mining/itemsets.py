"""Itemsets and their supports, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base.arguments import describe
from setveil.base.display import MOST_ROWS, ShownTable, share, to_html
from setveil.base.frames import as_pandas
from setveil.data.records.labels import as_arrow
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Sized

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Sets of items, in the layout of the data: `offsets[s]` to `offsets[s + 1]` are the places of set s in `items`, whose codes rise.

    `supports[s]` is the number of the `records` records that hold all items of set s.
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
        """Give each set as labels, with its support."""
        for labels, support in zip(self.to_arrow().to_pylist(), self.supports.tolist(), strict=True):
            yield tuple(labels), support

    def __repr__(self) -> str:
        return f"Itemsets({len(self):,} sets of up to {self.longest} items, in {self.records:,} records)"

    def __str__(self) -> str:
        return self._shown().to_text()

    def _repr_html_(self) -> str:
        return to_html(self._shown())

    def _shown(self) -> ShownTable:
        """Return a table of the most frequent sets."""
        first = self.take(are_among_first(self.supports)).ordered()
        rows = [(", ".join(items), support, share(support / max(self.records, 1))) for items, support in first]
        return table_of_first(rows, ["items", "support", "share"], self)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of items of each set."""
        return np.diff(self.offsets)

    @property
    def longest(self) -> int:
        """The number of items of the longest set."""
        return int(self.lengths.max(initial=0))

    def as_records(self) -> Transactions:
        """Return the sets as if each were a record: they are laid out alike, so that nothing is copied."""
        return Transactions.of_parts(self.offsets, self.items, self.vocabulary, ids=None, unit="record")

    def take(self, chosen: NDArray[Any]) -> Itemsets:
        """Return the sets of these numbers in this order, or those where a mask is true."""
        taken = self.as_records().take(chosen)
        return Itemsets(taken.offsets, taken.items, self.supports[chosen].copy(), self.vocabulary, self.records)

    def ordered(self) -> Itemsets:
        """Return the sets as people read them: the most frequent first, then the shorter, then in label order."""
        by_content = self.as_records().content_order()
        rank = np.lexsort((self.lengths[by_content], -self.supports[by_content]))
        return self.take(by_content[rank])

    def to_arrow(self) -> Any:
        """Return the sets as an Arrow column of lists of texts."""
        texts = as_arrow(self.vocabulary).take(pa.array(self.items))
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), texts)

    def to_table(self) -> Any:
        """Return an Arrow table: `items`, `support` in records, `share` of the records."""
        share = self.supports / max(self.records, 1)
        return pa.table({"items": self.to_arrow(), "support": self.supports, "share": share})

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_table`, the items as tuples; pandas must be installed."""
        return as_pandas(self.to_table(), tuples="items")

    def to_lists(self) -> list[list[str]]:
        """Return the sets as lists of labels."""
        sets: list[list[str]] = self.to_arrow().to_pylist()
        return sets


def are_among_first(figures: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell of each figure whether it can be among the largest that a table shows; equal ones all can."""
    if len(figures) <= MOST_ROWS:
        return np.ones(len(figures), dtype=np.bool_)
    found: NDArray[np.bool_] = figures >= np.partition(figures, -MOST_ROWS)[-MOST_ROWS]
    return found


def table_of_first(rows: Sequence[Sequence[Any]], header: Sequence[str], mined: Sized) -> ShownTable:
    """Return a table of the first of what was mined, and how to get the rest."""
    more = len(mined) - MOST_ROWS
    note = f"and {more:,} more; all of them: .ordered().to_pandas()" if more > 0 else ""
    return ShownTable(rows[:MOST_ROWS], header, title=repr(mined), note=note)


def codes_of(sets: Iterable[Iterable[str]], data: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return offsets and codes of sets given as labels; an item that the data do not know has the code -1."""
    code_of = data.code_of
    flat: list[int] = []
    offsets = [0]
    for one in sets:
        if isinstance(one, str):
            raise BadData(f"an itemset is the text {one[:40]!r}; expected a list of items")
        if not isinstance(one, Iterable):
            raise BadData(f"an itemset is {describe(one)}; expected a list of items, such as ['milk', 'bread']")
        labels = list(one)
        if other := [label for label in labels if not isinstance(label, str)]:
            raise BadData(f"an item of an itemset is {describe(other[0])}; expected a text")
        flat.extend(sorted({code_of.get(label, -1) for label in labels}))
        offsets.append(len(flat))
    return np.array(offsets, dtype=np.int64), np.array(flat, dtype=np.int32)
