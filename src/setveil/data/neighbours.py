"""Re-associated data: one or several sets of plain records, each put together at random from the same disassociated data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from setveil.data.records.ragged import offsets_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Unit


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours:
    """Sets of plain records that stand beside each other, each of them complete."""

    form_in_words: ClassVar[str] = "re-associated data"

    datasets: tuple[Transactions, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "datasets", tuple(self.datasets))
        if not self.datasets or not all(isinstance(one, Transactions) for one in self.datasets):
            raise BadData("re-associated data are at least one set of plain records")
        if any(one.ids is not None for one in self.datasets):
            raise BadData("rows of re-associated data carry no ids: nobody's record is among them")

    @property
    def records(self) -> int:
        """The number of records in all sets together."""
        return sum(one.records for one in self.datasets)

    @property
    def unit(self) -> Unit:
        """Whether a record stands for a person or for one record of several."""
        return self.datasets[0].unit

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the rows of each set start among those of all sets, and where the last one ends."""
        return offsets_of([one.records for one in self.datasets])

    def with_unit(self, unit: Unit) -> Neighbours:
        """Return the same sets, their records said to be one a person (`person`) or not (`record`)."""
        return replace(self, datasets=tuple(one.with_unit(unit) for one in self.datasets))

    def __len__(self) -> int:
        return len(self.datasets)

    def __eq__(self, other: object) -> bool:
        return self.datasets == other.datasets if isinstance(other, Neighbours) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # arrays of any size: not meant for dictionaries

    def __repr__(self) -> str:
        return f"Neighbours({len(self.datasets)} of {self.datasets[0].records:,} records)"
