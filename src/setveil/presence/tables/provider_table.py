"""The table of one provider: one row per user, with the cells of the quasi-identifiers and, at B, the sensitive value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from setveil.data.files.texts import RULE, first_unusable
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.tables.attributes import Attribute, OrderedAttribute


ONE_PER_CUSTOMER = "expected one row per customer; name the column of your own customer keys with `person='COLUMN'`"


@dataclass(frozen=True, eq=False)
class ProviderTable:
    """Users of a provider, each once."""

    ids: Any
    """A large_string column of Arrow."""
    codes: NDArray[np.int32]
    """The cell of each quasi-identifier (users x attributes)."""
    sensitive: NDArray[np.int64] | None = None
    """The code of each user's sensitive value, at B."""
    persons: Any | None = None
    """The provider's own key of each user, a large_string column of Arrow. It stays at the provider: it is never sent."""
    person: str = ""
    """The name of the column of these keys."""

    def __post_init__(self) -> None:
        if len(self.ids) == 0:
            raise BadData("the table has no users")
        _refuse_bad_keys(self.ids, "id", "expected one row per user")
        if self.persons is not None:
            if len(self.persons) != len(self.ids):
                raise BadData(
                    f"the table has {len(self.ids):,} ids and {len(self.persons):,} customer keys; expected one key per user"
                )
            _refuse_bad_keys(self.persons, "customer key", ONE_PER_CUSTOMER)

    def __repr__(self) -> str:
        return "ProviderTable(...)"

    def __len__(self) -> int:
        return len(self.ids)

    def checksum(self) -> str:
        """Return what tells this table from another; the order of its rows and the customer keys do not count."""
        order = pc.array_sort_indices(self.ids)
        digest = hashlib.sha256()
        for text in self.ids.take(order).to_pylist():
            digest.update(text.encode() + b"\n")
        places = order.to_numpy()
        digest.update(np.ascontiguousarray(self.codes[places]).tobytes())
        if self.sensitive is not None:
            digest.update(np.ascontiguousarray(self.sensitive[places]).tobytes())
        return digest.hexdigest()


def _refuse_bad_keys(keys: Any, what: str, expected: str) -> None:
    """Refuse keys that are empty, hold a control character or occur twice."""
    if (row := first_unusable(keys)) is not None:
        raise BadData(f"the {what} {RULE}", row=row + 1)
    if pc.count_distinct(keys).as_py() < len(keys):
        raise BadData(f"the table has the same {what} twice; {expected}")


def provider_table(
    columns: dict[str, Any],
    attributes: tuple[Attribute, ...],
    sensitive: OrderedAttribute | None,
    *,
    id_column: str,
    person: str | None = None,
    file: str,
) -> ProviderTable:
    """Make a table from text columns."""
    codes = np.column_stack([one.codes(columns[one.name], file) for one in attributes]).astype(np.int32)
    values = None if sensitive is None else sensitive.codes(columns[sensitive.name], file).astype(np.int64)
    try:
        return ProviderTable(columns[id_column], codes, values, columns[person] if person else None, person or "")
    except BadData as error:
        raise BadData(str(error), file=file) from None
