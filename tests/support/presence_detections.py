"""Detections of a protocol that reveals too much or decides wrongly: each function returns its findings, none for an honest run.

The tests of the protocol want no finding; the tests of mutants want one, so that each detection is shown to be able to fail.
"""

import threading
from collections import Counter, defaultdict
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

from setveil.errors import GuaranteeViolated
from setveil.presence.secure.two_party import session as two_party_session
from setveil.presence.secure.two_party.hashing import FixedKeyHash, Use
from setveil.presence.transport.frames import MAGIC

from support.presence_worlds import opened, slow_twin

HIDDEN_KINDS = frozenset({"ot-extension", "ot-products", "ot-tables", "garbled"})
"""Messages whose bytes are random to their receivers."""
LEAST_BYTES = 1000
FARTHEST = 8.0
"""Standard deviations of chi-square with 255 degrees of freedom: random bytes are farther once in more than 10^9."""

_SHARED = {"coin-commit", "coin", "base-ot-offer", "base-ot-answer", "ot-extension", "ot-products", "ot-tables"}
_SHARED |= {"open-root", "open-wider", "open-winner", "open-verdict", "ids", "shown"}


def unevenness(payload):
    """Return how far bytes are from even, as chi-square less its mean in standard deviations."""
    counts = np.bincount(np.frombuffer(payload, dtype=np.uint8), minlength=256)
    expected = len(payload) / 256
    return (((counts - expected) ** 2 / expected).sum() - 255) / np.sqrt(2 * 255)


def uneven_kinds(played):
    """Return hidden messages that do not look random, those of one kind and sender together."""
    together = defaultdict(bytes)
    for role in "ab":
        for message in played.received(role):
            if message.kind in HIDDEN_KINDS:
                together[role, message.kind] += message.payload
    return [
        key for key, bytes_ in together.items() if len(bytes_) >= LEAST_BYTES and abs(unevenness(bytes_)) > FARTHEST
    ]


@contextmanager
def counted_tweaks():
    """Give how often each provider used each tweak, while the block runs."""
    used = defaultdict(Counter)

    class Watched(FixedKeyHash):
        def of_permuted(self, permuted, tweaks):
            seen = np.broadcast_to(tweaks, np.broadcast_shapes(permuted.shape, tweaks.shape)).reshape(-1, 2)
            used[threading.current_thread().name].update(map(tuple, seen.tolist()))
            return super().of_permuted(permuted, tweaks)

    with patch.object(two_party_session, "FixedKeyHash", Watched):
        yield used


def reused_tweaks(used):
    """Return tweaks that a provider used for more blocks than it may: both of a pair where it is the sender, else one."""
    found = []
    for role, times in used.items():
        sends = 1 if role == "a" else 2
        for (number, place), count in times.items():
            direction, use = divmod(place, 256)
            most = 2 if direction == sends and use != Use.TABLE_ENTRIES else 1
            if count > most:
                found.append((role, number, place, count))
    return found


def early_ids(played):
    """Return ids that went before the bit of their level, or twice after one bit."""
    found = []
    for role in "ab":
        told = {True: 9, False: 9}
        for place, message in enumerate(played.seen[role]):
            if message.kind in ("open-wider", "open-winner"):
                told = {True: 9, False: 9}
            elif message.kind == "open-verdict" and not message.sent:
                told = {True: 0, False: 0}
            elif message.kind == "ids":
                told[message.sent] += 1
                if told[message.sent] > 1:
                    found.append((role, place))
    return found


def ids_not_of_passed_groups(played):
    """Return messages of ids whose length is not that of the groups that passed, by the ledger."""
    found = []
    for role in "ab":
        entries = played.results[role].divided.openings.entries
        at = {kind: {one.way: one.value for one in entries if one.kind == kind} for kind in ("side", "pass", "ids")}
        sizes = {"": len(played.results[role].divided.groups.group_of)}
        levels = defaultdict(lambda: {"a": 0, "b": 0})
        for way in sorted(at["pass"], key=len):
            if at["pass"][way]:
                levels[len(way)][at["side"][way]] += sizes[way]
                sizes[way + "0"], sizes[way + "1"] = at["ids"][way], sizes[way] - at["ids"][way]
        for sent in (True, False):
            teller = role if sent else ("b" if role == "a" else "a")
            expected = [-(-levels[depth][teller] // 8) for depth in sorted(levels) if levels[depth][teller]]
            told = [len(one.payload) for one in played.seen[role] if one.kind == "ids" and one.sent == sent]
            if told != expected:
                found.append((role, teller, told, expected))
    return found


def allowed_kinds(counts_to):
    """Return what kinds of messages each party may receive from each other one."""
    of_counts = {"counts"} if counts_to == "b" else {"open-counts"}
    return {
        ("a", "b"): _SHARED,
        ("b", "a"): _SHARED | {"garbled"} | ({"open-counts"} if counts_to == "b" else set()),
        ("a", "c"): {"table", "published"},
        ("b", "c"): {"table", "published"},
        ("c", "a"): {"groups", "boxes", "kept"} | (of_counts - {"counts"}),
        ("c", "b"): {"groups", "boxes", "kept"} | of_counts,
    }


def unexpected_kinds(played, counts_to):
    """Return kinds of messages that a party received and may not."""
    allowed = allowed_kinds(counts_to)
    return sorted(
        {
            (role, one.peer, one.kind)
            for role in "abc"
            for one in played.received(role)
            if one.kind not in allowed[role, one.peer]
        }
    )


def yes_to_two_tables(played):
    """Return the providers that said yes although the collector showed the other provider another table."""
    shown = [[one.payload for one in played.received(role, "c") if one.kind == "table"] for role in "ab"]
    yes = [
        role
        for role in "ab"
        if any(one.sent and (one.kind, one.payload) == ("kept", b"\1") for one in played.seen[role])
    ]
    return yes if shown[0] != shown[1] else []


def order_of_the_tree(played):
    """Return the providers whose boxes the collector got in the order in which groups became final."""
    found = []
    for role in "ab":
        lows, highs = (
            np.frombuffer(one.payload, dtype="<i4") for one in played.received("c", role) if one.kind == "boxes"
        )
        groups = played.results[role].divided.groups
        told = np.column_stack((lows.reshape(groups.groups, -1), highs.reshape(groups.groups, -1)))
        own = np.column_stack((groups.lows, groups.highs))
        if len(np.unique(own, axis=0)) >= 8 and (told == own).all():  # by chance once in 40,320
            found.append(role)
    return found


def other_than_the_slow_twin(method, originals, played):
    """Return what was opened otherwise than the slow twin would, or that the run ended otherwise."""
    twin = slow_twin(method, originals)
    broken = [isinstance(played.errors.get(role), GuaranteeViolated) for role in "ab"]
    if not twin.opened["root", ""]:
        return [] if all(broken) else ["the root passed"]
    if played.errors:
        return sorted(f"{role} failed: {type(error).__name__}" for role, error in played.errors.items())
    return [
        (role, *key)
        for role in "ab"
        for key in twin.opened.keys() | opened(played.results[role]).keys()
        if twin.opened.get(key) != opened(played.results[role]).get(key)
    ]


def broken_promises(method, originals, played):
    """Return what the published table does not keep, with both tables at hand."""
    from setveil.presence.tables.originals import BothGroups  # noqa: PLC0415 - where it is used only

    if not played.published:
        return []
    groups = BothGroups(*(played.results[role].divided.groups for role in "ab"))
    verdicts = [one.check(played.published[0], original=originals, alignment=groups) for one in method.guarantees]
    return [str(verdict) for verdict in verdicts if not verdict]


def readable_on_the_wire(captured, *words):
    """Return the words that occur in bytes captured between two parties."""
    return [word for word in (MAGIC, *words) if word in captured]
