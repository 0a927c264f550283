"""Several runs on the same people: an id that changes its part between them is a dummy.

A real user falls into the same part of a cut in every run; a dummy falls into the part of the row that was drawn for it in this run. So
for each id, at each of the other provider's divisions of one run, a provider asks: do ids that shared a path with this id in another run
fall into the same part? The longer the shared path, the higher the weight: probabilities are pulled towards those of the shorter shared
path.

Dummies are drawn from a keyed stream, so two runs of one policy on the same data are identical and reveal nothing more. Dummies are drawn
again with fresh keys, with another policy, or if the population gained a single person. They are also drawn again if only the attacker's
own table changed: a dummy takes the row of a user of its group, and the groups depend on the cuts of both providers. This is why the
ledgers of runs refuse a second run if anything changed, unless both providers allow it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base import progress
from setveil.errors import BadParameter, GuaranteeViolated
from setveil.presence.attack.ranking import Ranking, ranking
from setveil.presence.attack.view import Split, other_than, passed_splits
from setveil.presence.methods.base import Keys
from setveil.presence.policy import Policy
from setveil.presence.tables.originals import Originals
from setveil.presence.tables.population import Population
from setveil.presence.tables.provider_table import ProviderTable
from setveil.presence.trial import policy_of, simulate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from setveil.presence.secure.base import Provider
    from setveil.presence.trial import Trial

PULL = 2.0
"""The weight of the shorter path in the estimate for a path, as a number of additional ids."""
_LEAST_CHANCE = 1e-12

CASES = {
    "fresh": "fresh keys",
    "again": "another policy (k + 1)",
    "refreshed": "one more person in the population",
    "same": "nothing",
    "lost_user": "one fewer user at the attacker",
    "lost_1_percent": "1 % fewer users at the attacker",
    "lost_5_percent": "5 % fewer users at the attacker",
}
"""What changes from run to run, while everything else stays the same."""
RUNS = (2, 3, 6)
"""The numbers of runs after which the attacker guesses if its own table changes; two runs otherwise."""
LOST = {"lost_user": 0, "lost_1_percent": 1, "lost_5_percent": 5}
"""The percentage of its first users that the attacker loses before each further run (at least one user)."""


@dataclass(frozen=True)
class TwoRuns:
    """What two or more runs reveal to one provider about the customers of the other provider."""

    case: str
    attacker: Provider
    runs: int
    splits: int
    """The number of the other provider's divisions in the last run."""
    alike: int
    """The number of these that are also in the first run, with the same ids in the same parts."""
    everybody: Ranking
    """The ranking of all ids of the population: customers of the other provider against dummies."""
    own: Ranking
    """The ranking of the attacker's own users in the first run: common users against dummies."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        plain = {name: getattr(self, name) for name in ("case", "attacker", "runs", "splits", "alike")}
        return plain | {"everybody": self.everybody.to_dict(), "own": self.own.to_dict()}


def two_runs(policy: Policy, originals: Originals, keys: Keys, fresh: Keys, first: Trial) -> tuple[TwoRuns, ...]:
    """Repeat the run with several changes, and compare the runs as each provider can; cases whose run gives no table are omitted."""
    larger = with_one_more(originals)
    sides: tuple[Provider, ...] = ("b", "a")
    numbers = count(1)
    most = len(CASES) - len(LOST) + len(LOST) * len(sides) * (max(RUNS) - 1)
    with progress.step("running again", most) as advance:

        def run(policy: Policy, originals: Originals, keys: Keys = keys) -> Trial:
            trial = simulate(policy, originals, keys)
            advance(next(numbers))
            return trial

        seconds = {"fresh": run(policy, originals, fresh)}
        with suppress(BadParameter, GuaranteeViolated):  # if there are exactly k common users
            seconds["again"] = run(policy.changed(k=policy.method.k + 1), originals)
        seconds["refreshed"] = run(policy_of(policy.method, larger), larger)
        seconds["same"] = run(policy, originals)
        found = [
            compared(case, attacker, (first, second), originals)
            for case, second in seconds.items()
            for attacker in sides
        ]
        for case, percent in LOST.items():
            for attacker in sides:
                tables = losing(originals, attacker, percent)
                found.append(
                    compared(case, attacker, _while_possible(first, (run(policy, one) for one in tables)), originals)
                )
    return tuple(chain.from_iterable(found))


def with_one_more(originals: Originals) -> Originals:
    """Return the same tables with one more person at the end of the population, a customer of neither provider."""
    ids = originals.population.ids.to_pylist()
    taken = set(ids)
    newcomer = next(name for name in map(str, range(len(ids) + 1)) if name not in taken)
    return Originals(originals.schema, Population.of([*ids, newcomer]), originals.a, originals.b)


def losing(originals: Originals, party: Provider, percent: int) -> Iterator[Originals]:
    """Yield the tables of each further run. Before each, a provider loses `percent` % of its first users, at least one but never all."""
    table = originals.table(party)
    users = len(table)
    each = max(users * percent // 100, 1)
    order = np.random.default_rng(percent).permutation(users)  # the same in every trial
    for lost in range(each, min(each * max(RUNS), users), each):
        rows = np.sort(order[lost:])
        sensitive = None if table.sensitive is None else table.sensitive[rows]
        rest = ProviderTable(table.ids.take(pa.array(rows)), table.codes[rows], sensitive)
        yield Originals(originals.schema, originals.population, **{"a": originals.a, "b": originals.b, party: rest})


def _while_possible(first: Trial, further: Iterator[Trial]) -> Iterator[Trial]:
    """Yield the runs before the first one that gives no table."""
    yield first
    with suppress(BadParameter, GuaranteeViolated):
        yield from further


def compared(case: str, attacker: Provider, trials: Iterable[Trial], originals: Originals) -> list[TwoRuns]:
    """Compare runs as one provider sees them, after each number of runs in `RUNS`.

    The scores of all ordered pairs of runs are added up. On the sample of 20,000 people, where B loses 1 % of its users before each run,
    that gives an AUC of 0.925 to 0.939 after three runs and of 0.992 to 0.994 after six (three keys). The first run against each later one
    gives 0.882 to 0.903 and 0.943 to 0.957.
    """
    exists, own = originals.existing(other_than(attacker)), originals.existing(attacker)
    scores = np.zeros(len(own))
    seen: list[Seen] = []
    found = []
    for trial in trials:
        last = Seen.of(trial, attacker)
        alike = []
        for earlier in seen:
            forth, same = moving_scores(earlier, last)
            back, _same = moving_scores(last, earlier)
            scores += forth + back[: len(scores)]  # without a newcomer of the last run
            alike.append(same)
        seen.append(last)
        if len(seen) in RUNS:
            rankings = ranking(scores, exists), ranking(scores[own], exists[own])
            found.append(TwoRuns(case, attacker, len(seen), len(last.splits), alike[0], *rankings))
    return found


@dataclass(frozen=True, eq=False)
class Seen:
    """What one provider saw of a run."""

    splits: list[Split]
    """The other provider's divisions that passed."""
    place: NDArray[np.int64]
    """For each id, the position of its group in the order of paths."""
    beginnings: NDArray[np.int64]
    """For each position, a number for each prefix of its path (groups x lengths); -1 beyond its end."""

    @classmethod
    def of(cls, trial: Trial, attacker: Provider) -> Seen:
        """Return what the attacker saw."""
        divided = (trial.a if attacker == "a" else trial.b).divided
        order = sorted(range(len(divided.ways)), key=divided.ways.__getitem__)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        beginnings = np.full((len(order), max(map(len, divided.ways))), -1, dtype=np.int64)
        numbers: dict[bytes, int] = {}
        for row, group in zip(beginnings, order, strict=True):
            way = divided.ways[group]
            row[: len(way)] = [numbers.setdefault(way[:end], len(numbers)) for end in range(1, len(way) + 1)]
        return cls(passed_splits(divided, other_than(attacker)), place[divided.groups.group_of], beginnings)


def moving_scores(first: Seen, second: Seen) -> tuple[NDArray[np.float64], int]:
    """Score how consistently each id moves with its companions of the first run in the second; also return the number of equal divisions.

    A division that is equal in both runs reveals nothing about movements and is ignored. So are people who were added to the end of the
    population after the first run.
    """
    people = len(first.place)
    before = {split.way: split for split in first.splits}
    splits = [_of_the_first(split, people) for split in second.splits]
    splits = [split for split in splits if split.way not in before or not split.same_as(before[split.way])]
    alike = len(second.splits) - len(splits)
    scores = np.zeros(people)
    if not splits:
        return scores, alike
    ids = np.concatenate([split.ids for split in splits])
    number = np.repeat(np.arange(len(splits)), [len(split.ids) for split in splits])
    # In the order of the first run's paths, the ids of a division that share a prefix of any length are adjacent.
    order = np.lexsort((first.place[ids], number))
    ids, place = ids[order], first.place[ids[order]]
    lower = np.concatenate([split.lower for split in splits])[order].astype(np.float64)
    new = np.append(True, number[1:] != number[:-1])
    others, others_lower = _others(new, lower)
    base = (others_lower + 0.5) / (others + 1)  # neither 0 nor 1
    chance = base
    for column in first.beginnings.T:
        way = column[place]
        new[1:] |= way[1:] != way[:-1]
        others, others_lower = _others(new, lower)
        chance = np.where(way >= 0, (others_lower + PULL * chance) / (others + PULL), chance)
    chance = np.clip(chance, _LEAST_CHANCE, 1 - _LEAST_CHANCE)  # rounding may give 1 for a long path
    gained = np.where(lower > 0, np.log(chance) - np.log(base), np.log1p(-chance) - np.log1p(-base))
    np.add.at(scores, ids, gained)
    return scores, alike


def _of_the_first(split: Split, people: int) -> Split:
    known = split.ids < people
    return Split(split.way, split.ids[known], split.lower[known])


def _others(new: NDArray[np.bool_], lower: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return for each id the number of other ids in its block, and of those in the lower part; `new` marks where a block begins."""
    begins = np.flatnonzero(new)
    sizes = np.diff(begins, append=len(new))
    return np.repeat(sizes - 1, sizes), np.repeat(np.add.reduceat(lower, begins), sizes) - lower
