"""What a provider sees of the divisions of a run: which ids are in which part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.protocol import Divided
    from setveil.presence.secure.base import Provider


@dataclass(frozen=True, eq=False)
class Split:
    """A division that passed its check: both providers know which ids are in which part."""

    way: str
    ids: NDArray[np.int64]
    """Positions in the population."""
    lower: NDArray[np.bool_]

    def same_as(self, other: Split) -> bool:
        """Return whether another division has the same ids in the same parts."""
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.lower, other.lower)


def other_than(role: Provider) -> Provider:
    """Return the other provider."""
    return "b" if role == "a" else "a"


def owners(divided: Divided) -> dict[str, Provider]:
    """Return the owner of the cut of each group, by the path to the group."""
    return {entry.way: entry.value for entry in divided.openings.entries if entry.kind == "side"}


def passed_splits(divided: Divided, owner: Provider) -> list[Split]:
    """Return the divisions of one owner that passed, starting with the root; ids are in ascending order within each."""
    owner_of = owners(divided)
    ways = [way.decode() for way in divided.ways]
    by_way = np.argsort(np.array(ways, dtype=np.str_), kind="stable")
    rank = np.empty(len(ways), dtype=np.int64)
    rank[by_way] = np.arange(len(ways))
    rank_of_id = rank[divided.groups.group_of]
    begins, order = places_of(rank_of_id, len(ways))
    # In the order of paths, the groups below any path are adjacent: first those of its lower part, then those of its upper part.
    spans: dict[str, list[int]] = {}
    for place, number in enumerate(by_way):
        way = ways[number]
        for length in range(len(way)):
            span = spans.setdefault(way[:length], [place, place, place])
            span[2] = place + 1
            if way[length] == "0":
                span[1] = place + 1
    found = []
    for way in sorted(spans, key=lambda one: (len(one), one)):
        if owner_of[way] != owner:
            continue
        first, middle, last = (begins[place] for place in spans[way])
        ids = order[first:last]
        lower = np.arange(first, last) < middle
        rising = np.argsort(ids)
        found.append(Split(way, ids[rising], lower[rising]))
    return found
