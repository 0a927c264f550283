"""Conversion to pandas, which is an optional dependency."""

from __future__ import annotations

from typing import Any

from setveil.errors import Missing


def as_pandas(table: Any, *, tuples: str = "") -> Any:
    """Return an Arrow table as a pandas DataFrame.

    The lists in the column `tuples` become tuples: pandas can hash those, so that it can merge on them and find duplicates.
    """
    try:
        frame = table.to_pandas()
    except ImportError:
        raise Missing(
            "to_pandas needs pandas, which is not installed; run `pip install pandas`, or use to_table, which does not need it"
        ) from None
    if tuples:
        frame[tuples] = [tuple(one) for one in frame[tuples]]
    return frame
