"""The result of a comparison: one summary per set-up over its trials, which set-ups no other one beats, and a table."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from setveil.attacks.base import Finding
from setveil.base.display import ShownTable, signed_share, to_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

ALL, SAMPLE, NOT_TRIED = "all records", "sample", "not tried"
FAILED = ("violated", "undecided", "refused", "ended")
"""The statuses that disqualify a set-up, the worst first."""


class Estimate(NamedTuple):
    """A mean over trials with the mean of the ends of their 95 % intervals; without intervals, the ends are None."""

    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: Sequence[tuple[float, Sequence[float] | None]]) -> Estimate | None:
        """Return the estimate over values with their intervals; None if there is no value."""
        if not found:
            return None
        ends = [interval for _value, interval in found if interval is not None]
        low, high = (fmean(one[side] for one in ends) if len(ends) == len(found) else None for side in (0, 1))
        return cls(fmean(value for value, _interval in found), low, high)


@dataclass(frozen=True)
class SetUpSummary:
    """What the trials of one set-up found.

    Attributes
    ----------
    method, settings, title
        The method, its parameters as texts, and both as one text with the parameters that differ from other set-ups of the method.
    stage
        `all records`, `sample` if the set-up was only run on a sample, or `not tried`.
    status, reason
        The worst status of its trials, and its reason.
    trials
        The results on all records, or that on the sample.
    task
        What the task keeps; None without a result.
    excess, attack
        The excess of the strongest attack over its control, and the name of the attack.
    measurements
        The means of the other metrics, by title; None for one without a result.
    seconds
        The mean processor time of a trial.
    is_best
        Whether no other set-up whose guarantee holds keeps more and reveals less.
    """

    method: str
    settings: dict[str, str]
    title: str
    stage: str
    status: str
    reason: str
    trials: list[dict[str, Any]] = field(repr=False)
    task: Estimate | None
    excess: Estimate | None
    attack: str
    measurements: dict[str, float | None]
    seconds: float | None
    is_best: bool = False
    task_rank: int | None = None
    excess_rank: int | None = None

    @property
    def fails(self) -> bool:
        """Whether its guarantee does not hold, or it was refused."""
        return self.status in FAILED


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`: it prints as a table, and `set_ups` has one summary per set-up.

    Attributes
    ----------
    facts
        What was compared, and how: the data, the division of the people, the measurements.
    set_ups
        The summaries, in the order of the grid.
    folder
        The folder with the results, the table and the page; None if nothing was written.

    Examples
    --------
    >>> import setveil as sv
    >>> methods = [{"name": "disassociation", "k": [3, 10], "m": 2}]
    >>> data = {"path": "sample:supermarket?records=1000"}
    >>> found = sv.compare({"data": data, "methods": methods, "seeds": 1, "attacks": "find-record:known=2"})
    >>> [one.status for one in found.set_ups], found.best[0] in found.set_ups
    (['holds', 'holds'], True)
    """

    facts: dict[str, Any] = field(repr=False)
    set_ups: list[SetUpSummary]
    folder: Path | None = None

    @property
    def best(self) -> list[SetUpSummary]:
        """The set-ups whose guarantee holds and that no other such set-up beats, the one that keeps most first."""
        found = [one for one in self.set_ups if one.is_best]
        return sorted(found, key=lambda one: one.task_rank or 0)

    @property
    def ordered(self) -> list[SetUpSummary]:
        """All set-ups: the best first, those whose guarantee does not hold last, and by what they keep."""
        last = len(self.set_ups) + 1
        return sorted(self.set_ups, key=lambda one: (not one.is_best, one.fails, one.task_rank or last))

    @property
    def columns(self) -> list[str]:
        """The columns of the table."""
        return [*self.records()[0]] if self.set_ups else []

    def records(self) -> list[dict[str, Any]]:
        """Return one row per set-up with everything that a table shows, in the same columns."""
        parameters = dict.fromkeys(name for one in self.set_ups for name in one.settings)
        metrics = dict.fromkeys(title for one in self.set_ups for title in one.measurements)
        return [
            {
                "method": one.method,
                **{name: one.settings.get(name, "") for name in parameters},
                "stage": one.stage,
                "trials": len(one.trials),
                "status": one.status,
                **_columns("task", one.task),
                **_columns("excess", one.excess),
                "attack": one.attack,
                **{title: one.measurements.get(title) for title in metrics},
                "best": one.is_best,
                "task rank": one.task_rank,
                "excess rank": one.excess_rank,
                "reason": one.reason,
                "seconds": None if one.seconds is None else round(one.seconds, 3),
            }
            for one in self.set_ups
        ]

    def to_csv(self) -> str:
        """Return the table as CSV text; the last column, the seconds, is the only one that differs between equal runs."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {"facts": self.facts, "set_ups": self.records()}

    def to_table(self) -> Any:
        """Return an Arrow table with one row per set-up."""
        import pyarrow as pa  # noqa: PLC0415 - imported only for tables

        return pa.Table.from_pylist(self.records())

    def table(self) -> ShownTable:
        """Return the table that is shown: the best set-ups first, then by what they keep."""
        rows = [
            [
                one.title,
                one.status if one.stage == ALL else f"{one.status} ({one.stage})",
                interval_text(one.task, is_share=False),
                interval_text(one.excess),
                one.attack,
                "" if one.seconds is None else f"{one.seconds:.1f}",
                "best" if one.is_best else "",
            ]
            for one in self.ordered
        ]
        return ShownTable(rows, ["set-up", "guarantee", "task", "strongest attack", "", "seconds", ""])

    def __repr__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return to_html(self.table())


def _columns(name: str, found: Estimate | None) -> dict[str, float | None]:
    return {name: found and found.value, f"{name} low": found and found.low, f"{name} high": found and found.high}


def interval_text(found: Estimate | None, *, is_share: bool = True) -> str:
    """Return a value with its interval."""
    if found is None:
        return ""
    shown = signed_share if is_share else lambda value: f"{value:.3f}"
    text = shown(found.value)
    return text if found.low is None or found.high is None else f"{text} ({shown(found.low)} to {shown(found.high)})"


def summarized(
    method: str, settings: dict[str, str], title: str, trials: list[dict[str, Any]], *, stage: str, reason: str = ""
) -> SetUpSummary:
    """Return the summary of the trials of one set-up."""
    failed = [one for status in FAILED for one in trials if one["status"] == status]
    status = failed[0]["status"] if failed else trials[0]["status"] if trials else NOT_TRIED
    if 0 < len(failed) < len(trials):
        reason = f"in {len(failed)} of {len(trials)} trials: {failed[0]['reason']}"
    elif failed:
        reason = failed[0]["reason"]
    measured = [one["measurements"] for one in trials if one["measurements"]]
    attack, excess = _strongest([finding for one in trials for finding in one["findings"]])
    seconds = [sum(one["seconds"].values()) for one in trials if one["seconds"]]
    return SetUpSummary(
        method=method,
        settings=settings,
        title=title,
        stage=stage,
        status=status,
        reason=reason,
        trials=trials,
        task=Estimate.of([(one[0]["value"], one[0]["interval"]) for one in measured if one[0]["value"] is not None]),
        excess=excess,
        attack=attack,
        measurements=_means(one for listed in measured for one in listed[1:]),
        seconds=fmean(seconds) if seconds else None,
    )


def measurement_title(measured: dict[str, Any]) -> str:
    """Return the name of a measurement with its settings."""
    settings = ", ".join(f"{key}={value}" for key, value in measured["parameters"].items())
    return f"{measured['name']} ({settings})" if settings else str(measured["name"])


def _means(measured: Iterable[dict[str, Any]]) -> dict[str, float | None]:
    found: dict[str, list[float]] = {}
    for one in measured:
        values = found.setdefault(measurement_title(one), [])
        values += [] if one["value"] is None else [one["value"]]
    return {title: fmean(values) if values else None for title, values in found.items()}


def _strongest(findings: Iterable[dict[str, Any]]) -> tuple[str, Estimate | None]:
    """Return the attack whose excess has the highest lower end, on average over the trials, and this excess."""
    by_title: dict[str, list[tuple[float, Sequence[float]]]] = {}
    for one in findings:
        if one["excess"] is not None:
            excess = one["excess"]
            by_title.setdefault(Finding.from_dict(one).title, []).append(
                (excess["value"], (excess["low"], excess["high"]))
            )
    estimates = {title: Estimate.of(found) for title, found in by_title.items()}
    found = [(one.low, title) for title, one in estimates.items() if one is not None and one.low is not None]
    if not found:
        return "", None
    title = max(found, key=lambda pair: pair[0])[1]
    return title, estimates[title]


def compared(summaries: Sequence[SetUpSummary], *, higher_is_better: bool) -> list[SetUpSummary]:
    """Return the summaries with their ranks, and whether no other one whose guarantee holds keeps more and reveals less.

    Set-ups that were only run on a sample are not compared with the others.
    """
    stage = ALL if any(one.stage == ALL for one in summaries) else SAMPLE
    points = {
        place: (-one.task.value if higher_is_better else one.task.value, one.excess.value)
        for place, one in enumerate(summaries)
        if one.stage == stage and one.task is not None and one.excess is not None
    }
    holding = {points[place] for place in points if summaries[place].status == "holds"}
    found = []
    for place, one in enumerate(summaries):
        point = points.get(place)
        if point is None:
            found.append(one)
            continue
        is_beaten = any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in holding)
        ranks = [1 + sum(other[side] < point[side] for other in points.values()) for side in (0, 1)]
        is_best = one.status == "holds" and not is_beaten
        found.append(replace(one, is_best=is_best, task_rank=ranks[0], excess_rank=ranks[1]))
    return found
