"""Find a person's record by a few known items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.trials import Trial
from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.generalized import Generalized
from setveil.data.forms.grouped import Grouped
from setveil.data.records.ragged import among, distinct, starts_of
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setveil.attacks.target import Target
    from setveil.data.forms.sightings import Sightings

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
        order = np.argsort(rows, kind="stable")
        starts = starts_of(rows[order], original.records)
        able = np.flatnonzero((np.diff(starts) > 0) & (original.lengths >= self.known))
        if not len(able):
            return self.without_result(f"no record has {self.known:,} or more items")
        people = target.drawn(self.name, able)
        rng = target.rng(f"{self.name} {self.known}")
        sought = [
            rng.choice(original.items[original.offsets[one] : original.offsets[one + 1]], self.known, replace=False)
            for one in people
        ]
        own = [order[starts[one] : starts[one + 1]] for one in people]
        places = [distinct(target.sightings.place_of[of_person]) for of_person in own]
        after = _Found.of(target.sightings, sought, places)
        before = _Found.of(target.sightings_before, sought, list(people[:, None]))
        details = after.details() | {"in-the-original": {"right": before.chance / len(people), **before.details()}}
        by_chance = sum(map(len, own)) / len(people) / target.published.records
        return self.finding(Trial(after.chance, len(people)), Trial.known(by_chance), details=details)


class _Found:
    """What the search for some people found."""

    def __init__(self) -> None:
        self.chance = 0.0
        self.people = self.in_candidates = self.unique_right = self.unique_wrong = self.none = 0

    @classmethod
    def of(cls, sightings: Sightings, sought: Sequence[Any], places: Sequence[Any]) -> _Found:
        """Look for people by their items; `places` are those of each person's rows, in increasing order."""
        found = cls()
        for number, candidates in sightings.searches(sought):
            size = int(sightings.sizes[candidates].sum())
            right = int(np.count_nonzero(among(places[number], candidates)))
            found.people += 1
            found.none += not size
            found.in_candidates += right > 0
            found.chance += right / size if size else 0
            found.unique_right += right > 0 and size == 1
            found.unique_wrong += not right and size == 1
        return found

    def details(self) -> dict[str, float]:
        """Return the shares of people."""
        counts = {
            "unique-and-right": self.unique_right,
            "unique-and-wrong": self.unique_wrong,
            "among-candidates": self.in_candidates,
            "no-candidate": self.none,
        }
        return {name: count / self.people for name, count in counts.items()}
