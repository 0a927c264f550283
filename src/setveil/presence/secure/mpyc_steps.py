"""The steps of a session as three parties compute them with MPyC, one function per step.

For every id of the open groups, each party holds its shares of x (user of A), y[s] (user of B with value s) and z[s] = x * y[s], in the
order of the groups. So sums over known groups are local. A cut that only its owner knows costs one shared bit per id and one renewed sum
per group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import distinct, offsets_of
from setveil.presence.secure.mpyc_numbers import PROVIDERS, Numbers
from setveil.presence.secure.rules import MOST_RING_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.secure.rules import Linear, Rules

    Shares = NDArray[np.object_]

A, B, COLLECTOR = 0, 1, 2


class Steps:
    """One party's part of each step: `mine` holds the values that only this party knows, or None if it has none."""

    def __init__(self, runtime: Any, rules: Rules) -> None:
        if rules.ring_bits > MOST_RING_BITS:
            raise ValueError("numbers of the rules are too wide")
        self._rules = rules
        self._count_bits = 1 + rules.population.bit_length()
        self._ring_bits = max(rules.ring_bits, self._count_bits)
        self._width_bits = 1 + rules.widest.bit_length()
        self._numbers = Numbers(runtime, max(self._ring_bits, self._width_bits, rules.score_bits))
        self._rows: Shares = np.zeros((0, 1 + 2 * rules.values), object)
        self._starts = np.array([0, rules.population])
        self._final: list[Shares] = []

    async def begin(self, mine: NDArray[Any] | None) -> None:
        """Share x and y, and multiply them."""
        size, values = self._rules.population, self._rules.values
        x = await self._numbers.take(A, size, mine)
        y = (await self._numbers.take(B, size * values, mine)).reshape(size, values)
        z = await self._numbers.renew(x[:, None] * y)
        self._rows = np.concatenate([x[:, None], y, z], axis=1)

    async def root(self) -> NDArray[np.bool_] | None:
        """Open whether the whole population satisfies the rules."""
        violated = await self._violated(self._totals(self._rows), self._rules.root)
        return await self._numbers.zero(violated, PROVIDERS)

    async def wider(self, mine: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """Open for each group whether A's number is at least B's."""
        groups = len(self._starts) - 1
        of_a = await self._numbers.take(A, groups, mine)
        of_b = await self._numbers.take(B, groups, mine)
        less = await self._numbers.negative(of_a - of_b, self._width_bits)
        return await self._numbers.open(1 - less, PROVIDERS)

    async def verdicts(self, owned_by_a: NDArray[np.bool_], mine: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        """Open for each group whether both parts satisfy the rules."""
        lower = await self._by_owner(np.repeat(owned_by_a, self._sizes), 1, mine)
        low = await self._numbers.renew(self._totals(lower * self._rows))
        high = self._totals(self._rows) - low
        violated = await self._violated(np.concatenate([low, high]), self._rules.part)
        return await self._numbers.zero(violated[: len(low)] + violated[len(low) :], PROVIDERS)

    async def winners(
        self,
        owned_by_a: NDArray[np.bool_],
        candidates: int,
        lower: NDArray[np.bool_] | None,
        scores: NDArray[np.int64] | None,
    ) -> NDArray[np.int64] | None:
        """Open for each group the first candidate with the highest score."""
        if not 1 <= candidates <= self._rules.candidates:
            raise ValueError("another number of candidates than was agreed")
        x, y = self._rows[:, 0], self._rows[:, 1 : 1 + self._rules.values]
        of_a = np.repeat(owned_by_a, self._sizes)
        dummies = 1 - np.where(of_a, y.sum(axis=1), x)
        cuts = await self._by_owner(of_a, candidates, lower)
        low = await self._numbers.renew(self._totals(cuts * dummies[:, None]))
        high = self._totals(dummies[:, None]) - low
        score = await self._by_owner(owned_by_a, candidates, scores)
        return await self._first_highest(score + await self._entropies(np.stack([low, high], axis=2)))

    def descend(self, passed: NDArray[np.bool_], lower: NDArray[np.bool_]) -> None:
        """Continue with the parts of the groups that passed; `lower` covers their ids only."""
        goes_on = np.repeat(passed, self._sizes)
        if len(passed) != len(self._sizes) or len(lower) != goes_on.sum():
            raise ValueError("the number of groups or of ids differs from what was agreed")
        values = self._rules.values
        self._final.extend(self._totals(self._rows)[~passed, 1 + values :])
        part = 2 * np.repeat(np.arange(passed.sum()), self._sizes[passed]) + ~lower
        self._rows = self._rows[goes_on][np.argsort(part, kind="stable")]
        sizes = np.bincount(part, minlength=2 * int(passed.sum()))
        self._starts = offsets_of(sizes)

    async def counts(self, order: NDArray[np.int64], to: int) -> NDArray[np.int64] | None:
        """Open the numbers of common users of the final groups to one party."""
        values = self._rules.values
        if to not in {B, COLLECTOR} or sorted(order.tolist()) != list(range(len(self._final))):
            raise ValueError("not an order of the final groups, or not for B or the collector")
        sums = np.array(self._final, object).reshape(-1, values)[order]
        opened = await self._numbers.open(sums.reshape(-1), (to,))
        return None if opened is None else opened.reshape(-1, values)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return np.diff(self._starts)

    def _totals(self, rows: Shares) -> Shares:
        """Add up the rows of each group; groups may be empty."""
        running = np.concatenate([np.zeros((1, rows.shape[1]), object), np.cumsum(rows, axis=0)])
        totals: Shares = running[self._starts[1:]] - running[self._starts[:-1]]
        return totals

    async def _by_owner(self, of_a: NDArray[np.bool_], columns: int, mine: NDArray[Any] | None) -> Shares:
        """Share rows, each of which is known only to the provider that owns it."""
        party = self._numbers.party
        if mine is not None:
            mine = mine.reshape(len(of_a), columns)
        rows = np.zeros((len(of_a), columns), object)
        for owner, owned in ((A, of_a), (B, ~of_a)):
            given = mine[owned] if mine is not None and party == owner else None
            shares = await self._numbers.take(owner, int(owned.sum()) * columns, given)
            rows[owned] = shares.reshape(-1, columns)
        return rows

    async def _violated(self, numbers: Shares, linear: Linear) -> Shares:
        """Return the number of rules that each group violates; `numbers` are rows of a, b and c."""
        rules = self._rules
        values = numbers @ linear.weights.T.astype(object) + linear.constants.astype(object)
        several = rules.least_values > 1
        if several:  # a value that does not occur has a count of zero, which is below one
            values = np.concatenate([values, numbers[:, 1 + rules.values :] - 1], axis=1)
        negative = await self._numbers.negative(values, self._ring_bits)
        violated: Shares = negative[:, : len(linear.constants)].sum(axis=1)
        if several:
            occur = rules.values - negative[:, len(linear.constants) :].sum(axis=1)
            bits = 1 + max(rules.values, rules.least_values).bit_length()
            violated = violated + await self._numbers.negative(occur - rules.least_values, bits)
        return violated

    async def _entropies(self, dummies: Shares) -> Shares:
        """Look up the score contributions of numbers of dummies (groups x candidates x parts) in the tables of the group sizes."""
        found = np.zeros(dummies.shape[:2], object)
        lengths = np.array([int(size).bit_length() for size in self._sizes])
        for bits in distinct(lengths):
            groups = np.flatnonzero(lengths == bits)
            some = dummies[groups].reshape(len(groups), -1)
            tables = np.zeros((len(groups), 1 << bits), object)
            for table, size in zip(tables, self._sizes[groups], strict=True):
                table[: size + 1] = self._rules.entropy(int(size)).astype(object)
            found[groups] = (await self._look_up(some, tables, int(bits))).reshape(*dummies[groups].shape).sum(axis=2)
        return found

    async def _look_up(self, places: Shares, tables: Shares, bits: int) -> Shares:
        """Return entries of public tables of length 2^bits (one row each) at secret positions.

        A table is read as a matrix: its product with the unit vector of the upper half of the bits is local, and the inner product with
        the unit vector of the lower half is renewed once. So about 2 * 2^(bits / 2) products are needed instead of 2^bits.
        """
        if bits == 0:
            return np.repeat(tables[:, :1], places.shape[1], axis=1)
        digits = await self._numbers.bits(places, bits)
        low_bits = (bits + 1) // 2
        low = await self._unit_vectors(digits[..., :low_bits])
        high = await self._unit_vectors(digits[..., low_bits:])
        matrices = tables.reshape(len(tables), 1 << (bits - low_bits), 1 << low_bits)
        return await self._numbers.renew(((high @ matrices) * low).sum(axis=2))

    async def _unit_vectors(self, digits: Shares) -> Shares:
        """Return vectors that are 1 at the position given by the bits (last axis, lowest first) and 0 elsewhere."""
        vectors = np.ones((*digits.shape[:-1], 1), object)
        for place in range(digits.shape[-1]):
            bit = digits[..., place, None]
            upper = bit if place == 0 else await self._numbers.renew(bit * vectors)
            vectors = np.concatenate([vectors - upper, upper], axis=-1)
        return vectors

    async def _first_highest(self, scores: Shares) -> NDArray[np.int64] | None:
        """Open for each row the position of its highest score, the first of equal ones, by a tournament."""
        # The scores are stacked with their positions, because each round keeps the better of two adjacent entries.
        rows = np.stack([scores, np.broadcast_to(np.arange(scores.shape[1]).astype(object), scores.shape)])
        while (entrants := rows.shape[2]) > 1:
            paired = entrants // 2 * 2
            first, second = rows[:, :, 0:paired:2], rows[:, :, 1:paired:2]
            second_wins = await self._numbers.negative(first[0] - second[0], self._rules.score_bits)
            better = first + await self._numbers.renew(second_wins * (second - first))
            rows = np.concatenate([better, rows[:, :, paired:]], axis=2)
        return await self._numbers.open(rows[1, :, 0], PROVIDERS)
