"""Find out whether a person is in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.trials import Trial, Z
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.generalized import Generalized
from setveil.data.forms.grouped import Grouped
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.attacks.target import Target

FALSE_ALARMS = 0.01
DIGITS = 9
"""Similarities are rounded, so that equal ones are equal in whatever order their weights were added."""


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
    bytes_per_occurrence = 60
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
        weight = _weights(target)
        totals = np.zeros(len(target.sightings.sizes))
        for code, places in enumerate(target.sightings.lists):
            totals[places] += weight[code]
        members = _scores(target, original.offsets, original.items, inside, weight, totals)
        others = _scores(target, offsets, codes, outside, weight, totals)
        auc, low, high = area(members, others)
        found = found_at(members, others, FALSE_ALARMS)
        return self.finding(
            Trial(found * len(members), len(members)),
            Trial.known(FALSE_ALARMS),
            control=Trial(FALSE_ALARMS * len(others), len(others)),
            details={"auc": auc, "auc-interval": [low, high], "members": len(members), "others": len(others)},
        )


def _weights(target: Target) -> NDArray[np.float64]:
    """Return the weight of each item: an item that few places may hold weighs more."""
    places = np.array([len(one) for one in target.sightings.lists])
    weights: NDArray[np.float64] = np.log1p(len(target.sightings.sizes) / (places + 1.0))
    return weights


def _scores(
    target: Target,
    offsets: NDArray[np.int64],
    codes: NDArray[np.integer],
    people: NDArray[np.int64],
    weight: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return for each person the similarity of the most similar place."""

    def similarities() -> Iterator[float]:
        shared = np.zeros(len(totals))
        for person in people:
            items = codes[offsets[person] : offsets[person + 1]]
            own = weight[items].sum()
            touched = []
            for item in items:
                places = target.sightings.lists[item]
                shared[places] += weight[item]
                touched.append(places)
            places = max(touched, key=len) if len(touched) == 1 else np.concatenate(touched)
            best = shared[places] / (own + totals[places] - shared[places])
            shared[places] = 0
            yield round(float(best.max(initial=0.0)), DIGITS)

    return np.fromiter(similarities(), np.float64, len(people))


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
