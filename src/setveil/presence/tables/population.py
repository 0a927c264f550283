"""The people of a run: ids that both providers know, from a third source.

If the population contained only the users of the two providers, absence from one provider would prove presence at the other.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.display import quantity
from setveil.data.files.texts import first_unusable
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Population:
    """The ids of all people of a run, in an order that both providers know.

    Use `Population.of` for a list of ids, or `read_population` for a file or a database.

    Parameters
    ----------
    ids : pyarrow.Array of large_string
        The ids; each occurs once.

    Raises
    ------
    BadData
        There are no ids, an id occurs twice, is empty or contains a control character.

    Examples
    --------
    >>> import setveil as sv
    >>> population = sv.Population.of(["u1", "u2", "u3"])
    >>> population
    Population(3 ids)
    >>> population.sha256[:8]
    '51e81da1'
    """

    ids: Any
    """An Arrow column of type large_string; each id occurs once."""

    def __post_init__(self) -> None:
        if len(self.ids) == 0:
            raise BadData("the population has no ids; expected at least one")
        if first_unusable(self.ids) is not None:
            raise BadData("the population has an id that is empty or contains a control character; correct the id")
        if pc.count_distinct(self.ids).as_py() < len(self.ids):
            raise BadData("the population has the same id twice; expected each id once")

    @classmethod
    def of(cls, ids: list[str]) -> Population:
        """Return the population of a list of ids."""
        return cls(pa.array(ids, pa.large_string()))

    def __repr__(self) -> str:
        return f"Population({len(self):,} ids)"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the ids in their order, one per line, as in a policy."""
        digest = hashlib.sha256()
        for text in self.ids.to_pylist():
            digest.update(text.encode() + b"\n")
        return digest.hexdigest()

    @cached_property
    def blocks(self) -> bytes:
        """A hash of 16 bytes per id, concatenated: the input of the keyed streams."""
        return b"".join(hashlib.blake2b(text.encode(), digest_size=16).digest() for text in self.ids.to_pylist())

    def places(self, ids: Any) -> NDArray[np.int64]:
        """Return the index of each id of a column; refuse ids that are not in the population."""
        found = pc.index_in(ids, self.ids)
        if found.null_count:
            row = pc.index(pc.is_null(found), value=True).as_py() + 1
            missing = f"{found.null_count:,} of {quantity(len(ids), 'id')}"
            raise BadData(
                f"{missing} of the table {'is' if found.null_count == 1 else 'are'} not in the population, the first in row {row:,}; "
                "remove such rows, or agree on a larger population"
            )
        places: NDArray[np.int64] = found.to_numpy(zero_copy_only=False).astype(np.int64)
        return places
