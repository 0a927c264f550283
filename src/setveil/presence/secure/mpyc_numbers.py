"""Secret-shared numbers as one of three parties holds them, and the few joint operations on them.

A number is shared by a random line through it (Shamir, threshold 1), and a party's share is the height of the line at the party's own
position. Arrays hold such shares as Python integers: sums, and products with public numbers, are plain arithmetic on them. A product of two
shared numbers is a share of higher degree until `renew` reduces it, so products are added up first and renewed once per sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROVIDERS = (0, 1)


class Numbers:
    """The arithmetic of one party; all three call the same functions in the same order."""

    def __init__(self, runtime: Any, bits: int) -> None:
        self._mpc = runtime
        self._secure = runtime.SecInt(bits)
        self._field = self._secure.field
        # The library's own zero test opens a product of two lines without a random mask (see `_is_zero`); comparisons use it too.
        runtime.np_is_zero_public = self._is_zero

    @property
    def party(self) -> int:
        """0 for A, 1 for B, 2 for the collector."""
        return int(self._mpc.pid)

    async def take(self, party: int, count: int, values: NDArray[Any] | None) -> NDArray[np.object_]:
        """Share numbers that only one party knows; the other parties give None."""
        if count == 0:
            return np.zeros(0, object)
        known = np.zeros(count, object)
        if party == self.party:
            if values is None or values.size != count:
                raise ValueError("the number of values differs from the public one")
            known = values.reshape(-1).astype(object)
        mine = self._mpc.input(self._wrap(known), senders=party)
        return await self._unwrap(mine)

    async def renew(self, products: NDArray[np.object_]) -> NDArray[np.object_]:
        """Reduce products of shares, or sums of such products, to shares."""
        if not products.size:
            return products
        return await self._unwrap(self._mpc._reshare(self._wrap(products)))  # noqa: SLF001 - the public functions renew each single product

    async def negative(self, values: NDArray[np.object_], bits: int) -> NDArray[np.object_]:
        """Return shares of 1 where a signed number with `bits` bits is negative, and of 0 elsewhere."""
        if not values.size:
            return values
        return await self._unwrap(self._mpc.np_sgn(self._wrap(values), l=bits, LT=True))

    async def bits(self, values: NDArray[np.object_], count: int) -> NDArray[np.object_]:
        """Return shares of the bits of non-negative numbers, lowest bit first, along a new last axis."""
        return await self._unwrap(self._mpc.np_to_bits(self._wrap(values), count))

    async def open(self, values: NDArray[np.object_], to: tuple[int, ...]) -> NDArray[np.int64] | None:
        """Open numbers to some of the parties; the others get None."""
        if not values.size:
            return values.astype(np.int64) if self.party in to else None
        opened = await self._mpc.output(self._wrap(values), receivers=list(to))
        return None if opened is None else np.asarray(opened).astype(np.int64)

    async def zero(self, values: NDArray[np.object_], to: tuple[int, ...]) -> NDArray[np.bool_] | None:
        """Open to some of the parties whether numbers are zero, and nothing else; the others get None."""
        if not values.size:
            return values.astype(np.bool_) if self.party in to else None
        found: NDArray[np.bool_] | None = await self._is_zero(self._wrap(values), to)
        return found

    async def _is_zero(self, secret: Any, to: tuple[int, ...] | None = None) -> Any:
        """Open each number times a random one.

        The product of two lines is a parabola with the roots of both: opened unmasked, it would reveal the number itself to each party. A
        random parabola through zero is added, so that only the height at zero, the product, can be read. The random factor is zero, and
        the answer wrong, with a probability of at most 2^-60.
        """
        from mpyc import thresha  # noqa: PLC0415 - the library is optional

        mpc, field = self._mpc, self._field
        count = secret.size
        factor = mpc._np_randoms(field, count)  # noqa: SLF001 - as the library's own test does
        veil = thresha.np_pseudorandom_share_0(
            field,
            len(mpc.parties),
            mpc.pid,
            mpc.prfs(field.order),
            mpc._prss_uci(),  # noqa: SLF001 - the same
            count,
        )
        shares = await mpc.gather(secret)
        shape = shares.value.shape
        product = field.array(shares.value.reshape(-1) * factor.value + veil.value)
        everyone = range(len(mpc.parties))
        opened = await mpc.output(product, receivers=everyone if to is None else list(to), threshold=2 * mpc.threshold)
        return None if opened is None else (opened.value == 0).reshape(shape)

    def _wrap(self, shares: NDArray[np.object_]) -> Any:
        return self._secure.array(self._field.array(shares, copy=True))

    async def _unwrap(self, secret: Any) -> NDArray[np.object_]:
        shares: NDArray[np.object_] = (await self._mpc.gather(secret)).value
        return shares
