"""Supports of itemsets in a release of any form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from setveil.mining.support_bounds import support_bounds
from setveil.mining.supports import supports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.forms.disassociated import Disassociated
    from setveil.mining.itemsets import Itemsets
    from setveil.mining.support_bounds import Reading


def supports_in(published: Published, sets: Itemsets, reading: Reading = "expected") -> NDArray[Any]:
    """Return the support of each of these itemsets in a release; for a form with bounds, the figure named by `reading`."""
    if published.has_support_bounds:
        return support_bounds(cast("Disassociated", published), sets).of(reading)
    return supports(published.as_records(), sets)
