"""Disassociate data in blocks: the top of the tree by counts, then each group of its leaves as a whole.

The clusters are those of data in one block. A leaf with fewer than k records joins the cluster before it, so it is in the group of the leaf
before it. Every other leaf begins with a cluster of at least k records.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.forms.disassociated.in_blocks import as_block
from setveil.data.forms.disassociated.splitting import split
from setveil.data.records.in_blocks import ROW, as_records, in_blocks
from setveil.engines.blocks import current_engine
from setveil.methods.disassociation._horizontal import by_frequency_of_parts
from setveil.methods.disassociation._tree import Splits, Tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.engines.blocks import BlockKey, Blocks
    from setveil.methods.disassociation.disassociation import Disassociation


class Leaves(NamedTuple):
    """Where the records of each chain go."""

    splits: Splits
    place: NDArray[np.int64]
    """By chain: its place in the order of leaves."""
    group: NDArray[np.int64]
    """By chain: the number of its group."""

    @classmethod
    def of(cls, tree: Tree, least: int, most: int) -> Leaves:
        """Put neighbouring leaves into groups of about `most` records; a leaf with fewer than `least` begins no group."""
        order = tree.leaves()
        place, group = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        number, held = 0, 0
        for chain in order:
            size = tree.sizes[chain]
            if held and size >= least and held + size > most:
                number, held = number + 1, 0
            group[chain] = number
            held += size
        return cls(tree.splits(), place, group)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.group.max()) + 1


def clusters_in_blocks(method: Disassociation, data: Transactions, rng_of: Callable[[int], Generator]) -> Blocks:
    """Return blocks of clusters; `rng_of` returns the generator of each."""
    least, most = method.least, max(current_engine().block_records, method.delta)
    leaves = Leaves.of(Tree(data, least, most), least, most)
    groups = in_blocks(data, numbered=True).regroup(
        "dividing records by frequent items", partial(_groups, leaves, data.vocabulary), leaves.groups
    )
    return groups.map("splitting records into chunks", partial(_split, method, leaves, data.vocabulary, rng_of))


def _groups(leaves: Leaves, vocabulary: Any, block: Any, key: BlockKey) -> NDArray[np.int64]:
    del key
    return leaves.group[leaves.splits.chains_of(as_records(block, vocabulary))]


def _split(
    method: Disassociation,
    leaves: Leaves,
    vocabulary: Any,
    rng_of: Callable[[int], Generator],
    block: Any,
    key: BlockKey,
) -> Any:
    data = as_records(block, vocabulary)
    place = leaves.place[leaves.splits.chains_of(data)]
    place -= place.min()  # the leaves of a group are next to each other
    clustering = by_frequency_of_parts(data, place, method.k, method.delta, safe=method.safe)
    chunk, account = method.assign(data, clustering, rng_of(key.number))
    arrays, rows = split(data, clustering.numbers(), chunk)
    return as_block(arrays, block.column(ROW).to_numpy()[rows], account)
