"""Lists of people that can be compared without storing their names: 8 bytes of a hash (a mark) per person, in ascending order.

The probability that two different people have the same mark is too small to matter here.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from setveil.presence.tables.population import Population

_MARK = np.dtype("<u8")


@dataclass(frozen=True)
class Marks:
    """The marks of a list of people."""

    content: bytes

    @property
    def count(self) -> int:
        """The number of people."""
        return len(self.content) // _MARK.itemsize


def of_ids(population: Population) -> Marks:
    """Return the marks of the ids of a population."""
    return Marks(np.sort(np.frombuffer(population.blocks, dtype=_MARK)[::2]).tobytes())


def of_customers(keys: Any, secret: bytes) -> Marks:
    """Return the marks of a provider's own customer keys, a column of texts; without `secret`, marks cannot be matched to keys.

    Upper and lower case, Unicode variants of the same letter, and spaces at the ends are ignored.
    """
    digests = (
        hashlib.blake2b(
            unicodedata.normalize("NFKC", key).casefold().strip().encode(), key=secret, digest_size=8
        ).digest()
        for key in keys.to_pylist()
    )
    return Marks(np.sort(np.frombuffer(b"".join(digests), dtype=_MARK)).tobytes())


def shared(marks: Marks, others: bytes) -> int:
    """Return the number of people of a list who are in another list."""
    mine, theirs = (np.frombuffer(content, dtype=_MARK) for content in (marks.content, others))
    places = np.searchsorted(theirs, mine)
    inside = places < len(theirs)
    return int((theirs[places[inside]] == mine[inside]).sum())
