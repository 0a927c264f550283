"""A party's hold on its MPyC process: starts it, asks it, and forwards what the three processes say to each other.

The processes have no connections. What one sends to another goes through the lines of their parties, which are protected as all the rest:
in a step a thread a line takes what a peer sends and hands it to the process. A party that is done with a step says so on each line, and a
step ends when all three have: after it nothing of it is on any line, and the parties are free to use them otherwise.
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
from setveil.presence.channel import PARTY_IN_WORDS
from setveil.presence.libraries import require_mpyc
from setveil.presence.secure import mpyc_frames as frames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.presence.channel import Channel, Role
    from setveil.presence.secure.rules import Rules

STATISTICAL_BITS = 43
"""Numbers are opened under masks this many bits longer. The library cuts masks in three, of which each party knows two: 2^-40 is left to
chance in each."""
PATIENCE = 600.0
"""After so many seconds without a sign of life of the process or of a peer a step is given up."""

_KIND = "mpyc"
_PIECE = 1 << 20
_DATA, _DONE = b"\x00", b"\x01"
_PARTIES: tuple[Role, ...] = ("a", "b", "c")


class Relay:
    """The MPyC process of one party, and the two lines it speaks over."""

    def __init__(self, role: Role, rules: Rules, lines: Sequence[Channel], *, patience: float = PATIENCE) -> None:
        require_mpyc()
        self._lines = {_PARTIES.index(line.peer): line for line in lines}
        self._patience = patience
        self._news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._writing = threading.Lock()
        self._over = False
        self._process = _start(_PARTIES.index(role))
        # Also when nobody closes: at the end of the program, or when the relay is forgotten.
        self._end = weakref.finalize(self, _end, self._process)
        threading.Thread(target=_read, args=(self._process, self._lines, self._news), daemon=True).start()
        self._tell(frames.TALK, frames.pack_rules(rules))

    @property
    def process_id(self) -> int:
        """The number under which the system knows the process."""
        return self._process.pid

    def ask(self, header: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Have the process do one step with those of the other parties, and return its answer."""
        if self._over:
            raise SetveilError("the secure computation has ended; start a new run")
        for party, line in self._lines.items():
            threading.Thread(target=self._take, args=(party, line), daemon=True).start()
        self._tell(frames.TALK, frames.pack(header, arrays))
        busy = set(self._lines)
        answer: list[NDArray[Any]] | None = None
        while busy or answer is None:
            try:
                what, content = self._news.get(timeout=self._patience)
            except queue.Empty:
                raise SetveilError(
                    f"neither the MPyC process of this party nor a peer gave a sign of life for {self._patience:g} seconds; "
                    "nothing was written"
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
        """End the process and tell the peers, once; the text of an error of another party goes on to the third."""
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
        """Hand on what a peer's process sends, until the peer is done with the step; runs in a thread."""
        try:
            while True:
                message = line.receive_at_most(_KIND, 1 + _PIECE)
                if message == _DONE:
                    self._news.put(("done", party))
                    return
                if message[:1] != _DATA:
                    raise _failure("", party)  # noqa: TRY301 - told like other failures
                self._tell(frames.FIRST_LINE + party, memoryview(message)[1:])
                self._news.put(("alive", None))
        except Exception as error:  # noqa: BLE001 - raised again in the thread that asked
            self._news.put(("failed", error))

    def _tell(self, tag: int, payload: bytes | memoryview) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with (
            self._writing,
            contextlib.suppress(OSError, ValueError),
        ):  # a process that is gone is noticed where its output ends
            frames.write_frame(stdin, tag, payload)


def _start(number: int) -> subprocess.Popen[bytes]:
    """Start the process of a party. Settings of the library in the environment do not count."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MPYC_")}
    # With --mix32-64bit the library sends numbers of fixed length; else it sends pickled arrays, and would unpickle what a peer sends.
    settings = ["-M3", f"-I{number}", "-T1", f"-K{STATISTICAL_BITS}", "--no-log", "--mix32-64bit"]
    # The library itself warns of its use of NumPy; where warnings are errors, that would end it.
    return subprocess.Popen(  # noqa: S603 - this very program, with arguments of our own
        [sys.executable, "-P", "-W", "ignore", "-m", "setveil.presence.secure.mpyc_child", *settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    # The output is closed by the thread that reads it. The input may be held by a thread that writes to it, which fails now.
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()


def _read(
    process: subprocess.Popen[bytes], lines: dict[int, Channel], news: queue.SimpleQueue[tuple[str, Any]]
) -> None:
    """Forward what the process sends to peers, and pass on its answers; runs in a thread."""
    stdout = process.stdout
    assert stdout is not None
    told: Exception | None = None
    with stdout:
        try:
            while (frame := frames.read_frame(stdout)) is not None:
                tag, payload = frame
                if tag == frames.TALK:
                    news.put(("answer", payload))
                elif tag == frames.FAILED:
                    told = _failure(**frames.unpack(payload)[0])
                else:
                    line = lines[tag - frames.FIRST_LINE]
                    for start in range(0, len(payload), _PIECE):
                        line.send(_KIND, _DATA + payload[start : start + _PIECE])
                    news.put(("alive", None))
        except Exception as error:  # noqa: BLE001 - raised again in the thread that asks
            told = error
    news.put(
        ("failed", told or SetveilError("the MPyC process of this party ended before its work; nothing was written"))
    )


def _failure(text: str, because_of: int | None) -> SetveilError:
    """Return the error for what a process could not cope with."""
    if because_of is None:
        return SetveilError(f"the MPyC process of this party failed: {text}; nothing was written")
    return PeerFailed(PARTY_IN_WORDS[_PARTIES[because_of]], "sent what is not part of the secure computation")
