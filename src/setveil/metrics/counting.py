"""Supports of itemsets in a release of any form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.mining.cluster_index import ClusterIndex
from setveil.mining.support_bounds import bounds_of
from setveil.mining.supports import codes_in, supports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair
    from setveil.mining.itemsets import Itemsets
    from setveil.mining.support_bounds import Reading


def supports_in(pair: Pair, sets: Itemsets, reading: Reading = "expected") -> NDArray[Any]:
    """Return the support of each of these itemsets in the release; for a form with bounds, the figure named by `reading`."""
    published = pair.published
    if published.has_support_bounds:
        return bounds_of(pair.once(_index), *codes_in(published.subrecords, sets)).of(reading)
    return supports(published.as_records(), sets)


def _index(pair: Pair) -> ClusterIndex:
    return ClusterIndex.of(pair.published)
