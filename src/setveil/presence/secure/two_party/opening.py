"""The one place where anything is opened, and the names of what may be."""

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
    """Everything that is ever opened; each name is also the kind of its messages."""

    ROOT = "open-root"
    WIDER = "open-wider"
    WINNER = "open-winner"
    VERDICT = "open-verdict"
    COUNTS = "open-counts"


class Openings:
    """What opens shares, and counts what it opened."""

    def __init__(self, role: Provider, peer: Channel, collector: Channel | None) -> None:
        self._role = role
        self._peer = peer
        self._collector = collector
        self.tally: Counter[Opened] = Counter()
        """How many bits or numbers were opened so far, by name."""

    def reveal(self, what: Opened, share: NDArray[Any], to: Literal["both", "b", "c"]) -> NDArray[Any] | None:
        """Open what two shares hold together to those who may see it: bits by XOR, numbers by their sum. None for others."""
        line = self._collector if to == "c" else self._peer
        if line is None:
            raise BadParameter("counts go to the collector, and there is no line to it")
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
