"""What several parts of a report read from a dossier of any version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.attacks.findings import Findings
from setveil.catalog import GUARANTEES
from setveil.metrics.base import Measurement
from setveil.metrics.measurements import Measurements

if TYPE_CHECKING:
    from setveil.metrics.headline import Headline, HeadlineFigure

SINGLED_OUT = "singled-out"
"""The metric of the dossier's `singled_out`, in versions that have it as a metric."""


def findings_of(dossier: dict[str, Any]) -> Findings:
    """Return what attacks found; a dossier of an earlier version has none."""
    noted = dossier.get("attacks")
    return Findings() if noted is None else Findings.from_dict(noted)


def headline_of_dossier(dossier: dict[str, Any]) -> Headline:
    """Return the headline figures, which the library chooses among the measurements."""
    return Measurements(Measurement(**one) for one in dossier["metrics"]).headline


def risks_guessed(dossier: dict[str, Any]) -> list[HeadlineFigure]:
    """Return the headline figures about what can be inferred; how many records are singled out is another criterion."""
    return [one for one in headline_of_dossier(dossier).about("privacy") if one.metric != SINGLED_OUT]


def unit_of(dossier: dict[str, Any]) -> str:
    """Return what the guarantee is about and its check counts: itemsets or records."""
    guarantee = GUARANTEES.get((dossier["verdict"] or {}).get("guarantee", ""))
    named = "itemsets" in dossier["method"]["parameters"] if guarantee is None else guarantee.protects == "itemsets"
    return "itemsets" if named else "records"


def failures_in(dossier: dict[str, Any]) -> int:
    """Return how many records or itemsets are not protected although the guarantee is about them."""
    verdict = dossier["verdict"]
    if verdict is None:
        return 0
    failures: int = dossier["card"]["guarantee"]["failures"]
    return sum(verdict["violations"].values()) if unit_of(dossier) == "itemsets" else failures
