"""How a message looks on a line: a header of fixed length, and as many bytes as it says.

The header names the sender, the run and the number of the message in its direction. Whoever receives reads the header first and refuses
what it did not wait for before any room is made: another run, a message seen before or out of turn, another kind, another length.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_IN_WORDS

if TYPE_CHECKING:
    from setveil.presence.channel import Role

MAGIC = b"setveil\n"
VERSION = 1
NONCE_BYTES = 16
NO_NONCE = bytes(NONCE_BYTES)
"""What stands for the run before both sides agreed on its nonce."""
ABORT = "abort"
MOST_ABORT_BYTES = 400

_HEADER = struct.Struct(">8sB1s16sQ16sQ")
HEADER_BYTES = _HEADER.size
_KIND = re.compile(r"[A-Za-z0-9-]{1,16}")


@dataclass(frozen=True)
class Expected:
    """What a receiver waits for."""

    kind: str
    least: int
    most: int

    def __post_init__(self) -> None:
        checked_kind(self.kind)
        if not 0 <= self.least <= self.most:
            raise ValueError(f"a message cannot have from {self.least} to {self.most} bytes")

    @property
    def in_words(self) -> str:
        """What is waited for, for people."""
        length = f"{self.most}" if self.least == self.most else f"at most {self.most}"
        return f"{self.kind!r} of {length} bytes"


def checked_kind(kind: str) -> str:
    """Return a kind of message; refuse one that the header cannot hold."""
    if not _KIND.fullmatch(kind):
        raise ValueError(f"{kind!r} is no kind of message: 1 to 16 ASCII letters, digits and hyphens")
    return kind


class Outgoing:
    """Writes the headers of one direction, counting."""

    def __init__(self, sender: Role) -> None:
        self.nonce = NO_NONCE
        self._sender = sender.encode()
        self._sequence = 0

    def header(self, kind: str, length: int) -> bytes:
        """Return the header of the next message."""
        made = _HEADER.pack(
            MAGIC, VERSION, self._sender, self.nonce, self._sequence, checked_kind(kind).encode(), length
        )
        self._sequence += 1
        return made


class Incoming:
    """Reads the headers of one direction, and refuses what is not the next message of this run."""

    def __init__(self, sender: Role) -> None:
        self.nonce = NO_NONCE
        self._sender = sender
        self._party = PARTY_IN_WORDS[sender]
        self._sequence = 0

    def length(self, header: bytes | bytearray, expected: Expected) -> tuple[bool, int]:
        """Return whether the peer aborts, and how many bytes follow."""
        magic, version, sender, nonce, sequence, padded, length = _HEADER.unpack(header)
        if magic != MAGIC:
            raise self._refused("sent bytes that are no message of this protocol")
        if version != VERSION:
            raise self._refused(
                f"sends messages of version {version}, this program reads version {VERSION}; use the same setveil"
            )
        if sender != self._sender.encode():
            raise self._refused("sent a message in the name of another party")
        raw_kind = padded.rstrip(b"\0")
        kind = raw_kind.decode("ascii", errors="replace")
        if not _KIND.fullmatch(kind):
            raise self._refused("sent a message whose kind cannot be read")
        # Who gives up while the nonce is being agreed on may not know it yet.
        if nonce != self.nonce and not (kind == ABORT and nonce == NO_NONCE):
            raise self._refused("sent a message of another run")
        if sequence != self._sequence:
            how = "a message a second time" if sequence < self._sequence else "a message out of turn"
            raise self._refused(f"sent {how}: number {sequence} where {self._sequence} is due")
        aborts = kind == ABORT and expected.kind != ABORT
        if aborts and length > MOST_ABORT_BYTES:
            raise self._refused(f"stopped with a reason of {length} bytes, at most {MOST_ABORT_BYTES} are read")
        if not aborts and kind != expected.kind:
            raise self._refused(f"sent a message {kind!r} where {expected.in_words} was due")
        if not aborts and not expected.least <= length <= expected.most:
            raise self._refused(f"sent {kind!r} of {length} bytes where {expected.in_words} was due")
        self._sequence += 1
        return aborts, length

    def skipped(self, header: bytes | bytearray) -> tuple[bool, int] | None:
        """Return whether the peer aborts and how many bytes follow, whatever comes; None where that cannot be read."""
        magic, _version, _sender, _nonce, _sequence, padded, length = _HEADER.unpack(header)
        if magic != MAGIC:
            return None
        aborts = padded.rstrip(b"\0") == ABORT.encode()
        return None if aborts and length > MOST_ABORT_BYTES else (aborts, length)

    def stopped(self, reason: bytes | bytearray) -> PeerFailed:
        """Return the error that an abort of the peer becomes."""
        return self._refused(f"stopped: {printable(bytes(reason).decode('utf-8', errors='replace'))}")

    def _refused(self, message: str) -> PeerFailed:
        return PeerFailed(self._party, message)


def printable(text: str) -> str:
    """Return a text with everything replaced that could move a cursor or hide something."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def abort_payload(reason: str) -> bytes:
    """Return a reason as an abort carries it: printable, and cut to the length that is read."""
    raw = printable(reason).encode("utf-8", errors="replace")
    if len(raw) > MOST_ABORT_BYTES:
        raw = raw[: MOST_ABORT_BYTES - 3].decode("utf-8", errors="ignore").encode() + b"..."
    return raw
