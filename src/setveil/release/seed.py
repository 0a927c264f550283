"""The seed of a run, and all random values derived from it (docs/decisions/0024)."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from setveil.base.display import quantity
from setveil.data.records.ragged import pieces
from setveil.engines.growing import GrowingTexts
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from setveil.methods.base import Method

SECURE_BITS = 128
WEAK_BELOW_BITS = 64
PSEUDONYM_BYTES = 10
SCHEME_VERSION: Final = 2
"""The scheme by which random values are derived. In scheme 1 the generator and the pseudonyms depended on the seed only, so two runs with
the same seed shared them. Increase this number with every change of what a seed gives."""


FROM_SYSTEM = "from-system"
"""The text that requests a random seed from the system."""


def seed_from_text(text: str | None) -> int | None:
    """Return the seed in a text, in any base that Python knows; None means a seed from the system."""
    if text is None or text == FROM_SYSTEM:
        return None
    try:
        return int(text, 0)
    except ValueError:
        raise BadParameter(
            f"the seed is {text!r}; allowed is a whole number of at least {WEAK_BELOW_BITS} bits, or {FROM_SYSTEM}"
        ) from None


@dataclass(frozen=True)
class Seed:
    """The private seed of a run, given or from the system's secure source. With it, a swap can be undone."""

    value: int
    given: bool

    @classmethod
    def of(cls, given: int | None, *, experiment: bool = False) -> Seed:
        """Return the given seed, or draw one; refuse a seed that can be guessed, except for an experiment."""
        if given is None:
            return cls(secrets.randbits(SECURE_BITS), given=False)
        if not isinstance(given, int) or isinstance(given, bool) or given < 0:
            raise BadParameter(
                f"the seed is {given!r}; allowed is a whole number of at least 0, preferably of 128 bits, or no seed"
            )
        seed = cls(given, given=True)
        if seed.weak and not experiment:
            raise BadParameter(
                f"the seed has {quantity(given.bit_length(), 'bit')} and can be guessed; allowed is a seed of at least {WEAK_BELOW_BITS} "
                f"bits. Give no seed to draw {SECURE_BITS} random bits, or set `experiment=True` for a release that you do not share"
            )
        return seed

    @property
    def weak(self) -> bool:
        """Whether an attacker could try all seeds of its size."""
        return self.given and self.value.bit_length() < WEAK_BELOW_BITS


@dataclass(frozen=True)
class Randomness:
    """All randomness of one run.

    It is derived from the seed, the data, the recipe and the number of the block, and each purpose has its own domain. So two runs share
    random values only if all of these are equal, and published values reveal nothing about private ones.
    """

    seed: Seed
    checksum: str
    """The checksum of the data that the release is made from."""
    recipe: str
    """Everything besides the data that determines the release, as canonical JSON."""
    block: int = 0
    """0 for work on all data; n + 1 for block n of data in blocks."""
    block_records: int | None = None
    """The size of the blocks of a release in blocks, which the recipe holds too."""

    @cached_property
    def _key(self) -> bytes:
        fields = (str(SCHEME_VERSION), str(self.seed.value), self.checksum, self.recipe, str(self.block))
        return _shake(64, "setveil randomness", *fields)

    def stream(self, domain: str, size: int) -> bytes:
        """Return `size` bytes for one purpose, independent of the bytes of other domains."""
        return _shake(size, "setveil stream", self._key.hex(), domain)

    def generator(self, domain: str = "method") -> np.random.Generator:
        """Return a new generator for one purpose."""
        return np.random.default_rng(np.random.SeedSequence(int.from_bytes(self.stream(domain, 32), "big")))

    def generator_of_block(self, number: int) -> np.random.Generator:
        """Return a new generator for a block of the data; -1 is for work on all blocks."""
        return replace(self, block=number + 1).generator("method in blocks")

    def pseudonyms(self, records: int) -> Any:
        """Return one pseudonym per original record, in order, or one per row if the method splits records.

        A release in blocks has a stream of pseudonyms per block.
        """
        names = GrowingTexts()
        for block, part in enumerate(pieces(records, self.block_records or max(records, 1)), start=1):
            source = self if self.block_records is None else replace(self, block=block)
            stream = source.stream("pseudonyms", PSEUDONYM_BYTES * (part.stop - part.start))
            for piece in pieces(len(stream), PSEUDONYM_BYTES << 18):
                names.append(_as_names(stream[piece]))
        return names.finish()

    @property
    def run(self) -> str:
        """The id of the run, which the card and the dossier share."""
        return self.stream("run", 16).hex()

    @property
    def salt(self) -> bytes:
        """The salt of the card's checksum of private parameters."""
        return self.stream("private salt", 32)


def canonical_json(value: Any) -> str:
    """Return the unique JSON text of a value: keys sorted, no blanks, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def framed(*fields: str) -> bytes:
    """Return the fields, each after its length, so that different fields never give the same bytes."""
    texts = [field.encode() for field in fields]
    return b"".join(len(text).to_bytes(8, "big") + text for text in texts)


def recipe_of(method: Method, ids: str, block_records: int | None = None) -> str:
    """Return everything besides the data that determines a release, as canonical JSON; the method is as the user declared it.

    `block_records` is the size of blocks, None for data in one block.
    """
    parameters = method.model_dump(mode="json")
    blocks = {} if block_records is None else {"block_records": block_records}
    return canonical_json({"ids": ids, "method": method.name, "parameters": parameters, **blocks})


def pseudonyms_of_scheme_1(seed: Seed, records: int) -> Any:
    """Return the pseudonyms of a release of card version 1."""
    key = b"setveil pseudonyms\0" + seed.value.to_bytes((seed.value.bit_length() + 7) // 8 or 1, "big")
    return _as_names(hashlib.shake_256(key).digest(PSEUDONYM_BYTES * records))


def _shake(size: int, *fields: str) -> bytes:
    """Return SHAKE-256 over the fields."""
    return hashlib.shake_256(framed(*fields)).digest(size)


def _as_names(stream: bytes) -> Any:
    records, width = len(stream) // PSEUDONYM_BYTES, 2 * PSEUDONYM_BYTES
    offsets = np.arange(records + 1, dtype=np.int64) * width
    return pa.LargeStringArray.from_buffers(records, pa.py_buffer(offsets), pa.py_buffer(stream.hex().encode()))
