"""The only place where values are opened, and the names of all values that may be."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.errors import BadParameter
from setveil.presence.secure.two_party.blocks import packed, unpacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.channel import Channel
    from setveil.presence.secure.base import Provider


class Opened(StrEnum):
    """All values that are ever opened; each name is also the kind of its messages."""

    ROOT = "open-root"
    WIDER = "open-wider"
    WINNER = "open-winner"
    VERDICT = "open-verdict"
    COUNTS = "open-counts"


class Openings:
    """Opens shares, and counts the opened values."""

    def __init__(self, role: Provider, peer: Channel, collector: Channel | None) -> None:
        self._role = role
        self._peer = peer
        self._collector = collector
        self.tally: Counter[Opened] = Counter()
        """The number of bits or numbers opened so far, by name."""

    def reveal(self, what: Opened, share: NDArray[Any], to: Literal["both", "b", "c"]) -> NDArray[Any] | None:
        """Open the values of two shares to the parties in `to`: bits by XOR, numbers by their sum. Other parties get None."""
        line = self._collector if to == "c" else self._peer
        if line is None:
            raise BadParameter("counts_to is c, and there is no line to the collector; give the session a line to it")
        self.tally[what] += share.size
        bits = share.dtype == np.bool_
        payload = np.packbits(share).tobytes() if bits else packed(share)
        if to != "b" or self._role == "a":
            line.send(what, payload)
        if to == "c" or (to == "b" and self._role == "a"):
            return None
        theirs = line.receive(what, len(payload))
        if bits:
            other = np.unpackbits(np.frombuffer(theirs, dtype=np.uint8), count=share.size).astype(np.bool_)
            return np.asarray(share ^ other.reshape(share.shape))
        return np.asarray(share + unpacked(theirs, share.dtype, share.shape))
