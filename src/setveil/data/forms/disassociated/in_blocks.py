"""Clusters in blocks of an engine: a row is a cluster with its records."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.data.forms.disassociated.parts import ClusterArrays, joined
from setveil.data.records.ragged import offsets_of
from setveil.engines.growing import GrowingArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from setveil.engines.blocks import Blocks

_COLUMNS = ("rows", "terms", "subrecords", "counts", "lengths", "items")
"""By cluster: its records, its term chunk, the number of subrecords of each chunk; the count and the number of items of each subrecord; and
the items of all subrecords."""


def as_block(arrays: ClusterArrays, rows: NDArray[np.int64], account: Mapping[str, int]) -> Any:
    """Return clusters as a block; `rows` are their records, cluster by cluster. The first row has the figures of the account."""
    subrecords = arrays.chunk_starts[arrays.cluster_starts]
    items = arrays.offsets[subrecords]
    lists = {
        "rows": (offsets_of(arrays.sizes), rows),
        "terms": (arrays.term_starts, arrays.terms),
        "subrecords": (arrays.cluster_starts, np.diff(arrays.chunk_starts)),
        "counts": (subrecords, arrays.counts),
        "lengths": (subrecords, np.diff(arrays.offsets)),
        "items": (items, arrays.items),
    }
    columns = {name: pa.LargeListArray.from_arrays(*map(pa.array, lists[name])) for name in _COLUMNS}
    figures = {name: np.append(figure, np.zeros(len(arrays.sizes) - 1, np.int64)) for name, figure in account.items()}
    return pa.record_batch(columns | figures)


def gathered(blocks: Blocks) -> tuple[ClusterArrays, NDArray[np.int64], dict[str, int]]:
    """Return the clusters of all blocks, their records, and the sums of the accounts; long arrays are on disk."""
    rows, account = GrowingArray(np.int64), Counter[str]()

    def parts() -> Iterator[ClusterArrays]:
        for block in blocks:
            columns = {name: _numbers(block.column(name)) for name in _COLUMNS}
            rows.append(columns["rows"][1])
            account.update(
                {name: int(block.column(name).to_numpy().sum()) for name in block.schema.names if name not in _COLUMNS}
            )
            (sizes, _rows), (terms, term_codes), (chunks, subrecords), (_, counts), (_, lengths), (_, items) = (
                columns.values()
            )
            yield ClusterArrays(
                offsets_of(lengths), items, counts, offsets_of(subrecords), chunks, np.diff(sizes), terms, term_codes
            )

    return joined(parts()), rows.finish(), dict(account)


def _numbers(lists: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the offsets of a column of lists, and their numbers."""
    offsets = lists.offsets.to_numpy()
    return offsets - offsets[0], lists.values.to_numpy()[offsets[0] : offsets[-1]]
