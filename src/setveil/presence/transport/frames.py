"""The format of a message on a line: a header of fixed length, followed by as many bytes as the header states.

The header names the sender, the run and the number of the message in its direction. The receiver reads the header first and refuses
unexpected messages before it allocates memory: another run, a repeated message or one out of turn, another kind, another length.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setveil.base.display import quantity
from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_NAMES

if TYPE_CHECKING:
    from setveil.presence.channel import Role

MAGIC = b"setveil\n"
VERSION = 1
NONCE_BYTES = 16
NO_NONCE = bytes(NONCE_BYTES)
"""The nonce in headers before both sides have agreed on the nonce of the run."""
ABORT = "abort"
MOST_ABORT_BYTES = 400

_HEADER = struct.Struct(">8sB1s16sQ16sQ")
HEADER_BYTES = _HEADER.size
_KIND = re.compile(r"[A-Za-z0-9-]{1,16}")


@dataclass(frozen=True)
class Expected:
    """The kind and the length of the message that a receiver waits for."""

    kind: str
    least: int
    most: int

    def __post_init__(self) -> None:
        checked_kind(self.kind)
        if not 0 <= self.least <= self.most:
            raise ValueError(f"a message cannot have {self.least} to {self.most} bytes")

    @property
    def description(self) -> str:
        """The expected message, for error messages."""
        length = quantity(self.most, "byte")
        return f"{self.kind!r} of {length}" if self.least == self.most else f"{self.kind!r} of at most {length}"


def checked_kind(kind: str) -> str:
    """Return a kind of message; raise `ValueError` for one that the header cannot hold."""
    if not _KIND.fullmatch(kind):
        raise ValueError(f"{kind!r} is not a kind of message; expected 1 to 16 ASCII letters, digits and hyphens")
    return kind


class Outgoing:
    """Writes the numbered headers of one direction."""

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
    """Reads the headers of one direction, and refuses any message but the next one of this run."""

    def __init__(self, sender: Role) -> None:
        self.nonce = NO_NONCE
        self._sender = sender
        self._party = PARTY_NAMES[sender]
        self._sequence = 0

    def length(self, header: bytes | bytearray, expected: Expected) -> tuple[bool, int]:
        """Return whether the peer aborts, and the number of bytes that follow."""
        magic, version, sender, nonce, sequence, padded, length = _HEADER.unpack(header)
        if magic != MAGIC:
            raise self._refused("sent bytes that are not a message of this protocol; check that it runs setveil")
        if version != VERSION:
            raise self._refused(
                f"sends messages of version {version}, this program reads version {VERSION}; use the same version of setveil"
            )
        if sender != self._sender.encode():
            raise self._refused("sent a message in the name of another party")
        raw_kind = padded.rstrip(b"\0")
        kind = raw_kind.decode("ascii", errors="replace")
        if not _KIND.fullmatch(kind):
            raise self._refused("sent a message whose kind cannot be read")
        # A party that aborts while the nonce is being agreed on may not know it yet.
        if nonce != self.nonce and not (kind == ABORT and nonce == NO_NONCE):
            raise self._refused("sent a message of another run")
        if sequence != self._sequence:
            how = "a message a second time" if sequence < self._sequence else "a message out of turn"
            raise self._refused(f"sent {how}: number {sequence} where {self._sequence} is due")
        aborts = kind == ABORT and expected.kind != ABORT
        if aborts and length > MOST_ABORT_BYTES:
            raise self._refused(f"stopped with a reason of {length:,} bytes; at most {MOST_ABORT_BYTES} are allowed")
        if not aborts and kind != expected.kind:
            raise self._refused(f"sent a message {kind!r} where {expected.description} was due")
        if not aborts and not expected.least <= length <= expected.most:
            raise self._refused(f"sent {kind!r} of {quantity(length, 'byte')} where {expected.description} was due")
        self._sequence += 1
        return aborts, length

    def skipped(self, header: bytes | bytearray) -> tuple[bool, int] | None:
        """Return whether the peer aborts and the number of bytes that follow, for any message; None if the header cannot be read."""
        magic, _version, _sender, _nonce, _sequence, padded, length = _HEADER.unpack(header)
        if magic != MAGIC:
            return None
        aborts = padded.rstrip(b"\0") == ABORT.encode()
        return None if aborts and length > MOST_ABORT_BYTES else (aborts, length)

    def stopped(self, reason: bytes | bytearray) -> PeerFailed:
        """Return the error for an abort of the peer."""
        return self._refused(f"stopped: {printable(bytes(reason).decode('utf-8', errors='replace'))}")

    def _refused(self, message: str) -> PeerFailed:
        return PeerFailed(self._party, message)


def printable(text: str) -> str:
    """Return a text in which characters that are not printable, such as control characters, are replaced."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def abort_payload(reason: str) -> bytes:
    """Return the payload of an abort with a reason: printable, and cut to the allowed length."""
    raw = printable(reason).encode("utf-8", errors="replace")
    if len(raw) > MOST_ABORT_BYTES:
        raw = raw[: MOST_ABORT_BYTES - 3].decode("utf-8", errors="ignore").encode() + b"..."
    return raw
