"""Two ends of a line in one process, and both ends of a conversation run in two threads."""

import queue
import threading

from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_NAMES, Traffic


class End:
    """One end of a line made of two queues; keeps a transcript of what it sent."""

    in_one_process = True

    def __init__(self, peer, outgoing, incoming):
        self.peer = peer
        self.traffic = Traffic()
        self.sent = []
        self._outgoing, self._incoming = outgoing, incoming

    def send(self, kind, payload):
        assert 0 < len(kind) <= 16
        assert kind.replace("-", "").isalnum()
        assert kind.isascii()
        self.sent.append((str(kind), bytes(payload)))
        self.traffic.messages_sent += 1
        self.traffic.bytes_sent += len(payload)
        self._outgoing.put(self.sent[-1])

    def receive(self, kind, size):
        found, payload = self._next()
        if found != kind or len(payload) != size:
            raise PeerFailed(PARTY_NAMES[self.peer], f"sent {found} of {len(payload)} bytes, not {kind} of {size}")
        return payload

    def receive_at_most(self, kind, most):
        found, payload = self._next()
        if found != kind or len(payload) > most:
            raise PeerFailed(
                PARTY_NAMES[self.peer], f"sent {found} of {len(payload)} bytes, not {kind} of at most {most}"
            )
        return payload

    def abort(self, reason):
        self._outgoing.put(("abort", reason.encode()))

    def close(self):
        self._outgoing.put(("closed", b""))

    def _next(self):
        try:
            message = self._incoming.get(timeout=60)
        except queue.Empty:
            raise PeerFailed(PARTY_NAMES[self.peer], "says nothing") from None
        self.traffic.messages_received += 1
        self.traffic.bytes_received += len(message[1])
        return message


def line(one="a", other="b"):
    """Return the end of `one` and the end of `other`."""
    there, back = queue.SimpleQueue(), queue.SimpleQueue()
    return End(other, there, back), End(one, back, there)


def together(*works):
    """Run functions in a thread each and return what they return; the first error is raised here."""
    results, errors = [None] * len(works), []

    def run(place, work):
        try:
            results[place] = work()
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive() and not errors:
            thread.join(0.5)
    if errors:
        raise errors[0]
    return results
