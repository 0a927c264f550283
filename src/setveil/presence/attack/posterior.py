"""The probability that a user is common, given that the owner's cut of its group failed: exact, in whole numbers.

The owner of a cut knows its own users in the group and in both parts, and from the joined table how many of them are common. A priori, all
choices of this number of common users are equally likely. The failed check makes some choices impossible or less likely:

- reading `own`: the check fails exactly if k or the owner's own limits are violated;
- reading `unknown`: in addition, the other provider's limits are violated with probability q, independently.

Users are divided into kinds: at provider B, one kind per sensitive value, whose number of common users is known; at provider A, a single
kind. With w(h) choices that put h common users of a kind into the lower part, two sums over the choices that pass are sufficient: of their
number, and of h times their number.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, floor, prod

_Step = tuple[int, int, int, int]
"""Common users in the lower and in the upper part, and occurring kinds in both, each capped at the required number."""


@dataclass(frozen=True)
class OwnRules:
    """The rules of the check that the owner of a cut knows."""

    k: int
    least: Fraction
    most: Fraction
    """The limits of divisions: those of the policy, tightened by its margin."""
    by_kind: bool = True
    """Whether limits apply to each kind of users (scope qi+sa) or to all together (scope qi)."""
    kinds: int = 1
    """The minimum number of kinds among the common users of a part."""

    def within(self, common: int, users: int) -> bool:
        """Return whether a share is within the limits; 0 of 0 users is."""
        return self.least * users <= common <= self.most * users


@dataclass(frozen=True)
class FailedCut:
    """A cut as its owner knows it: for each kind, the numbers of users in the group, in the lower part, and common."""

    users: tuple[int, ...]
    lower: tuple[int, ...]
    common: tuple[int, ...]


@dataclass(frozen=True)
class Choices:
    """Numbers of choices of the common users."""

    all: int
    passing: int
    """The number of choices that satisfy the owner's own rules."""
    passing_lower: tuple[int, ...]
    """For each kind, the sum over the passing choices of the common users in the lower part."""


@lru_cache(maxsize=100_000)
def choices(cut: FailedCut, rules: OwnRules) -> Choices:
    """Count the choices of common users."""
    least_lower, least_upper = _least_common(cut, rules)
    kinds = [
        _kind(users, lower, common, rules)
        for users, lower, common in zip(cut.users, cut.lower, cut.common, strict=True)
    ]
    caps = (least_lower, least_upper, rules.kinds, rules.kinds)
    plain = [_steps(ways, common, caps) for ways, common in zip(kinds, cut.common, strict=True)]
    weighted = [
        _steps({h: h * many for h, many in ways.items()}, common, caps)
        for ways, common in zip(kinds, cut.common, strict=True)
    ]
    passing_lower = tuple(
        _reaching([*plain[:kind], weighted[kind], *plain[kind + 1 :]], caps) for kind in range(len(kinds))
    )
    everything = prod(comb(users, common) for users, common in zip(cut.users, cut.common, strict=True))
    return Choices(everything, _reaching(plain, caps), passing_lower)


def posteriors(
    cut: FailedCut, rules: OwnRules, other_fails: Fraction = Fraction(0)
) -> list[tuple[Fraction | None, Fraction | None]] | None:
    """Return for each kind the probability that a user of the lower and of the upper part is common, given that the check failed.

    `other_fails` is the probability that the other provider's limits are violated; 0 gives the reading `own`. The result is None if the
    check cannot fail; an entry is None if a part has no users of the kind.
    """
    found = choices(cut, rules)
    passes = 1 - other_fails
    failing = found.all - passes * found.passing
    if failing == 0:
        return None
    result: list[tuple[Fraction | None, Fraction | None]] = []
    for users, lower, common, passing in zip(cut.users, cut.lower, cut.common, found.passing_lower, strict=True):
        # The common users of the kind in the lower part, summed over all choices, in which each user is common equally often.
        of_lower = Fraction(found.all * lower * common, users) - passes * passing if users else Fraction(0)
        of_upper = common * failing - of_lower
        upper = users - lower
        result.append(
            (
                Fraction(of_lower, failing * lower) if lower else None,
                Fraction(of_upper, failing * upper) if upper else None,
            )
        )
    return result


def _least_common(cut: FailedCut, rules: OwnRules) -> tuple[int, int]:
    """Return the minimum numbers of common users in the lower and the upper part; an upper bound of one gives a minimum for the other."""
    if rules.by_kind:
        return rules.k, rules.k
    common, lower = sum(cut.common), sum(cut.lower)
    upper = sum(cut.users) - lower
    least_lower = max(rules.k, ceil(rules.least * lower), common - floor(rules.most * upper))
    least_upper = max(rules.k, ceil(rules.least * upper), common - floor(rules.most * lower))
    return least_lower, least_upper


def _kind(users: int, lower: int, common: int, rules: OwnRules) -> dict[int, int]:
    """Return the number of choices that put h common users of a kind into the lower part, for each h within the limits of the kind."""
    upper = users - lower
    h = max(0, common - upper)
    many = comb(lower, h) * comb(upper, common - h)
    found = {}
    while h <= min(lower, common):
        if not rules.by_kind or (rules.within(h, lower) and rules.within(common - h, upper)):
            found[h] = many
        many = many * (lower - h) * (common - h) // ((h + 1) * (upper - common + h + 1))
        h += 1
    return found


def _steps(ways: dict[int, int], common: int, caps: _Step) -> dict[_Step, int]:
    """Return the numbers of choices of a kind, by the step that they make towards the required numbers."""
    found: dict[_Step, int] = defaultdict(int)
    for h, many in ways.items():
        found[_capped((h, common - h, int(h > 0), int(common > h)), caps)] += many
    return found


def _reaching(kinds: list[dict[_Step, int]], caps: _Step) -> int:
    """Return the number of choices for all kinds that reach all required numbers."""
    reached: dict[_Step, int] = {(0, 0, 0, 0): 1}
    for steps in kinds:
        further: dict[_Step, int] = defaultdict(int)
        for at, many in reached.items():
            for step, more in steps.items():
                to = (at[0] + step[0], at[1] + step[1], at[2] + step[2], at[3] + step[3])
                further[_capped(to, caps)] += many * more
        reached = further
    return reached.get(caps, 0)


def _capped(step: _Step, caps: _Step) -> _Step:
    return min(step[0], caps[0]), min(step[1], caps[1]), min(step[2], caps[2]), min(step[3], caps[3])
