"""What a provider knows of the population, its ends of the fixed rows, and hidden sums over groups.

A chooses with "exists at A", one row an id. B chooses with "exists at B" and, for every sensitive value but the first, "exists with this
value": as many rows an id as there are values. The number of users with the first value is what the others leave.

The numbers of a group are always in the order a, b[s], c[s]. Where A owns a group it knows a of its lower part and sends, for each row of
B, who is in the lower part and who of its own users is: that gives b[s] and c[s]. Where B owns it, B knows b[s] and sends for each row of
A who is in the lower part and who of its users with each value is: that gives a and c[s].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.errors import BadParameter
from setveil.presence.secure.tallies import group_sums
from setveil.presence.secure.two_party.correlated import ChosenRows, SentRows

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from setveil.presence.secure.base import Provider
    from setveil.presence.secure.rules import Rules
    from setveil.presence.secure.two_party.extension import Chooser, Sender

    Ids = NDArray[np.int64]


class People:
    """Who exists here, and products with who exists there."""

    def __init__(
        self, role: Provider, rules: Rules, existing: NDArray[np.bool_], sensitive: NDArray[np.int64] | None
    ) -> None:
        if existing.shape != (rules.population,):
            raise BadParameter(f"the population has {rules.population} ids, and {len(existing)} bits were given")
        self._role = role
        self._values = rules.values
        self.existing = existing.astype(np.bool_)
        self._own = self.existing[:, None] if role == "a" else self._by_value(sensitive)
        """What this provider counts: its users at A, its users with each sensitive value at B."""

    def _by_value(self, sensitive: NDArray[np.int64] | None) -> NDArray[np.bool_]:
        if sensitive is None or sensitive.shape != self.existing.shape:
            raise BadParameter("provider B begins with the sensitive value of each of its users")
        known = sensitive[self.existing]
        if known.size and not (known.min() >= 0 and known.max() < self._values):
            raise BadParameter(f"sensitive values are numbers from 0 to {self._values - 1}, and others were given")
        return np.asarray((sensitive[:, None] == np.arange(self._values)) & self.existing[:, None])

    def exchange(self, sender: Sender, chooser: Chooser) -> None:
        """Make the fixed rows of both directions."""
        ids = len(self.existing)
        if self._role == "a":
            self._chosen = ChosenRows(chooser, self.existing)
            self._sent = SentRows(sender, ids * self._values)
        else:
            bits = self._own.copy()
            bits[:, 0] = self.existing
            self._chosen = ChosenRows(chooser, bits.reshape(-1))
            self._sent = SentRows(sender, ids)

    def whole(self, ids: Ids, starts: Ids, ring: DTypeLike) -> NDArray[Any]:
        """Return the numbers of whole groups that this provider knows, zeros for the rest."""
        return self._with_own(self._nothing(len(starts) - 1, ring), ids, starts, None)

    def lower_of_mine(self, ids: Ids, starts: Ids, lower: NDArray[np.bool_], ring: DTypeLike) -> NDArray[Any]:
        """Return the own share of the numbers of the lower parts of groups that this provider owns."""
        told = np.empty((len(ids), 1 + self._own.shape[1]), dtype=ring)
        told[:, 0] = lower
        told[:, 1:] = self._own[ids] & lower[:, None]
        if self._role == "a":
            told = np.repeat(told, self._values, axis=0)
        shares = self._sent.share(self._rows(ids, "b" if self._role == "a" else "a"), told)
        return self._with_own(self._numbers_of(shares, starts, self._role), ids, starts, lower)

    def lower_of_theirs(self, ids: Ids, starts: Ids, ring: DTypeLike) -> NDArray[Any]:
        """Return the own share of the numbers of the lower parts of groups that the other owns."""
        owner: Provider = "b" if self._role == "a" else "a"
        width = 2 if owner == "a" else 1 + self._values
        shares = self._chosen.share(self._rows(ids, self._role), width, ring)
        return self._numbers_of(shares, starts, owner)

    def columns_of_mine(self, ids: Ids, starts: Ids, lower: NDArray[np.bool_], ring: DTypeLike) -> NDArray[Any]:
        """Return the own share of how many users of the other each candidate puts into the lower part (groups x candidates)."""
        return group_sums(self._sent.share(self._existing_rows(ids, of_me=False), lower.astype(ring)), starts)

    def columns_of_theirs(self, ids: Ids, starts: Ids, candidates: int, ring: DTypeLike) -> NDArray[Any]:
        """Return the same at groups that the other owns, of own users."""
        return group_sums(self._chosen.share(self._existing_rows(ids, of_me=True), candidates, ring), starts)

    def _nothing(self, groups: int, ring: DTypeLike) -> NDArray[Any]:
        return np.zeros((groups, 1 + 2 * self._values), dtype=ring)

    def _with_own(self, numbers: NDArray[Any], ids: Ids, starts: Ids, lower: NDArray[np.bool_] | None) -> NDArray[Any]:
        own = self._own[ids] if lower is None else self._own[ids] & lower[:, None]
        sums = group_sums(own.astype(numbers.dtype), starts)
        if self._role == "a":
            numbers[:, :1] = sums
        else:
            numbers[:, 1 : 1 + self._values] = sums
        return numbers

    def _rows(self, ids: Ids, of: Provider) -> Ids:
        if of == "a":
            return ids
        return np.asarray(ids[:, None] * self._values + np.arange(self._values)).reshape(-1)

    def _existing_rows(self, ids: Ids, *, of_me: bool) -> Ids:
        return ids if (self._role == "a") == of_me else ids * self._values

    def _numbers_of(self, shares: NDArray[Any], starts: Ids, owner: Provider) -> NDArray[Any]:
        """Return shares of rows summed up to shares of the numbers of groups."""
        groups, values = len(starts) - 1, self._values
        numbers = self._nothing(groups, shares.dtype)
        if owner == "b":
            sums = group_sums(shares, starts)
            numbers[:, 0] = sums[:, 0]
            numbers[:, 1 + values :] = sums[:, 1:]
            return numbers
        sums = group_sums(shares.reshape(-1, 2 * values), starts).reshape(groups, values, 2)
        sums[:, 0] -= sums[:, 1:].sum(axis=1, dtype=sums.dtype)
        numbers[:, 1 : 1 + values] = sums[:, :, 0]
        numbers[:, 1 + values :] = sums[:, :, 1]
        return numbers
