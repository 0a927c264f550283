"""Where randomness comes from, and the pseudonyms made from it."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from setveil.errors import BadParameter

SECURE_BITS = 128
WEAK_BELOW_BITS = 64
PSEUDONYM_BYTES = 10


@dataclass(frozen=True)
class Seed:
    """A seed: private, since it undoes a swap. From the system's secure source unless given."""

    value: int
    given: bool

    @classmethod
    def of(cls, given: int | None) -> Seed:
        """Take the given seed, or draw one."""
        if given is None:
            return cls(secrets.randbits(SECURE_BITS), given=False)
        if given < 0:
            raise BadParameter(
                f"the seed is {given}; allowed is a whole number from 0 on, best of 128 bits, or none at all"
            )
        return cls(given, given=True)

    @property
    def weak(self) -> bool:
        """Whether somebody could try all seeds of its size."""
        return self.given and self.value.bit_length() < WEAK_BELOW_BITS

    def generator(self) -> np.random.Generator:
        """Return the generator of the method."""
        return np.random.default_rng(np.random.SeedSequence(self.value))

    def pseudonyms(self, records: int) -> Any:
        """Return so many pseudonyms: one for each record of the original in its order, or for each row where records were split.

        They are published, so they must not tell the state of the generator that swapped: they come from SHAKE-256 over the seed, not
        from the generator.
        """
        key = b"setveil pseudonyms\0" + self.value.to_bytes((self.value.bit_length() + 7) // 8 or 1, "big")
        stream = hashlib.shake_256(key).digest(PSEUDONYM_BYTES * records)
        width = 2 * PSEUDONYM_BYTES
        offsets = np.arange(records + 1, dtype=np.int64) * width
        return pa.LargeStringArray.from_buffers(records, pa.py_buffer(offsets), pa.py_buffer(stream.hex().encode()))
