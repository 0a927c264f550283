"""What `advise` recommends: set-ups with what is known about each, and the table of all that were tried."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from setveil.base.display import ShownTable, share, to_html
from setveil.catalog import METHODS, METRICS
from setveil.comparison.candidates import MOST_KNOWN
from setveil.parameters import kind_of
from setveil.release.inputs import read_from
from setveil.release.job_content import content_of, list_separator
from setveil.release.job_lines import command_of

if TYPE_CHECKING:
    from setveil.attacks.base import Finding
    from setveil.comparison.candidates import Candidate, Gap
    from setveil.comparison.trials import TrialResult
    from setveil.data.records.transactions import Transactions
    from setveil.metrics.base import Measurement
    from setveil.parameters import CommandExample
    from setveil.release.context import Context
    from setveil.release.job_keys import Content

RISKS: Final = {
    "identity": ("find-record",),
    "preference": ("absent-category",),
    "sensitive-items": ("guess-items", "near-the-limit", "within-group"),
    "itemsets": ("holes",),
}
"""The attacks that find out what is to be hidden."""


@dataclass(frozen=True)
class TriedSetUp:
    """A set-up that was tried for a context: a method with its parameters, and what is known about it.

    Attributes
    ----------
    candidate
        The method with its parameters, what it hides and why it was considered.
    bound
        What the guarantee costs at least on all data, as a sentence; empty if no bound is known.
    result
        What a trial on the sample found.
    role
        Why it is shown, such as `recommended`; empty if it is not.

    Examples
    --------
    >>> import setveil as sv
    >>> context = sv.Context(record="person", recipients="contract", hide="identity", known="2", rows="true", work="counts", earlier="no")
    >>> first = sv.advise("sample:supermarket?records=1000", context).set_ups[0]
    >>> print(first.candidate.method.name, first.table["k"], first.result.status)
    disassociation 5 holds
    """

    candidate: Candidate
    bound: str
    result: TrialResult = field(repr=False)
    role: str = ""

    @property
    def utility(self) -> Measurement | None:
        """What the work keeps; None if it has no figure."""
        task = self.result.task
        return None if task is None or task.value is None else task

    @property
    def risk(self) -> Finding | None:
        """The strongest attack on what is to be hidden; None if none had a result."""
        return _strongest([one for one in self.result.findings if self._tries_what_is_hidden(one)])

    @property
    def other_risk(self) -> Finding | None:
        """The strongest other attack: what this set-up does not hide."""
        return _strongest([one for one in self.result.findings if not self._tries_what_is_hidden(one)])

    def _tries_what_is_hidden(self, one: Finding) -> bool:
        """Return whether an attack looks for what is to be hidden, with no more known items than the guarantee covers."""
        covered = getattr(self.candidate.method, "m", MOST_KNOWN)
        return one.name in RISKS[self.candidate.hides] and one.parameters.get("known", 0) <= covered

    @property
    def kept(self) -> float:
        """The figure of the work; less than any figure if there is none."""
        return float("-inf") if self.utility is None or self.utility.value is None else self.utility.value

    @property
    def excess(self) -> float:
        """What the strongest attack on the thing to hide finds beyond its control; 1 if none had a result."""
        return 1.0 if self.risk is None or self.risk.excess is None else _rounded(self.risk.excess.value)

    @property
    def excess_at_least(self) -> float:
        """The lower end of its interval."""
        return 1.0 if self.risk is None or self.risk.excess is None else _rounded(self.risk.excess.low)

    @property
    def excess_at_most(self) -> float:
        """The upper end of its interval."""
        return 1.0 if self.risk is None or self.risk.excess is None else _rounded(self.risk.excess.high)

    @property
    def settings(self) -> str:
        """The parameters that differ from their defaults and do not come from files, as one text."""
        method = self.candidate.method
        from_files = {one.name for one in method.parameters() if getattr(kind_of(one.annotation), "ending", "")}
        parameters = {one.name for one in method.parameters()} - from_files
        return ", ".join(f"{name}={value}" for name, value in self.table.items() if name in parameters)

    @property
    def title(self) -> str:
        """The name of the method with these settings."""
        return f"{self.candidate.method.name} {self.settings}".rstrip()

    @property
    def table(self) -> dict[str, Any]:
        """The table `method` of a job with this set-up."""
        return content_of(self.candidate.method, METHODS, None)

    def lines(self) -> list[tuple[str, str]]:
        """Return what to know about it, each line with its heading."""
        guarantee = self.candidate.method.guarantee
        assert guarantee is not None
        lines = [("Why", self.candidate.why), ("Bound", f"all data: {self.bound}" if self.bound else "")]
        task = self.result.task
        if task is not None:
            lines.append(("Utility", _utility_text(task)))
        if self.risk is not None:
            lines.append(("Risk", self.risk.sentence))
        if self.other_risk is not None and self.other_risk.excess is not None and self.other_risk.excess.low > 0:
            lines.append(("Not hidden", self.other_risk.sentence))
        lines.append(("Not protected", guarantee.not_protected))
        lines.append(("Next", self.candidate.then))
        return [one for one in lines if one[1]]

    def to_dict(self) -> dict[str, Any]:
        """Return the set-up and the result of its trial as plain values."""
        return {
            "role": self.role,
            "method": self.table,
            "hides": self.candidate.hides,
            "why": self.candidate.why,
            "bound": self.bound,
            "trial": self.result.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class Recommendation:
    """What `advise` recommends: at most three set-ups, and what to know about all of them.

    Attributes
    ----------
    context
        The answers.
    set_ups
        The set-ups to choose from, the recommended one first.
    tried
        All set-ups that were tried.
    gaps
        What is to be hidden and no set-up hides here, with the reasons.
    warnings
        What to know whatever the set-up.
    sample
        On how many records the set-ups were tried, in a sentence.

    Examples
    --------
    >>> import setveil as sv
    >>> context = sv.Context(record="person", recipients="contract", hide="itemsets", known="2", rows="true", work="counts", earlier="no")
    >>> found = sv.advise("sample:supermarket?records=1000", context)
    >>> found.set_ups, found.gaps[0].text
    ([], 'every method needs the list and the threshold; give `itemsets=` and `min_support=`')
    """

    context: Context
    set_ups: list[TriedSetUp]
    tried: list[TriedSetUp]
    gaps: list[Gap]
    warnings: list[str]
    sample: str
    data: Transactions = field(repr=False)

    def command(self, set_up: TriedSetUp, *, context: str = "", out: str = "release") -> CommandExample:
        """Return the command that publishes with a set-up; `context` is the file with the answers.

        A file that is not known, because its content was given in Python, has the name of its option in capital letters.
        """
        place, reading = read_from(None, self.data)
        data = {"path": place or "DATA", **reading}
        if self.context.record == "person" and self.data.unit == "record":
            data["unit"] = "person"
        method = content_of(set_up.candidate.method, METHODS, list_separator({"data": data}))
        kinds = {one.name: kind_of(one.annotation) for one in set_up.candidate.method.parameters()}
        given = {
            name
            for name, kind in kinds.items()
            if kind is not None and kind.ending and isinstance(method.get(name), list | dict)
        }
        content: Content = {"data": data, "method": method | {name: name.upper() for name in given}}
        if context:
            content["context"] = context
        if self.context.earlier != "no":
            content["register"] = "releases.db"
        return command_of(content | {"out": out})

    def problems(self) -> list[tuple[str, str]]:
        """Return each set-up that cannot be recommended because its guarantee does not hold on the sample, with the reason."""
        return [
            (one.title, f"{one.result.status} on the sample: {one.result.reason}")
            for one in self.tried
            if one.result.status != "holds"
        ]

    def tables(self) -> list[ShownTable]:
        """Return a table of all set-ups that were tried."""
        header = [
            "set-up",
            "settings",
            "hides",
            "verdict",
            "utility",
            "95 % interval",
            "risk",
            "95 % interval",
            "shown as",
        ]
        rows = [
            [
                one.candidate.method.name,
                one.settings,
                one.candidate.hides,
                one.result.status,
                "–" if one.utility is None or one.utility.value is None else f"{one.utility.value:.3f}",
                "–" if one.utility is None or one.utility.interval is None else _interval(one.utility.interval),
                "–" if one.risk is None else share(one.excess),
                "–" if one.risk is None else f"{share(one.excess_at_least)} to {share(one.excess_at_most)}",
                one.role,
            ]
            for one in self.tried
        ]
        return [ShownTable(rows, header)]

    def __repr__(self) -> str:
        return "\n\n".join(table.to_text() for table in self.tables())

    def _repr_html_(self) -> str:
        return to_html(*self.tables())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "context": self.context.to_dict(),
            "sample": self.sample,
            "set-ups": [one.to_dict() for one in self.set_ups],
            "tried": [one.to_dict() for one in self.tried],
            "gaps": [{"hides": one.hides, "text": one.text} for one in self.gaps],
            "warnings": self.warnings,
        }


def _strongest(found: list[Finding]) -> Finding | None:
    with_result = [(one.excess.low, number, one) for number, one in enumerate(found) if one.excess is not None]
    return max(with_result)[2] if with_result else None


def _utility_text(task: Measurement) -> str:
    title = METRICS[task.name].title
    if task.value is None:
        return f"{title}: {task.reason}"
    interval = ""
    if task.interval is not None:
        interval = f" (95 % interval {_interval(task.interval)}, from {task.details['sample']:,} records)"
    original = task.details.get("original")  # of a figure that is not relative to the original's
    beside = f"; the original itself: {original['pairs']:.3f}" if original else ""
    return f"{title}: {task.value:.3f}{interval}, {task.unit}{beside}"


def _interval(limits: tuple[float, float]) -> str:
    return f"{limits[0]:.3f} to {limits[1]:.3f}"


def _rounded(excess: float) -> float:
    """Return an excess that is not below 0, without the rest of a subtraction."""
    return round(max(excess, 0.0), 9)
