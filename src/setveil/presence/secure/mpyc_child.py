"""The process in which MPyC runs for one party: `python -m setveil.presence.secure.mpyc_child`, started by `mpyc_relay`.

MPyC reads the program's arguments when it is imported and has one runtime per program, so it gets its own process. The process opens no
connections: messages to the other parties go over the pipe to the party that started it, which forwards them over its lines. The process
ends when the pipe does, so it never outlives its party.
"""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.presence.secure import mpyc_frames as frames
from setveil.presence.secure.mpyc_steps import Steps

if TYPE_CHECKING:
    from typing import BinaryIO

    from numpy.typing import NDArray

MOST_WAITING = 1 << 30
"""The maximum number of bytes from a peer that wait to be read."""


class _Out:
    """The output of the process, written by its own thread so that the computation never waits for a reader."""

    def __init__(self, stream: BinaryIO) -> None:
        self._frames: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._stream = stream
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def put(self, tag: int, payload: bytes) -> None:
        self._frames.put((tag, payload))

    def finish(self) -> None:
        self._frames.put(None)
        self._thread.join(5)

    def _write(self) -> None:
        try:
            while (frame := self._frames.get()) is not None:
                frames.write_frame(self._stream, *frame)
        except OSError:  # the party is gone
            os._exit(1)


class _Line:
    """Replaces the transport of a connection to a peer."""

    def __init__(self, out: _Out, party: int) -> None:
        self._out = out
        self._tag = frames.FIRST_LINE + party

    def write(self, data: bytes) -> None:
        self._out.put(self._tag, data)

    def writelines(self, parts: list[bytes]) -> None:
        self.write(b"".join(parts))

    def close(self) -> None:
        """Do nothing, because the party owns the line."""


class _Process:
    """One party's runtime: reads requests from the pipe one by one, and bytes from peers at any time."""

    def __init__(self, runtime: Any, out: _Out) -> None:
        self._mpc = runtime
        self._out = out
        self._loop: asyncio.AbstractEventLoop = runtime._loop  # noqa: SLF001 - the loop that its tasks run in
        self._questions: asyncio.Queue[bytes] = asyncio.Queue()
        self._exchangers: dict[int, Any] = {}
        self._steps: Steps | None = None
        self._connect()

    def read(self, stream: BinaryIO) -> None:
        """Pass incoming frames to the event loop; runs in a thread."""
        while (frame := frames.read_frame(stream)) is not None:
            self._loop.call_soon_threadsafe(self._take, *frame)
        os._exit(0)

    def _take(self, tag: int, payload: bytes) -> None:
        if tag == frames.TALK:
            self._questions.put_nowait(payload)
            return
        try:
            self._receive(tag - frames.FIRST_LINE, payload)
        except Exception as error:  # noqa: BLE001 - invalid bytes of a peer must be reported
            self.fail(error, because_of=tag - frames.FIRST_LINE)

    def _receive(self, party: int, payload: bytes) -> None:
        """Process bytes that a peer sent."""
        exchanger = self._exchangers[party]
        exchanger.data_received(payload)
        if exchanger.peer_pid not in {None, party}:
            raise ValueError("a peer says that it is another")
        waiting = sum(len(part) for part in exchanger.buffers.values() if isinstance(part, bytes))
        if waiting + len(exchanger.bytes) > MOST_WAITING:
            raise ValueError("a peer sends too much")

    async def serve(self) -> None:
        """Answer requests until the pipe ends."""
        self._steps = Steps(self._mpc, frames.unpack_rules(await self._questions.get()))
        while True:
            header, arrays = frames.unpack(await self._questions.get())
            answer = await self._answer(header, arrays)
            await self._mpc.barrier()  # everything that peers need from this step has been sent
            self._out.put(frames.TALK, frames.pack({}, [] if answer is None else [answer]))

    def fail(self, error: BaseException, because_of: int | None = None) -> None:
        """Report an error and end the process, with the party that caused it if known. The text names kind and place, never a value."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f" in line {trace.tb_lineno} of {trace.tb_frame.f_code.co_name}" if trace is not None else ""
        text = f"{type(error).__name__}{place}"
        self._out.put(frames.FAILED, frames.pack({"text": text, "because_of": because_of}))
        self._out.finish()
        os._exit(1)

    def _connect(self) -> None:
        """Create lines in place of connections; the party with the lower number sends first, as in the library."""
        from mpyc.asyncoro import MessageExchanger  # noqa: PLC0415 - the library is optional

        mpc = self._mpc
        for peer in mpc.parties:
            peer.protocol = self._loop.create_future() if peer.pid == mpc.pid else None
        for peer in mpc.parties:
            if peer.pid != mpc.pid:
                exchanger = MessageExchanger(mpc, peer.pid if peer.pid > mpc.pid else None)
                self._exchangers[peer.pid] = exchanger
                exchanger.connection_made(_Line(self._out, peer.pid))

    async def _answer(self, header: dict[str, Any], arrays: list[NDArray[Any]]) -> NDArray[Any] | None:
        """Do one step; public arrays come first, then those that only this party knows."""
        assert self._steps is not None
        steps, name = self._steps, header["step"]
        public = arrays[: header["public"]]
        first, second, *_ = [*arrays[header["public"] :], None, None]
        result: NDArray[Any] | None = None
        if name == "begin":
            await self._mpc.parties[self._mpc.pid].protocol  # all peers have identified themselves
            await steps.begin(first)
        elif name == "root":
            result = await steps.root()
        elif name == "wider":
            result = await steps.wider(first)
        elif name == "winners":
            result = await steps.winners(public[0], header["candidates"], first, second)
        elif name == "verdicts":
            result = await steps.verdicts(public[0], first)
        elif name == "descend":
            steps.descend(public[0], public[1])
        elif name == "counts":
            result = await steps.counts(public[0], header["to"])
        else:
            raise ValueError("a step that is not known")
        return None if result is None else np.asarray(result)


def main() -> None:
    """Run until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the party handles Ctrl-C and then ends the pipe
    out = _Out(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # output that a library prints must not get into the frames
    from mpyc.runtime import mpc  # noqa: PLC0415 - reads the arguments of the program

    process = _Process(mpc, out)
    threading.Thread(target=process.read, args=(sys.stdin.buffer,), daemon=True).start()
    try:
        mpc.run(process.serve())
    except BaseException as error:  # noqa: BLE001 - every cause of the end is reported
        process.fail(error)


if __name__ == "__main__":
    main()
