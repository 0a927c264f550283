"""A joint coin: 32 random bytes that neither party can choose alone. Both commit to their parts with SHA-256 before either reveals one.

The party that reveals its part last was bound to it before it saw the peer's part (Blum, Coin Flipping by Telephone, 1981).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_NAMES

if TYPE_CHECKING:
    from setveil.presence.channel import Channel, Role

COIN_BYTES = 32


def toss(role: Role, line: Channel, purpose: bytes) -> bytes:
    """Return the coin, which is the same at both ends; both must call this at the same point of the protocol."""
    mine = secrets.token_bytes(COIN_BYTES)
    line.send("coin-commit", commitment(role, purpose, mine))
    committed = line.receive("coin-commit", COIN_BYTES)
    line.send("coin", mine)
    theirs = line.receive("coin", COIN_BYTES)
    if not hmac.compare_digest(committed, commitment(line.peer, purpose, theirs)):
        error = PeerFailed(PARTY_NAMES[line.peer], "tossed another coin than it had committed to")
        line.abort(f"seen from {PARTY_NAMES[role]}: {error}")
        raise error
    return joined(purpose, {role: mine, line.peer: theirs})


def commitment(role: Role, purpose: bytes, part: bytes) -> bytes:
    """Return the commitment that binds a party to its part without revealing it."""
    return hashlib.sha256(b"setveil commit " + role.encode() + b" " + purpose + b"\0" + part).digest()


def joined(purpose: bytes, parts: dict[Role, bytes]) -> bytes:
    """Return the coin that results from both parts."""
    return hashlib.sha256(b"setveil coin " + purpose + b"\0" + b"".join(parts[role] for role in sorted(parts))).digest()
