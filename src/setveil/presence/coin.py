"""A joint coin: 32 random bytes that neither party chose alone. Both commit by SHA-256 before either shows its part.

Who shows its part last has been held to it before it saw the other's (Blum, Coin Flipping by Telephone, 1981).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_IN_WORDS

if TYPE_CHECKING:
    from setveil.presence.channel import Channel, Role

COIN_BYTES = 32


def toss(role: Role, line: Channel, purpose: bytes) -> bytes:
    """Return the coin, the same at both ends; both must ask for it at the same point."""
    mine = secrets.token_bytes(COIN_BYTES)
    line.send("coin-commit", commitment(role, purpose, mine))
    promised = line.receive("coin-commit", COIN_BYTES)
    line.send("coin", mine)
    theirs = line.receive("coin", COIN_BYTES)
    if not hmac.compare_digest(promised, commitment(line.peer, purpose, theirs)):
        error = PeerFailed(PARTY_IN_WORDS[line.peer], "tossed another coin than it had committed to")
        line.abort(f"seen from {PARTY_IN_WORDS[role]}: {error}")
        raise error
    return joined(purpose, {role: mine, line.peer: theirs})


def commitment(role: Role, purpose: bytes, part: bytes) -> bytes:
    """Return what holds a party to its part without showing it."""
    return hashlib.sha256(b"setveil commit " + role.encode() + b" " + purpose + b"\0" + part).digest()


def joined(purpose: bytes, parts: dict[Role, bytes]) -> bytes:
    """Return the coin of both parts."""
    return hashlib.sha256(b"setveil coin " + purpose + b"\0" + b"".join(parts[role] for role in sorted(parts))).digest()
