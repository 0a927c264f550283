"""A party's control of its MPyC process: starts it, sends requests, and forwards the messages between the three processes.

The processes have no connections of their own. Their messages go through the lines of their parties, which are protected like all other
messages: during a step, one thread per line receives the peer's messages and passes them to the process. A party that has finished a step
says so on each line, and the step ends when all three have finished. After that, no message of the step is on any line, and the parties can
use the lines for other messages.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

from setveil.errors import PeerFailed, SetveilError
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.libraries import require_mpyc
from setveil.presence.secure import mpyc_frames as frames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.presence.channel import Channel, Role
    from setveil.presence.secure.rules import Rules

STATISTICAL_BITS = 43
"""Numbers are opened under masks that are longer by this number of bits. The library makes masks from three parts, of which each party
knows two: what remains distinguishes with a probability of 2^-40 for each number."""
PATIENCE = 600.0
"""A step is aborted after this number of seconds without a message from the process or from a peer."""

_KIND = "mpyc"
_PIECE = 1 << 20
_DATA, _DONE = b"\x00", b"\x01"
_PARTIES: tuple[Role, ...] = ("a", "b", "c")


class Relay:
    """The MPyC process of one party, and the two lines that it communicates over."""

    def __init__(self, role: Role, rules: Rules, lines: Sequence[Channel], *, patience: float = PATIENCE) -> None:
        require_mpyc()
        self._lines = {_PARTIES.index(line.peer): line for line in lines}
        self._patience = patience
        self._news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._writing = threading.Lock()
        self._over = False
        self._process = _start(_PARTIES.index(role))
        # Also without a call of close(): at the end of the program, or when the relay is garbage-collected.
        self._end = weakref.finalize(self, _end, self._process)
        threading.Thread(target=_read, args=(self._process, self._lines, self._news), daemon=True).start()
        self._write(frames.TALK, frames.pack_rules(rules))

    @property
    def process_id(self) -> int:
        """The system's process id."""
        return self._process.pid

    def ask(self, header: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Let the process do one step together with those of the other parties, and return its answer."""
        if self._over:
            raise SetveilError("the secure computation has ended; start a new run")
        for party, line in self._lines.items():
            threading.Thread(target=self._take, args=(party, line), daemon=True).start()
        self._write(frames.TALK, frames.pack(header, arrays))
        busy = set(self._lines)
        answer: list[NDArray[Any]] | None = None
        while busy or answer is None:
            try:
                what, content = self._news.get(timeout=self._patience)
            except queue.Empty:
                raise SetveilError(
                    f"neither the MPyC process of this party nor a peer sent anything for {self._patience:g} seconds; nothing was written"
                ) from None
            if what == "answer":
                answer = frames.unpack(content)[1]
                for line in self._lines.values():
                    line.send(_KIND, _DONE)
            elif what == "done":
                busy.discard(content)
            elif what == "failed":
                raise content
        return answer

    def abort(self, error: BaseException) -> None:
        """End the process and inform the peers, once; the text of one peer's error is forwarded to the other."""
        if self._over:
            return
        self.close()
        reason = str(error) if isinstance(error, PeerFailed) else "its part of the secure computation failed"
        for line in self._lines.values():
            with contextlib.suppress(PeerFailed):
                line.abort(reason)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._over = True
        self._end()

    def _take(self, party: int, line: Channel) -> None:
        """Pass messages of a peer's process to this party's process until the peer has finished the step; runs in a thread."""
        try:
            while True:
                message = line.receive_at_most(_KIND, 1 + _PIECE)
                if message == _DONE:
                    self._news.put(("done", party))
                    return
                if message[:1] != _DATA:
                    raise _failure("", party)  # noqa: TRY301 - reported like other failures
                self._write(frames.FIRST_LINE + party, memoryview(message)[1:])
                self._news.put(("alive", None))
        except Exception as error:  # noqa: BLE001 - raised again in the thread that asked
            self._news.put(("failed", error))

    def _write(self, tag: int, payload: bytes | memoryview) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with (
            self._writing,
            contextlib.suppress(OSError, ValueError),
        ):  # a process that has ended is noticed by the end of its output
            frames.write_frame(stdin, tag, payload)


def _start(number: int) -> subprocess.Popen[bytes]:
    """Start the process of a party. Settings of the library in environment variables are ignored."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MPYC_")}
    # With --mix32-64bit the library sends numbers of fixed length. Otherwise it sends pickled arrays, and would unpickle a peer's bytes.
    settings = ["-M3", f"-I{number}", "-T1", f"-K{STATISTICAL_BITS}", "--no-log", "--mix32-64bit"]
    # The library itself causes warnings of NumPy, which would end the process if warnings are errors.
    return subprocess.Popen(  # noqa: S603 - this same program, with fixed arguments
        [sys.executable, "-P", "-W", "ignore", "-m", "setveil.presence.secure.mpyc_child", *settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    # The thread that reads the output closes it. The input may be in use by a thread that writes to it, which fails now.
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()


def _read(
    process: subprocess.Popen[bytes], lines: dict[int, Channel], news: queue.SimpleQueue[tuple[str, Any]]
) -> None:
    """Forward the process's messages to peers, and queue its answers; runs in a thread."""
    stdout = process.stdout
    assert stdout is not None
    failure: Exception | None = None
    with stdout:
        try:
            while (frame := frames.read_frame(stdout)) is not None:
                tag, payload = frame
                if tag == frames.TALK:
                    news.put(("answer", payload))
                elif tag == frames.FAILED:
                    failure = _failure(**frames.unpack(payload)[0])
                else:
                    line = lines[tag - frames.FIRST_LINE]
                    for start in range(0, len(payload), _PIECE):
                        line.send(_KIND, _DATA + payload[start : start + _PIECE])
                    news.put(("alive", None))
        except Exception as error:  # noqa: BLE001 - raised again in the thread that asks
            failure = error
    news.put(
        ("failed", failure or SetveilError("the MPyC process of this party ended unexpectedly; nothing was written"))
    )


def _failure(text: str, because_of: int | None) -> SetveilError:
    """Return the error for a failure that a process reported."""
    if because_of is None:
        return SetveilError(f"the MPyC process of this party failed: {text}; nothing was written")
    return PeerFailed(PARTY_NAMES[_PARTIES[because_of]], "sent bytes that are not part of the secure computation")
