"""The release under attack, with the truth that guesses are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import numpy as np

from setveil.data.records.ragged import owner_of, picked, records_of
from setveil.metrics.pair import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.forms.sightings import Sightings
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Target:
    """A release, the records that it was made from, and people who are not in it."""

    original: Transactions
    published: Published
    alignment: Alignment
    known: dict[str, Any] = field(default_factory=dict)
    """The parameters of the method and of the guarantee, by name."""
    control: Transactions | None = None
    """People who are not in the release."""
    targets: int = 2000
    """Maximum number of people, or of other things, that are attacked."""
    seed: int = 0
    shadow: bool = False
    """Whether this is a shadow release."""
    measured: Pair | None = None
    """The release and its original as metrics measured them, with the results that an attack can use."""
    again: Callable[[Transactions], tuple[Published, Alignment]] | None = None
    """Runs the method of the release on other records; None if the recipe is not known."""
    _made: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def pair(self) -> Pair:
        """The release and its original, as metrics measure them."""
        return self.measured or Pair(self.original, self.published, self.alignment)

    def rng(self, name: str) -> np.random.Generator:
        """Return the generator of an attack; its draws do not depend on which other attacks are run."""
        return np.random.default_rng([self.seed, crc32(name.encode())])

    @cached_property
    def sightings(self) -> Sightings:
        """Where the release may hold each item of the original."""
        return self.published.sightings(self.original.vocabulary)

    @cached_property
    def control_codes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The control records as offsets and codes of the original's items; items that the original lacks do not count."""
        assert self.control is not None
        code_of = self.original.code_of
        code = np.array([code_of.get(label, -1) for label in self.control.vocabulary] or [-1], np.int64)
        codes = code[self.control.items]
        kept = np.concatenate(([0], np.cumsum(codes >= 0)))
        return kept[self.control.offsets], codes[codes >= 0]

    def true_pairs(self, records: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each pair of an original record and an item whether the record holds the item."""
        starts, places = picked(self.original.offsets, records)
        is_there = self.original.items[places] == codes[owner_of(starts)]
        found: NDArray[np.bool_] = np.zeros(len(records), np.bool_)
        found[records_of(np.flatnonzero(is_there), starts)] = True
        return found

    def once(self, work: Callable[[Target], Result]) -> Result:
        """Return `work(self)`, computed at the first call."""
        if work not in self._made:
            self._made[work] = work(self)
        result: Result = self._made[work]
        return result

    def drawn(self, name: str, among: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return at most `targets` of some rising numbers, drawn at random, in increasing order."""
        return among[self.drawn_of(name, len(among))]

    def drawn_of(self, name: str, number: int) -> NDArray[np.int64]:
        """Return at most `targets` of the places from 0 to `number` - 1, drawn at random, in increasing order."""
        if number <= self.targets:
            return np.arange(number)
        return np.sort(self.rng(name).choice(number, self.targets, replace=False))
