"""MPALM on both tables at once: δ-presence by Mondrian that tries every cut. A baseline that no two providers could run apart.

Paper    nergiz2007 (references.bib), the multidimensional algorithm; takenouchi2012, section V-B, which compares with it.
Departs  nergiz2007 could not be had, so this follows what takenouchi2012 says of it: top down, the presence of one side, and a retry after
         each failed check. Order of retries: attributes by width, cuts from the median outwards. k and l are kept too, and the presence of
         B's users where limits of B are given. Users without values at a provider have there a row that is drawn once, unless the true
         cells of everybody are handed over.
Cost     as `mondrian`; all cuts of a group are checked at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.base.declaration import parameter
from setveil.parameters.shares import Share
from setveil.presence.guarantees.k_anonymity import GroupLimit, KAnonymity
from setveil.presence.guarantees.site_presence import PresenceLimit
from setveil.presence.methods._both_tables import cells_with_fixed_rows, complete_cells, joined, site_presence, users_of
from setveil.presence.methods._partition import Limits, Search, divide
from setveil.presence.methods.base import JoinedOutcome, JoiningMethod, Keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.guarantees.base import Guarantee
    from setveil.presence.tables.originals import Originals


class Mpalm(GroupLimit, PresenceLimit, JoiningMethod):
    """Divide the population at the first of all cuts that keeps k and the limits of presence; sees both tables."""

    name = "mpalm"
    title = "MPALM"
    paper = "nergiz2007"

    max_b: Share = parameter(
        Share(1), public=True, description="Of B's users in a group, the largest share that may be at A too."
    )
    min_b: Share = parameter(
        Share(0), public=True, description="Of B's users in a group, the smallest share that may be at A too."
    )

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """k-anonymity and δ-site-presence."""
        return KAnonymity(k=self.k, l=self.l), site_presence(self)

    def apply(
        self,
        originals: Originals,
        *,
        keys: Keys,
        complete: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
    ) -> JoinedOutcome:
        """Make the table; `complete` gives the true cells of all ids at A and at B, also of those who do not exist there."""
        cells = cells_with_fixed_rows(originals, keys) if complete is None else complete_cells(originals, complete)
        search = Search("all", "all", sees_counts=True)
        users = users_of(originals, cells)
        return joined(originals, divide(users, np.arange(len(cells)), Limits.of(self, self), search, method=self.name))
