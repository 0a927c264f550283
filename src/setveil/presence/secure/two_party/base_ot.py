"""Base oblivious transfer: 128 pairs of keys; the chooser gets one key of each pair, and the sender does not learn which.

Chou and Orlandi, The Simplest Protocol for Oblivious Transfer, 2015, on the prime-order subgroup of edwards25519. The sender sends S = y*B;
the chooser answers R = x*B, or x*B + S if its bit is 1; the keys are hashes of y*R and y*R - y*S, of which the chooser can compute the
first or the second as x*S. Points outside the subgroup, or of small order, are refused.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from setveil.errors import PeerFailed
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.libraries import curve
from setveil.presence.secure.two_party.blocks import BLOCK, SECURITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setveil.presence.channel import Channel

POINT = 32


def send(line: Channel, session: bytes) -> list[tuple[bytes, bytes]]:
    """Return both keys of each pair."""
    group = curve()
    secret = _scalar()
    shown = group.crypto_scalarmult_ed25519_base_noclamp(secret)
    line.send("base-ot-offer", shown)
    answers = line.receive("base-ot-answer", POINT * SECURITY)
    of_shown = group.crypto_scalarmult_ed25519_noclamp(secret, shown)
    pairs = []
    for number in range(SECURITY):
        answer = _checked(answers[POINT * number : POINT * (number + 1)], line)
        if answer == shown:  # then R - S is the neutral element
            raise _bad_point(line)
        zero = group.crypto_scalarmult_ed25519_noclamp(secret, answer)
        one = group.crypto_core_ed25519_sub(zero, of_shown)
        pairs.append((_key(session, number, shown, answer, zero), _key(session, number, shown, answer, one)))
    return pairs


def choose(line: Channel, session: bytes, bits: Sequence[bool]) -> list[bytes]:
    """Return the key of each pair that the corresponding bit selects."""
    group = curve()
    shown = _checked(line.receive("base-ot-offer", POINT), line)
    answers, keys = [], []
    for number, bit in enumerate(bits):
        secret = _scalar()
        plain = group.crypto_scalarmult_ed25519_base_noclamp(secret)
        answer = group.crypto_core_ed25519_add(plain, shown) if bit else plain
        answers.append(answer)
        keys.append(_key(session, number, shown, answer, group.crypto_scalarmult_ed25519_noclamp(secret, shown)))
    line.send("base-ot-answer", b"".join(answers))
    return keys


def _scalar() -> bytes:
    """Return a random non-zero number below the order of the subgroup."""
    while True:
        scalar: bytes = curve().crypto_core_ed25519_scalar_reduce(secrets.token_bytes(64))
        if any(scalar):
            return scalar


def _key(session: bytes, number: int, shown: bytes, answer: bytes, shared: bytes) -> bytes:
    text = b"setveil base ot" + session + number.to_bytes(2, "little") + shown + answer + shared
    return hashlib.sha256(text).digest()[:BLOCK]


def _checked(point: bytes, line: Channel) -> bytes:
    if not curve().crypto_core_ed25519_is_valid_point(point):
        raise _bad_point(line)
    return point


def _bad_point(line: Channel) -> PeerFailed:
    return PeerFailed(PARTY_NAMES[line.peer], "sent a point that is not in the subgroup of the curve")
