"""Records as sparse matrices, for attacks that count pairs of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def held(offsets: NDArray[np.int64], codes: NDArray[np.integer[Any]], width: int) -> Any:
    """Return a sparse matrix with a 1 for each item of each record."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    kind = np.int32 if len(codes) < 2**31 else np.int64  # scikit-learn takes short indices only
    entries = np.ones(len(codes), np.float32), codes.astype(kind, copy=False), offsets.astype(kind, copy=False)
    return csr_array(entries, shape=(len(offsets) - 1, width))


def together(one: Any, other: Any) -> NDArray[np.float64]:
    """Return for each pair of an item of one matrix and an item of the other the number of records that hold both."""
    counts: NDArray[np.float64] = (one.T @ other).toarray().astype(np.float64)
    return counts


def independent(counts: NDArray[np.float64], records: int) -> NDArray[np.float64]:
    """Return the counts of pairs to be expected if items are independent; the diagonal of `counts` has those of single items."""
    expected: NDArray[np.float64] = np.outer(np.diag(counts), np.diag(counts)) / max(records, 1)
    return expected


def low_rank(counts: NDArray[np.float64], records: int, rank: int) -> NDArray[np.float64]:
    """Return the counts of pairs to be expected by independence and a model of this rank of the departures from it.

    The diagonal holds no pairs. It is ignored, since the supports of the most common items would take up the rank.
    """
    from scipy.sparse.linalg import eigsh  # noqa: PLC0415 - slow to import

    expected = independent(counts, records)
    departures = counts - expected
    np.fill_diagonal(departures, 0)
    rank = min(rank, len(counts) - 1)
    if rank < 1 or not departures.any():
        return expected
    values, vectors = eigsh(departures, rank, v0=np.ones(len(counts)))
    predicted: NDArray[np.float64] = expected + (vectors * values) @ vectors.T
    return predicted
