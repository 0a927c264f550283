"""Putting records into clusters by k-means, which awad2020 compares with.

Paper    awad2020 (references.bib) says that its ants were compared with k-means, and tells neither its settings nor what became of
         clusters of a wrong size.
Idea     a record is a row of zeros and ones, one an item. Mini-batch k-means of scikit-learn looks for as many centres as clusters of
         delta records would be, and each record goes to its nearest one. Clusters that are too large are cut in the order of content,
         and those below k records go by frequency (`_groups`).
Departs  there are at most 1,000 centres, and fewer where items are so many that centres would fill the memory.
Cost     records times centres, a few times; measured on 59,602 records, 497 items, 1,000 centres: 2.7 s. Memory: a number for each centre
         and item. It runs on one thread, since sums on several may differ in the last digit, and so may clusters then.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import picked
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
"""So many numbers, of 8 bytes each, may all centres have together."""
PASSES = 2
"""How often centres are moved by all records."""
BATCH = 4096
"""Records that move centres at once, at least; the first of them are also what centres are chosen from, three times as many as centres."""


def refuse_without_library() -> None:
    """Refuse k-means where scikit-learn is not installed."""
    try:
        import_module("sklearn")
    except ImportError:
        raise Missing("k-means needs scikit-learn, which is not installed; pip install 'setveil[kmeans]'") from None


def by_kmeans(
    data: Transactions, k: int, delta: int, *, safe: bool, mode: Mode, rng: Generator
) -> tuple[Clustering, dict[str, Any]]:
    """Put records into clusters by k-means; return an account too."""
    refuse_without_library()
    centres = min(-(-data.records // delta), MOST_CENTRES, max(MOST_NUMBERS // len(data.vocabulary), 1))
    distinct, _counts, content = data.distinct()
    order = data.content_order()
    seed = int(rng.integers(1 << 31))
    passes = np.concatenate([content[order[rng.permutation(data.records)]] for _ in range(PASSES)])
    batch = max(BATCH, 3 * centres)
    label = run(
        "looking for centres of records",
        lambda control: _labels(distinct, passes, centres, batch, seed, control),
        total=len(passes) + distinct.records,
    )
    group = label[content]
    account = {"centres": centres, "centres-with-records": len(np.unique(label))}
    if not safe:
        order = np.arange(data.records)
    clustering, noted = of_groups(data, group, order, k, delta, safe=safe, mode=mode)
    return clustering, account | noted


def _labels(
    distinct: Transactions, passes: NDArray[np.int64], centres: int, batch: int, seed: int, control: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the centre that is nearest to each content, given the contents that move centres, one after the other."""
    from sklearn.cluster import MiniBatchKMeans  # noqa: PLC0415 - of the extra `kmeans`
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn

    label = np.zeros(distinct.records, np.int64)
    model = MiniBatchKMeans(centres, n_init=1, batch_size=batch, random_state=seed, compute_labels=False)
    # Limits hold for the thread that sets them: so here, and not around `run`.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for first in range(0, len(passes), batch):
            control[DONE] = first
            if control[STOP]:
                return label
            model.partial_fit(_table(distinct, passes[first : first + batch]))
        for first in range(0, distinct.records, BATCH):
            control[DONE] = len(passes) + first
            if control[STOP]:
                return label
            rows = np.arange(first, min(first + BATCH, distinct.records))
            label[rows] = model.predict(_table(distinct, rows))
    return label


def _table(data: Transactions, rows: NDArray[np.int64]) -> Any:
    """Return a sparse table of these records, with numbers as small as scikit-learn wants them."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes long to import

    starts, places = picked(data.offsets, rows)
    parts = (np.ones(len(places)), data.items[places], starts.astype(np.int32))
    return csr_array(parts, shape=(len(rows), len(data.vocabulary)))
