"""Shares of the scores of candidate cuts, which include the other provider's dummies.

The owner of a group sends its candidates over the peer's fixed rows: both then hold shares, modulo a power of two M above the size of the
group, of the number of the peer's users in each lower part. From its share and the size of the lower part the owner computes a number v;
the number of dummies in the lower part is v minus the peer's share. The peer makes a table of the score contribution of each v, minus a
fresh random number, and the owner gets entry v by 1-of-M oblivious transfer. The random number is the peer's share of the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import distinct
from setveil.presence.secure.tallies import group_sums
from setveil.presence.secure.two_party import tables
from setveil.presence.secure.two_party.blocks import random_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.secure.rules import Rules
    from setveil.presence.secure.two_party.extension import Chooser, Sender
    from setveil.presence.secure.two_party.people import People


@dataclass(frozen=True, repr=False)
class Some:
    """Some of the groups of a level."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of ids in each group."""
        return np.diff(self.starts)

    @property
    def moduli(self) -> NDArray[np.int64]:
        """The power of two above the size of each group, at least 2."""
        _, exponents = np.frexp(np.maximum(self.sizes, 1).astype(np.float64))
        return np.int64(1) << exponents.astype(np.int64)

    @property
    def ring(self) -> type[np.uint16 | np.uint32]:
        """The type of the shares in messages."""
        return np.uint16 if self.moduli.max(initial=2) <= 1 << 16 else np.uint32


class OwnScores:
    """The owner's end: sends its request at once, and receives the answer later."""

    def __init__(self, people: People, chooser: Chooser, groups: Some, lower: NDArray[np.bool_]) -> None:
        shares = people.columns_of_mine(groups.ids, groups.starts, lower, groups.ring)
        below = group_sums(lower.astype(groups.ring), groups.starts)
        numbers = (below - shares).astype(np.int64) & (groups.moduli - 1)[:, None]
        self._shape = numbers.shape
        self._choice = tables.Choice(chooser, np.repeat(groups.moduli, numbers.shape[1]), numbers.reshape(-1))

    def receive(self) -> NDArray[np.uint32]:
        """Return the own shares of the score contributions of the peer's dummies (groups x candidates)."""
        return self._choice.receive().reshape(self._shape)


def answer(people: People, sender: Sender, rules: Rules, groups: Some) -> NDArray[np.uint32]:
    """Do this provider's part for groups that the peer owns, and return its shares (groups x candidates)."""
    shares = people.columns_of_theirs(groups.ids, groups.starts, rules.candidates, groups.ring).astype(np.int64)
    dummies = group_sums((~people.existing[groups.ids]).astype(np.int64), groups.starts)
    masks = random_numbers(shares.shape, np.uint32)
    made = []
    for modulus in distinct(groups.moduli):
        at = np.flatnonzero(groups.moduli == modulus)
        made.append(_tables(rules, int(modulus), groups.sizes[at], dummies[at], shares[at], masks[at]))
    tables.send(sender, np.repeat(groups.moduli, rules.candidates), made)
    return masks


def _tables(
    rules: Rules,
    modulus: int,
    sizes: NDArray[np.int64],
    dummies: NDArray[np.int64],
    shares: NDArray[np.int64],
    masks: NDArray[Any],
) -> NDArray[np.uint32]:
    """Return the tables of groups with the same modulus (groups * candidates x entries)."""
    count = np.arange(modulus)
    below = np.minimum(count, dummies[:, None])
    # Entries beyond the number of dummies are never requested.
    added = rules.entropies(below, sizes[:, None]) + rules.entropies(dummies[:, None] - below, sizes[:, None])
    # Two copies in a row, so that each table is one contiguous window, which starts at the position given by the share.
    twice = np.concatenate([added, added], axis=1).astype(np.uint32)
    begins = -shares & (modulus - 1)
    windows = np.lib.stride_tricks.sliding_window_view(twice, modulus, axis=1)
    found = windows[np.arange(len(sizes))[:, None], begins] - masks[:, :, None]
    return np.asarray(found).reshape(-1, modulus)
