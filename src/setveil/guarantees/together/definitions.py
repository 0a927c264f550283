"""All joint definitions, and which releases each one applies to."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from setveil.base import progress
from setveil.base.verdict import Reach, Verdict
from setveil.guarantees.together.categories import JointCategories
from setveil.guarantees.together.clusters import JointClusters
from setveil.guarantees.together.groups import JointGroups
from setveil.guarantees.together.itemsets import JointItemsets
from setveil.guarantees.together.rows import JointRows
from setveil.guarantees.together.swapped import JointTruth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setveil.data.records.transactions import Transactions
    from setveil.guarantees.together.base import JointDefinition, Linked

DEFINITIONS: tuple[type[JointDefinition], ...] = (
    JointRows,
    JointClusters,
    JointGroups,
    JointCategories,
    JointItemsets,
    JointTruth,
)


@dataclass(frozen=True)
class JointPart:
    """The check of some of the releases together.

    Attributes
    ----------
    releases : tuple of str
        The names of the releases.
    title : str
        The name of the joint definition; `no definition` if there is none.
    definition : str
        The joint definition as a text; empty if there is none.
    verdict : Verdict
        The result.
    """

    releases: tuple[str, ...]
    title: str
    definition: str
    verdict: Verdict

    def __str__(self) -> str:
        return f"{' + '.join(self.releases)}, {self.title}: {self.verdict}"


class Excluded(NamedTuple):
    """A release that cannot be compared with others, and why."""

    release: Linked
    reason: str


def check_linked(
    releases: Sequence[Linked], excluded: Sequence[Excluded], original: Transactions
) -> tuple[JointPart, ...]:
    """Check releases by every definition that applies; pairs without a definition are undecided."""
    parts: list[JointPart] = []
    covered: set[tuple[int, int]] = set()
    place = {id(release): number for number, release in enumerate(releases)}
    for definition in DEFINITIONS:
        for group in definition.groups([release for release in releases if definition.covers(release)]):
            covered.update(combinations(sorted(place[id(release)] for release in group), 2))
            names = tuple(release.name for release in group)
            with progress.step(f"checking {definition.title}"):
                verdicts = list(definition.check(group, original))
            parts += [JointPart(names, definition.title, definition.statement, verdict) for verdict in verdicts]
    for one, other in combinations(range(len(releases)), 2):
        if (one, other) not in covered:
            parts.append(_undefined(releases[one], releases[other]))
    for number, out in enumerate(excluded):
        others = [*releases, *(one.release for one in excluded[number + 1 :])]
        parts += [_undecided(out.release, other, out.reason) for other in others]
    return tuple(parts)


def _undefined(one: Linked, other: Linked) -> JointPart:
    """Return the undecided part of two releases that no definition covers."""
    baselines = [release.name for release in (one, other) if release.guarantee is None]
    if baselines:
        verb = "has" if len(baselines) == 1 else "have"
        reason = f"{' and '.join(baselines)} {verb} no guarantee, so nothing is defined for the two releases together"
    elif type(one.guarantee) is type(other.guarantee) and one.data.form_title == other.data.form_title:
        reason = f"{one.guarantee.name} of both is defined together only with the same {_same(one)}"  # type: ignore[union-attr]
    else:
        reason = f"there is no joint definition for {_described(one)} and {_described(other)}"
    return _undecided(one, other, reason)


def _same(release: Linked) -> str:
    return "categories" if JointCategories.covers(release) else "hierarchy"


def _described(release: Linked) -> str:
    assert release.guarantee is not None  # baselines have their own reason
    return f"{release.guarantee.name} of {release.data.form_title}"


def _undecided(one: Linked, other: Linked, reason: str) -> JointPart:
    names = [release.guarantee.name if release.guarantee is not None else "no guarantee" for release in (one, other)]
    reach = Reach.whole(one.data.records, holds=False)
    verdict = Verdict("undecided", " and ".join(dict.fromkeys(names)), {}, reason=reason, reach=reach)
    return JointPart((one.name, other.name), "no definition", "", verdict)
