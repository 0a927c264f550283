"""Split the records of each cluster into chunks (VERPART).

Paper    terrovitis2012, algorithm VERPART and Lemma 2, from our notes: we did not have the paper; awad2020, section 2.1.
Idea     items in fewer than k records of the cluster go to the term chunk. The others, most frequent first, go to the first record chunk in
         which every set of at most m items that occurs still occurs k times.
         If the term chunk stays empty, there must be enough subrecords to fill every record, whichever m items an attacker knows (Lemma
         2); otherwise the least frequent item goes to the term chunk, and one is enough.
Departs  sets are searched by the records that hold them, each set of records once, so long records and any m are no obstacle. A search that
         needs more memory than ROOM is given up, and the item goes to a later chunk: this is safe, and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import distinct, offsets_of, picked, read_only
from setveil.kernels.threads import number_of_threads, share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.disassociation._horizontal import Clustering

ROOM = 1 << 20
"""Maximum number of machine words for the record sets of one search."""
PARTS_PER_THREAD = 8


def assign_chunks(
    data: Transactions,
    clustering: Clustering,
    k: int,
    m: int,
    *,
    fixed: NDArray[np.int8] | None = None,
    only: NDArray[np.int64] | None = None,
    chunk: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """Return the chunk of each occurrence, as `Disassociated.of_records` takes it, and an account.

    `fixed` marks occurrences that are suppressed, or whose item must go to the term chunk. With `only`, just these clusters are split, and
    `chunk` holds the chunks of the others.
    """
    from setveil.methods.disassociation import _vertical_kernels as kernels  # noqa: PLC0415 - imports Numba

    if fixed is None:
        fixed = np.zeros(data.occurrences, np.int8)
    if chunk is None:
        chunk = np.empty(data.occurrences, np.int32)
    rows, starts = clustering.rows, clustering.starts
    if only is not None:
        starts, places = picked(starts, only)
        rows = rows[places]
    lengths = offsets_of(data.lengths[rows])[starts]
    parts = PARTS_PER_THREAD * number_of_threads()
    borders = distinct(np.searchsorted(lengths, np.linspace(0, lengths[-1], parts + 1)[:-1]))
    borders = np.append(borders[borders < len(starts) - 1], len(starts) - 1)
    tallies = np.zeros((len(borders), 2), np.int64)
    clustered = kernels.Clustered(data.offsets, data.items, *map(read_only, (fixed, rows, starts)))
    limits = kernels.Limits(k, m, ROOM)
    width = len(data.vocabulary)

    def work(part: int, control: NDArray[np.int64]) -> None:
        by_number: Any = [np.empty(width, dtype) for dtype in (np.int32, np.int64, np.int64, np.int64)]
        items = kernels.Items(np.full(width, -1, np.int32), *by_number)
        kernels.take_apart(clustered, borders[part], borders[part + 1], limits, items, chunk, tallies[part], control)

    share("splitting clusters into chunks", range(len(borders) - 1), work, total=len(rows))
    moved, given_up = tallies.sum(axis=0).tolist()
    return chunk, {"items-moved-for-lemma-2": moved, "searches-given-up": given_up}
