"""What the built-in samples share: their description, and records from draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.data.records.labels import label_order

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

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


class Coded(NamedTuple):
    """Items with their codes, which follow label order."""

    vocabulary: tuple[str, ...]
    codes: NDArray[np.int32]
    """The code of each item, in the order in which the items were given."""
    sets: NDArray[np.int32]
    """The codes of each set, padded with zeros."""
    sizes: NDArray[np.int64]
    """The number of items of each set; the last entry is for people without a set."""

    @classmethod
    def of(cls, labels: Sequence[str], sets: Collection[tuple[str, ...]]) -> Coded:
        """Give codes to items, and to sets of items that occur together."""
        order = label_order(labels)
        codes = np.empty(len(labels), dtype=np.int32)
        codes[order] = np.arange(len(labels), dtype=np.int32)
        code_of = dict(zip(labels, codes.tolist(), strict=True))
        longest = max(map(len, sets))
        padded = [[code_of[label] for label in one] + [0] * (longest - len(one)) for one in sets]
        sizes = np.array([*map(len, sets), 0], dtype=np.int64)
        return cls(tuple(labels[i] for i in order), codes, np.array(padded, dtype=np.int32), sizes)


def without_repeats(
    person: NDArray[np.int64], codes: NDArray[np.int32], items: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the codes of each record, sorted, and the lengths; an item that was drawn twice is in a record once."""
    keys = person.astype(np.int32) * np.int32(items) + codes
    keys.sort()
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    owner, codes = np.divmod(keys, np.int32(items))
    return codes, np.bincount(owner, minlength=CHUNK_RECORDS)
