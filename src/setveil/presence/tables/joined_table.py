"""The published joined table: groups of common users.

Each group has one interval per attribute, and the number of its records with each sensitive value.
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
    """A table of the common users of two providers, in groups; records of a group differ in the sensitive value only.

    You get one from `read_joined`, from `open_joined` or from the method `apply` of a joining method.

    Parameters
    ----------
    schema : Schema
        The columns.
    lows : numpy.ndarray of int32
        The first cell of each interval (groups x attributes, A's attributes first).
    highs : numpy.ndarray of int32
        The cell after the last cell of each interval.
    counts : numpy.ndarray of int64
        The number of records of each group with each sensitive value (groups x values).

    Raises
    ------
    BadData
        The arrays do not fit the schema, an interval is empty, or a group has no records.

    Examples
    --------
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> table = sv.Mondrian(k=50).apply(sample(people=2000).originals, keys=sv.Keys(b"a" * 16, b"b" * 16)).table
    >>> table.groups, table.records
    (4, 281)
    """

    form_title: ClassVar[str] = "a joined table"

    schema: Schema
    lows: NDArray[np.int32]
    """The first cell of each interval (groups x attributes, A's attributes first)."""
    highs: NDArray[np.int32]
    """The cell after the last cell of each interval."""
    counts: NDArray[np.int64]
    """The number of records of each group with each sensitive value (groups x values)."""

    def __post_init__(self) -> None:
        cells = np.array([one.cells for one in self.schema.attributes])
        shape = (len(self.counts), len(cells))
        if self.lows.shape != shape or self.highs.shape != shape:
            raise BadData("the joined table does not have one interval per group and attribute of the schema")
        if self.counts.shape[1:] != (self.schema.sensitive.cells,):
            raise BadData("the joined table does not have one count per sensitive value of the schema")
        if np.any(self.lows < 0) or np.any(self.highs > cells) or np.any(self.lows >= self.highs):
            raise BadData("the joined table has an interval that is empty or is not within the cells of its attribute")
        if np.any(self.counts < 0) or np.any(self.counts.sum(axis=1) == 0):
            raise BadData("the joined table has a group without records; expected at least one record per group")

    @classmethod
    def arranged(
        cls, schema: Schema, lows: NDArray[np.int32], highs: NDArray[np.int32], counts: NDArray[np.int64]
    ) -> JoinedTable:
        """Return a table with groups in the order of their intervals and equal groups merged, so that the order reveals nothing."""
        boxes = np.column_stack((lows, highs))
        distinct, group = np.unique(boxes, axis=0, return_inverse=True)
        together = np.zeros((len(distinct), counts.shape[1]), dtype=np.int64)
        np.add.at(together, group.reshape(-1), counts)
        width = lows.shape[1]
        return cls(schema, distinct[:, :width].copy(), distinct[:, width:].copy(), together)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.counts)

    @property
    def records(self) -> int:
        """The number of records."""
        return int(self.counts.sum())
