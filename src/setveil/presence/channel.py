"""A party's line to another party: framed messages that arrive in order, and counts of what was sent and received.

The receiver of a message always states how long it may be. Lengths depend on public sizes only, so a longer or shorter message is refused
before any memory is allocated for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Role = Literal["a", "b", "c"]

PARTY_NAMES: dict[str, str] = {"a": "provider A", "b": "provider B", "c": "the collector"}
"""What messages call each party."""


@dataclass
class Traffic:
    """Messages and bytes sent and received on a line so far; bytes of payloads, without those of framing and TLS."""

    messages_sent: int = 0
    messages_received: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0


class Channel(Protocol):
    """A line to one other party. Every failure raises `PeerFailed`, which names the party."""

    role: Role
    """The party at this end."""
    peer: Role
    in_one_process: bool
    """Whether both ends are in this process: the clear backend runs on such lines only."""
    traffic: Traffic

    def send(self, kind: str, payload: bytes | bytearray | memoryview) -> None:
        """Send a message of a kind (at most 16 ASCII letters, digits and hyphens). Never waits for the peer to read."""

    def receive(self, kind: str, size: int) -> bytes:
        """Wait for the next message, which must be of that kind and have exactly that many bytes."""

    def receive_at_most(self, kind: str, most: int) -> bytes:
        """Wait for the next message, which must be of that kind and have at most that many bytes."""

    def abort(self, reason: str) -> None:
        """Try to send the peer the reason why this party stops (never a value of the data), and close."""

    def close(self) -> None:
        """Close the line; messages that were sent still arrive."""
