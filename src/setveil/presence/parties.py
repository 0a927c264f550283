"""What each party does in a run, on lines that are open and after the greetings agreed.

The collector joins both halves by the order of groups, which a joint coin of the providers shuffled. The collector writes nothing before
both providers have seen the same table and each has checked its own side of δ-site-presence on it. It publishes nothing before it has
checked k-anonymity on the written file.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.base import progress
from setveil.errors import GuaranteeViolated, PeerFailed
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.coin import toss
from setveil.presence.costs import Costs
from setveil.presence.dummies import KeyedStream
from setveil.presence.protocol import Divided, ProviderProtocol
from setveil.presence.secure.backends import computes_along, open_collector_side, open_session
from setveil.presence.tables.joined_files import csv_sha256
from setveil.presence.tables.joined_table import JoinedTable
from setveil.presence.tables.originals import BothGroups, Originals

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from setveil.base.verdict import Verdict
    from setveil.presence.channel import Channel
    from setveil.presence.policy import Policy
    from setveil.presence.secure.base import CollectorSide, Provider
    from setveil.presence.tables.attributes import Attribute
    from setveil.presence.tables.population import Population
    from setveil.presence.tables.provider_table import ProviderTable

MOST_GROUPS = 10_000_000
MOST_RECORDS = 1 << 31
"""More than the size of any population. `MOST_GROUPS` groups with `MOST_RECORDS` records each still fit in 64 bits."""
_HOLDS, _VIOLATED = b"\x01", b"\x00"
_ONE_PROVIDER = "one of the providers"
"""The party in messages of a collector that cannot know which provider is at fault."""


@dataclass(frozen=True)
class ProviderResult:
    """The result of a run for a provider."""

    divided: Divided
    table: JoinedTable
    """The table that the collector publishes."""
    verdicts: tuple[Verdict, ...]
    """The verdicts on what this provider can check alone."""
    sha256: str
    """The checksum of the published data file."""
    costs: Costs


def run_provider(
    role: Provider,
    policy: Policy,
    table: ProviderTable,
    population: Population,
    key: bytes,
    *,
    peer: Channel,
    collector: Channel,
    cpu_clock: Callable[[], float] = time.process_time,
) -> ProviderResult:
    """Run one provider's part. If the parties share a process, `cpu_clock` is the clock of their thread."""
    began, cpu = time.perf_counter(), cpu_clock()
    policy.refuse_other(population)
    rules = policy.rules(len(population))
    if computes_along(policy.method.backend):
        collector.send("population", len(population).to_bytes(8, "little"))
    session = open_session(policy.method.backend, role, rules, peer, collector)
    try:
        divided = ProviderProtocol(role, policy, table, population, key, session, peer).divide()
        order = _shuffled(divided.groups.groups, toss(role, peer, b"group order"))
        groups = divided.groups.groups.to_bytes(8, "little")
        if not computes_along(policy.method.backend):
            collector.send("groups", groups)
        counts = session.counts(order, policy.method.counts_to)
    finally:
        session.close()
    if computes_along(policy.method.backend):  # until here the secure computation used the line
        collector.send("groups", groups)
    if counts is not None:
        collector.send("counts", np.ascontiguousarray(counts, dtype="<i8").tobytes())
    known = [None] * len(order) if counts is None else counts[np.argsort(order)].tolist()
    divided.openings.note("counts", divided.ways, known, policy.method.counts_to)
    for edges in (divided.groups.lows, divided.groups.highs):
        collector.send("boxes", np.ascontiguousarray(edges[order], dtype="<i4").tobytes())
    joined = _received_table(policy, collector, len(order))
    _refuse_two_tables(joined, peer)
    verdicts = _checked_alone(role, policy, table, population, divided, joined)
    holds = all(verdicts)
    collector.send("kept", _HOLDS if holds else _VIOLATED)
    if not holds:
        raise GuaranteeViolated(
            "the table that the collector would publish violates the policy on this provider's side; nothing was written",
            verdict=next(verdict for verdict in verdicts if not verdict),
        )
    sha256 = collector.receive("published", 32).hex()
    if sha256 != csv_sha256(joined):
        raise PeerFailed(PARTY_NAMES["c"], "published a file that differs from the table that it had shown")
    traffic: dict[str, dict[str, int]] = {one.peer: asdict(one.traffic) for one in (peer, collector)}
    costs = Costs(time.perf_counter() - began, cpu_clock() - cpu, traffic, divided.levels)
    return ProviderResult(divided, joined, verdicts, sha256, costs)


def _shuffled(groups: int, coin: bytes) -> NDArray[np.int64]:
    """Return an order of the groups that neither provider chose and that the collector cannot reverse."""
    order: NDArray[np.int64] = KeyedStream(coin, b"", b"group order").shuffles([b""], groups)[0]
    return order


def _as_messages(joined: JoinedTable) -> list[bytes]:
    """Return the messages by which the collector shows the table."""
    numbers = ((joined.lows, "<i4"), (joined.highs, "<i4"), (joined.counts, "<i8"))
    return [
        joined.groups.to_bytes(8, "little"),
        *(np.ascontiguousarray(one, dtype=kind).tobytes() for one, kind in numbers),
    ]


def _refuse_two_tables(joined: JoinedTable, peer: Channel) -> None:
    """Compare with the other provider whether the collector showed both the same table.

    The hash covers the messages and not the file: the counts are not checked yet, and a file has one line per record.
    """
    shown = hashlib.sha256(b"".join(_as_messages(joined))).digest()
    peer.send("shown", shown)
    if peer.receive("shown", len(shown)) != shown:
        other = PARTY_NAMES[peer.peer]
        raise PeerFailed(
            PARTY_NAMES["c"],
            f"showed {other} another table than this provider, by the hash that {other} sent; nothing was written",
        )


def _received_table(policy: Policy, collector: Channel, most: int) -> JoinedTable:
    """Receive the table that the collector will publish."""
    groups = int.from_bytes(collector.receive("table", 8), "little")
    if not 1 <= groups <= most:
        raise PeerFailed(PARTY_NAMES["c"], f"announced a table of {groups:,} groups; allowed is 1 to {most:,}")
    width, values = len(policy.schema.attributes), policy.schema.sensitive.cells
    lows, highs = (_numbers(collector, "table", "<i4", (groups, width)).astype(np.int32) for _ in range(2))
    counts = _numbers(collector, "table", "<i8", (groups, values))
    _refuse_boxes(PARTY_NAMES["c"], policy.schema.attributes, lows, highs)
    _refuse_counts(PARTY_NAMES["c"], counts)
    return JoinedTable(policy.schema, lows, highs, counts)


def _numbers(channel: Channel, kind: str, number: str, shape: tuple[int, int]) -> NDArray[np.int64]:
    size = shape[0] * shape[1] * np.dtype(number).itemsize
    return np.frombuffer(channel.receive(kind, size), dtype=number).reshape(shape).astype(np.int64)


def _refuse_boxes(
    party: str, attributes: tuple[Attribute, ...], lows: NDArray[np.int32], highs: NDArray[np.int32]
) -> None:
    """Raise `PeerFailed` for intervals that no honest party sends."""
    cells = np.array([one.cells for one in attributes])
    if np.any(lows < 0) or np.any(highs > cells) or np.any(lows >= highs):
        raise PeerFailed(
            party, "sent an interval that is empty or outside the range of its attribute; nothing was written"
        )


def _refuse_counts(party: str, counts: NDArray[np.int64]) -> None:
    """Raise `PeerFailed` for impossible numbers of records, or for a group without records."""
    if np.any(counts < 0) or np.any(counts >= MOST_RECORDS) or np.any(counts.sum(axis=1) == 0):
        raise PeerFailed(party, "sent impossible numbers of records; nothing was written")


def _checked_alone(
    role: Provider,
    policy: Policy,
    table: ProviderTable,
    population: Population,
    divided: Divided,
    joined: JoinedTable,
) -> tuple[Verdict, ...]:
    """Check the joined table as far as this provider can with its own data only."""
    originals = Originals(policy.schema, population, **{role: table})
    groups = BothGroups(**{role: divided.groups})
    with progress.step("checking the joined table"):
        return tuple(
            guarantee.check(joined, original=originals, alignment=groups) for guarantee in policy.method.guarantees
        )


def run_collector(
    policy: Policy,
    a: Channel,
    b: Channel,
    publish: Callable[[JoinedTable], Callable[[], str]],
    *,
    cpu_clock: Callable[[], float] = time.process_time,
) -> Costs:
    """Run the collector's part.

    `publish` writes the table to a staging folder, checks it there and returns a function that moves it to its final place and returns the
    checksum. It is called after both providers have found that the policy holds on their side: a file has one line per record, so
    invented counts would fill the disk. If a provider disconnects after that, the table stays published, and the other provider is still
    informed.
    """
    began, cpu = time.perf_counter(), cpu_clock()
    rules = None
    if computes_along(policy.method.backend):
        sizes = [int.from_bytes(channel.receive("population", 8), "little") for channel in (a, b)]
        if sizes[0] != sizes[1]:
            raise PeerFailed(
                _ONE_PROVIDER,
                f"has another population: that of provider A has {sizes[0]:,} people, that of provider B {sizes[1]:,}",
            )
        rules = policy.rules(sizes[0])
    side = open_collector_side(policy.method.backend, rules, a, b)
    try:
        with progress.step("waiting for the providers"):
            side.follow()
            joined = _joined(policy, a, b, side)
    finally:
        side.close()
    for channel in (a, b):
        for message in _as_messages(joined):
            channel.send("table", message)
    for channel in (a, b):
        if channel.receive("kept", 1) != _HOLDS:
            raise GuaranteeViolated(
                f"{PARTY_NAMES[channel.peer]} found that the table violates the policy on its side; nothing was written"
            )
    sha256 = publish(joined)()
    for channel in (a, b):
        try:
            channel.send("published", bytes.fromhex(sha256))
        except PeerFailed as error:
            note_lost_party(error)
    traffic: dict[str, dict[str, int]] = {one.peer: asdict(one.traffic) for one in (a, b)}
    return Costs(time.perf_counter() - began, cpu_clock() - cpu, traffic, ())


def note_lost_party(error: PeerFailed) -> None:
    """Report that the connection to a party was lost after the table was published."""
    progress.note(
        f"{error}. The table was already published, with the consent of both providers; {error.party} may not have been informed."
    )


def _joined(policy: Policy, a: Channel, b: Channel, side: CollectorSide) -> JoinedTable:
    """Receive both halves, in the same shuffled order, and join them."""
    schema = policy.schema
    groups = [int.from_bytes(channel.receive("groups", 8), "little") for channel in (a, b)]
    for channel, announced in zip((a, b), groups, strict=True):
        if not 1 <= announced <= MOST_GROUPS:
            raise PeerFailed(PARTY_NAMES[channel.peer], f"announced {announced:,} groups; nothing was written")
    if groups[0] != groups[1]:
        raise PeerFailed(
            _ONE_PROVIDER,
            f"announced a wrong number of groups: provider A {groups[0]:,}, provider B {groups[1]:,}; nothing was written",
        )
    values = schema.sensitive.cells
    to_b = policy.method.counts_to == "b"
    counts = _numbers(b, "counts", "<i8", (groups[0], values)) if to_b else side.counts(groups[0], values)
    boxes = [
        [_numbers(channel, "boxes", "<i4", (groups[0], len(attributes))).astype(np.int32) for _ in range(2)]
        for channel, attributes in ((a, schema.a), (b, schema.b))
    ]
    for role, attributes, edges in (("a", schema.a, boxes[0]), ("b", schema.b, boxes[1])):
        _refuse_boxes(PARTY_NAMES[role], attributes, edges[0], edges[1])
    # Each share of the counts is random, so a wrong sum does not show which provider's share is wrong.
    _refuse_counts(PARTY_NAMES["b"] if to_b else _ONE_PROVIDER, counts)
    lows, highs = (np.hstack((boxes[0][edge], boxes[1][edge])) for edge in range(2))
    return JoinedTable.arranged(schema, lows, highs, counts)
