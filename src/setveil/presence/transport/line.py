"""A connected TLS socket, served by its own thread.

Two threads must not read and write one of Python's TLS sockets at the same time. And if two parties only write to each other, both wait
forever once the system's buffers are full. So one thread serves the socket: it writes and reads, whichever is possible. Sending adds
bytes to a queue without limit (they are this party's own). Bytes that arrive before they are awaited are stored up to a limit; beyond it
nothing is read, and TCP makes the peer wait. Because sending never waits, every party eventually receives, even if three parties wait in
a circle, and a transfer continues while this party computes. Short messages are written by the thread that sends them.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import struct
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from setveil.presence.transport.framed import CLOSED_HERE, LineEnded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_UNASKED_BYTES = 16 << 20
"""Bytes that a peer may send before this party waits for them."""
LINGER_SECONDS = 5.0
"""How long a closed line still discards incoming bytes. Otherwise the system resets the line, and the peer loses what it has not read."""
ABORT_SECONDS = 2.0
_TURN_BYTES = 1 << 20
"""Bytes that are read or written in one turn."""
_READ_BYTES = 1 << 16
_AT_ONCE_BYTES = 1 << 14
"""The size of one TLS record; a message up to this size is written by the thread that sends it."""

# The events change with every turn; this costs one system call each with `epoll` and none with `poll`.
_Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)

_GONE = "is gone: its program died or the network failed"
_CLOSED = "closed the line"


class _Room:
    """A buffer of known length that a receiver waits for."""

    def __init__(self, size: int) -> None:
        self.bytes = bytearray(size)
        self.rest = memoryview(self.bytes)

    def fill(self, chunk: bytes | memoryview) -> int:
        """Copy as many bytes as fit, and return their number."""
        size = min(len(chunk), len(self.rest))
        self.rest[:size] = chunk[:size]
        self.rest = self.rest[size:]
        return size


class Line:
    """The bytes to and from one peer."""

    def __init__(self, connected: ssl.SSLSocket) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._changed = threading.Condition()
        self._outbox: deque[memoryview] = deque()
        self._inbox: deque[bytes] = deque()
        self._in_inbox = 0
        self._room: _Room | None = None
        self.last_byte = time.monotonic()
        """The time at which a byte was last sent or received."""
        self._ended: str | None = None
        """Why no more bytes arrive; follows the name of the party."""
        self._closing = False
        self._flushed = False
        self._writable = True
        self._lost = False
        """Whether queued bytes can never arrive."""
        self._until = float("inf")
        """The time at which the thread ends at the latest."""
        self._asleep = False
        self._in_use = threading.Lock()
        """Held during a call of the socket; no such call waits."""
        self._wire = (0, 0)
        self._ear, self._bell = socket.socketpair()
        self._ear.setblocking(False)
        self._thread = threading.Thread(target=self._serve, name="setveil line", daemon=True)
        self._thread.start()

    @property
    def ended(self) -> str | None:
        """Why no more bytes arrive; None while the peer may still send some."""
        return self._ended

    @property
    def wire_bytes(self) -> tuple[int, int]:
        """TCP bytes that the peer received and sent, including those of TLS; zeros if the system does not count them."""
        with self._changed:
            if self._socket.fileno() >= 0:
                self._wire = _tcp_bytes(self._socket)
            return self._wire

    def put(self, parts: Sequence[bytes]) -> None:
        """Queue bytes to be sent."""
        with self._changed:
            if self._ended is not None or self._closing or not self._writable:
                raise LineEnded(self._ended or (CLOSED_HERE if self._closing else _GONE))
            small = sum(map(len, parts)) <= _AT_ONCE_BYTES
            rest = memoryview(b"".join(parts)) if small else None
            if rest is not None and not self._outbox:
                rest = rest[self._written_at_once(rest) :]
            if rest is None or rest:
                self._outbox.extend(map(memoryview, parts) if rest is None else [rest])
                self._wake()

    def _written_at_once(self, message: memoryview) -> int:
        """Write a short message from the caller's thread if the socket is free, which saves a thread switch."""
        if not self._in_use.acquire(blocking=False):
            return 0
        try:
            return self._socket.send(message)
        except OSError:  # full, or broken, which the thread of the line will notice too
            return 0
        finally:
            self._in_use.release()

    def take(self, size: int, timeout: Callable[[], float]) -> bytearray:
        """Wait for `size` bytes; a byte in either direction restarts the timeout."""
        room = _Room(size)
        with self._changed:
            self._move_inbox_to(room)
            self._room = room if room.rest else None
            self._wake()
            since = time.monotonic()
            try:
                while room.rest:
                    if self._closing:
                        raise LineEnded(CLOSED_HERE)
                    if self._ended is not None:
                        raise LineEnded(self._ended)
                    left = max(since, self.last_byte) + timeout() - time.monotonic()
                    if left <= 0:
                        raise LineEnded(f"sent nothing for {timeout():g} seconds")
                    self._changed.wait(left)
            finally:
                self._room = None
        return room.bytes

    def take_arrived(self, size: int) -> bytearray | None:
        """Return `size` bytes if they have arrived already, None otherwise."""
        with self._changed:
            if self._in_inbox < size:
                return None
            room = _Room(size)
            self._move_inbox_to(room)
            return room.bytes

    def close(self, *, patience: float, in_all: bool) -> None:
        """Send the queued bytes and end the line, waiting at most `patience` seconds without progress or, with `in_all`, in total."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            self._wake()
            since = time.monotonic()
            try:
                failure = self._awaited_flush(since, patience, in_all=in_all)
            except BaseException:
                self._until = 0.0
                raise
            finally:
                self._wake()
            self._until = min(self._until, time.monotonic() + LINGER_SECONDS) if failure is None else 0.0
            self._wake()
            if failure is not None:
                raise LineEnded(failure)

    def _awaited_flush(self, since: float, patience: float, *, in_all: bool) -> str | None:
        """Wait until everything is written; return the reason if that fails, None otherwise."""
        while not self._flushed:
            left = (since if in_all else max(since, self.last_byte)) + patience - time.monotonic()
            if left <= 0:
                return f"accepted no data for {patience:g} seconds"
            if not self._thread.is_alive():
                return self._ended or _GONE
            self._changed.wait(min(left, 0.2))
        return (self._ended or _GONE) if self._lost else None

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
            with suppress(OSError):
                self._bell.send(b"!")

    def _move_inbox_to(self, room: _Room) -> None:
        while room.rest and self._inbox:
            chunk = self._inbox.popleft()
            size = room.fill(chunk)
            self._in_inbox -= size
            if size < len(chunk):
                self._inbox.appendleft(chunk[size:])

    def _serve(self) -> None:
        """Write and read until the line has ended and nothing is left to do."""
        try:
            with _Selector() as selector:
                selector.register(self._ear, selectors.EVENT_READ)
                while not self._done():
                    writing, reading = self._write_some(), self._read_some()
                    if writing is not None and reading is not None:
                        self._sleep(selector, writing, reading)
        finally:
            with self._changed:
                self._ended = self._ended or _GONE
                with suppress(OSError):
                    self._wire = _tcp_bytes(self._socket)
                self._socket.close()
                self._ear.close()
                self._bell.close()
                self._asleep = False
                self._lost = self._lost or bool(self._outbox)
                self._outbox.clear()
                self._changed.notify_all()

    def _done(self) -> bool:
        with self._changed:
            if self._ended is not None and (self._flushed or not self._outbox):
                self._flushed = True
                return True
            return time.monotonic() >= self._until

    def _sleep(self, selector: selectors.BaseSelector, writing: int, reading: int) -> None:
        with self._changed:
            if (not writing and self._has_to_write()) or (not reading and self._may_read()):
                return
            self._asleep = True
            left = None if self._until == float("inf") else max(0.0, self._until - time.monotonic())
        if writing | reading:
            selector.register(self._socket, writing | reading)
        selector.select(left)
        if writing | reading:
            selector.unregister(self._socket)
        with self._changed:
            self._asleep = False
        with suppress(OSError):
            self._ear.recv(4096)

    def _has_to_write(self) -> bool:
        return self._writable and (bool(self._outbox) or (self._closing and not self._flushed))

    def _may_read(self) -> bool:
        wanted = self._room is not None or self._closing or not self._writable
        return self._ended is None and (wanted or self._in_inbox < MOST_UNASKED_BYTES)

    def _write_some(self) -> int | None:
        """Write for one turn; return the event to wait for (0 for none), or None if there may be more to write."""
        written = 0
        try:
            while written < _TURN_BYTES:
                with self._changed:
                    if not self._has_to_write():
                        return 0
                    first = self._outbox[0] if self._outbox else None
                if first is None:
                    return self._say_goodbye()
                written += self._write_from(first)
        except ssl.SSLWantReadError:
            return selectors.EVENT_READ
        except (ssl.SSLWantWriteError, BlockingIOError):
            return selectors.EVENT_WRITE
        except OSError:
            with self._changed:  # messages that the peer sent before it stopped may still be readable
                self._writable = False
                self._lost = True
                self._outbox.clear()
                self._until = min(self._until, time.monotonic() + ABORT_SECONDS)
        return None

    def _write_from(self, first: memoryview) -> int:
        """Write as much as possible of the first part of the outbox, one TLS record at a time."""
        written = 0
        try:
            with self._in_use:
                while written < min(len(first), _TURN_BYTES):
                    written += self._socket.send(first[written:])
        finally:
            if written:
                with self._changed:
                    self.last_byte = time.monotonic()
                    if written == len(first):
                        self._outbox.popleft()
                    else:
                        self._outbox[0] = first[written:]
        return written

    def _say_goodbye(self) -> int:
        """Close this direction after everything was written."""
        with suppress(ssl.SSLWantReadError):  # the peer may close its direction later
            try:
                self._socket.unwrap()
            except ssl.SSLWantWriteError:
                return selectors.EVENT_WRITE
            except (ssl.SSLError, ValueError):
                pass
        with suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_WR)
        with self._changed:
            self._flushed = True
            self._until = min(self._until, time.monotonic() + LINGER_SECONDS)
            self._changed.notify_all()
        return 0

    def _read_some(self) -> int | None:
        """Read for one turn; return the event to wait for (0 for none), or None if there may be more to read."""
        read = 0
        try:
            while read < _TURN_BYTES:
                with self._changed:
                    if not self._may_read():
                        return 0
                    room = self._room
                size = self._read_into(room)
                if size == 0:
                    self._end(_CLOSED)
                    return None
                read += size
        except ssl.SSLWantWriteError:
            return selectors.EVENT_WRITE
        except (ssl.SSLWantReadError, BlockingIOError):
            return selectors.EVENT_READ
        except (ssl.SSLEOFError, ConnectionError):
            self._end(_GONE)
        except ssl.SSLError as error:
            self._end(f"broke the encryption of the line ({reason_of(error)})")
        except OSError as error:
            self._end(f"can no longer be reached ({error.strerror or type(error).__name__})")
        return None

    def _read_into(self, room: _Room | None) -> int:
        if self._flushed:  # bytes after this side closed are discarded undecrypted
            return len(socket.socket.recv(self._socket, _READ_BYTES))
        if room is not None:
            return self._read_into_room(room)
        with self._in_use:
            chunk = self._socket.recv(_READ_BYTES)
        with self._changed:
            self.last_byte = time.monotonic()
            if self._closing:
                return len(chunk)
            taken = 0
            if self._room is not None:  # a receiver has begun to wait meanwhile
                taken = self._room.fill(chunk)
                if not self._room.rest:
                    self._room = None
                    self._changed.notify_all()
            if taken < len(chunk):
                self._inbox.append(chunk[taken:] if taken else chunk)
                self._in_inbox += len(chunk) - taken
        return len(chunk)

    def _read_into_room(self, room: _Room) -> int:
        """Read directly into the receiver's buffer, one TLS record at a time."""
        rest, read = room.rest, 0
        try:
            with self._in_use:
                while read < min(len(rest), _TURN_BYTES) and (size := self._socket.recv_into(rest[read:])):
                    read += size
        finally:
            if read:
                with self._changed:
                    self.last_byte = time.monotonic()
                    room.rest = rest[read:]
                    if not room.rest:
                        if self._room is room:
                            self._room = None
                        self._changed.notify_all()
        return read

    def _end(self, why: str) -> None:
        with self._changed:
            self._ended = self._ended or why
            self._until = min(self._until, time.monotonic() + LINGER_SECONDS)
            self._changed.notify_all()


def reason_of(error: ssl.SSLError) -> str:
    """Return the reason that OpenSSL gives for an error, as lower-case text."""
    return (error.reason or "no reason given").lower().replace("_", " ")


def _tcp_bytes(connected: socket.socket) -> tuple[int, int]:
    """Return the numbers of bytes acknowledged by the peer and received, as Linux counts them (tcpi_bytes_acked, tcpi_bytes_received)."""
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return 0, 0
    info = connected.getsockopt(socket.IPPROTO_TCP, option, 136)
    if len(info) < 136:
        return 0, 0
    acked, received = struct.unpack_from("=QQ", info, 120)
    return acked, received
