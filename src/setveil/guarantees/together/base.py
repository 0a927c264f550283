"""The base class of joint definitions, and one release as they need it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from setveil.base.verdict import MOST_WITNESSES, Reach, Status, Verdict, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.records.transactions import Transactions
    from setveil.guarantees.base import Guarantee


@dataclass(frozen=True, eq=False)
class Linked:
    """One of several releases of the same original, with the original record of each of its rows."""

    name: str
    data: Published
    guarantee: Guarantee | None
    truthful: Literal["yes", "subset", "no"]
    rows: NDArray[np.int64]
    """The original record of each row; for grouped and disassociated data group by group."""

    def has_each_record_once(self, original: Transactions) -> bool:
        """Return whether every original record has exactly one row."""
        hits = np.bincount(self.rows[(self.rows >= 0) & (self.rows < original.records)], minlength=original.records)
        return len(self.rows) == original.records and bool((hits == 1).all())


class JointDefinition(ABC):
    """What several guarantees mean together, with the check of it."""

    title: ClassVar[str]
    """A short name, for a heading."""
    statement: ClassVar[str]
    """The definition in one or two sentences."""
    pairwise: ClassVar[bool] = False
    """Whether more than two releases are checked in pairs, not at once."""

    @classmethod
    @abstractmethod
    def covers(cls, release: Linked) -> bool:
        """Return whether the definition can apply to a release."""

    @classmethod
    def groups(cls, releases: Sequence[Linked]) -> Iterator[tuple[Linked, ...]]:
        """Yield the groups of releases that are checked at once."""
        if cls.pairwise:
            yield from combinations(releases, 2)
        elif len(releases) > 1:
            yield tuple(releases)

    @classmethod
    @abstractmethod
    def check(cls, releases: Sequence[Linked], original: Transactions) -> Iterator[Verdict]:
        """Check a group of releases; yield one verdict for each property that they must have together."""


@dataclass(frozen=True)
class Found:
    """Violations of a joint definition: for each kind the number of cases, and witnesses."""

    cases: dict[str, int]
    witnesses: tuple[Witness, ...] = ()

    @classmethod
    def of(cls, kind: str, cases: int, witnesses: Iterable[Witness]) -> Found:
        """Return violations of one kind."""
        return cls({kind: cases} if cases else {}, tuple(witnesses)[:MOST_WITNESSES])

    def __add__(self, other: Found) -> Found:
        return Found({**self.cases, **other.cases}, self.witnesses + other.witnesses)


def joint_verdict(
    guarantee: str,
    found: Found,
    counts: dict[str, int],
    original: Transactions,
    *,
    reason: str = "",
    open_cases: int = 0,
) -> Verdict:
    """Return the verdict: violated with any violation, otherwise undecided with open cases, otherwise holds."""
    status: Status = "violated" if found.cases else "undecided" if open_cases else "holds"
    reach = Reach.whole(original.records, holds=status == "holds")
    return Verdict(status, guarantee, counts, found.cases, 0, found.witnesses, reason, reach)


def different_guarantees(releases: Sequence[Linked], *kinds: type[Any]) -> list[Any]:
    """Return the guarantees of these kinds that the releases have, each once."""
    found: list[Any] = []
    for release in releases:
        if isinstance(release.guarantee, kinds) and release.guarantee not in found:
            found.append(release.guarantee)
    return found


def stated_by(verdict: Verdict, guarantee: Guarantee, releases: Sequence[Linked]) -> Verdict:
    """Return the verdict with the names of the releases that state its guarantee, unless all of them do."""
    names = [release.name for release in releases if release.guarantee == guarantee]
    if len(names) == len(releases):
        return verdict
    return replace(verdict, guarantee=f"{verdict.guarantee} of {' and '.join(names)}")
