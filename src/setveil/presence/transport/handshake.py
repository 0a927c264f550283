"""The handshake of two parties before a run: they check that they mean the same run, and agree on a nonce that neither can choose alone."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_args

from setveil import __version__
from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_NAMES, Role
from setveil.presence.coin import toss
from setveil.presence.transport.frames import NONCE_BYTES

if TYPE_CHECKING:
    from setveil.presence.transport.framed import FramedChannel

PROTOCOL = 2
"""The version of the protocol; increased with every change of a message."""
_MOST_GREETING_BYTES = 1024
_HASH = re.compile(r"[0-9a-f]{64}")
_RUN = re.compile(r"[0-9a-f]{32}")
_WORD = re.compile(r"[A-Za-z0-9.+_-]{1,64}")


@dataclass(frozen=True)
class Greeting:
    """The first message of a party: its role, and the run that it means."""

    role: Role
    policy: str
    """SHA-256 of the policy, in hexadecimal digits."""
    population: str | None
    """SHA-256 of the population, in hexadecimal digits; None for the collector, which does not hold it."""
    backend: str
    """The name of the backend of secure computation."""
    data: str | None = None
    """The provider's commitment to its data, in hexadecimal digits; None for the collector."""
    again: bool = False
    """Whether the provider allows a second run that separates real users from dummies."""
    last_run: str | None = None
    """The last run with this peer that the provider's ledger holds."""
    setveil: str = __version__
    protocol: int = PROTOCOL

    def __post_init__(self) -> None:
        right = (
            type(self.protocol) is int
            and 0 <= self.protocol < 1 << 16
            and _matches(_HASH, self.policy)
            and (self.population is None or _matches(_HASH, self.population))
            and (self.data is None or _matches(_HASH, self.data))
            and type(self.again) is bool
            and (self.last_run is None or _matches(_RUN, self.last_run))
            and self.role in get_args(Role)
            and _matches(_WORD, self.backend)
            and _matches(_WORD, self.setveil)
        )
        if not right:
            raise ValueError(
                "a greeting must hold a protocol version, hashes of 64 hexadecimal digits, a role and two names"
            )


def _matches(pattern: re.Pattern[str], text: Any) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def greet(channel: FramedChannel, mine: Greeting) -> Greeting:
    """Exchange greetings, refuse a party that means another run, and bind all further messages to a joint nonce.

    The version of the protocol is compared first, because the rest depends on it; then the policy, before everything else.
    """
    channel.send("greeting", json.dumps({field.name: getattr(mine, field.name) for field in fields(mine)}).encode())
    raw = channel.receive_at_most("greeting", _MOST_GREETING_BYTES)
    try:
        theirs = _agreed(mine, raw, channel.peer)
    except PeerFailed as error:
        error.to_others = str(error)
        channel.abort(f"seen from {PARTY_NAMES[mine.role]}: {error}")
        raise
    channel.bind(toss(mine.role, channel, b"run nonce")[:NONCE_BYTES])
    return theirs


def _agreed(mine: Greeting, raw: bytes, peer: Role) -> Greeting:
    theirs = _read(raw, peer)
    difference = _difference(mine, theirs, peer)
    if difference is not None:
        raise PeerFailed(PARTY_NAMES[peer], difference)
    return theirs


def _read(raw: bytes, peer: Role) -> Greeting:
    party = PARTY_NAMES[peer]
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise PeerFailed(party, "sent a greeting that cannot be read; use the same version of setveil at both parties")
    protocol = said.get("protocol")
    if type(protocol) is int and 0 <= protocol < 1 << 16 and protocol != PROTOCOL:
        raise PeerFailed(
            party,
            f"uses version {protocol} of the protocol, this program uses version {PROTOCOL}; use the same version of setveil",
        )
    try:
        return Greeting(**said)
    except (TypeError, ValueError):
        raise PeerFailed(
            party, "sent a greeting that cannot be read; use the same version of setveil at both parties"
        ) from None


def _difference(mine: Greeting, theirs: Greeting, peer: Role) -> str | None:
    """Return the first difference to a peer, as a sentence without its subject; None if there is none."""
    if mine.policy != theirs.policy:
        return (
            f"has another policy: {_short(theirs.policy)} there, {_short(mine.policy)} here; "
            "compare the two policy files; all parties must use the same policy"
        )
    if mine.setveil != theirs.setveil:
        return f"uses setveil {theirs.setveil}, this party {mine.setveil}; install the same version at all parties"
    if theirs.role != peer:
        return (
            f"says that it is {PARTY_NAMES[theirs.role]}, against its certificate; check which home it was started with"
        )
    if None not in (mine.population, theirs.population) and mine.population != theirs.population:
        return (
            f"has another population: {_short(theirs.population)} there, {_short(mine.population)} here; "
            "compare the two population files; both providers must use the same population"
        )
    if mine.data is not None and theirs.data is None:
        return "sent no commitment to its data, without which a change of the data goes unnoticed; use the same version of setveil"
    if mine.backend != theirs.backend:
        return f"computes with the backend {theirs.backend}, this party with {mine.backend}; choose the same at all parties"
    return None


def _short(digits: str | None) -> str:
    return (digits or "none")[:12]
