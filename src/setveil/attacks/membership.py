"""Find out whether a person is in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.trials import Trial, Z
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.generalized import Generalized
from setveil.data.forms.grouped import Grouped
from setveil.data.records.ragged import inverted, offsets_of, picked
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.attacks.target import Target
    from setveil.data.forms.sightings import Sightings

FALSE_ALARMS = 0.01


class Membership(Attack):
    """Find out whether a person is in the data, knowing all items of the person."""

    name = "membership"
    title = "Being in the data"
    knows = "all items of a person"
    statistic = (
        "a person of the data is named, where 1 % of the people who are not in it are named too. A person is named if a place of the"
        " release is similar enough to the items: the weight of common items divided by the weight of all items of both, where rare"
        " items weigh more"
    )
    base_rate = "1 %: people are named at random"
    success = "people in the data recognized"
    blind_to = "attackers who know which items the release changes, and who combine several places"
    needs = ("control",)
    takes = (Transactions, Disassociated, Generalized, Grouped)

    def run(self, target: Target) -> Finding:
        """Score people who are in the data and people who are not."""
        original, rng = target.original, target.rng(self.name)
        offsets, codes = target.control_codes
        outside = np.flatnonzero(np.diff(offsets) > 0)
        inside = np.flatnonzero(original.lengths[target.alignment.rows] > 0)
        if len(outside) < 1 / FALSE_ALARMS or not len(inside):
            return self.without_result(
                f"fewer than {int(1 / FALSE_ALARMS)} people who are not in the release have items in it"
            )
        half = max(target.targets // 2, int(1 / FALSE_ALARMS))
        outside = rng.choice(outside, min(half, len(outside)), replace=False)
        inside = target.alignment.rows[rng.choice(inside, min(half, len(inside)), replace=False)]
        places = _Places.of(target.sightings)
        members = np.array([places.similarity(_items(original.offsets, original.items, one)) for one in inside])
        others = np.array([places.similarity(_items(offsets, codes, one)) for one in outside])
        auc, low, high = area(members, others)
        found = found_at(members, others, FALSE_ALARMS)
        return self.finding(
            Trial(found * len(members), len(members)),
            Trial.known(FALSE_ALARMS),
            control=Trial(FALSE_ALARMS * len(others), len(others)),
            details={"auc": auc, "auc-interval": [low, high], "members": len(members), "others": len(others)},
        )


def _items(offsets: NDArray[np.int64], codes: NDArray[np.integer], person: np.int64) -> NDArray[np.integer]:
    return codes[offsets[person] : offsets[person + 1]]


class _Places(NamedTuple):
    """The places of a release with the items that each may hold."""

    lists: Sequence[NDArray[np.int64]]
    """For each item: the places that may hold it."""
    starts: NDArray[np.int64]
    items: NDArray[np.integer]
    """The items of each place, as slices between the starts."""
    totals: NDArray[np.float64]
    """The weight of all items of each place."""
    weight: NDArray[np.float64]
    """The weight of each item: an item that few places may hold weighs more."""
    known: NDArray[np.float64]
    """Scratch: the weight of each item that the attacker knows, 0 for others."""

    @classmethod
    def of(cls, sightings: Sightings) -> _Places:
        places, lengths = len(sightings.sizes), [len(one) for one in sightings.lists]
        starts, items = inverted(offsets_of(lengths), np.concatenate([*sightings.lists, np.empty(0, np.int64)]), places)
        weight = np.log1p(places / (np.array(lengths) + 1.0))
        return cls(sightings.lists, starts, items, _sums(starts, weight[items]), weight, np.zeros(len(weight)))

    def similarity(self, items: NDArray[np.integer]) -> float:
        """Return the similarity of the most similar place.

        A place that holds none of the items looked up so far shares at most the weight of the others, so common items, which have long
        lists, are rarely looked up.
        """
        rarest_first = items[np.argsort(-self.weight[items], kind="stable")]
        own = left = float(self.weight[items].sum())
        best = 0.0
        self.known[items] = self.weight[items]
        for item in rarest_first.tolist():
            if left <= best * own:
                break
            left -= float(self.weight[item])
            places = self.lists[item]
            starts, at = picked(self.starts, places)
            shared = _sums(starts, self.known[self.items[at]])
            best = max(best, float((shared / (own + self.totals[places] - shared)).max(initial=0)))
        self.known[items] = 0
        return best


def _sums(starts: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the values between the starts."""
    sums: NDArray[np.float64] = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled])
    return sums


def area(members: NDArray[np.float64], others: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the area under the ROC curve and its 95 % interval (DeLong 1988); ties count half."""
    above, rising = _share_below(members, others), _share_below(others, members)
    value = float(above.mean())
    variance = above.var() / max(len(members) - 1, 1) + (1 - rising).var() / max(len(others) - 1, 1)
    half = Z * float(variance) ** 0.5
    return value, max(value - half, 0.0), min(value + half, 1.0)


def _share_below(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value the share of others below it; equal ones count half."""
    rising = np.sort(others)
    counts = np.searchsorted(rising, values, side="left") + np.searchsorted(rising, values, side="right")
    shares: NDArray[np.float64] = counts / (2 * max(len(others), 1))
    return shares


def found_at(members: NDArray[np.float64], others: NDArray[np.float64], false_alarms: float) -> float:
    """Return the share of members above the threshold that this share of others exceeds; of equal scores, a fitting part is taken."""
    allowed = false_alarms * len(others)
    for threshold in sorted({*members.tolist(), *others.tolist()}, reverse=True):
        above, equal = np.count_nonzero(others > threshold), np.count_nonzero(others == threshold)
        if above + equal > allowed:
            part = (allowed - above) / equal
            return float(
                (np.count_nonzero(members > threshold) + part * np.count_nonzero(members == threshold)) / len(members)
            )
    return 1.0
