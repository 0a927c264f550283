"""A joint coin: 32 random bytes that neither party chose alone. Both commit by SHA-256 before either shows its part."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_IN_WORDS

if TYPE_CHECKING:
    from setveil.presence.channel import Channel
    from setveil.presence.secure.base import Provider

COIN = 32


def toss(role: Provider, line: Channel, purpose: bytes) -> bytes:
    """Return the coin, the same at both ends."""
    mine = secrets.token_bytes(COIN)
    line.send("coin-commit", _commitment(role.encode(), purpose, mine))
    promised = line.receive("coin-commit", COIN)
    line.send("coin", mine)
    theirs = line.receive("coin", COIN)
    if not hmac.compare_digest(promised, _commitment(line.peer.encode(), purpose, theirs)):
        raise PeerFailed(PARTY_IN_WORDS[line.peer], "tossed another coin than it had committed to")
    parts = (mine, theirs) if role == "a" else (theirs, mine)
    return hashlib.sha256(b"setveil coin " + purpose + b"\0" + b"".join(parts)).digest()


def _commitment(role: bytes, purpose: bytes, part: bytes) -> bytes:
    return hashlib.sha256(b"setveil commit " + role + b" " + purpose + b"\0" + part).digest()
