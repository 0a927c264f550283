"""The register in plain Python: fingerprints, which releases overlap, and the seed of a job."""

from __future__ import annotations

import hashlib
import hmac


def fingerprint(key, *, person=None, items=()):
    """Return the keyed hash of a person's id or, without one, of a record: its items sorted by their bytes, each after its length."""
    purpose, text = b"setveil id", person and person.encode()
    if person is None:
        purpose = b"setveil content"
        text = b"".join(len(item).to_bytes(8, "big") + item for item in sorted(item.encode() for item in set(items)))
    return hashlib.blake2b(text, key=key, digest_size=8, person=purpose).digest()


def fingerprints(key, records, ids=None):
    """Return the fingerprints of all records, sorted."""
    if ids is not None:
        return sorted(fingerprint(key, person=person) for person in ids)
    return sorted(fingerprint(key, items=items) for items in records)


def overlap(one, other):
    """Return whether two releases can hold the same people; each is its ids, or None, and its unit."""
    (ids, unit), (other_ids, other_unit) = one, other
    if ids is None or other_ids is None or unit != other_unit:
        return True
    return bool(set(ids) & set(other_ids))


def seed(key, checksum, recipe):
    """Return the first 128 bits of HMAC-SHA256 over what determines a release, each part after its length."""
    parts = [part.encode() for part in ("setveil register", "seed", checksum, recipe)]
    message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return int.from_bytes(hmac.new(key, message, hashlib.sha256).digest()[:16], "big")
