"""The dummy test: what the ids of passed divisions tell a provider about who is at the other.

A user of both goes to the side where its value at the other provider belongs, and that value goes with its values here: husbands are men.
A dummy goes where a random user's row belongs, whatever its values here. So a provider asks of each of its users, at each of the other's
divisions on the user's way: do users like this one go where this one went? The answers are added up.

Users like this one are counted in coarse cells of each own attribute, among the own users of the group and without the user itself. Each
cell is drawn towards the whole group, and attributes count as if independent (naive Bayes). The joined table tells something too, the
share of common users of each cell, and both are added: that is the best that this attack does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.presence.attack.ranking import Ranking, ranking
from setveil.presence.attack.view import Split, other_than, passed_splits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.protocol import Divided
    from setveil.presence.secure.base import Provider
    from setveil.presence.tables.originals import Originals
    from setveil.presence.trial import Trial

COARSE_CELLS = 8
PULL = 10.0
"""A cell counts as if so many more users were in it who go like the whole group."""
LEAST_USERS = 10
"""Divisions of fewer own users are left out."""


@dataclass(frozen=True)
class DummyTest:
    """What one provider learns about its own users."""

    attacker: Provider
    splits: int
    """Divisions of the other provider that passed."""
    sides: Ranking
    """From the sides that users went to, and nothing else."""
    table: Ranking
    """From the joined table and nothing else: the share of common users in the group, at B also of the sensitive value."""
    together: Ranking
    """From both."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        rankings = {name: getattr(self, name).to_dict() for name in ("sides", "table", "together")}
        return {"attacker": self.attacker, "splits": self.splits, **rankings}


def dummy_test(trial: Trial, originals: Originals, attacker: Provider) -> DummyTest:
    """Let one provider guess which of its users are at the other."""
    own = originals.existing(attacker)
    present = originals.existing(other_than(attacker))[own]
    divided = (trial.a if attacker == "a" else trial.b).divided
    splits = passed_splits(divided, other_than(attacker))
    features = originals.codes(attacker)
    if attacker == "b":
        features = np.column_stack((features, originals.sensitive()))
    sides = side_scores(splits, own, features)[own]
    table = table_scores(divided, originals, attacker)[own]
    return DummyTest(
        attacker, len(splits), ranking(sides, present), ranking(table, present), ranking(sides + table, present)
    )


def side_scores(splits: list[Split], own: NDArray[np.bool_], features: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each id the sum of log P(side | own attributes) - log P(side); 0 for ids that are not own."""
    scores = np.zeros(len(own))
    for split in splits:
        mine = own[split.ids]
        ids, lower = split.ids[mine], split.lower[mine].astype(np.float64)
        if len(ids) < LEAST_USERS:
            continue
        # Every chance is of the lower part, from all own users but the one that is asked about.
        whole = (lower.sum() - lower + 0.5) / len(lower)
        base = _logit(whole)
        log_odds = base.copy()
        for column in features[ids].T:
            cell = _coarse(column)
            others = np.bincount(cell)[cell] - 1
            others_lower = np.bincount(cell, lower)[cell] - lower
            log_odds += _logit((others_lower + PULL * whole) / (others + PULL)) - base
        sign = np.where(lower > 0, 1.0, -1.0)
        scores[ids] += _log_chance(sign * log_odds) - _log_chance(sign * base)
    return scores


def table_scores(divided: Divided, originals: Originals, attacker: Provider) -> NDArray[np.float64]:
    """Return for each own user the log odds of presence that the joined table gives."""
    own = originals.existing(attacker)
    cell = divided.groups.group_of.copy()
    if attacker == "b":
        cell = cell * originals.schema.sensitive.cells + originals.sensitive()
    common = own & originals.existing(other_than(attacker))
    cells = int(cell.max()) + 1
    many = np.bincount(cell[own], minlength=cells)
    present = np.bincount(cell[common], minlength=cells)
    scores = np.zeros(len(own))
    # Half a user is added to both counts, so that certainty is a large number and not an infinite one.
    scores[own] = (np.log(present + 0.5) - np.log(many - present + 0.5))[cell[own]]
    return scores


def _coarse(values: NDArray[Any]) -> NDArray[np.int64]:
    """Put values into a few cells of about as many users each."""
    ordered = np.sort(values)
    edges = np.unique(ordered[np.arange(1, COARSE_CELLS) * len(ordered) // COARSE_CELLS])
    return np.searchsorted(edges, values, side="right")


def _logit(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(chance) - np.log1p(-chance)


def _log_chance(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return -np.logaddexp(0.0, -log_odds)
