"""Lines between parties: two processes over TLS on loopback. How long a message and its answer take, and how many bytes a second go over.

Run: python benchmarks/bench_lines.py [rounds [megabytes]]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from setveil.presence.home import CERTIFICATE, Home
from setveil.presence.transport.listening import Listener
from setveil.presence.transport.tls import connect

LOOPBACK = "127.0.0.1"
OTHER = "other"


def other(folder, port, rounds, size):
    """Answer as A."""
    channel = connect(Home.open(Path(folder)).credentials(), "b", LOOPBACK, port)
    for _ in range(rounds):
        channel.send("pong", channel.receive("ping", 16))
    channel.receive("big", size)
    channel.send("done", b"")
    channel.send("big", bytes(size))
    channel.receive("big", size)
    channel.send("done", b"")
    channel.close()


def measure(rounds, size):
    with tempfile.TemporaryDirectory() as folder:
        homes = {role: Home.create(Path(folder) / role, role) for role in "ab"}
        homes["a"].pin("b", homes["b"].folder / CERTIFICATE)
        mine = homes["b"].pin("a", homes["a"].folder / CERTIFICATE)
        with Listener(mine.credentials(), ["a"], host=LOOPBACK) as ear:
            arguments = map(str, (OTHER, homes["a"].folder, ear.port, rounds, size))
            process = subprocess.Popen([sys.executable, __file__, *arguments])
            channel = ear.accept(60)["a"]
        since = time.perf_counter()
        for _ in range(rounds):
            channel.send("ping", bytes(16))
            channel.receive("pong", 16)
        print(f"message and answer: {(time.perf_counter() - since) / rounds * 1e6:.0f} µs")
        since = time.perf_counter()
        channel.send("big", bytes(size))
        channel.receive("done", 0)
        print(f"one way: {size / 1e6 / (time.perf_counter() - since):.0f} MB/s")
        since = time.perf_counter()
        channel.send("big", bytes(size))
        channel.receive("big", size)
        channel.receive("done", 0)
        print(f"both ways at once, together: {2 * size / 1e6 / (time.perf_counter() - since):.0f} MB/s")
        traffic, wire = channel.traffic, channel.wire_bytes
        print(f"bytes of messages sent {traffic.bytes_sent:,}, on the wire {wire[0]:,}")
        channel.close()
        process.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == [OTHER]:
        other(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        given = [*map(int, sys.argv[1:]), *(2000, 200)[len(sys.argv) - 1 :]]
        measure(given[0], given[1] * 1_000_000)
