"""Extended Mondrian: Mondrian on the population of two providers, with presence limits. A comparison for the dummy user protocol.

Paper    takenouchi2012 (references.bib), section V-A: "divides a group of users when satisfying not only k-anonymity but also
         δ-site-presence and outputs the table that contains the record of the common users". Unlike this method, the protocol uses the
         entropy of dummies to choose a cut, and draws new values for dummies at each cut.
Open     The paper does not define what happens to ids that the owner of a cut does not have. With `absent` = fixed, each of them gets the
         row of one user of the provider, drawn once. With dropped, they leave the group. Then a part of A's cut contains only users of A:
         all of B's users in it are common, and B's users who left are certainly not at A. So a cut of A passes only with max_b = 1 and
         min_b = 0 (or if no user of B leaves), and a cut of B only with max_a = 1 and min_a = 0.
Open     The paper does not define whether a failed check ends a group. With `retry` = none it does, as in the protocol; with attributes,
         the next attribute is tried, as in Mondrian. A retry reveals more about the other provider to the owner of the cut: one bit per
         cut tried.
Departs  Boxes, cuts and the order of attributes are those of `mondrian`. Presence is counted per group of ids.
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
    """Divide the population at the median of the widest attribute while both parts satisfy k, l and the presence limits."""

    name = "extended-mondrian"
    title = "Extended Mondrian"
    paper = "takenouchi2012"

    absent: Literal["fixed", "dropped"] = parameter(
        "fixed",
        public=True,
        description="Ids that the owner of a cut does not have get a row that is drawn once (fixed), or leave the group (dropped).",
    )
    retry: Literal["none", "attributes"] = parameter(
        "none",
        public=True,
        description="After a failed check, the group is final (none), or the next widest attribute is tried (attributes).",
    )

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """k-anonymity and δ-site-presence."""
        return KAnonymity(k=self.k, l=self.l), site_presence(self)

    def apply(self, originals: Originals, *, keys: Keys) -> JoinedOutcome:
        """Return the joined table and its groups."""
        fixed = self.absent == "fixed"
        cells = cells_with_fixed_rows(originals, keys) if fixed else cells_with_gaps(originals)
        search = Search("widest" if self.retry == "none" else "all", "median", sees_counts=False)
        users = users_of(originals, cells)
        return joined(originals, divide(users, np.arange(len(cells)), Limits.of(self, self), search, method=self.name))
