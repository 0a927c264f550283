"""What a recipient of a release sees of one original record, with the changes marked: examples for the owner, never published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from setveil.data.records.ragged import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

How = Literal["kept", "added", "generalized", "listed"]
"""How a release shows an item of a record: unchanged, although the record lacks it, as a node above it, or for several records together."""


class Part(NamedTuple):
    """A place of a release that shows a record or a part of it."""

    where: str
    items: tuple[tuple[str, How], ...]
    others: int = 0
    """The number of further items at this place, which belong to other records."""


@dataclass(frozen=True)
class View:
    """What a release shows of one record."""

    parts: tuple[Part, ...]
    removed: tuple[str, ...]
    """The items of the record that the release does not show for it."""

    @property
    def changed(self) -> float:
        """The share of items that are not shown as they were, of all that the record holds or the release shows for it."""
        shown = {pair for part in self.parts for pair in part.items}
        kept = sum(how == "kept" for _label, how in shown)
        return 1 - kept / ((len(shown) + len(self.removed)) or 1)


def items_of(data: Transactions, record: int) -> tuple[str, ...]:
    """Return the items of a record."""
    codes = data.items[data.offsets[record] : data.offsets[record + 1]].tolist()
    return tuple(data.vocabulary[code] for code in codes)


def places_of_records(alignment: Alignment, records: Sequence[int]) -> dict[int, list[int]]:
    """Return the released rows of some records."""
    found: dict[int, list[int]] = {record: [] for record in records}
    wanted = np.array(records, np.int64)
    for part in pieces(len(alignment.rows)):
        for row in (part.start + np.flatnonzero(np.isin(alignment.rows[part], wanted))).tolist():
            found[int(alignment.rows[row])].append(row)
    return found


def views_of_rows(
    rows: Transactions,
    original: Transactions,
    places: dict[int, list[int]],
    above: Callable[[str], AbstractSet[str]] = lambda _item: frozenset(),
) -> Iterator[View]:
    """Yield what rows show of records; `places` are the rows of each record, and `above` the labels that can replace an item."""
    for record, numbers in places.items():
        own = items_of(original, record)
        general = set().union(*map(above, own))
        parts = []
        for number in numbers:
            shown = items_of(rows, number)
            items = tuple((x, "kept" if x in own else "generalized" if x in general else "added") for x in shown)
            named = "" if rows.ids is None else f", id {rows.ids[number].as_py()}"
            parts.append(Part(f"row {number + 1:,}{named}", items))  # type: ignore[arg-type]  # the texts of `How`
        seen = {label for part in parts for label, _how in part.items}
        yield View(tuple(parts), tuple(x for x in own if x not in seen and not seen & above(x)))
