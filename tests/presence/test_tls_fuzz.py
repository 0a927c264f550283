"""A thousand streams of bytes inside TLS, from a peer with the right certificate: an error that names it, at once, and nothing else."""

import contextlib
import random
import socket

from setveil.errors import PeerFailed
from setveil.presence.transport.frames import Outgoing
from setveil.presence.transport.tls import WELCOME

from support.parties import PATIENCE_SECONDS, Task, homes, listener, raw_caller, without_waiting

STREAMS = 1000


def stream(dice):
    """Return bytes that look more or less like messages, and are not the one that is awaited."""
    out = Outgoing("a")
    honest = out.header("x", 8) + b"12345678" + out.header("y", 5) + b"12345"
    way = dice.randrange(6)
    if way == 0:
        return dice.randbytes(dice.randrange(300))
    if way == 1:
        return honest[: dice.randrange(len(honest))]
    if way == 2:
        place = dice.randrange(len(honest))
        return honest[:place] + dice.randbytes(1) + honest[place + 1 :]
    if way == 3:
        return Outgoing("a").header("x", dice.choice([9, 1 << 32, (1 << 64) - 1])) + dice.randbytes(100)
    if way == 4:
        reason = dice.randbytes(dice.randrange(401))
        return Outgoing("a").header("abort", len(reason)) + reason
    return honest + dice.randbytes(dice.randrange(1, 1 << 17))


def test_no_stream_of_bytes_crashes_or_hangs_an_open_line():
    dice = random.Random(8)  # noqa: S311 - the same streams in every run
    refused = 0
    with listener(timeout=PATIENCE_SECONDS) as ear:
        for _ in range(STREAMS):
            said = stream(dice)
            with raw_call(ear) as (raw, channel), without_waiting():
                with contextlib.suppress(OSError):
                    raw.sendall(said)
                    raw.shutdown(socket.SHUT_WR) if dice.random() < 0.5 else raw.close()
                try:
                    for kind, size in (("x", 8), ("y", 5), ("z", 1)):
                        channel.receive(kind, size)
                except PeerFailed as error:
                    refused += error.party == "provider A" and str(error).isprintable()
        assert ear.strangers == 0
    assert refused == STREAMS


@contextlib.contextmanager
def raw_call(ear):
    """Give both ends of a line whose one end is bare."""
    calling = Task(raw_caller, ear.port, homes()["a"])
    channel = ear.accept(PATIENCE_SECONDS)["a"]
    with calling.result() as raw:
        assert raw.recv(len(WELCOME)) == WELCOME
        try:
            yield raw, channel
        finally:
            channel.close()
