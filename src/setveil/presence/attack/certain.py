"""Users whose presence or absence is certain from the joined table, for a provider that knows its own users in each group."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.presence.attack.view import other_than

if TYPE_CHECKING:
    from setveil.presence.protocol import Divided
    from setveil.presence.secure.base import Provider
    from setveil.presence.tables.originals import Originals


@dataclass(frozen=True)
class Certain:
    """The number of users whose presence or absence is certain to a provider."""

    party: Provider
    present: int
    """Users in cells all of whose users are common."""
    absent: int
    """Users in cells none of whose users is common."""
    users: int

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        return asdict(self)


def certain(divided: Divided, originals: Originals, party: Provider) -> Certain:
    """Count the users in certain cells; a cell is a group, at provider B the users of a group with one sensitive value."""
    own = originals.existing(party)
    common = own & originals.existing(other_than(party))
    cell = divided.groups.group_of.copy()
    if party == "b":
        cell = cell * originals.schema.sensitive.cells + originals.sensitive()
    users = np.bincount(cell[own])
    both = np.bincount(cell[common], minlength=len(users))
    return Certain(party, int(users[both == users].sum()), int(users[both == 0].sum()), int(own.sum()))
