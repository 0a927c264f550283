"""The part of a report about attacks: what each one found, beside chance, the control, the original and the guarantee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.attacks.base import Finding
from setveil.attacks.findings import Findings
from setveil.base.display import share
from setveil.report.charts import Axis, Chart, Series, bars_with_intervals
from setveil.report.theme import AFTER, BEFORE, CONTROL, NEUTRAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.attacks.trials import Trial

ATTACKED = Series(
    "attacked",
    ("original", "release", "control", "by chance"),
    (BEFORE, AFTER, CONTROL, NEUTRAL),
)
"""Who or what is attacked: the data before and after, people who are not in the release, and guesses without the release."""
ROOM = 1.25
"""The length of the axis as a multiple of the highest value: the labels are to the right of the bars."""
WHOLE = (0, 0.25, 0.5, 0.75, 1)
"""The ticks of an axis that reaches beyond 100 %."""


def attacks_tried(dossier: dict[str, Any]) -> dict[str, Any]:
    """Return what the attacks found, by attack, the judgement on the limit, and the reasons for those without a result."""
    noted = dossier.get("attacks")
    found = Findings() if noted is None else Findings.from_dict(noted)
    notes = dossier.get("attack_notes", {})
    kinds: dict[str, list[Finding]] = {}
    lacking: dict[str, list[str]] = {}
    for one in found:
        if one.main is None:
            lacking.setdefault(one.reason, []).append(one.title)
        else:
            kinds.setdefault(one.name, []).append(one)
    return {
        "kinds": [
            {
                "key": _key(name),
                "note": notes.get(name, {"title": name}),
                "sentences": [one.sentence for one in several],
                "above_bound": any(one.above_bound for one in several),
                "shadow": any(one.shadow for one in several),
            }
            for name, several in kinds.items()
        ],
        "attacked": {row["attacked"] for one in found if one.main is not None for row in _rows(one)},
        "judgement": found.judgement,
        "lacking": lacking,
    }


def attack_charts(dossier: dict[str, Any]) -> Iterator[Chart]:
    """Draw one chart per attack that has a result."""
    noted = dossier.get("attacks")
    found = [] if noted is None else [one for one in Findings.from_dict(noted) if one.main is not None]
    for name in dict.fromkeys(one.name for one in found):
        yield _chart(name, [one for one in found if one.name == name])


def _key(name: str) -> str:
    return "tried_" + name.replace("-", "_")


def _chart(name: str, found: list[Finding]) -> Chart:
    rows = [row for one in found for row in _rows(one)]
    there = [kind for kind in ATTACKED.names if any(row["attacked"] == kind for row in rows)]
    colours = dict(zip(ATTACKED.names, ATTACKED.colours, strict=True))
    bounds = {one.bound for one in found if one.bound is not None}
    bound = bounds.pop() if len(bounds) == 1 else None
    highest = max(row["high"] or row["right"] for row in rows)
    reach = max(highest, bound or 0) * ROOM or 1
    text = f"Right guesses of {name}, with 95 % intervals."
    spec = bars_with_intervals(
        rows,
        down=Axis("setting", "", ""),
        along=Axis(
            "right", "share of guesses that are right", ".4~%", limits=(0, reach), ticks=WHOLE if reach > 1 else ()
        ),
        series=Series("attacked", tuple(there), tuple(colours[kind] for kind in there)),
        limit=bound,
        text=text,
    )
    table = [(row["setting"], row["attacked"], row["label"], row["interval"]) for row in rows]
    note = "" if bound is None else f"Dashed line: the guarantee suggests at most {share(bound)}."
    columns = ("setting", "attacked", "right", "95 % interval")
    return Chart(_key(name), "Guesses that are right", text, spec, columns, table, note)


def _rows(found: Finding) -> Iterator[dict[str, Any]]:
    """Return a row for each bar of a finding."""
    setting = ", ".join(f"{key.replace('_', ' ')}: {value}" for key, value in found.parameters.items()) or found.name
    before = found.details.get("in-the-original", {}).get("right")
    if before is not None:
        yield _row(setting, "original", before)
    for kind, trial in (("release", found.main), ("control", found.control), ("by chance", found.naive)):
        if trial is not None:
            yield _row(setting, kind, trial.rate, trial)


def _row(setting: str, attacked: str, rate: float, trial: Trial | None = None) -> dict[str, Any]:
    low, high = (None, None) if trial is None or trial.is_exact else trial.interval
    interval = "" if low is None or high is None else f"{share(low)} to {share(high)}"
    row = {"setting": setting, "attacked": attacked, "right": rate, "low": low, "high": high}
    return row | {"label": share(rate), "interval": interval}
