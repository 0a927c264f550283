"""The seed of a run, and everything random that is derived from it (docs/decisions/0024)."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from setveil.errors import BadParameter

if TYPE_CHECKING:
    from setveil.methods.base import Method

SECURE_BITS = 128
WEAK_BELOW_BITS = 64
PSEUDONYM_BYTES = 10
SCHEME_VERSION: Final = 2
"""How randomness is derived. In scheme 1 the generator and the pseudonyms came from the seed alone, so that two runs with one seed shared
them. Whoever changes what a seed gives raises this number."""


FROM_SYSTEM = "from-system"
"""What a person writes who wants no seed of their own."""


def seed_from_text(text: str | None) -> int | None:
    """Return the seed that a person wrote, in any base that Python knows; None stands for one from the system."""
    if text is None or text == FROM_SYSTEM:
        return None
    try:
        return int(text, 0)
    except ValueError:
        raise BadParameter(
            f"the seed is {text!r}; allowed is a whole number of {WEAK_BELOW_BITS} bits or more, or {FROM_SYSTEM}"
        ) from None


@dataclass(frozen=True)
class Seed:
    """A seed: private, since it undoes a swap. From the system's secure source unless given."""

    value: int
    given: bool

    @classmethod
    def of(cls, given: int | None, *, experiment: bool = False) -> Seed:
        """Take the given seed, or draw one; refuse one that can be guessed, except for an experiment."""
        if given is None:
            return cls(secrets.randbits(SECURE_BITS), given=False)
        if not isinstance(given, int) or isinstance(given, bool) or given < 0:
            raise BadParameter(
                f"the seed is {given!r}; allowed is a whole number from 0 on, best of 128 bits, or none at all"
            )
        seed = cls(given, given=True)
        if seed.weak and not experiment:
            raise BadParameter(
                f"the seed has {given.bit_length()} bits and can be guessed; allowed is a seed of {WEAK_BELOW_BITS} bits or more. Give no "
                f"seed, so that {SECURE_BITS} random bits are drawn, or set `experiment=True` for a release that you do not hand over"
            )
        return seed

    @property
    def weak(self) -> bool:
        """Whether somebody could try all seeds of its size."""
        return self.given and self.value.bit_length() < WEAK_BELOW_BITS


@dataclass(frozen=True)
class Randomness:
    """All randomness of one run.

    It comes from the seed, the data, the recipe and the number of the block, and each purpose has a domain of its own. So two runs share
    nothing unless all of these are equal, and what is published reveals nothing about what is not.
    """

    seed: Seed
    checksum: str
    """Of the data that the release is made from."""
    recipe: str
    """What decides the release besides the data, as canonical JSON."""
    block: int = 0
    """Which block of the data it is for."""

    @classmethod
    def of_run(cls, seed: Seed, checksum: str, method: Method, ids: str) -> Randomness:
        """Return the randomness of a method as the user declared it, before it is bound to the data."""
        parameters = method.model_dump(mode="json")
        return cls(seed, checksum, canonical_json({"ids": ids, "method": method.name, "parameters": parameters}))

    @cached_property
    def _key(self) -> bytes:
        fields = (str(SCHEME_VERSION), str(self.seed.value), self.checksum, self.recipe, str(self.block))
        return _shake(64, "setveil randomness", *fields)

    def stream(self, domain: str, size: int) -> bytes:
        """Return `size` bytes for one purpose; those of another domain are independent of them."""
        return _shake(size, "setveil stream", self._key.hex(), domain)

    def generator(self, domain: str = "method") -> np.random.Generator:
        """Return a new generator for one purpose."""
        return np.random.default_rng(np.random.SeedSequence(int.from_bytes(self.stream(domain, 32), "big")))

    def pseudonyms(self, records: int) -> Any:
        """Return one pseudonym per record of the original in its order, or one per row if the method splits records."""
        return _as_names(self.stream("pseudonyms", PSEUDONYM_BYTES * records))

    @property
    def run(self) -> str:
        """The id of the run, which card and dossier share."""
        return self.stream("run", 16).hex()

    @property
    def salt(self) -> bytes:
        """The salt of the card's checksum of private parameters."""
        return self.stream("private salt", 32)


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a value: keys sorted, no blanks, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def pseudonyms_of_scheme_1(seed: Seed, records: int) -> Any:
    """Return the pseudonyms that a release of card version 1 carries."""
    key = b"setveil pseudonyms\0" + seed.value.to_bytes((seed.value.bit_length() + 7) // 8 or 1, "big")
    return _as_names(hashlib.shake_256(key).digest(PSEUDONYM_BYTES * records))


def _shake(size: int, *fields: str) -> bytes:
    """Return SHAKE-256 over the fields, each after its length, so that different fields never give the same bytes."""
    digest = hashlib.shake_256()
    for field in fields:
        text = field.encode()
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.digest(size)


def _as_names(stream: bytes) -> Any:
    records, width = len(stream) // PSEUDONYM_BYTES, 2 * PSEUDONYM_BYTES
    offsets = np.arange(records + 1, dtype=np.int64) * width
    return pa.LargeStringArray.from_buffers(records, pa.py_buffer(offsets), pa.py_buffer(stream.hex().encode()))
