"""Two runs on the same people: whoever moves between them is a dummy.

A real user goes to the same side of a cut in every run, and a dummy goes where its row of the day belongs. So a provider asks of each id,
at each of the other's divisions of the second run: do ids that went along with this one in the first run go where this one went? The
farther two ids went along in the first run, the more they count: chances are drawn towards those of the shorter common way.

Dummies come from a keyed stream, so that two runs of one policy are the same run and tell nothing more. With fresh keys, with another
policy, or where the population gained a single person, they are drawn anew. That is why the ledger of runs refuses a second run unless it
is told `--again`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.joined.originals import Originals
from setveil.data.joined.population import Population
from setveil.errors import BadParameter, GuaranteeViolated
from setveil.presence.attack.ranking import Ranking, ranking
from setveil.presence.attack.view import Split, other_than, passed_splits
from setveil.presence.methods.base import Keys
from setveil.presence.policy import Policy
from setveil.presence.trial import policy_of, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.protocol import Divided
    from setveil.presence.secure.base import Provider
    from setveil.presence.trial import Trial

PULL = 2.0
"""Ids of a way count together with so many that go like those of the shorter way."""
_LEAST_CHANCE = 1e-12

CASES = {
    "fresh": "fresh keys, the same policy",
    "again": "the same keys, another policy (k + 1)",
    "refreshed": "the same keys, one person more in the population",
    "same": "the same keys, the same policy",
}


@dataclass(frozen=True)
class TwoRuns:
    """What two runs tell one provider about who exists at the other."""

    case: str
    attacker: Provider
    splits: int
    """Divisions of the other provider in the second run."""
    alike: int
    """How many of these the first run has, with the same ids in the same parts."""
    everybody: Ranking
    """Of all ids of the population: who exists at the other provider."""
    own: Ranking
    """Of the attacker's own users: who is common."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        plain = {name: getattr(self, name) for name in ("case", "attacker", "splits", "alike")}
        return plain | {"everybody": self.everybody.to_dict(), "own": self.own.to_dict()}


def two_runs(policy: Policy, originals: Originals, keys: Keys, fresh: Keys, first: Trial) -> tuple[TwoRuns, ...]:
    """Run again in several ways, and compare with the first run as either provider can; a way that gives no table is left out."""
    larger = _with_one_more(originals)
    seconds = {"fresh": simulate(policy, originals, fresh)}
    with suppress(BadParameter, GuaranteeViolated):  # where there are just k common users
        seconds["again"] = simulate(policy.changed(k=policy.method.k + 1), originals, keys)
    seconds["refreshed"] = simulate(policy_of(policy.method, larger), larger, keys)
    seconds["same"] = simulate(policy, originals, keys)
    return tuple(
        compared(case, attacker, first, second, originals)
        for case, second in seconds.items()
        for attacker in ("b", "a")
    )


def _with_one_more(originals: Originals) -> Originals:
    """Return the same tables over a population that ends with one person more, who is at neither provider."""
    ids = originals.population.ids.to_pylist()
    taken = set(ids)
    newcomer = next(name for name in map(str, range(len(ids) + 1)) if name not in taken)
    return Originals(originals.schema, Population.of([*ids, newcomer]), originals.a, originals.b)


def compared(case: str, attacker: Provider, first: Trial, second: Trial, originals: Originals) -> TwoRuns:
    """Compare two runs as one provider sees them."""
    other = other_than(attacker)
    one, two = ((trial.a if attacker == "a" else trial.b).divided for trial in (first, second))
    scores, splits, alike = moving_scores(one, two, other)
    exists, own = originals.existing(other), originals.existing(attacker)
    return TwoRuns(case, attacker, splits, alike, ranking(scores, exists), ranking(scores[own], exists[own]))


def moving_scores(first: Divided, second: Divided, owner: Provider) -> tuple[NDArray[np.float64], int, int]:
    """Return for each id how much it goes with those it went with before; the divisions, and those that both runs have alike.

    A division that both runs have alike tells nothing of who moves, and is left out. Who came to the population after the first run, at its
    end, is left out too.
    """
    before = {split.way: split for split in passed_splits(first, owner)}
    contexts = _ways_of_ids(first)
    scores = np.zeros(len(contexts))
    splits = [_of_the_first(split, len(contexts)) for split in passed_splits(second, owner)]
    alike = 0
    for split in splits:
        if split.way in before and split.same_as(before[split.way]):
            alike += 1
            continue
        lower = split.lower.astype(np.float64)
        base = (lower.sum() - lower + 0.5) / len(lower)  # never 0; and never 1, since both parts have somebody
        chance = base
        for column in contexts[split.ids].T:
            deeper = column >= 0  # ids whose way is so long
            if not np.any(deeper):
                break
            _ways, way = np.unique(column[deeper], return_inverse=True)
            others = np.bincount(way)[way] - 1
            others_lower = np.bincount(way, lower[deeper])[way] - lower[deeper]
            chance = chance.copy()
            chance[deeper] = (others_lower + PULL * chance[deeper]) / (others + PULL)
        chance = np.clip(chance, _LEAST_CHANCE, 1 - _LEAST_CHANCE)  # rounding may take it to 1 on a long way
        scores[split.ids] += np.where(split.lower, np.log(chance) - np.log(base), np.log1p(-chance) - np.log1p(-base))
    return scores, len(splits), alike


def _of_the_first(split: Split, people: int) -> Split:
    known = split.ids < people
    return Split(split.way, split.ids[known], split.lower[known])


def _ways_of_ids(divided: Divided) -> NDArray[np.int64]:
    """Return for each id a number for each beginning of its way (ids x lengths), -1 beyond its end."""
    longest = max(map(len, divided.ways))
    numbers: dict[bytes, int] = {}
    of_group = np.full((len(divided.ways), longest), -1, dtype=np.int64)
    for group, way in enumerate(divided.ways):
        for length in range(len(way)):
            of_group[group, length] = numbers.setdefault(way[: length + 1], len(numbers))
    return of_group[divided.groups.group_of]
