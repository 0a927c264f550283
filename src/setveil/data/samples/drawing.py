"""What the built-in samples share: their description, and records from draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

CHUNK_RECORDS = 16_384
"""The number of records that are drawn from one random stream."""


@dataclass(frozen=True, eq=False)
class Sample:
    """A built-in sample."""

    step: str
    """What happens while records are drawn, for progress."""
    person: str
    """The first word of ids."""
    vocabulary: tuple[str, ...]
    """All items, in label order."""
    draw: Callable[[np.random.Generator], tuple[NDArray[np.int32], NDArray[np.int64]]]
    """Returns the item codes of `CHUNK_RECORDS` records, sorted within each record, and the lengths of the records."""
    levels: tuple[str, ...]
    """The levels of the taxonomy, the most specific one first."""
    rows: list[list[str]]
    """The taxonomy: each possible item with its group on each level."""
    sensitive: list[str]
    names: Mapping[str, str] = field(default_factory=dict)
    """The names of items that are codes."""


def without_repeats(
    person: NDArray[np.int64], codes: NDArray[np.int32], items: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the codes of each record, sorted, and the lengths; an item that was drawn twice is in a record once."""
    keys = person.astype(np.int32) * np.int32(items) + codes
    keys.sort()
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    owner, codes = np.divmod(keys, np.int32(items))
    return codes, np.bincount(owner, minlength=CHUNK_RECORDS)
