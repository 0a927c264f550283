"""Split records by their most frequent items, as HORPART does, as far down as parts have more records than a block.

Idea     the tree of HORPART depends on counts alone, so it grows without the records at hand. An item splits a part into the records that
         hold it, which begin a new *chain*, and the others, which remain in the chain until an item splits them again. A reading of the
         blocks counts every item at the end of each open chain, and the patterns of the most frequent items. The patterns decide all splits
         by these items, until another item may be more frequent.
Cost     a reading decides about as many splits of a chain as a pattern has items.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.records.in_blocks import as_records, in_blocks
from setveil.data.records.ragged import read_only
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.engines.blocks import BlockKey, Blocks

MOST_BITS = 16
"""Maximum number of items in a pattern."""
MOST_PATTERNS = 1 << 20
"""About the maximum number of patterns that are counted at once."""
NO_CHAIN = 2147483647
"""The chain that an item begins if it splits nothing."""

Bounds = dict[int, Any]
"""By open chain, an array by item: at least as many records as hold it at the end of the chain, or 0 if it cannot split them."""


class Tree:
    """The top of a tree: chains in the order in which they begin. Chain 0 begins with all records.

    The *end* of a chain is what remains in it after all its splits. The leaves of the tree are the ends of the chains.
    """

    def __init__(self, data: Transactions, least: int, most: int) -> None:
        """Split parts of more than `most` records by an item that `least` of them hold but not all, as long as there is one."""
        self._width, self._least, self._most = len(data.vocabulary), least, most
        self._splits: list[list[tuple[int, int]]] = [[]]
        """The items that split each chain, with the chain that each of them begins."""
        self.sizes = [data.records]
        """The number of records at the end of each chain."""
        blocks: Blocks = in_blocks(data)
        open_chains: Bounds = {0: data.supports}
        while open_chains:
            open_chains = self._grow(blocks, data.vocabulary, open_chains)

    def leaves(self) -> list[int]:
        """Return the chains in the order of their ends: at each split, the records with the item come first."""
        found, waiting = [], [(0, 0)]
        while waiting:
            chain, at = waiting.pop()
            if at < len(self._splits[chain]):
                waiting += [(chain, at + 1), (self._splits[chain][at][1], 0)]
            else:
                found.append(chain)
        return found

    def splits(self) -> Splits:
        """Return what finds the chain of a record."""
        split = [chain for chain, items in enumerate(self._splits) if items]
        row, begun = np.full(len(self._splits), -1, np.int32), np.full((len(split), self._width), NO_CHAIN, np.int32)
        row[split] = np.arange(len(split))
        for place, chain in enumerate(split):
            items, chains = zip(*self._splits[chain], strict=True)
            begun[place, items] = chains
        return Splits(read_only(row), read_only(begun))

    # -- growing ------------------------------------------------------------------------------------------------------------------

    def _grow(self, blocks: Blocks, vocabulary: Any, bounds: Bounds) -> Bounds:
        """Split the ends of open chains as far as one reading of the blocks can decide; return those that remain open."""
        bits = max(min((MOST_PATTERNS // len(bounds)).bit_length() - 1, MOST_BITS), 1)
        tops = [_largest(bound, bits) for bound in bounds.values()]
        number = np.full(len(self.sizes), -1, np.int32)
        number[[*bounds]] = np.arange(len(bounds))
        bit = np.full((len(bounds), self._width), -1, np.int8)
        for place, top in enumerate(tops):
            bit[place, top] = np.arange(len(top))
        counting = partial(_count, vocabulary, self.splits(), read_only(number), read_only(bit), 1 << bits)
        items, patterns = np.split(blocks.fold("counting items", counting), [bit.size])
        left: Bounds = {}
        for chain, top, counts, weights in zip(
            bounds, tops, items.reshape(bit.shape), patterns.reshape(len(bit), -1), strict=True
        ):
            counts[(counts < self._least) | (counts >= self.sizes[chain])] = 0
            held = np.flatnonzero(weights)
            self._split(_Part(chain, held, weights[held], counts), top, left)
        return left

    def _split(self, whole: _Part, top: NDArray[np.int64], left: Bounds) -> None:
        """Split a part whose bounds are exact by the items `top` of its patterns; note in `left` the parts that need further counts."""
        waiting = [whole]
        while waiting:
            part = waiting.pop()
            chain, bounds = part.chain, part.bounds
            size = self.sizes[chain] = int(part.weights.sum())
            if size <= self._most:
                continue
            held = part.patterns[:, None] >> np.arange(len(top)) & 1
            if part is not whole:
                counts = held.T @ part.weights
                bounds[top] = np.where((counts >= self._least) & (counts < size), counts, 0)
            item = int(bounds.argmax())  # the first one of several
            count, bits = int(bounds[item]), np.flatnonzero(top == item)
            if not count:
                continue
            if part is not whole and not len(bits):
                left[chain] = bounds
                continue
            begun = len(self.sizes)
            self._splits[chain].append((item, begun))
            self._splits.append([])
            self.sizes.append(count)
            bounds[item] = 0
            if len(bits):
                holds = held[:, bits[0]] == 1
                waiting += [part.those(~holds, chain), part.those(holds, begun)]
                continue
            self.sizes[chain] = size - count
            left |= {one: bounds.copy() for one in (chain, begun) if self.sizes[one] > self._most}


class _Part(NamedTuple):
    """Records at the end of a chain: their patterns of items, how many have each, and the bounds of items, as in `Bounds`."""

    chain: int
    patterns: NDArray[np.int64]
    weights: NDArray[np.int64]
    bounds: NDArray[np.int64]

    def those(self, chosen: NDArray[np.bool_], chain: int) -> _Part:
        """Return the records with the chosen patterns, at the end of a chain."""
        return _Part(chain, self.patterns[chosen], self.weights[chosen], self.bounds.copy())


def _largest(bounds: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Return the items with the largest bounds, without those that cannot split."""
    order = np.argsort(-bounds, kind="stable")[:number]
    return order[bounds[order] > 0]


# -- on blocks ----------------------------------------------------------------------------------------------------------------------


class Splits(NamedTuple):
    """Which items split which chains. Later splits of a chain begin chains of higher numbers."""

    row: NDArray[np.int32]
    """By chain: its row of `begun`, -1 if nothing splits it."""
    begun: NDArray[np.int32]
    """By row and item: the chain of the records that the item removes from the chain."""

    def chains_of(self, data: Transactions) -> NDArray[np.int32]:
        """Return the chain at whose end each record is."""
        from setveil.methods.disassociation import _tree_kernels as kernels  # noqa: PLC0415 - imports Numba

        found = np.empty(data.records, np.int32)
        records, splits = kernels.Records(data.offsets, data.items), kernels.Splits(*map(read_only, self))
        run("finding parts", partial(kernels.find_chains, records, splits, found))
        return found


def _count(
    vocabulary: Any,
    splits: Splits,
    number: NDArray[np.int32],
    bit: NDArray[np.int8],
    patterns: int,
    block: Any,
    key: BlockKey,
) -> NDArray[np.int64]:
    """Count the items at the ends of open chains, and then the patterns of items."""
    from setveil.methods.disassociation import _tree_kernels as kernels  # noqa: PLC0415 - imports Numba

    del key
    data = as_records(block, vocabulary)
    records, found = kernels.Records(data.offsets, data.items), kernels.Splits(*map(read_only, splits))
    counted = kernels.Counted(np.zeros(bit.shape, np.int64), np.zeros((len(bit), patterns), np.int64))
    open_chains = kernels.Open(*map(read_only, (number, bit)))
    run("counting items", partial(kernels.count, records, found, open_chains, counted))
    return np.concatenate([part.ravel() for part in counted])
