"""Mondrian on the common users, without any presence limits. A baseline.

Paper    lefevre2006 (references.bib), the greedy algorithm with the cut at the median; takenouchi2012 builds on it.
Departs  Cuts lie between cells of a public grid, in the middle of a range without users. The published boxes are those of the cuts, not the
         ranges of the users. If the median cut of the widest attribute is not allowed, the next widest attribute is tried.
Cost     users times attributes times the depth of the tree, which is about the logarithm of the number of groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.presence.guarantees.k_anonymity import GroupLimit, KAnonymity
from setveil.presence.methods._both_tables import cells_with_gaps, joined, users_of
from setveil.presence.methods._partition import Limits, Search, divide
from setveil.presence.methods.base import JoinedOutcome, JoiningMethod, Keys

if TYPE_CHECKING:
    from setveil.guarantees.base import Guarantee
    from setveil.presence.tables.originals import Originals


class Mondrian(GroupLimit, JoiningMethod):
    """Divide the common users into groups of at least k. It does not hide which provider has which users.

    Users who are not common are in no group.
    """

    name = "mondrian"
    title = "Mondrian"
    paper = "lefevre2006"

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """k-anonymity only."""
        return (KAnonymity(k=self.k, l=self.l),)

    def apply(self, originals: Originals, *, keys: Keys) -> JoinedOutcome:
        """Return the joined table and its groups; the keys are not used."""
        del keys
        users = users_of(originals, cells_with_gaps(originals))
        members = np.flatnonzero(users.common)
        return joined(
            originals,
            divide(users, members, Limits.of(self), Search("all", "median", sees_counts=True), method=self.name),
        )
