"""The items that are in fewer than k records: k^m-anonymity cannot show them beside other items of a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.base.display import quantity, share

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions


def rare_items(data: Transactions, k: int, result: str) -> str:
    """Return a sentence with the number of items in fewer than k records, and what follows for them."""
    occurring = data.supports[data.supports > 0]
    rare = occurring[occurring < k]
    if not len(rare):
        return f"no item is too rare: each is in at least {quantity(k, 'record')}"
    part = share(int(rare.sum()) / data.occurrences)
    verb = "is" if len(rare) == 1 else "are"
    return (
        f"{len(rare):,} of {quantity(len(occurring), 'item')} {verb} in fewer than {quantity(k, 'record')}, with {part} of the "
        f"occurrences, {result}"
    )
