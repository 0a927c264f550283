"""Lines of three parties in one process, made of queues, and the threads that play the parties."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field

from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_NAMES, Traffic

_GONE = object()


@dataclass
class QueueLine:
    peer: str
    incoming: queue.SimpleQueue
    outgoing: queue.SimpleQueue
    in_one_process: bool = True
    traffic: Traffic = field(default_factory=Traffic)
    sent: list = field(default_factory=list)
    closed: bool = False

    def send(self, kind, payload):
        if self.closed:
            raise PeerFailed(PARTY_NAMES[self.peer], "is no longer on the line")
        payload = bytes(payload)
        self.traffic.messages_sent += 1
        self.traffic.bytes_sent += len(payload)
        self.sent.append((kind, payload))
        self.outgoing.put((kind, payload))

    def receive(self, kind, size):
        payload = self.receive_at_most(kind, size)
        assert len(payload) == size
        return payload

    def receive_at_most(self, kind, most):
        message = self.incoming.get(timeout=60)
        if message[0] is _GONE or self.closed:
            self.closed = True
            raise PeerFailed(PARTY_NAMES[self.peer], f"stopped: {message[1]}")
        assert message[0] == kind, (message[0], kind)
        assert len(message[1]) <= most
        self.traffic.messages_received += 1
        self.traffic.bytes_received += len(message[1])
        return message[1]

    def abort(self, reason):
        self.closed = True
        self.outgoing.put((_GONE, reason))
        self.incoming.put((_GONE, "this party closed the line"))

    def close(self):
        self.closed = True


def triangle():
    """Lines by the party that holds them and the party that they lead to."""
    lines = {}
    for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
        there, back = queue.SimpleQueue(), queue.SimpleQueue()
        lines[one, other] = QueueLine(other, back, there)
        lines[other, one] = QueueLine(one, there, back)
    return lines


def play(parts, *, seconds=120):
    """Run functions side by side, and return what each returns or raises."""
    results = {}

    def run(name, part):
        try:
            results[name] = part()
        except Exception as error:  # noqa: BLE001 - looked at by the test
            results[name] = error

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in parts.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "a party hangs"
    return results
