"""The table of one provider: a row a user, with the cells of the quasi-identifiers and, at B, the sensitive value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from setveil.data.texts import first_unusable
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.joined.attributes import Attribute, OrderedAttribute


@dataclass(frozen=True, eq=False)
class ProviderTable:
    """Users of a provider, each once."""

    ids: Any
    """A large_string column of Arrow."""
    codes: NDArray[np.int32]
    """The cell of each quasi-identifier (users x attributes)."""
    sensitive: NDArray[np.int64] | None = None
    """The code of each user's sensitive value, at B."""

    def __post_init__(self) -> None:
        if len(self.ids) == 0:
            raise BadData("the table has no users")
        if (row := first_unusable(self.ids)) is not None:
            raise BadData("the id is empty or holds a control character", row=row + 1)
        if pc.count_distinct(self.ids).as_py() < len(self.ids):
            raise BadData("the table has an id twice; expected one row a user")

    def __repr__(self) -> str:
        return "ProviderTable(...)"

    def __len__(self) -> int:
        return len(self.ids)

    def checksum(self) -> str:
        """Return what tells this table from another, whatever the order of its rows."""
        order = pc.array_sort_indices(self.ids)
        digest = hashlib.sha256()
        for text in self.ids.take(order).to_pylist():
            digest.update(text.encode() + b"\n")
        places = order.to_numpy()
        digest.update(np.ascontiguousarray(self.codes[places]).tobytes())
        if self.sensitive is not None:
            digest.update(np.ascontiguousarray(self.sensitive[places]).tobytes())
        return digest.hexdigest()


def provider_table(
    columns: dict[str, Any],
    attributes: tuple[Attribute, ...],
    sensitive: OrderedAttribute | None,
    *,
    id_column: str,
    file: str,
) -> ProviderTable:
    """Make a table from text columns."""
    codes = np.column_stack([one.codes(columns[one.name], file) for one in attributes]).astype(np.int32)
    values = None if sensitive is None else sensitive.codes(columns[sensitive.name], file).astype(np.int64)
    try:
        return ProviderTable(columns[id_column], codes, values)
    except BadData as error:
        raise BadData(str(error), file=file) from None
