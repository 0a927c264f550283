"""The joined table that is published: groups of common users.

Each group has an interval of every attribute, and tells how often each sensitive value occurs in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from setveil.data.forms.base import Form
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class JoinedTable(Form):
    """Groups in the order of their intervals; the records of a group look alike but for the sensitive value."""

    form_in_words: ClassVar[str] = "a joined table"

    schema: Schema
    lows: NDArray[np.int32]
    """The first cell of each attribute (groups x attributes, those of A first)."""
    highs: NDArray[np.int32]
    """The cell after the last."""
    counts: NDArray[np.int64]
    """How many records of a group have each sensitive value (groups x values)."""

    def __post_init__(self) -> None:
        cells = np.array([one.cells for one in self.schema.attributes])
        shape = (len(self.counts), len(cells))
        if self.lows.shape != shape or self.highs.shape != shape:
            raise BadData("the joined table does not have an interval of every attribute for each group")
        if self.counts.shape[1:] != (self.schema.sensitive.cells,):
            raise BadData("the joined table does not count the sensitive values of the schema")
        if np.any(self.lows < 0) or np.any(self.highs > cells) or np.any(self.lows >= self.highs):
            raise BadData("the joined table has an interval that is empty or leaves its attribute")
        if np.any(self.counts < 0) or np.any(self.counts.sum(axis=1) == 0):
            raise BadData("the joined table has a group without records")

    @classmethod
    def arranged(
        cls, schema: Schema, lows: NDArray[np.int32], highs: NDArray[np.int32], counts: NDArray[np.int64]
    ) -> JoinedTable:
        """Make a table whose groups stand in the order of their intervals, equal ones put together, so that the order tells nothing."""
        boxes = np.column_stack((lows, highs))
        distinct, group = np.unique(boxes, axis=0, return_inverse=True)
        together = np.zeros((len(distinct), counts.shape[1]), dtype=np.int64)
        np.add.at(together, group.reshape(-1), counts)
        width = lows.shape[1]
        return cls(schema, distinct[:, :width].copy(), distinct[:, width:].copy(), together)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.counts)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())
