"""The private dossier of a trial: the knowledge of all three parties, which no party of a real run has."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.base.verdict import Verdict
    from setveil.metrics.base import Measurement
    from setveil.presence.policy import Policy
    from setveil.presence.release.card import JoinedCard
    from setveil.presence.tables.joined_table import JoinedTable
    from setveil.presence.tables.originals import Originals
    from setveil.presence.trial import Trial


def make_joined_dossier(
    policy: Policy,
    originals: Originals,
    table: JoinedTable,
    trial: Trial,
    card: JoinedCard,
    verdicts: list[Verdict],
    measurements: list[Measurement],
) -> dict[str, Any]:
    """Return the dossier of a trial as plain values."""
    at_a, at_b = originals.existing("a"), originals.existing("b")
    return {
        "dossier_version": 1,
        "form": "joined",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "setveil": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "pyarrow")},
        },
        "users": {
            "population": len(originals.population),
            "a": int(at_a.sum()),
            "b": int(at_b.sum()),
            "both": int((at_a & at_b).sum()),
            "neither": int((~(at_a | at_b)).sum()),
        },
        "table": {"groups": table.groups, "records": table.records, "sizes": table.counts.sum(axis=1).tolist()},
        "shares": shares(originals, trial),
        "method": policy.method.model_dump(mode="json"),
        "policy_sha256": policy.sha256,
        "card": card.model_dump(mode="json"),
        "verdicts": [verdict.to_dict() for verdict in verdicts],
        "measurements": [one.to_dict() for one in measurements],
        "openings": trial.openings,
        "costs": {"a": trial.a.costs.to_dict(), "b": trial.b.costs.to_dict(), "c": trial.collector.to_dict()},
    }


def shares(originals: Originals, trial: Trial) -> dict[str, list[list[int]]]:
    """Return, per provider and group, the number of common users and of the provider's users: the counts that limits apply to."""
    at_a, at_b = originals.existing("a"), originals.existing("b")
    groups = trial.a.divided.groups
    found = {}
    for role, here in (("a", at_a), ("b", at_b)):
        whole = np.bincount(groups.group_of[here], minlength=groups.groups)
        common = np.bincount(groups.group_of[at_a & at_b], minlength=groups.groups)
        found[role] = np.column_stack((common, whole)).tolist()
    return found


def save_joined_dossier(folder: Path, dossier: dict[str, Any]) -> None:
    """Write the dossier into a private folder."""
    (folder / "dossier.json").write_text(json.dumps(dossier, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
