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
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.attacks.target import Target
    from setveil.data.forms.sightings import Sightings


class FindRecord(Attack):
    """Find the record of a person by a few known items."""

    name = "find-record"
    title = "Finding a person's record"
    knows = "a few random items of a person who is in the data"
    statistic = (
        "the right record is named, if the attacker picks one of the records that may hold all known items, at random"
    )
    base_rate = "any record is named: 1 / records"
    blind_to = "attackers who weigh the candidates, or who look for rows that hold most of the known items; and people with fewer items"
    variants = ({"known": 1}, {"known": 2}, {"known": 3}, {"known": 4})
    takes = (Transactions, Disassociated, Generalized, Grouped)

    known: int = parameter(2, ge=1, le=10, public=True, description="Number of items that the attacker knows.")

    def run(self, target: Target) -> Finding:
        """Look for the records of people drawn at random, in the release and in the original."""
        original, rows = target.original, target.alignment.rows
        able = np.flatnonzero(original.lengths[rows] >= self.known)
        if not len(able):
            return self.without_result(f"no record has {self.known:,} or more items")
        chosen = target.drawn(self.name, able)
        rng = target.rng(f"{self.name} {self.known}")
        sought = []
        for record in rows[chosen]:
            items = original.items[original.offsets[record] : original.offsets[record + 1]]
            sought.append(rng.choice(items, self.known, replace=False).tolist())
        after = _Found.of(target.sightings, sought, target.sightings.place_of[chosen])
        before = _Found.of(target.sightings_before, sought, rows[chosen])
        details = after.details() | {"in-the-original": {"right": before.chance / len(chosen), **before.details()}}
        return self.finding(
            Trial(after.chance, len(chosen)), Trial.known(1 / max(target.published.records, 1)), details=details
        )


class _Found:
    """What the search for some people found."""

    def __init__(self) -> None:
        self.chance = 0.0
        self.people = self.in_candidates = self.unique_right = self.unique_wrong = self.none = 0

    @classmethod
    def of(cls, sightings: Sightings, sought: Iterable[list[int]], places: Any) -> _Found:
        found = cls()
        for items, place in zip(sought, places, strict=True):
            candidates = sightings.common(items)
            size = int(sightings.sizes[candidates].sum())
            at = int(np.searchsorted(candidates, place))
            right = at < len(candidates) and candidates[at] == place
            found.people += 1
            found.none += not size
            found.in_candidates += bool(right)
            found.chance += 1 / size if right else 0
            found.unique_right += bool(right) and size == 1
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
