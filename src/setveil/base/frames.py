"""Frames of pandas, which is not needed for anything else and may be missing."""

from __future__ import annotations

from typing import Any

from setveil.errors import Missing


def as_pandas(table: Any, *, tuples: str = "") -> Any:
    """Return an Arrow table as a pandas DataFrame.

    The column `tuples` holds lists. They become tuples, by which pandas can merge and find repeated rows: arrays have no hash.
    """
    try:
        frame = table.to_pandas()
    except ImportError:
        raise Missing(
            "to_pandas needs pandas, which is not installed; run `pip install pandas`, or use to_table, which does without"
        ) from None
    if tuples:
        frame[tuples] = [tuple(one) for one in frame[tuples]]
    return frame
