"""A data file that is divided: `data-00001.csv`, `data-00002.csv` and so on, each with consecutive rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from setveil.data.records.transactions import Transactions
from setveil.engines.growing import growing_lists, growing_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from setveil.data.formats import Layout
    from setveil.data.forms.own_format import DataFormat

WHOLE, FIRST = "data.", "data-00001."
"""The beginnings of the name of a data file: one that is not divided, and the first of several."""


def part_names(name: str, number: int) -> tuple[str, ...]:
    """Return the names of a number of parts; `name` is that of the first part, or of a file that is not divided.

    >>> part_names("data.csv.gz", 2)
    ('data-00001.csv.gz', 'data-00002.csv.gz')
    """
    ending = name.removeprefix(FIRST).removeprefix(WHOLE)
    return tuple(f"data-{part:05}.{ending}" for part in range(1, number + 1))


def pattern_of(name: str) -> str:
    """Return a pattern for the names of all parts; the name itself if the file is not divided."""
    return f"data-*.{name.removeprefix(FIRST)}" if name.startswith(FIRST) else name


def write_parts(rows: Transactions, files: Sequence[Path], form: DataFormat, layout: Layout) -> None:
    """Write rows to files, of about equally many rows each."""
    if len(files) == 1:
        form.write(rows, files[0], layout)
        return
    size = max(-(-rows.records // len(files)), 1)
    for number, file in enumerate(files):
        form.write(_between(rows, number * size, (number + 1) * size), file, layout)


def read_parts(files: Sequence[Path], form: DataFormat, layout: Layout) -> Transactions:
    """Read the rows of files in their order."""
    if len(files) == 1:
        found: Transactions = form.read(files[0], layout)
        return found
    return _joined(form.read(file, layout) for file in files)


def _between(rows: Transactions, first: int, last: int) -> Transactions:
    borders = rows.offsets[first : last + 1]
    items = rows.items[borders[0] : borders[-1]]
    ids = None if rows.ids is None else rows.ids[first:last]
    return Transactions.of_parts(borders - borders[0], items, rows.vocabulary, ids=ids, unit=rows.unit)


def _joined(parts: Iterator[Transactions]) -> Transactions:
    """Return the records of all parts, one part in memory at a time."""
    records, names = growing_lists(np.int32), growing_texts()
    number_of: dict[str, int] = {}
    for part in parts:
        numbers = np.array([number_of.setdefault(label, len(number_of)) for label in part.vocabulary], np.int32)
        records.append(part.offsets, numbers[part.items])
        if part.ids is not None:
            names.append(part.ids.cast(pa.large_string()))
    ids = names.finish() if len(names) else None
    return Transactions.from_codes(*records.finish(), tuple(number_of), ids=ids)
