"""A line that carries framed messages, independent of the transport of its bytes."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_NAMES, Role, Traffic
from setveil.presence.transport.frames import (
    ABORT,
    HEADER_BYTES,
    NONCE_BYTES,
    Expected,
    Incoming,
    Outgoing,
    abort_payload,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_TIMEOUT = 60.0
"""Seconds without a byte after which a party stops waiting for its peer."""

REFUSED = "the run is refused"
"""The beginning of a reason that will not change if the run is tried again, so that other parties need not wait for this one."""
CLOSED_HERE = "is no longer connected: the line was closed on this side"


class LineEnded(Exception):
    """The line carries no more bytes from the peer; the message follows the name of the party."""


class FramedChannel(ABC):
    """A `Channel` over a transport that delivers bytes in order. Only one thread at a time may receive; any thread may send or abort."""

    in_one_process: bool

    def __init__(self, role: Role, peer: Role, timeout: float) -> None:
        self.role = role
        self.peer = peer
        self.timeout = timeout
        """Seconds without a byte while waiting; may change at any time, for example at a collector that waits for a long computation."""
        self.traffic = Traffic()
        self._outgoing = Outgoing(role)
        self._incoming = Incoming(peer)
        self._sending = threading.Lock()
        self._failure: PeerFailed | None = None
        self._closed = False

    @abstractmethod
    def _put(self, parts: Sequence[bytes]) -> None:
        """Queue bytes to be sent, without waiting; raise `LineEnded` if they cannot arrive."""

    @abstractmethod
    def _take(self, size: int) -> bytes | bytearray:
        """Wait for `size` bytes; raise `LineEnded` if the line ends or no byte arrives for `timeout` seconds."""

    @abstractmethod
    def _take_arrived(self, size: int) -> bytes | bytearray | None:
        """Return `size` bytes if they have arrived already, None otherwise."""

    @abstractmethod
    def _end(self, *, politely: bool) -> None:
        """End the line: politely, after all queued bytes were sent, or after a short time; raise `LineEnded` if a polite end fails."""

    def bind(self, nonce: bytes) -> None:
        """Bind all further messages, in both directions, to this run."""
        if len(nonce) != NONCE_BYTES:
            raise ValueError(f"a nonce has {NONCE_BYTES} bytes")
        self._outgoing.nonce = self._incoming.nonce = nonce

    @property
    def run(self) -> str:
        """The nonce of the run, in hexadecimal digits."""
        return self._outgoing.nonce.hex()

    def send(self, kind: str, payload: bytes | bytearray | memoryview) -> None:
        """Send a message and return at once; bytes that could change are copied."""
        body = payload if isinstance(payload, bytes) else bytes(payload)
        self._refuse_ended()
        with self._sending:
            header = self._outgoing.header(kind, len(body))
            try:
                self._put([header, body] if body else [header])
            except LineEnded as error:
                raise self._failed(self._last_words(error)) from None
            self.traffic.messages_sent += 1
            self.traffic.bytes_sent += len(body)

    def receive(self, kind: str, size: int) -> bytes:
        """Wait for the next message, which must be of that kind and have exactly that many bytes."""
        return self._received(Expected(kind, size, size))

    def receive_at_most(self, kind: str, most: int) -> bytes:
        """Wait for the next message, which must be of that kind and have at most that many bytes."""
        return self._received(Expected(kind, 0, most))

    def _received(self, expected: Expected) -> bytes:
        self._refuse_ended()
        try:
            aborts, length = self._incoming.length(self._take(HEADER_BYTES), expected)
            body = self._take(length) if length else b""
        except LineEnded as error:
            raise self._failed(self._named(f"{error}, while {expected.description} was awaited")) from None
        except PeerFailed as error:
            raise self._failed(error) from None
        if aborts:
            raise self._failed(self._incoming.stopped(body))
        self.traffic.messages_received += 1
        self.traffic.bytes_received += length
        return body if isinstance(body, bytes) else bytes(body)

    def abort(self, reason: str) -> None:
        """Try to send the peer the reason why this party stops, and close. Never fails."""
        if self._closed:
            return
        self._closed = True
        payload = abort_payload(reason)
        with suppress(LineEnded):
            with self._sending:
                self._put([self._outgoing.header(ABORT, len(payload)), payload])
            self._end(politely=False)

    def close(self) -> None:
        """Close the line; messages that were sent still arrive. Raise `PeerFailed` if they cannot, unless the line failed before."""
        if self._closed:
            return
        self._closed = True
        try:
            self._end(politely=self._failure is None)
        except LineEnded as error:
            if self._failure is None:
                raise self._failed(self._last_words(error)) from None

    def _refuse_ended(self) -> None:
        if self._failure is not None:
            raise PeerFailed(*self._failure_parts())
        if self._closed:
            raise self._named(CLOSED_HERE)

    def _failure_parts(self) -> tuple[str, str]:
        assert self._failure is not None
        return self._failure.party, str(self._failure).removeprefix(f"{self._failure.party} ")

    def _failed(self, error: PeerFailed) -> PeerFailed:
        if self._failure is None:
            self._failure = error
        return error

    def _named(self, message: str) -> PeerFailed:
        return PeerFailed(PARTY_NAMES[self.peer], message)

    def _last_words(self, error: LineEnded) -> PeerFailed:
        """Return the reason that the peer sent before it stopped, or the given error if it sent none."""
        while (header := self._take_arrived(HEADER_BYTES)) is not None:
            found = self._incoming.skipped(header)
            body = None if found is None else self._take_arrived(found[1])
            if found is None or body is None:
                break
            if found[0]:
                return self._incoming.stopped(body)
        return self._named(str(error))
