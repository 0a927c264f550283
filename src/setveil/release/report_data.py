"""Count what the report draws of the data before and after: few numbers, however large the data.

The report computes nothing from the data. Its numbers are counted here and stored in the dossier. They describe the original, so they
belong in the private folder only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.records.ragged import distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.records.transactions import Transactions

MOST_BINS = 24
"""Maximum number of bins: with two bars each, they still fit on the screen of a phone."""
MOST_ITEMS = 30
MOST_RANKS = 100
"""Maximum number of points of each rank-frequency curve."""
MOST_CHARACTERS = 120
"""Longer labels are cut, to fit into charts and to keep the dossier small."""

_STEPS = ((1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0,))
"""Round numbers within a power of ten at which bins may start, from fine to coarse."""


def pictures(original: Transactions, published: Published) -> dict[str, Any]:
    """Return the supports of items before and after and, if rows are whole records, their lengths, as plain values."""
    labels, before, after = _aligned_supports(original, published)
    own: dict[str, Any] = {name: _sizes(sizes, name) for name, sizes in published.sizes_drawn.items()}
    if published.lengths_shown is not None:
        own = {"lengths": _lengths(original.lengths, published.lengths_shown)} | own
    return own | {
        "items": {
            "items": int(np.count_nonzero((before > 0) | (after > 0))),
            "unchanged": int(np.count_nonzero((before == after) & (before > 0))),
            "lost": int(np.count_nonzero((before > 0) & (after == 0))),
            "new": int(np.count_nonzero((before == 0) & (after > 0))),
            "most_frequent": _most_frequent(labels, before, after),
        },
        "ranks": {"before": _ranks(before), "after": _ranks(after)},
    }


def _aligned_supports(original: Transactions, published: Published) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels of both sides in one column, those of the original first, and their supports before and after."""
    place = pc.index_in(published.labels, value_set=original.labels)
    known = np.asarray(pc.fill_null(place, -1), dtype=np.int64)
    added = np.flatnonzero(known < 0)
    labels = pa.concat_arrays([_whole(original.labels), _whole(published.labels).take(pa.array(added))])
    before = np.concatenate((original.supports, np.zeros(len(added), np.int64)))
    after = np.zeros(len(labels), np.int64)
    after[known[known >= 0]] = published.supports[known >= 0]
    after[len(original.labels) :] = published.supports[added]
    return labels, before, after


def _whole(column: Any) -> Any:
    """Return a column as a single array of texts."""
    joined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pc.cast(joined, pa.large_string())


def _most_frequent(labels: Any, before: NDArray[np.int64], after: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the most frequent items of both sides; ties are in label order."""
    order = np.argsort(-np.maximum(before, after), kind="stable")[:MOST_ITEMS]
    chosen = [code for code in order.tolist() if before[code] or after[code]]
    names = short_names(labels.take(pa.array(chosen, pa.int64())).to_pylist())
    return [
        {"item": name, "before": int(before[code]), "after": int(after[code])}
        for name, code in zip(names, chosen, strict=True)
    ]


def short_names(labels: list[str]) -> list[str]:
    """Cut long labels and number those that become equal: a chart distinguishes its rows by name."""
    names: list[str] = []
    taken: set[str] = set(labels)
    for label in labels:
        if len(label) <= MOST_CHARACTERS:
            names.append(label)
            continue
        short, number = label[: MOST_CHARACTERS - 1] + "…", 1
        while short in taken:
            number += 1
            short = f"{label[: MOST_CHARACTERS - 8]}… ({number})"
        taken.add(short)
        names.append(short)
    return names


def _ranks(supports: NDArray[np.int64]) -> list[list[int]]:
    """Return points (rank, records) of the supports in descending order, evenly spaced on a logarithmic rank axis."""
    falling = -np.sort(-supports[supports > 0])
    if not len(falling):
        return []
    ranks = distinct(np.rint(np.geomspace(1, len(falling), MOST_RANKS)).astype(np.int64))
    return [[int(rank), int(falling[rank - 1])] for rank in ranks]


def _lengths(before: NDArray[np.int64], after: NDArray[np.int64]) -> dict[str, Any]:
    """Count records by length, in bins that get wider with the length if lengths differ by orders of magnitude."""
    records = [np.bincount(lengths) for lengths in (before, after)]
    there = [np.flatnonzero(numbers) for numbers in records]
    found = np.concatenate(there).tolist()
    shortest, longest = min(found, default=0), max(found, default=0)
    starts = bin_starts(shortest, longest)
    ends = [*(start - 1 for start in starts[1:]), longest]
    counts = [
        np.bincount(np.searchsorted(starts, lengths, side="right") - 1, numbers[lengths], len(starts)).astype(np.int64)
        for lengths, numbers in zip(there, records, strict=True)
    ]
    bins = [
        {"from": start, "to": end, "before": int(old), "after": int(new)}
        for start, end, old, new in zip(starts, ends, *counts, strict=True)
    ]
    return {"bins": bins, "before": _summary(records[0]), "after": _summary(records[1])}


def _sizes(sizes: NDArray[np.int64], what: str) -> list[dict[str, int]]:
    """Count parts such as clusters by their number of records, in the same kind of bins."""
    starts = bin_starts(int(sizes.min()), int(sizes.max()))
    ends = [*(start - 1 for start in starts[1:]), int(sizes.max())]
    counts = np.bincount(np.searchsorted(starts, sizes, side="right") - 1, minlength=len(starts)).tolist()
    return [{"from": start, "to": end, what: number} for start, end, number in zip(starts, ends, counts, strict=True)]


def bin_starts(shortest: int, longest: int) -> list[int]:
    """Return the starts of bins: one per length if they fit, and otherwise the finest round numbers that fit."""
    if longest - shortest < MOST_BINS:
        return list(range(shortest, longest + 1))
    starts: list[int] = []
    for steps in _STEPS:
        powers = range(len(str(longest)) + 1)
        found = {0} | {round(step * 10**power) for power in powers for step in steps if (step * 10**power).is_integer()}
        inside = sorted(start for start in found if start <= longest)
        first = max(place for place, start in enumerate(inside) if start <= shortest)
        starts = inside[first:]
        if len(starts) <= MOST_BINS:
            break
    return starts


def _summary(records: NDArray[np.int64]) -> dict[str, Any]:
    """Return the mean, the median, the 95th percentile and the maximum of the lengths; `records[n]` records have length n."""
    number = int(records.sum())
    if not number:
        return {"mean": None, "half": None, "most": None, "longest": None}
    up_to = np.cumsum(records)
    at = [int(np.searchsorted(up_to, -(-number * percent // 100))) for percent in (50, 95)]
    mean = int(records @ np.arange(len(records))) / number
    return {"mean": mean, "half": at[0], "most": at[1], "longest": len(records) - 1}
