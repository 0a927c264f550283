"""The dummy test: what the ids of passed divisions reveal to a provider about the customers of the other provider.

A common user falls into the part of its value at the other provider, and that value correlates with its values here: husbands are men. A
dummy falls into the part of a random user's row, whatever its values here. So for each of its users, at each of the other provider's
divisions on the user's path, a provider asks: do similar users fall into the same part? The answers are added up.

Similar users are counted in coarse cells of each own attribute, among the provider's own users of the group, without the user itself. The
estimate of a cell is pulled towards that of the whole group, and attributes are treated as independent (naive Bayes). The joined table
also reveals something: the share of common users in each cell. The best score of this attack is the sum of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import distinct
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
"""The weight of the whole group in the estimate of a cell, as a number of additional users."""
LEAST_USERS = 10
"""Divisions with fewer own users are ignored."""


@dataclass(frozen=True)
class DummyTest:
    """The result of the dummy test for one provider."""

    attacker: Provider
    splits: int
    """The number of the other provider's divisions that passed."""
    sides: Ranking
    """The ranking by the parts that users fell into."""
    table: Ranking
    """The ranking by the joined table: the share of common users in the group, at provider B among users with the same sensitive value."""
    together: Ranking
    """The ranking by both."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        rankings = {name: getattr(self, name).to_dict() for name in ("sides", "table", "together")}
        return {"attacker": self.attacker, "splits": self.splits, **rankings}


def dummy_test(trial: Trial, originals: Originals, attacker: Provider) -> DummyTest:
    """Guess, as one provider, which of its users are customers of the other provider."""
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
    """Return for each id the sum of log P(side | own attributes) - log P(side); 0 for ids that are not own users."""
    scores = np.zeros(len(own))
    for split in splits:
        mine = own[split.ids]
        ids, lower = split.ids[mine], split.lower[mine].astype(np.float64)
        if len(ids) < LEAST_USERS:
            continue
        # All probabilities are those of the lower part, estimated from all own users except the one in question.
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
    """Return for each own user the log odds of presence according to the joined table."""
    own = originals.existing(attacker)
    cell = divided.groups.group_of.copy()
    if attacker == "b":
        cell = cell * originals.schema.sensitive.cells + originals.sensitive()
    common = own & originals.existing(other_than(attacker))
    cells = int(cell.max()) + 1
    many = np.bincount(cell[own], minlength=cells)
    present = np.bincount(cell[common], minlength=cells)
    scores = np.zeros(len(own))
    # Half a user is added to both counts, so that certainty gives a large but finite number.
    scores[own] = (np.log(present + 0.5) - np.log(many - present + 0.5))[cell[own]]
    return scores


def _coarse(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the cells of values, a few cells with about the same number of users each."""
    ordered = np.sort(values)
    edges = distinct(ordered[np.arange(1, COARSE_CELLS) * len(ordered) // COARSE_CELLS])
    return np.searchsorted(edges, values, side="right")


def _logit(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(chance) - np.log1p(-chance)


def _log_chance(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return -np.logaddexp(0.0, -log_odds)
