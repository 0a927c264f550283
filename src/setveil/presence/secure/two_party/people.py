"""A provider's users, its ends of the fixed rows, and hidden sums over groups.

A chooses with "user of A", one row per id. B chooses with "user of B" and, for every sensitive value except the first, "user with this
value": as many rows per id as there are values. The number of users with the first value is the remainder.

The numbers of a group are always in the order a, b[s], c[s]. If A owns a group, it knows a of the lower part. For each row of B, it sends
whether the id is in the lower part, and whether it is in the lower part and a user of A: this gives b[s] and c[s]. If B owns the group, it
knows b[s]. For each row of A, it sends whether the id is in the lower part, and, for each value, whether it is in the lower part and a user
with this value: this gives a and c[s].
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
    """The users of this provider, and products with the users of the other provider."""

    def __init__(
        self, role: Provider, rules: Rules, existing: NDArray[np.bool_], sensitive: NDArray[np.int64] | None
    ) -> None:
        if existing.shape != (rules.population,):
            raise BadParameter(
                f"the population has {rules.population:,} ids and {len(existing):,} bits were given; give one bit per id"
            )
        self._role = role
        self._values = rules.values
        self.existing = existing.astype(np.bool_)
        self._own = self.existing[:, None] if role == "a" else self._by_value(sensitive)
        """What this provider counts: A its users, B its users with each sensitive value."""

    def _by_value(self, sensitive: NDArray[np.int64] | None) -> NDArray[np.bool_]:
        if sensitive is None or sensitive.shape != self.existing.shape:
            raise BadParameter("the sensitive values are missing; provider B must give one for each of its users")
        known = sensitive[self.existing]
        if known.size and not (known.min() >= 0 and known.max() < self._values):
            raise BadParameter(
                f"a sensitive value is outside its limits; allowed is a whole number from 0 to {self._values - 1:,}"
            )
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
        """Return the numbers of whole groups that this provider knows, and zeros for the rest."""
        return self._with_own(self._nothing(len(starts) - 1, ring), ids, starts, None)

    def lower_of_mine(self, ids: Ids, starts: Ids, lower: NDArray[np.bool_], ring: DTypeLike) -> NDArray[Any]:
        """Return the own share of the numbers of the lower parts of groups that this provider owns."""
        sent = np.empty((len(ids), 1 + self._own.shape[1]), dtype=ring)
        sent[:, 0] = lower
        sent[:, 1:] = self._own[ids] & lower[:, None]
        if self._role == "a":
            sent = np.repeat(sent, self._values, axis=0)
        shares = self._sent.share(self._rows(ids, "b" if self._role == "a" else "a"), sent)
        return self._with_own(self._numbers_of(shares, starts, self._role), ids, starts, lower)

    def lower_of_theirs(self, ids: Ids, starts: Ids, ring: DTypeLike) -> NDArray[Any]:
        """Return the own share of the numbers of the lower parts of groups that the other provider owns."""
        owner: Provider = "b" if self._role == "a" else "a"
        width = 2 if owner == "a" else 1 + self._values
        shares = self._chosen.share(self._rows(ids, self._role), width, ring)
        return self._numbers_of(shares, starts, owner)

    def columns_of_mine(self, ids: Ids, starts: Ids, lower: NDArray[np.bool_], ring: DTypeLike) -> NDArray[Any]:
        """Return the own share of the number of the other provider's users in each candidate's lower part (groups x candidates)."""
        return group_sums(self._sent.share(self._existing_rows(ids, of_me=False), lower.astype(ring)), starts)

    def columns_of_theirs(self, ids: Ids, starts: Ids, candidates: int, ring: DTypeLike) -> NDArray[Any]:
        """Return the same for groups that the other provider owns, about the own users."""
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
        """Return shares of the numbers of groups, summed from shares of rows."""
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
