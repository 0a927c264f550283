"""Three lines about a release: what holds and for how many records, what it cost, and what is not protected.

They speak of the original, so they are for its owner: the console prints them, the dossier and the report keep them, the card does not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from setveil.mining.uniqueness import unique_records

if TYPE_CHECKING:
    from setveil.metrics.base import Measurement
    from setveil.release.release import Release

KNOWN = 2
"""How many items of a person the attacker knows whose success the summary shows."""
GUESSES = {"tendency-posterior": "hidden category guessed right"}
"""Attacks whose figure stands in the summary, with what they guess; each has the detail `base-rate`."""


@dataclass(frozen=True)
class Summary:
    """The three lines."""

    guarantee: str
    cost: str
    not_protected: str

    @classmethod
    def of(cls, release: Release) -> Summary:
        """Sum up a release."""
        return cls(_guarantee(release), release.kept.cost(), _not_protected(release))

    def lines(self) -> list[tuple[str, str]]:
        """Return each line with its heading."""
        return [("Guarantee", self.guarantee), ("Cost", self.cost), ("Not protected", self.not_protected)]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self.lines())

    def to_dict(self) -> dict[str, str]:
        """Return it as plain values."""
        return asdict(self)


def _guarantee(release: Release) -> str:
    verdict = release.verdict
    if verdict is None:
        return f"none: {release.method.name} is a baseline, and nothing was checked"
    if verdict:
        remarks = [verdict.reason] if verdict.reason else []
        if release.kept.keeps_no_sensitive_item:
            remarks.append("trivially: no sensitive item is published")
        return f"{verdict.guarantee} holds for {verdict.reach}" + (f" ({'; '.join(remarks)})" if remarks else "")
    return f"{verdict.guarantee} holds for {verdict.reach}; {verdict.failures:,} are not protected, which was allowed"


def _not_protected(release: Release) -> str:
    guarantee = release.method.guarantee
    if guarantee is None:
        return "anything: use this release for comparison, do not share it"
    known = [f"{guessed} for {text}" for text, guessed in _guesses(release.measurements)]
    return "; ".join([guarantee.not_protected, *known, *_singled_out(release)])


def _guesses(measurements: list[Measurement]) -> list[tuple[str, str]]:
    """Return the figures of attacks that were measured, each beside what a guess without the release reaches."""
    return [
        (f"{_percent(one.value)} ({_percent(one.details['base-rate'])} without the release)", GUESSES[one.name])
        for one in measurements
        if one.name in GUESSES and one.value is not None and "base-rate" in one.details
    ]


def _singled_out(release: Release) -> list[str]:
    """Return how many records two known items single out, of a form that has whole records."""
    rows, original = release.data.plain, release.original.plain
    if rows is None or not rows.records or original is None:
        return []
    after, before = (unique_records(data, KNOWN)[-1] / data.records for data in (rows, original))
    return [f"two known items single out {_percent(after)} of the records ({_percent(before)} in the original)"]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
