"""How many records of a release hold itemsets, whatever its form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.data.disassociated import Disassociated
from setveil.mining.support_bounds import support_bounds
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.mining.itemsets import Itemsets


def counts_in(published: Transactions | Disassociated, sets: Itemsets) -> NDArray[Any]:
    """Return how many records of a release hold each of these itemsets; of disassociated data, the expected number."""
    if isinstance(published, Disassociated):
        return support_bounds(published, sets).expected
    return supports(published, sets)
