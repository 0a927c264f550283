"""Supports of many itemsets at once: the number of records that hold all items of each.

Cost: for each set, the records of its rarest item times its length, less the part that it shares with adjacent sets in sorted order. If
many sets have the same rarest item, a sixty-fourth of that, and once the occurrences in its records. If many records hold every item of a
set, it is a sixty-fourth of all records instead. The records are counted in blocks that caches hold. Memory beside the data: up to 32 bytes
per occurrence of a block.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.data.records.in_blocks import ITEMS, in_blocks, need_blocks
from setveil.data.records.ragged import distinct, offsets_of, owner_of, read_only, record_ranges, starts_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData
from setveil.kernels.threads import run, share, with_threads
from setveil.mining.itemsets import Itemsets, codes_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from setveil.engines.blocks import BlockKey

HOT = 256
"""An item that at least one in HOT records holds is stored as one bit per record. Bits take more memory than a list and less time."""
OCCURRENCES_AT_ONCE = 1 << 20
"""Number of occurrences in a block of records. Reading the records of an item at random takes several times as long from main memory."""
SETS_AT_ONCE = 2048
"""Number of sets per part of the work."""
MANY = 256
"""If at least this number of sets have the same rarest item, the records that hold it are read once for all of them."""


@with_threads
@check_arguments
def supports(
    data: Transactions,
    itemsets: Itemsets | Iterable[Iterable[str]] | tuple[NDArray[Any], NDArray[Any]],
    *,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> NDArray[np.int64]:
    """Return the support of each itemset: the number of records that hold all of its items.

    Parameters
    ----------
    data : Transactions
        The records to count in.
    itemsets : Itemsets, iterable of lists of str, or pair of arrays
        The itemsets: lists of labels, a result of `mine`, or a pair of offsets and codes (positions in the vocabulary of the data). If an
        item is not in the data, the support is 0. Every record holds the empty set. Repeated items count once.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    array of int64
        One support per itemset, in their order.

    Raises
    ------
    BadData
        If an itemset is not a list of texts, or offsets and codes are not valid.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.from_lists([["beer", "crisps"], ["beer"], ["tea"]])
    >>> sv.supports(data, [["beer"], ["crisps", "beer"], ["tea", "gin"], []]).tolist()
    [2, 1, 0, 3]
    """
    offsets, codes = codes_in(data, itemsets)
    return _supports(data, offsets, codes)


def codes_in(data: Transactions, itemsets: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return offsets and codes of itemsets; the code of an item that is not in the data is -1."""
    if isinstance(itemsets, Itemsets):
        if itemsets.vocabulary == data.vocabulary:
            return itemsets.offsets, itemsets.items.astype(np.int64)
        code = np.array([data.code_of.get(label, -1) for label in itemsets.vocabulary], dtype=np.int64)
        return itemsets.offsets, code[itemsets.items] if len(code) else np.empty(0, np.int64)
    if isinstance(itemsets, tuple) and len(itemsets) == 2 and isinstance(itemsets[0], np.ndarray):
        offsets, codes = (np.asarray(part) for part in itemsets)
        if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in (offsets, codes)):
            raise BadData("offsets and codes of itemsets must be one-dimensional arrays of whole numbers")
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(codes) or np.any(offsets[1:] < offsets[:-1]):
            raise BadData("offsets of itemsets must start at 0, never fall, and end at the number of codes")
        known = codes.astype(np.int64)
        if len(known) and not -1 <= known.min() <= known.max() < len(data.vocabulary):
            raise BadData("a code of an itemset is outside the vocabulary; use -1 for an unknown item")
        return offsets.astype(np.int64), known
    offsets, flat = codes_of(itemsets, data)
    return offsets, flat.astype(np.int64)


def _supports(data: Transactions, offsets: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    from setveil.mining import _supports_kernels as kernels  # noqa: PLC0415 - imports Numba

    n_sets = len(offsets) - 1
    result = np.zeros(n_sets, dtype=np.int64)
    result[np.diff(offsets) == 0] = data.records
    set_of = owner_of(offsets)
    possible = np.ones(n_sets, dtype=bool)
    impossible = (codes < 0) | (data.supports[codes] == 0) if len(data.vocabulary) else np.ones(len(codes), dtype=bool)
    possible[set_of[impossible]] = False
    keep = possible[set_of]
    set_of, codes = set_of[keep], codes[keep]
    if not len(codes):
        return result

    occurs = np.zeros(len(data.vocabulary), dtype=bool)
    occurs[codes] = True
    used = np.flatnonzero(occurs)
    used = used[np.argsort(data.supports[used], kind="stable")]
    number_of = np.full(len(data.vocabulary), -1, dtype=np.int64)
    number_of[used] = np.arange(len(used))
    keys = distinct(set_of * len(used) + number_of[codes])
    set_items = (keys % len(used)).astype(np.int32)
    set_offsets = starts_of(keys // len(used), n_sets)
    as_records = Transactions.of_parts(set_offsets, set_items, (), ids=None, unit="record")
    is_single = np.diff(set_offsets) == 1
    result[is_single] = data.supports[used[set_items[set_offsets[:-1][is_single]]]]
    order = as_records.content_order()
    order = order[np.diff(set_offsets)[order] > 1]
    if not len(order):
        return result

    sets = kernels.Sets(read_only(set_offsets), read_only(set_items), read_only(order))
    hot = data.supports[used] * HOT >= data.records
    counted = partial(_count_records, sets, read_only(used), read_only(number_of), hot)
    if need_blocks(data):
        return result + in_blocks(data).fold("counting itemsets", partial(_count_block, counted))
    return result + counted(data.offsets, data.items)


def _count_block(counted: Any, block: Any, key: BlockKey) -> NDArray[np.int64]:
    """Return the supports in a block."""
    del key
    lists = block.column(ITEMS)
    found: NDArray[np.int64] = counted(lists.offsets.to_numpy(), lists.values.to_numpy())
    return found


def _count_records(
    sets: Any,
    used: NDArray[np.int64],
    number_of: NDArray[np.int64],
    hot: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Return the supports of sets in some records."""
    from setveil.mining import _supports_kernels  # noqa: PLC0415 - imports Numba

    kernels: Any = _supports_kernels  # without types, since Numba infers them
    result = np.zeros(len(sets.offsets) - 1, dtype=np.int64)
    for first, last in record_ranges(offsets, OCCURRENCES_AT_ONCE, OCCURRENCES_AT_ONCE):
        borders = offsets[first : last + 1]
        codes = read_only(items[borders[0] : borders[-1]])
        records = kernels.Records(read_only(borders - borders[0]), codes, number_of)
        add = partial(_add_supports, kernels, sets, records, _lay_out(kernels, used, hot, records), result)
        share("counting itemsets", range(0, len(sets.order), SETS_AT_ONCE), add, total=len(sets.order))
    return result


def _add_supports(
    kernels: Any,
    sets: Any,
    records: Any,
    layout: Any,
    result: NDArray[np.int64],
    first: int,
    control: NDArray[np.int64],
) -> None:
    """Add the supports in a block of records for some sets, from the number `first` on."""
    last = min(first + SETS_AT_ONCE, len(sets.order))
    kernels.count_sets(first, last, sets, records, layout, MANY, result, control)


def _lay_out(kernels: Any, used: NDArray[np.int64], hot: NDArray[np.bool_], records: Any) -> Any:
    """Return the layout of the used items in a block of records, by number."""
    n_records = len(records.offsets) - 1
    held = np.bincount(records.codes, minlength=len(records.number_of))[used]
    starts, bits = offsets_of(np.where(hot, 0, held)), np.where(hot, np.cumsum(hot) - 1, -1)
    rows = np.empty(starts[-1], dtype=np.int64)
    words = np.zeros((np.count_nonzero(hot), (n_records + 63) // 64), dtype=np.uint64)
    layout = kernels.Layout(read_only(starts), read_only(bits), rows, words)
    filled = np.empty(len(used), np.int64)
    run(
        "laying out the records",
        lambda control: kernels.lay_out(records, filled, layout, control),
        total=n_records,
    )
    return kernels.Layout(*map(read_only, layout))
