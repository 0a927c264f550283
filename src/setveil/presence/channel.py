"""What a party knows of its line to another party: framed messages that arrive in order, and how much went over it.

The receiver of a message always says how long it may be. Lengths depend on public sizes alone, so a longer or shorter one is an error
before any room is made for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Role = Literal["a", "b", "c"]

PARTY_IN_WORDS: dict[str, str] = {"a": "provider A", "b": "provider B", "c": "the collector"}


@dataclass
class Traffic:
    """What went over a line so far; bytes are those of messages, without what framing and TLS add."""

    messages_sent: int = 0
    messages_received: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0


class Channel(Protocol):
    """A line to one other party. Failures of any kind are `PeerFailed`, which names the party."""

    role: Role
    """The party on this end."""
    peer: Role
    in_one_process: bool
    """Whether both ends are in this process: the clear backend runs on no other line."""
    traffic: Traffic

    def send(self, kind: str, payload: bytes | bytearray | memoryview) -> None:
        """Send a message of a kind (at most 16 ASCII letters, digits and hyphens). Never blocks for want of the peer reading."""

    def receive(self, kind: str, size: int) -> bytes:
        """Wait for the next message, which must be of that kind and have exactly that many bytes."""

    def receive_at_most(self, kind: str, most: int) -> bytes:
        """Wait for the next message, which must be of that kind and have at most that many bytes."""

    def abort(self, reason: str) -> None:
        """Tell the peer, as well as it goes, that this party stops and why (never a value of the data), and close."""

    def close(self) -> None:
        """Close; what was sent still arrives."""
