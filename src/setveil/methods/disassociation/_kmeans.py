"""Form clusters by k-means, with which awad2020 compares.

Paper    awad2020 (references.bib) says that its ants were compared with k-means. It reports neither the settings nor the treatment of
         clusters of a wrong size.
Idea     a record is a row of zeros and ones, one per item. Mini-batch k-means of scikit-learn looks for as many centres as there would be
         clusters of delta records, and each record goes to its nearest centre. Clusters that are too large are cut in the order of content,
         and records of clusters below k are clustered by frequent items (`_groups`).
Departs  there are at most 1,000 centres, and fewer where many items would make them exceed MOST_NUMBERS values.
Cost     records times centres, a few times; measured on 59,602 records, 497 items, 1,000 centres: 2.7 s. Memory: one number per centre and
         item. It uses one thread: with several, sums may differ in the last digit, and then clusters may differ too.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import distinct, picked
from setveil.errors import Missing
from setveil.kernels.control import DONE, STOP
from setveil.kernels.threads import run
from setveil.methods.disassociation._groups import of_groups

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.disassociation._horizontal import Clustering, Mode

MOST_CENTRES = 1000
MOST_NUMBERS = 1 << 25
"""Maximum number of values, of 8 bytes each, of all centres together."""
PASSES = 2
"""How often all records move the centres."""
BATCH = 4096
"""Minimum number of records that move centres at once. The initial centres are chosen among the first 3 · centres of them."""


def require_scikit_learn() -> None:
    """Raise `Missing` if scikit-learn is not installed."""
    try:
        import_module("sklearn")
    except ImportError:
        raise Missing(
            "k-means requires scikit-learn, which is not installed; install it with: pip install 'setveil[learn]'"
        ) from None


def by_kmeans(
    data: Transactions, k: int, delta: int, *, safe: bool, mode: Mode, rng: Generator
) -> tuple[Clustering, dict[str, Any]]:
    """Return clusters formed by k-means, and an account."""
    require_scikit_learn()
    centres = min(-(-data.records // delta), MOST_CENTRES, max(MOST_NUMBERS // len(data.vocabulary), 1))
    contents, _counts, content = data.distinct()
    order = data.content_order()
    seed = int(rng.integers(1 << 31))
    passes = np.concatenate([content[order[rng.permutation(data.records)]] for _ in range(PASSES)])
    batch = max(BATCH, 3 * centres)
    label = run(
        "clustering records by k-means",
        lambda control: _labels(contents, passes, centres, batch, seed, control),
        total=len(passes) + contents.records,
    )
    group = label[content]
    account = {"centres": centres, "centres-with-records": len(distinct(label))}
    if not safe:
        order = np.arange(data.records)
    clustering, counts = of_groups(data, group, order, k, delta, safe=safe, mode=mode)
    return clustering, account | counts


def _labels(
    contents: Transactions, passes: NDArray[np.int64], centres: int, batch: int, seed: int, control: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the nearest centre of each content; `passes` lists the contents that move centres, one after the other."""
    from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415 - from the extra `kmeans`
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn

    label = np.zeros(contents.records, np.int64)
    model = MiniBatchKMeans(centres, n_init=1, batch_size=batch, random_state=seed, compute_labels=False)
    # Limits apply to the thread that sets them, so they are set here and not around `run`.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for first in range(0, len(passes), batch):
            control[DONE] = first
            if control[STOP]:
                return label
            model.partial_fit(_table(contents, passes[first : first + batch]))
        for first in range(0, contents.records, BATCH):
            control[DONE] = len(passes) + first
            if control[STOP]:
                return label
            rows = np.arange(first, min(first + BATCH, contents.records))
            label[rows] = model.predict(_table(contents, rows))
    return label


def _table(data: Transactions, rows: NDArray[np.int64]) -> Any:
    """Return a sparse table of these records, with the index types that scikit-learn requires."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes long to import

    starts, places = picked(data.offsets, rows)
    parts = (np.ones(len(places)), data.items[places], starts.astype(np.int32))
    return csr_array(parts, shape=(len(rows), len(data.vocabulary)))
