"""The arrays of disassociated data, which are put together from parts. Data of several parts may be larger than memory."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.records.ragged import BLOCK, record_ranges, rises_within_records, sorted_within
from setveil.engines.growing import GrowingArray, growing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class ClusterArrays(NamedTuple):
    """The arrays of `Disassociated`. Subrecord i has the items `items[offsets[i] : offsets[i + 1]]`."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    counts: NDArray[np.int64]
    chunk_starts: NDArray[np.int64]
    cluster_starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    term_starts: NDArray[np.int64]
    terms: NDArray[np.int32]

    def renamed(self, rank: NDArray[np.int32]) -> ClusterArrays:
        """Return the same clusters with the code `rank[i]` for each item i."""
        items, terms = _renamed(self.offsets, self.items, rank), _renamed(self.term_starts, self.terms, rank)
        return self._replace(items=items, terms=terms)


_CODES = ("items", "terms")
_STARTS = ("offsets", "chunk_starts", "cluster_starts", "term_starts")


def joined(parts: Iterable[ClusterArrays]) -> ClusterArrays:
    """Return the clusters of all parts, at least one, in order. Those of several parts are on disk."""
    waiting = iter(parts)
    first, second = next(waiting), next(waiting, None)
    if second is None:
        return first
    whole = {name: GrowingArray(np.int32 if name in _CODES else np.int64) for name in ClusterArrays._fields}
    for name in _STARTS:
        whole[name].append(np.zeros(1, np.int64))
    for part in chain((first, second), waiting):
        whole["cluster_starts"].append(part.cluster_starts[1:] + (len(whole["chunk_starts"]) - 1))
        whole["chunk_starts"].append(part.chunk_starts[1:] + len(whole["counts"]))
        whole["offsets"].append(part.offsets[1:] + len(whole["items"]))
        whole["term_starts"].append(part.term_starts[1:] + len(whole["terms"]))
        for name in ("items", "counts", "sizes", "terms"):
            whole[name].append(getattr(part, name))
    return ClusterArrays(**{name: array.finish() for name, array in whole.items()})


def _renamed(starts: NDArray[np.int64], codes: NDArray[Any], rank: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the ranks of codes, sorted within each list."""
    renamed = growing(np.int32)
    for first, last in record_ranges(starts, BLOCK, BLOCK):
        borders = starts[first : last + 1] - starts[first]
        found = rank[codes[starts[first] : starts[last]]]
        renamed.append(found if rises_within_records(borders, found) else sorted_within(borders, found, len(rank)))
    return renamed.finish()
