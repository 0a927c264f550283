"""Three lines about a release: what holds and for how many records, what it costs, and what is not protected.

They contain facts about the original, so they are for its owner: the console, the dossier and the report show them, the card does not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.display import share
from setveil.catalog import ATTACKS
from setveil.mining.uniqueness import unique_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.attacks.base import Finding
    from setveil.attacks.findings import Findings
    from setveil.data.records.transactions import Transactions
    from setveil.guarantees.base import Guarantee
    from setveil.metrics.base import Measurement
    from setveil.release.release import Release

KNOWN = 2
"""Number of items that the attacker in the summary knows."""
GUESSES = {"tendency-posterior": "hidden category guessed right"}
"""Metrics whose success is in the summary, with what they guess; each has the detail `base-rate`."""


@dataclass(frozen=True)
class Summary:
    """The guarantee, the cost and the limits of a release, one line each."""

    guarantee: str
    cost: str
    not_protected: str

    @classmethod
    def of(cls, release: Release) -> Summary:
        """Summarize a release."""
        guarantee, measurements = release.method.guarantee, release.measurements
        known = not_protected(guarantee, measurements, release.findings, release.singled_out)
        return cls(_guarantee(release), release.kept.cost(), known)

    def lines(self) -> list[tuple[str, str]]:
        """Return each line with its heading."""
        return [("Guarantee", self.guarantee), ("Cost", self.cost), ("Not protected", self.not_protected)]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self.lines())

    def to_dict(self) -> dict[str, str]:
        """Return the lines by name."""
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
    are = "is" if verdict.failures == 1 else "are"
    return f"{verdict.guarantee} holds for {verdict.reach}; {verdict.failures:,} {are} not protected, which was allowed"


def not_protected(
    guarantee: Guarantee | None,
    measurements: Iterable[Measurement],
    findings: Findings,
    found: dict[str, Any] | None,
) -> str:
    """Return what is not protected in one line, with the measured success of attacks and what `singled_out` found.

    Of the attacks, the strongest one is named that no measurement describes already.
    """
    if guarantee is None:
        return "anything: use this release for comparison, do not share it"
    guesses = _guesses(measurements)
    known = [f"{guessed} for {text}" for guessed, text in guesses.items()]
    if found is not None:
        single_out = f"single out {share(found['after'])} of the records ({share(found['before'])} in the original)"
        known.append(f"two known items {single_out}")
    attacks = ((ATTACKS[one.name].success_with(one.parameters), one) for one in findings.strongest)
    known += [_success(success, one) for success, one in attacks if success not in guesses][:1]
    return "; ".join([guarantee.not_protected, *known])


def _success(success: str, finding: Finding) -> str:
    assert finding.main is not None
    assert finding.naive is not None
    return f"{success} for {share(finding.main.rate)} ({share(finding.naive.rate)} by chance)"


def _guesses(measurements: Iterable[Measurement]) -> dict[str, str]:
    """Return what was guessed with metrics, and the success of each beside that of a guess without the release."""
    return {
        GUESSES[one.name]: f"{share(one.value)} ({share(one.details['base-rate'])} without the release)"
        for one in measurements
        if one.name in GUESSES and one.value is not None and "base-rate" in one.details
    }


def singled_out(rows: Transactions | None, original: Transactions | None) -> dict[str, Any] | None:
    """Return the shares of records that two known items single out, before and after; None if the form has no whole records."""
    if rows is None or not rows.records or original is None:
        return None
    after, before = (unique_records(data, KNOWN)[-1] / data.records for data in (rows, original))
    return {"known": KNOWN, "before": before, "after": after}
