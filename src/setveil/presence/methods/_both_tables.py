"""For methods that see both tables: combine the tables into one list of users, and make the joined table from the final groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.errors import BadData
from setveil.presence.dummies import row_choices
from setveil.presence.guarantees.site_presence import PresenceLimit, SitePresence
from setveil.presence.methods._partition import Users
from setveil.presence.methods.base import JoinedOutcome
from setveil.presence.tables.joined_table import JoinedTable
from setveil.presence.tables.originals import BothGroups, SideGroups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.methods._partition import Partition
    from setveil.presence.methods.base import Keys
    from setveil.presence.tables.originals import Originals

_FIXED_ROWS = b"setveil presence: fixed rows of "


def users_of(originals: Originals, cells: NDArray[np.int32]) -> Users:
    """Return the population with the given cells of all attributes (A's attributes first), as limits and cuts need it."""
    schema = originals.schema
    counts = np.array([one.cells for one in schema.attributes], dtype=np.int64)
    return Users(cells, counts, originals.existing("a"), originals.sensitive(), schema.sensitive.cells)


def cells_with_gaps(originals: Originals) -> NDArray[np.int32]:
    """Return the cells of every id at both providers; -1 where the provider does not have the id."""
    return np.hstack([originals.codes(role) for role in ("a", "b")])


def cells_with_fixed_rows(originals: Originals, keys: Keys) -> NDArray[np.int32]:
    """Return cells for every id; an id that a provider does not have gets the row of one of its users, drawn once with its key."""
    blocks = originals.population.blocks
    sides = []
    for role, key in (("a", keys.a), ("b", keys.b)):
        codes = originals.codes(role)
        exists = originals.existing(role)
        own = codes[exists]
        drawn = row_choices(key, _FIXED_ROWS + role.encode(), blocks, len(own))
        sides.append(np.where(exists[:, None], codes, own[drawn]))
    return np.hstack(sides)


def complete_cells(originals: Originals, complete: tuple[NDArray[np.int32], NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the given cells of every id, after a check that they agree with the tables."""
    sides = []
    for role, cells in zip(("a", "b"), complete, strict=True):
        codes, exists = originals.codes(role), originals.existing(role)
        most = np.array([one.cells for one in originals.schema.of(role)])
        if cells.shape != codes.shape:
            raise BadData(
                f"the complete cells of provider {role.upper()} are {cells.shape[0]:,} x {cells.shape[-1]}; "
                f"expected {codes.shape[0]:,} ids x {codes.shape[1]} attributes"
            )
        if np.any(cells < 0) or np.any(cells >= most) or np.any(cells[exists] != codes[exists]):
            raise BadData(
                f"the complete cells of provider {role.upper()} contain a cell that its attribute does not have, or differ from its table; "
                "expected the cells of the table for its users, and existing cells for all other ids"
            )
        sides.append(cells.astype(np.int32))
    return np.hstack(sides)


def site_presence(limits: PresenceLimit) -> SitePresence:
    """Return the guarantee with the limits of a method."""
    return SitePresence(**{name: getattr(limits, name) for name in PresenceLimit.model_fields})


def joined(originals: Originals, partition: Partition) -> JoinedOutcome:
    """Return the joined table of the final groups, with the groups of both providers and the counters of the search."""
    schema = originals.schema
    at_b = len(schema.a)
    table = JoinedTable.arranged(schema, partition.lows, partition.highs, partition.counts)
    sides = [
        SideGroups(partition.group_of, lows, highs)
        for lows, highs in zip(
            np.split(partition.lows, [at_b], axis=1), np.split(partition.highs, [at_b], axis=1), strict=True
        )
    ]
    account = {
        "groups": len(partition.lows),
        "splits": partition.splits,
        "cuts_tried": partition.checks,
        "failed_checks": partition.checks - partition.splits,
        "ids_in_no_group": int((partition.group_of < 0).sum()),
    }
    return JoinedOutcome(table, BothGroups(*sides), account)
