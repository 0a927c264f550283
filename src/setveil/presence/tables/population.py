"""The people whom a run is about: ids that both providers know, from a third source.

If the population were only the users of both providers, absence from one would prove presence at the other.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.files.texts import first_unusable
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Population:
    """Ids in an order that both providers know."""

    ids: Any
    """A large_string column of Arrow; each id occurs once."""

    def __post_init__(self) -> None:
        if len(self.ids) == 0:
            raise BadData("the population has no ids")
        if first_unusable(self.ids) is not None:
            raise BadData("the population has an id that is empty or holds a control character")
        if pc.count_distinct(self.ids).as_py() < len(self.ids):
            raise BadData("the population has an id twice; expected each once")

    @classmethod
    def of(cls, ids: list[str]) -> Population:
        """Make a population of a list of ids."""
        return cls(pa.array(ids, pa.large_string()))

    def __repr__(self) -> str:
        return f"Population({len(self):,} ids)"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def sha256(self) -> str:
        """The checksum of the ids in their order, as a policy names it: of the ids as lines of text."""
        digest = hashlib.sha256()
        for text in self.ids.to_pylist():
            digest.update(text.encode() + b"\n")
        return digest.hexdigest()

    @cached_property
    def blocks(self) -> bytes:
        """16 bytes that stand for each id, one after another: what keyed streams are drawn from."""
        return b"".join(hashlib.blake2b(text.encode(), digest_size=16).digest() for text in self.ids.to_pylist())

    def places(self, ids: Any) -> NDArray[np.int64]:
        """Return the place of each id of a column, or refuse one that is not in the population."""
        found = pc.index_in(ids, self.ids)
        if found.null_count:
            row = pc.index(pc.is_null(found), value=True).as_py() + 1
            raise BadData(f"{found.null_count:,} ids are not in the population, the first in row {row:,}")
        places: NDArray[np.int64] = found.to_numpy(zero_copy_only=False).astype(np.int64)
        return places
