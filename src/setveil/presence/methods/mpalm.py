"""MPALM on both tables at once: δ-presence by a Mondrian that tries every cut. A baseline that needs both tables in one place.

Paper    nergiz2007 (references.bib), the multidimensional algorithm; takenouchi2012, section V-B, which compares with it.
Departs  nergiz2007 was not available, so this follows its description in takenouchi2012: top down, presence limits for one provider, and a
         retry after each failed check. Order of retries: attributes by width, cuts from the median outwards. k and l apply too, and
         presence limits for B's users if they are given. An id that a provider does not have gets a row of one of its users, drawn once,
         unless the true cells of all ids are given.
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
    """Divide the population at the first of all cuts whose parts satisfy k, l and the presence limits; needs both tables."""

    name = "mpalm"
    title = "MPALM"
    paper = "nergiz2007"

    max_b: Share = parameter(
        Share(1), public=True, description="Of B's users in any group, the largest share that A may also have."
    )
    min_b: Share = parameter(
        Share(0), public=True, description="Of B's users in any group, the smallest share that A may also have."
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
        """Return the joined table and its groups. `complete` holds the true cells of all ids at A and at B, users or not."""
        cells = cells_with_fixed_rows(originals, keys) if complete is None else complete_cells(originals, complete)
        search = Search("all", "all", sees_counts=True)
        users = users_of(originals, cells)
        return joined(originals, divide(users, np.arange(len(cells)), Limits.of(self, self), search, method=self.name))
