"""Spoils messages of a running protocol: one by another length, other bytes, twice, late, never or of another kind; or a whole table."""

from contextlib import suppress

import numpy as np

from setveil.presence.tables.joined_files import csv_sha256
from setveil.presence.tables.joined_table import JoinedTable
from setveil.presence.transport.framed import LineEnded


def flipped(dice, payload):
    if not payload:
        return b"\0"
    spoilt = bytearray(payload)
    spoilt[dice.randrange(len(spoilt))] ^= 1 << dice.randrange(8)
    return bytes(spoilt)


SPOILT = {
    "truncated": lambda dice, payload: payload[: dice.randrange(max(len(payload), 1))],
    "extended": lambda dice, payload: payload + dice.randbytes(dice.choice([1, 8, 5000])),
    "flipped": flipped,
    "noise": lambda dice, payload: dice.randbytes(len(payload)),
    "zeros": lambda _, payload: bytes(len(payload)),
    "ones": lambda _, payload: b"\xff" * len(payload),
}
WAYS = [*SPOILT, "dropped", "doubled", "replayed", "reordered", "another kind", "cut off"]


class Meddler:
    """Spoils one message of one direction, by its number."""

    def __init__(self, dice, direction, number, way):
        self.dice, self.direction, self.number, self.way = dice, direction, number, way
        self.done = ""
        """The kind of the message that was spoilt."""
        self._count = 0
        self._held = None

    def __call__(self, sender, receiver):
        return self.send if sender + receiver == self.direction else None

    def send(self, line_, kind, payload):
        number, self._count = self._count, self._count + 1
        if self._held is not None:
            line_.send(kind, payload)
            kind, payload = self._held
            self._held = None
        elif number == self.number:
            self.done = kind
            if self.way == "reordered":
                self._held = kind, payload
                return
            if self.way in SPOILT:
                payload = SPOILT[self.way](self.dice, payload)
            elif self.way == "dropped":
                return
            elif self.way == "doubled":
                line_.send(kind, payload)
            elif self.way == "replayed":
                self._replay(line_, kind, payload)
                return
            elif self.way == "another kind":
                kind = self.dice.choice(["ids", "garbled", "table", "kept", "shown", "abort", "no-such-kind"])
            elif self.way == "cut off":
                with suppress(LineEnded):
                    line_._put([line_._outgoing.header(kind, len(payload)), payload[: len(payload) // 2]])
                line_.close()
                return
        line_.send(kind, payload)

    @staticmethod
    def _replay(line_, kind, payload):
        """Send the very same bytes twice, header and number of the message included."""
        frame = [line_._outgoing.header(kind, len(payload)), payload]
        with suppress(LineEnded):  # the receiver may be gone by then
            line_._put(frame)
            line_._put(frame)


class TwoTables:
    """A collector that shows one provider another table than the other, and says of both that it published them.

    Two sensitive values of a group change places: the sums stay, so that the check of either provider holds with the scope `qi`, and that
    of A with any scope.
    """

    def __init__(self, provider, schema):
        self.provider, self.schema = provider, schema
        self.other = None
        """The other table."""
        self._shown = []

    def __call__(self, sender, receiver):
        if (sender, receiver) != ("c", self.provider):
            return None
        return lambda line_, kind, payload: line_.send(kind, self.instead(kind, payload))

    def instead(self, kind, payload):
        """Return what goes to the provider in the place of a message."""
        if kind == "published":
            return bytes.fromhex(csv_sha256(self.other))
        if kind != "table":
            return payload
        self._shown.append(payload)
        if len(self._shown) < 4:
            return payload
        lows, highs = (
            np.frombuffer(edges, dtype="<i4").reshape(-1, len(self.schema.attributes)) for edges in self._shown[1:3]
        )
        counts = np.frombuffer(payload, dtype="<i8").reshape(len(lows), -1).copy()
        group = np.flatnonzero(counts[:, 0] != counts[:, 1])[0]
        counts[group, :2] = counts[group, 1::-1]
        self.other = JoinedTable(self.schema, lows, highs, counts)
        return counts.tobytes()
