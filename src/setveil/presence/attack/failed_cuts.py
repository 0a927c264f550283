"""Posteriors of a whole run: the number of users about which a failed check reveals more to the owner of the cut than allowed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base import progress
from setveil.errors import BadParameter, GuaranteeViolated
from setveil.parameters.shares import Share
from setveil.presence.attack.posterior import FailedCut, OwnRules, choices, posteriors
from setveil.presence.attack.view import other_than
from setveil.presence.policy import Policy
from setveil.presence.trial import simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from setveil.presence.methods.base import Keys
    from setveil.presence.methods.dummy_users import DummyUsers
    from setveil.presence.secure.base import Provider
    from setveil.presence.tables.originals import Originals
    from setveil.presence.trial import Trial

MARGINS = (Fraction(0), Fraction(1, 50), Fraction(1, 20), Fraction(1, 10))
MOST_STEPS = 10_000_000
"""Groups that need more steps (about ten seconds) are skipped and counted. This occurs only if limits apply to all kinds of users together
(scope qi)."""


@dataclass(frozen=True)
class Reading:
    """A summary of the posteriors of some users."""

    groups: int
    users: int
    outside: int
    """Users whose probability of being common is outside the limits of the policy."""
    absent: int
    """Users who are certainly not common."""
    present: int
    """Users who are certainly common."""
    lowest: Fraction | None
    highest: Fraction | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        plain = {name: getattr(self, name) for name in ("groups", "users", "outside", "absent", "present")}
        edges = {name: _number(getattr(self, name)) for name in ("lowest", "highest")}
        return plain | edges


@dataclass(frozen=True)
class FailedCuts:
    """What the failed checks of a run reveal to one provider."""

    party: Provider
    limits: tuple[Fraction, Fraction]
    groups: int
    failed: int
    """Final groups whose failed cut was this provider's own."""
    explained: int
    """The number of these that violate k or a limit of this provider, whatever else they violate."""
    too_large: int
    """The number of these that were skipped because counting would take too long."""
    own: Reading
    unknown: Reading
    calm: Reading
    """The users of groups whose failed cut was the other provider's: only the joined table reveals something about them."""

    @property
    def other_fails(self) -> Fraction:
        """The share of failures that the own rules do not explain. It underestimates q, because the rules of both may be violated."""
        return Fraction(self.failed - self.explained, self.failed) if self.failed else Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        plain = {name: getattr(self, name) for name in ("party", "groups", "failed", "explained", "too_large")}
        readings = {name: getattr(self, name).to_dict() for name in ("own", "unknown", "calm")}
        limits = {"least": float(self.limits[0]), "most": float(self.limits[1]), "q": float(self.other_fails)}
        return plain | limits | readings


@dataclass(frozen=True)
class MarginRow:
    """The effect of a margin on the number of groups and on the posteriors."""

    margin: Fraction
    groups: int | None
    """None if the policy with this margin is impossible or gives no table."""
    a: FailedCuts | None
    b: FailedCuts | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        sides = {side: found.to_dict() if found else None for side, found in (("a", self.a), ("b", self.b))}
        return {"margin": str(self.margin), "groups": self.groups, **sides}


def failed_cuts(trial: Trial, originals: Originals, method: DummyUsers, party: Provider) -> FailedCuts:
    """Compute the posteriors of all users of one provider."""
    numbers = _Numbers(trial, originals, party)
    rules = own_rules(method, party)
    limits: tuple[Fraction, Fraction] = (getattr(method, f"min_{party}").share, getattr(method, f"max_{party}").share)
    cuts, explained, too_large = [], 0, 0
    with progress.step("posteriors of failed cuts", int(numbers.failed.sum())) as advance:
        for done, group in enumerate(np.flatnonzero(numbers.failed).tolist()):
            cut = numbers.cut(group)
            explained += not numbers.holds(group, rules)
            if not rules.by_kind and len(cut.users) > 1 and len(cut.users) * sum(cut.common) ** 2 > MOST_STEPS:
                too_large += 1
            else:
                choices(cut, rules)  # the slow part; both readings use the cached result
                cuts.append(cut)
            advance(done)
    failed = int(numbers.failed.sum())
    other_fails = Fraction(failed - explained, failed) if failed else Fraction(0)
    return FailedCuts(
        party,
        limits,
        len(numbers.failed),
        failed,
        explained,
        too_large,
        _reading(cuts, rules, Fraction(0), limits),
        _reading(cuts, rules, other_fails, limits),
        _table_alone(numbers, limits),
    )


def own_rules(method: DummyUsers, party: Provider) -> OwnRules:
    """Return the rules that a provider knows: k, its limits with the margin, and at provider B the number of sensitive values."""
    least, most = method.drawn_in(party)
    if party == "a":
        return OwnRules(method.k, least, most)
    return OwnRules(method.k, least, most, by_kind=method.scope == "qi+sa", kinds=method.l)


def margins(
    policy: Policy, originals: Originals, keys: Keys, wanted: Iterable[Fraction] = MARGINS
) -> tuple[MarginRow, ...]:
    """Run the policy with several margins, and compute the posteriors of each run."""
    rows = []
    for margin in wanted:
        try:
            drawn_in = policy.changed(margin=str(margin))
            trial = simulate(drawn_in, originals, keys)
        except (BadParameter, GuaranteeViolated):
            rows.append(MarginRow(margin, None, None, None))
            continue
        found = {side: failed_cuts(trial, originals, drawn_in.method, side) for side in ("a", "b")}
        rows.append(MarginRow(margin, trial.a.divided.groups.groups, found["a"], found["b"]))
    return tuple(rows)


class _Numbers:
    """The numbers of one provider's users in groups and parts, by kind (groups x kinds)."""

    def __init__(self, trial: Trial, originals: Originals, party: Provider) -> None:
        divided = (trial.a if party == "a" else trial.b).divided
        own = originals.existing(party)
        common = own & originals.existing(other_than(party))
        kinds = originals.schema.sensitive.cells if party == "b" else 1
        groups = divided.groups.groups
        cell = divided.groups.group_of * kinds + (originals.sensitive() if party == "b" else 0)

        def counted(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
            return np.bincount(cell[chosen], minlength=groups * kinds).reshape(groups, kinds)

        lower = divided.failed_lower == 1
        self.users, self.lower = counted(own), counted(own & lower)
        self.common, self.common_lower = counted(common), counted(common & lower)
        self.failed = np.zeros(groups, dtype=np.bool_)
        self.failed[divided.groups.group_of[divided.failed_lower >= 0]] = True

    def cut(self, group: int) -> FailedCut:
        """Return the cut of a group as its owner knows it."""
        users, lower, common = (numbers[group].tolist() for numbers in (self.users, self.lower, self.common))
        return FailedCut(tuple(users), tuple(lower), tuple(common))

    def holds(self, group: int, rules: OwnRules) -> bool:
        """Return whether both parts in truth satisfy the owner's own rules."""
        parts = (
            (self.common_lower[group], self.lower[group]),
            (self.common[group] - self.common_lower[group], self.users[group] - self.lower[group]),
        )
        for common, users in parts:
            cells = list(zip(common.tolist(), users.tolist(), strict=True))
            if not rules.by_kind:
                cells = [(int(common.sum()), int(users.sum()))]
            if common.sum() < rules.k or (common > 0).sum() < rules.kinds:
                return False
            if not all(rules.within(*cell) for cell in cells):
                return False
        return True


def _reading(
    cuts: list[FailedCut], rules: OwnRules, other_fails: Fraction, limits: tuple[Fraction, Fraction]
) -> Reading:
    """Summarize the posteriors of all users of cuts whose check can fail."""
    found: list[tuple[Fraction, int]] = []
    groups = 0
    for cut in cuts:
        result = posteriors(cut, rules, other_fails)
        if result is None:
            continue
        groups += 1
        for (lower, upper), users, many in zip(result, cut.users, cut.lower, strict=True):
            found += [(chance, some) for chance, some in ((lower, many), (upper, users - many)) if chance is not None]
    return _summed(found, groups, limits)


def _table_alone(numbers: _Numbers, limits: tuple[Fraction, Fraction]) -> Reading:
    calm = np.flatnonzero(~numbers.failed)
    cells = zip(numbers.common[calm].ravel().tolist(), numbers.users[calm].ravel().tolist(), strict=True)
    return _summed([(Fraction(common, users), users) for common, users in cells if users], len(calm), limits)


def _summed(found: list[tuple[Fraction, int]], groups: int, limits: tuple[Fraction, Fraction]) -> Reading:
    chances = [chance for chance, _users in found]
    return Reading(
        groups,
        sum(users for _chance, users in found),
        sum(users for chance, users in found if not limits[0] <= chance <= limits[1]),
        sum(users for chance, users in found if chance == 0),
        sum(users for chance, users in found if chance == 1),
        min(chances, default=None),
        max(chances, default=None),
    )


def _number(chance: Fraction | None) -> float | None:
    return None if chance is None else float(chance)


def with_margin(policy: Policy) -> tuple[Fraction, ...]:
    """Return the margins to compare: the default ones and the policy's own."""
    own: Share = policy.method.margin
    return tuple(sorted({*MARGINS, own.share}))
