"""A line between two parties in one process (threads), with the same frames and failures as over a network."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from setveil.presence.transport.framed import CLOSED_HERE, DEFAULT_TIMEOUT, FramedChannel, LineEnded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setveil.presence.channel import Role


class _Pipe:
    """The bytes in transit from one end to the other."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._chunks: deque[bytes] = deque()
        self._length = 0
        self._written_to = True
        self._read_from = True

    def put(self, parts: Sequence[bytes]) -> None:
        with self._changed:
            if not self._read_from:
                raise LineEnded("closed the line")
            self._chunks.extend(parts)
            self._length += sum(map(len, parts))
            self._changed.notify_all()

    def take(self, size: int, timeout: float) -> bytes:
        with self._changed:
            heard = time.monotonic()
            here = self._length
            while self._length < size:
                if not self._read_from:
                    raise LineEnded(CLOSED_HERE)
                if not self._written_to:
                    raise LineEnded("closed the line")
                if self._length != here:
                    heard, here = time.monotonic(), self._length
                left = heard + timeout - time.monotonic()
                if left <= 0:
                    raise LineEnded(f"sent nothing for {timeout:g} seconds")
                self._changed.wait(left)
            return self._taken(size)

    def take_arrived(self, size: int) -> bytes | None:
        with self._changed:
            return self._taken(size) if self._length >= size else None

    def _taken(self, size: int) -> bytes:
        self._length -= size
        if self._chunks and len(self._chunks[0]) == size:  # the usual case: parts are taken as they were put
            return self._chunks.popleft()
        taken = bytearray()
        while len(taken) < size:
            chunk = self._chunks.popleft()
            wanted = size - len(taken)
            taken += chunk[:wanted]
            if len(chunk) > wanted:
                self._chunks.appendleft(chunk[wanted:])
        return bytes(taken)

    def end_writing(self) -> None:
        with self._changed:
            self._written_to = False
            self._changed.notify_all()

    def end_reading(self) -> None:
        with self._changed:
            self._read_from = False
            self._changed.notify_all()


class LocalChannel(FramedChannel):
    """One end of a line inside this process."""

    in_one_process = True

    def __init__(self, role: Role, peer: Role, inbox: _Pipe, outbox: _Pipe, timeout: float) -> None:
        super().__init__(role, peer, timeout)
        self._inbox = inbox
        self._outbox = outbox

    def _put(self, parts: Sequence[bytes]) -> None:
        self._outbox.put(parts)

    def _take(self, size: int) -> bytes:
        return self._inbox.take(size, self.timeout)

    def _take_arrived(self, size: int) -> bytes | None:
        return self._inbox.take_arrived(size)

    def _end(self, *, politely: bool) -> None:
        del politely  # all bytes are at the other end already
        self._outbox.end_writing()
        self._inbox.end_reading()


def local_pair(first: Role, second: Role, *, timeout: float = DEFAULT_TIMEOUT) -> tuple[LocalChannel, LocalChannel]:
    """Return the two ends of a line between two parties in this process."""
    if first == second:
        raise ValueError("a line connects two different parties")
    there, back = _Pipe(), _Pipe()
    return (
        LocalChannel(first, second, inbox=back, outbox=there, timeout=timeout),
        LocalChannel(second, first, inbox=there, outbox=back, timeout=timeout),
    )
