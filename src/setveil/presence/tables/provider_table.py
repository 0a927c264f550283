"""The table of one provider: one row per user, with the cells of the quasi-identifiers and, at B, the sensitive value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from setveil.base.display import quantity
from setveil.data.files.texts import RULE, first_unusable
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.tables.attributes import Attribute, OrderedAttribute


ONE_PER_CUSTOMER = "expected one row per customer; name the column of your own customer keys with `person='COLUMN'`"


@dataclass(frozen=True, eq=False)
class ProviderTable:
    """The table of one provider, with one row per user.

    Use `read_provider_table` to read one from a file or a database.

    Parameters
    ----------
    ids : pyarrow.Array of large_string
        The id of each user; each occurs once.
    codes : numpy.ndarray of int32
        The cell of each quasi-identifier (users x attributes).
    sensitive : numpy.ndarray of int64, optional
        The index of each user's sensitive value; provider B only.
    persons : pyarrow.Array of large_string, optional
        The provider's own customer key of each user. It stays at the provider and is never sent.
    person : str
        The name of the column of these keys.

    Raises
    ------
    BadData
        There are no users, or an id or a customer key is empty, contains a control character or occurs twice.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> import setveil as sv
    >>> table = sv.ProviderTable(pa.array(["u1", "u2"], pa.large_string()), np.array([[0], [2]], dtype=np.int32))
    >>> len(table)
    2
    """

    ids: Any
    """An Arrow column of type large_string."""
    codes: NDArray[np.int32]
    """The cell of each quasi-identifier (users x attributes)."""
    sensitive: NDArray[np.int64] | None = None
    """The index of each user's sensitive value; provider B only."""
    persons: Any | None = None
    """The provider's own customer key of each user, an Arrow column of type large_string. It is never sent."""
    person: str = ""
    """The name of the column of these keys."""

    def __post_init__(self) -> None:
        if len(self.ids) == 0:
            raise BadData("the table has no users; expected at least one row")
        _refuse_bad_keys(self.ids, "id", "expected one row per user")
        if self.persons is not None:
            if len(self.persons) != len(self.ids):
                raise BadData(
                    f"the table has {quantity(len(self.ids), 'id')} and {quantity(len(self.persons), 'customer key')}; "
                    "expected one key per user"
                )
            _refuse_bad_keys(self.persons, "customer key", ONE_PER_CUSTOMER)

    def __repr__(self) -> str:
        return "ProviderTable(...)"

    def __len__(self) -> int:
        return len(self.ids)

    def checksum(self) -> str:
        """Return a SHA-256 of the content, which does not depend on the order of rows or on customer keys."""
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
    """Refuse keys that are empty, contain a control character or occur twice."""
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
    """Return a table from columns of text; `file` is the name in errors."""
    codes = np.column_stack([one.codes(columns[one.name], file) for one in attributes]).astype(np.int32)
    values = None if sensitive is None else sensitive.codes(columns[sensitive.name], file).astype(np.int64)
    try:
        return ProviderTable(columns[id_column], codes, values, columns[person] if person else None, person or "")
    except BadData as error:
        raise BadData(str(error), file=file) from None
