"""How a claim is decided from figures: cases, each compared seed by seed, and a verdict by how many of them agree.

A case is one comparison, such as one data set at one support. It *agrees* if the comparison comes out as claimed with every seed,
*disagrees* if with none, is *mixed* if with some, and *open* if a figure is missing. A claim about everything holds if all cases that can
be decided agree, does not hold if all disagree, and holds in part otherwise. A claim that something happens somewhere holds if one agrees.
Of seconds the shortest run of all seeds is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from setveil.reproduce.figures import Figures

Status = Literal["holds", "holds in part", "does not hold", "cannot be decided"]
Outcome = Literal["agrees", "disagrees", "mixed", "open"]
Size = Literal["paper", "full"]
Values = dict[str, float]

SHOWN = 2
"""Cases that are told in a line."""
OURS = "ours"
Readings = Mapping[str, Mapping[str, str]]
"""The ways in which a paper's method is read, the one that verdicts are on first: which line of the figures stands for the method."""


@dataclass(frozen=True)
class Case:
    """One comparison and what it gave; the numbers are means over the seeds, or the shortest of all runs."""

    place: str
    outcome: Outcome
    numbers: dict[str, float | None]
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.in_words}"

    @property
    def in_words(self) -> str:
        """The numbers as people read them."""
        return ", ".join(f"{name} {written(value, self.unit)}" for name, value in self.numbers.items())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"place": self.place, "outcome": self.outcome, "numbers": self.numbers, "in_words": self.in_words}


def written(value: float | None, unit: str = "") -> str:
    """Write a figure for people: itemsets whole, lengths with two decimals, shares in percent, the rest with three digits."""
    if value is None:
        return "–"
    if unit == "itemsets":
        return f"{value:,.0f}"
    if unit == "length":
        return f"{value:.2f}"
    if unit == "share":
        return "0%" if value == 0 else f"{100 * value:,.0f}%" if value >= 1 else f"{100 * value:.3g}%"
    if unit == "s":
        return f"{value:.3g}\u00a0s" if value >= 1 else f"{1000 * value:.3g}\u00a0ms"
    return f"{value:.3g}"


@dataclass(frozen=True)
class View:
    """Figures as one reading of a claim sees them: these data sets, and these lines for the paper's method."""

    figures: Figures
    sizes: Mapping[str, Sequence[str]]
    size: Size
    records: Mapping[str, int]
    titles: Mapping[str, str]
    lines: Mapping[str, str]

    @property
    def datasets(self) -> Sequence[str]:
        """The data sets of this size."""
        return self.sizes.get(self.size, ())

    def line(self, method: str) -> str:
        """Return which line of the figures stands for a method."""
        return self.lines.get(method, method)

    def title(self, method: str) -> str:
        """Return a method's name for people."""
        return self.titles.get(self.line(method), method)

    def value(self, dataset: str, method: str, metric: str, seed: int, support: str = "") -> float | None:
        """Return one figure."""
        return self.figures.value(dataset, self.line(method), metric, seed, support)

    def mean(self, dataset: str, method: str, metric: str, support: str = "") -> float | None:
        """Return the mean of a figure over the seeds."""
        return self.figures.spread(dataset, self.line(method), metric, support).mean

    def shortest(self, dataset: str, method: str) -> float | None:
        """Return the seconds of the shortest run with any seed."""
        return self.figures.spread(dataset, self.line(method), "seconds").low

    def case(
        self,
        dataset: str,
        metric: str,
        methods: Sequence[str],
        test: Callable[[Values], bool],
        *,
        support: str = "",
        unit: str = "",
        beside: Sequence[str] = (),
    ) -> Case:
        """Compare one metric of some methods, seed by seed; the numbers of those `beside` are told and not compared."""
        by_seed = [
            {method: self.value(dataset, method, metric, seed, support) for method in methods}
            for seed in self.figures.seeds()
        ]
        numbers = {self.title(method): self.mean(dataset, method, metric, support) for method in methods}
        told = {self.title(method): self.mean(dataset, method, metric, support) for method in beside}
        numbers |= {title: mean for title, mean in told.items() if mean is not None}
        place = f"{dataset} at {support}" if support else dataset
        return Case(place, outcome_of(by_seed, test), numbers, unit)

    def by_support(
        self,
        metric: str,
        methods: Sequence[str],
        test: Callable[[Values], bool],
        *,
        unit: str = "",
        beside: Sequence[str] = (),
    ) -> list[Case]:
        """Compare at every support of every data set."""
        return [
            self.case(dataset, metric, methods, test, support=support, unit=unit, beside=beside)
            for dataset in self.datasets
            for support in self.figures.supports(dataset)
        ]

    def by_dataset(
        self,
        metric: str,
        methods: Sequence[str],
        test: Callable[[Values], bool],
        *,
        unit: str = "",
        beside: Sequence[str] = (),
    ) -> list[Case]:
        """Compare on every data set."""
        return [self.case(dataset, metric, methods, test, unit=unit, beside=beside) for dataset in self.datasets]


def in_time(view: View, methods: Sequence[str], test: Callable[[Values], bool]) -> list[Case]:
    """Compare the shortest runs on every data set: what a seed draws hardly matters there, what else a machine does does."""
    cases = []
    for dataset in view.datasets:
        seconds = {method: view.shortest(dataset, method) for method in methods}
        named = {view.title(method): value for method, value in seconds.items()}
        cases.append(Case(dataset, outcome_of([seconds], test), named, "s"))
    return cases


def rises(one: str, other: str) -> Callable[[Values], bool]:
    """Return the test that a figure of the second is above that of the first."""
    return lambda values: values[one] < values[other]


def outcome_of(by_seed: Iterable[Mapping[str, float | None]], test: Callable[[Values], bool]) -> Outcome:
    """Tell whether a comparison comes out with every seed, with none, or with some."""
    found = []
    for values in by_seed:
        known = {name: value for name, value in values.items() if value is not None}
        if len(known) == len(values):
            found.append(test(known))
    if not found:
        return "open"
    return "agrees" if all(found) else "mixed" if any(found) else "disagrees"


@dataclass(frozen=True)
class Claim:
    """What is claimed, and how it is decided."""

    key: str
    section: str
    topic: str
    """The figure that it stands beside on the page, or what else it is about."""
    statement: str
    """The claim in our words."""
    rule: str
    """When a case agrees."""
    cases: Callable[[View], list[Case]] = field(repr=False)
    somewhere: bool = False
    sizes: tuple[Size, ...] = ("paper", "full")
    by_reading: bool = True
    """Whether it makes a difference in which way the paper's method is read."""

    @property
    def ours(self) -> bool:
        """Not a claim of the paper, but what our additional figures show."""
        return self.section == OURS


@dataclass(frozen=True)
class Finding:
    """What the figures of one size and one reading say of a claim."""

    size: Size
    reading: str
    status: Status
    cases: list[Case]
    somewhere: bool = False

    @property
    def counts(self) -> Counter[str]:
        """How many cases came out how."""
        return Counter(case.outcome for case in self.cases)

    @property
    def tally(self) -> str:
        """How many of the cases that can be decided agree; empty where none can."""
        decided = len(self.cases) - self.counts["open"]
        return f"{self.counts['agrees']} of {decided}" if decided else ""

    @property
    def evidence(self) -> str:
        """A line: how many cases agree, and examples of those that decided it."""
        counts = self.counts
        if not self.tally:
            return "no figures that decide it"
        said = f"{self.tally} cases agree"
        if counts["mixed"]:
            said += f", {counts['mixed']} with some of the seeds only"
        telling = ("agrees", "mixed") if self.somewhere or self.status == "holds" else ("disagrees", "mixed")
        examples = sorted((c for c in self.cases if c.outcome in telling), key=lambda c: telling.index(c.outcome))
        word = "such as" if telling[0] == "agrees" else "but"
        return f"{said}; {word} {'; '.join(map(str, examples[:SHOWN]))}" if examples else said

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "size": self.size,
            "reading": self.reading,
            "status": self.status,
            "counts": dict(self.counts),
            "tally": self.tally,
            "evidence": self.evidence,
            "cases": [case.to_dict() for case in self.cases],
        }


@dataclass(frozen=True)
class Verdict:
    """A claim and what was found, first at the size that the paper speaks of and in the first reading."""

    claim: Claim
    findings: list[Finding]

    @property
    def status(self) -> Status:
        """What the first finding says."""
        return self.findings[0].status

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        claim = self.claim
        return {
            "claim": claim.key,
            "section": claim.section,
            "topic": claim.topic,
            "statement": claim.statement,
            "rule": claim.rule,
            "ours": claim.ours,
            "status": self.status,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def status_of(cases: Sequence[Case], *, somewhere: bool = False) -> Status:
    """Decide a claim from its cases."""
    counts = Counter(case.outcome for case in cases)
    decided = len(cases) - counts["open"]
    if not decided:
        return "cannot be decided"
    if somewhere:
        return "holds" if counts["agrees"] else "holds in part" if counts["mixed"] else "does not hold"
    if counts["agrees"] == decided:
        return "holds"
    return "does not hold" if counts["disagrees"] == decided else "holds in part"


def decide(
    claim: Claim,
    figures: Figures,
    sizes: Mapping[str, Sequence[str]],
    records: Mapping[str, int],
    titles: Mapping[str, str],
    readings: Readings,
) -> Verdict:
    """Look at a claim at all sizes that were run, in every reading of the paper's method."""
    findings: list[Finding] = []
    first = next(iter(readings))
    for size in claim.sizes:
        for reading, lines in readings.items():
            if (reading != first and not claim.by_reading) or (findings and not sizes.get(size)):
                continue
            cases = claim.cases(View(figures, sizes, size, records, titles, lines))
            status = status_of(cases, somewhere=claim.somewhere)
            findings.append(Finding(size, reading, status, cases, claim.somewhere))
    return Verdict(claim, findings)
