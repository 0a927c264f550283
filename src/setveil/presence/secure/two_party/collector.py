"""The collector of a two-party computation: it only adds the two shares of each count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.presence.secure.base import CollectorSide
from setveil.presence.secure.two_party.blocks import unpacked
from setveil.presence.secure.two_party.opening import Opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.channel import Channel


class TwoPartyCollectorSide(CollectorSide):
    """The collector's end."""

    def __init__(self, a: Channel, b: Channel) -> None:
        self._lines = (a, b)

    def counts(self, groups: int, values: int) -> NDArray[np.int64]:
        """Return c[s] of the final groups."""
        shape = (groups, values)
        total = np.zeros(shape, dtype=np.uint32)
        for line in self._lines:
            total += unpacked(line.receive(Opened.COUNTS, 4 * groups * values), np.uint32, shape)
        return total.astype(np.int64)

    def close(self) -> None:
        """Nothing was started."""
