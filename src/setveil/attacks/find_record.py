"""Find a person's record by a few known items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.trials import Trial
from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.generalized import Generalized
from setveil.data.forms.grouped import Grouped
from setveil.data.records.ragged import among, distinct
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from setveil.attacks.target import Target
    from setveil.data.forms.base import Published

AT_ONCE = 1 << 20
"""Number of occurrences in which people are looked for at once; it limits the memory."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class FindRecord(Attack):
    """Find the record of a person by a few known items."""

    name = "find-record"
    title = "Finding a person's record"
    knows = "a few random items of a person who is in the data"
    statistic = (
        "the right record is named, if the attacker picks one of the records that may hold all known items, at random"
    )
    base_rate = "any record is named: 1 / records, or more if a person has several rows"
    success = "known items find the right record"
    criterion = "singling out"
    blind_to = "attackers who weigh the candidates, or who look for rows that hold most of the known items; and people with fewer items"
    variants = ({"known": 1}, {"known": 2}, {"known": 3}, {"known": 4})
    quick_variants = ({"known": 2},)
    takes = (Transactions, Disassociated, Generalized, Grouped)

    known: int = parameter(2, ge=1, le=10, public=True, description="Number of items that the attacker knows.")

    @classmethod
    def success_with(cls, parameters: Mapping[str, Any]) -> str:
        """Return `success` with the number of items."""
        known = parameters["known"]
        return f"{NUMBERS[known]} known {'item finds' if known == 1 else 'items find'} the right record"

    def run(self, target: Target) -> Finding:
        """Look for the records of people drawn at random, in the release and in the original."""
        original, rows = target.original, target.alignment.rows
        able = np.flatnonzero((target.pair.rows_per_record > 0) & (original.lengths >= self.known))
        if not len(able):
            return self.without_result(f"no record has {self.known:,} or more items")
        people = target.drawn(self.name, able)
        rng = target.rng(f"{self.name} {self.known}")
        sought = [
            rng.choice(original.items[original.offsets[one] : original.offsets[one + 1]], self.known, replace=False)
            for one in people
        ]
        own = _rows_of(people, rows, original.records)
        after = _Found.of(target.published, original.vocabulary, sought, own)
        before = _Found.of(original, original.vocabulary, sought, list(people[:, None]))
        details = after.details() | {"in-the-original": {"right": before.chance / len(people), **before.details()}}
        by_chance = sum(map(len, own)) / len(people) / target.published.records
        return self.finding(Trial(after.chance, len(people)), Trial.known(by_chance), details=details)


def _rows_of(people: NDArray[np.int64], rows: NDArray[np.int64], records: int) -> list[NDArray[np.int64]]:
    """Return the released rows of each of some records, whose numbers rise; `rows` has the record of each row."""
    is_one = np.zeros(records, np.bool_)
    is_one[people] = True
    found = np.flatnonzero(is_one[rows])
    order = np.argsort(rows[found], kind="stable")
    return np.split(found[order], np.searchsorted(rows[found[order]], people[1:]))


class _Found(NamedTuple):
    """What the search for some people found."""

    candidates: NDArray[np.int64]
    """For each person the number of records that may hold all known items."""
    right: NDArray[np.int64]
    """And the number of places of the person among these."""

    @classmethod
    def of(cls, data: Published, items: Sequence[str], sought: Sequence[Any], rows: Sequence[Any]) -> _Found:
        """Look for people by known items, given as places in `items`; `rows` are the released rows of each person."""
        found = cls(np.zeros(len(sought), np.int64), np.zeros(len(sought), np.int64))
        asked = distinct(np.concatenate(sought))
        labels = [items[code] for code in asked.tolist()]
        by_place = [np.searchsorted(asked, one) for one in sought]
        for first, piece in data.pieces(AT_ONCE):
            sightings = piece.sightings(labels)
            for number, candidates in sightings.searches(by_place):
                own = rows[number] - first
                own = distinct(sightings.place_of[own[(own >= 0) & (own < len(sightings.place_of))]])
                found.candidates[number] += sightings.sizes[candidates].sum()
                found.right[number] += np.count_nonzero(among(own, candidates))
        return found

    @property
    def chance(self) -> float:
        """The expected number of people whose record is named."""
        return math.fsum((self.right / np.maximum(self.candidates, 1)).tolist())

    def details(self) -> dict[str, float]:
        """Return the shares of people."""
        is_unique, is_right = self.candidates == 1, self.right > 0
        shares = {
            "unique-and-right": is_unique & is_right,
            "unique-and-wrong": is_unique & ~is_right,
            "among-candidates": is_right,
            "no-candidate": self.candidates == 0,
        }
        return {name: int(np.count_nonzero(those)) / len(those) for name, those in shares.items()}
