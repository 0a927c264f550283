"""Mondrian of two providers that minds presence: what the dummy user protocol is compared with.

Paper    takenouchi2012 (references.bib), section V-A: "divides a group of users when satisfying not only k-anonymity but also
         δ-site-presence and outputs the table that contains the record of the common users". The protocol differs from it by the entropy of
         dummies in the choice of a cut, and by new values of dummies at each cut.
Open     where a user goes who does not exist at the owner of a cut: the paper does not say. `absent` = fixed gives each of them one row for
         good, that of a user of the provider; dropped lets them leave the group. With dropped, a part of a cut of A has only users of A:
         all users of B in it are common, and B's users who left are surely not at A. So a cut of A passes only with max_b = 1 and min_b = 0
         (or if nobody of B leaves), and one of B only with max_a = 1 and min_a = 0.
Open     whether a failed check ends a group: `retry` = none, as in the protocol, or attributes, as in Mondrian. A retry tells the owner of
         the cut more about the other provider, one bit for each cut that was tried.
Departs  boxes, cuts and the order of attributes as in `mondrian`. Presence is counted by groups of ids.
Cost     ids times attributes times the depth of the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from setveil.base.declaration import parameter
from setveil.presence.guarantees.k_anonymity import GroupLimit, KAnonymity
from setveil.presence.guarantees.site_presence import PresenceLimit
from setveil.presence.methods._both_tables import (
    cells_with_fixed_rows,
    cells_with_gaps,
    joined,
    site_presence,
    users_of,
)
from setveil.presence.methods._partition import Limits, Search, divide
from setveil.presence.methods.base import JoinedOutcome, JoiningMethod, Keys

if TYPE_CHECKING:
    from setveil.guarantees.base import Guarantee
    from setveil.presence.tables.originals import Originals


class ExtendedMondrian(GroupLimit, PresenceLimit, JoiningMethod):
    """Divide the population at the median of the widest attribute while both parts keep k and the limits of presence."""

    name = "extended-mondrian"
    title = "Extended Mondrian"
    paper = "takenouchi2012"

    absent: Literal["fixed", "dropped"] = parameter(
        "fixed",
        public=True,
        description="Where users go who do not exist at the owner of a cut: with a row drawn once (fixed), or out of the group (dropped).",
    )
    retry: Literal["none", "attributes"] = parameter(
        "none",
        public=True,
        description="What follows a failed check: the group is final (none), or the next widest attribute is tried (attributes).",
    )

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """k-anonymity and δ-site-presence."""
        return KAnonymity(k=self.k, l=self.l), site_presence(self)

    def apply(self, originals: Originals, *, keys: Keys) -> JoinedOutcome:
        """Make the table."""
        fixed = self.absent == "fixed"
        cells = cells_with_fixed_rows(originals, keys) if fixed else cells_with_gaps(originals)
        search = Search("widest" if self.retry == "none" else "all", "median", sees_counts=False)
        users = users_of(originals, cells)
        return joined(originals, divide(users, np.arange(len(cells)), Limits.of(self, self), search, method=self.name))
