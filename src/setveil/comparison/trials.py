"""One trial: a method with its parameters and a seed, run in memory on a part of the people and tested on the others.

`Bench` divides the people once, and `run_trial` runs one trial on it. Nothing is written, and no release is made: the draw of a trial is
never published, because `publish` draws its own seed.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.attacks.base import Finding
from setveil.attacks.findings import Findings
from setveil.base.display import quantity, share
from setveil.data.records.look_alikes import LookAlikes
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, GuaranteeViolated, InputError
from setveil.metrics.base import Metric
from setveil.metrics.measurements import Measurements
from setveil.metrics.mined import Mined
from setveil.metrics.pair import Pair
from setveil.metrics.tasks.heldout import Heldout
from setveil.parameters.names_found import names_found, refuse_look_alikes
from setveil.release.attack_runs import QUICK_TARGETS, Case, chosen_attacks, run_attacks
from setveil.release.drawing import Drawn, block_records_of, draw
from setveil.release.measuring import LEVELS, chosen_metrics, measure_pair
from setveil.release.publishing import resolve_ids
from setveil.release.release import Terms, judge
from setveil.release.seed import Randomness, Seed, recipe_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.attacks.base import Attack
    from setveil.base.verdict import Verdict
    from setveil.methods.base import Method
    from setveil.metrics.base import Measurement

TASK = "ease"
"""The default task."""
ATTACKS = (
    "find-record:known=2",
    "guess-items:model=same-basket",
    "guess-items:model=naive-bayes",
    "membership",
    "quick",
)
"""The default attacks: the same on all methods as far as they apply, and those that test the bound of a guarantee."""
HELD_OUT = 0.2
"""The default share of the people that no method sees."""
LEAST_PEOPLE = 10
"""The minimum number of people on each side of the division."""

Status = Literal["holds", "violated", "undecided", "no guarantee", "refused"]


@dataclass(frozen=True)
class Asked:
    """What every trial of a comparison measures, and on which terms."""

    task: str | Metric = TASK
    metrics: tuple[str | Metric, ...] = ()
    """Measured besides the task."""
    attacks: tuple[str | Attack, ...] = ATTACKS
    targets: int = QUICK_TARGETS
    """Maximum number of guesses of each attack."""
    allow_failures: int = 0
    distinct_labels: bool = False


@dataclass(frozen=True, eq=False)
class Bench:
    """People who are divided once: those that methods see, and those that tasks and attacks are tested with."""

    train: Transactions
    held_out: Transactions | None
    """None if nobody was held out: then tasks are tested on the same people, which is optimistic."""
    before: Mined
    """The frequent itemsets of these people, mined once for all trials."""
    people: Heldout
    """What tasks achieve with the original, computed once for all trials."""
    checksum: str
    """The checksum of `train`."""

    @classmethod
    def of(cls, data: Transactions, *, held_out: float = HELD_OUT, seed: int = 0, records: int | None = None) -> Bench:
        """Divide the people of a data set; with `records`, only this number of them, drawn at random.

        Examples
        --------
        >>> import setveil as sv
        >>> from setveil.comparison.trials import Bench
        >>> bench = Bench.of(sv.read("sample:supermarket?records=1000"))
        >>> bench.train.records, bench.people.people.records
        (800, 200)
        """
        rng = np.random.default_rng([seed, data.records])
        drawn = rng.permutation(data.records)[:records]
        number = number_held_out(len(drawn), held_out)
        if not number:
            raise BadData(
                f"{quantity(len(drawn), 'record')} cannot be divided with {share(held_out)} held out: there must be at least "
                f"{LEAST_PEOPLE} records on each side; give more data or another share"
            )
        train, outside = (data.take(np.sort(part)) for part in (drawn[number:], drawn[:number]))
        return cls.with_people(train, outside, divided=True)

    @classmethod
    def with_people(cls, train: Transactions, held_out: Transactions | None, *, divided: bool = False) -> Bench:
        """Return people who were divided before; `divided` states that they are parts of the same data."""
        people = Heldout(train, held_out, divided=divided)
        return cls(train, held_out, Mined(train, "original"), people, train.checksum())


def number_held_out(records: int, share: float) -> int:
    """Return how many of these records are held out; 0 if there would be too few people on one side."""
    number = round(share * records)
    return number if LEAST_PEOPLE <= number <= records - LEAST_PEOPLE else 0


@dataclass(frozen=True)
class TrialResult:
    """The result of one trial: the verdict, what was measured, what attacks found, and how long it took."""

    status: Status
    reason: str = ""
    """Why the method or its guarantee refused the data, or what is violated."""
    measurements: Measurements = field(default_factory=Measurements)
    """The task first; empty if the trial was refused."""
    findings: Findings = field(default_factory=Findings)
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor time of each step."""

    @property
    def task(self) -> Measurement | None:
        """What the task keeps; None if the trial was refused."""
        return self.measurements[0] if self.measurements else None

    @property
    def strongest(self) -> Finding | None:
        """The finding whose excess has the highest lower end; None if no attack had a result."""
        found = [(one.excess.low, one) for one in self.findings if one.excess is not None]
        return max(found, key=lambda pair: pair[0])[1] if found else None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            "status": self.status,
            "reason": self.reason,
            "measurements": [one.to_dict() for one in self.measurements],
            "findings": [one.to_dict() for one in self.findings],
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }


def run_trial(bench: Bench, method: Method, seed: int, asked: Asked) -> TrialResult:
    """Run a method on one part of the people, check its guarantee, and measure it on the others.

    A method that refuses the data is a result with its reason, and no error. A release whose guarantee is violated is measured too. The
    result is the same on every run, except for the times.

    Examples
    --------
    >>> import setveil as sv
    >>> from setveil.comparison.trials import Asked, Bench, run_trial
    >>> bench = Bench.of(sv.read("sample:supermarket?records=1000"))
    >>> found = run_trial(bench, sv.Disassociation(k=3, m=2), 0, Asked(task="tlost:k=2", attacks=("find-record:known=2",)))
    >>> found.status, found.strongest.name
    ('holds', 'find-record')
    """
    clock = Clock()
    terms = Terms(resolve_ids(bench.train, None, type(method)), asked.allow_failures, asked.distinct_labels)
    size = block_records_of(method, bench.train)
    recipe = recipe_of(method, terms.ids, size)
    randomness = Randomness(Seed(seed, given=True), bench.checksum, recipe, block_records=size)
    try:
        bound, drawn = _drawn(bench.train, method, terms, randomness)
        clock.lap("method")
    except GuaranteeViolated as error:  # the method knows before any check
        return TrialResult("undecided" if _is_undecided(error.verdict) else "violated", str(error), seconds=clock.laps)
    except InputError as error:
        return TrialResult("refused", str(error), seconds=clock.laps)
    status, reason = _judged(bench.train, bound, drawn, terms)
    clock.lap("checking")
    guarantee = None if bound.guarantee is None else bound.guarantee.name
    case = Case(drawn.published, drawn.alignment, bench.train, bound, guarantee, randomness)
    return tested(bench, case, asked, TrialResult(status, reason), clock)


def tested(bench: Bench, case: Case, asked: Asked, result: TrialResult, clock: Clock) -> TrialResult:
    """Return a result with what metrics and attacks find, tested with the people who were held out, if there are any."""
    known = {name: getattr(case.method, name) for name in type(case.method).model_fields}
    measured, pair = _measured(bench, case, known, asked)
    clock.lap("measuring")
    case = replace(case, measured=pair)
    occurrences = case.original.occurrences
    chosen = chosen_attacks(asked.attacks, type(case.published), case.guarantee, occurrences=occurrences)
    findings = run_attacks(case, chosen, case.target(bench.held_out, asked.targets))
    clock.lap("attacking")
    return replace(result, measurements=measured, findings=findings, seconds=clock.laps)


def key_of(method: Method) -> str:
    """Return what identifies a set-up: a checksum of the method with its parameters, with the content of the files that they name."""
    return hashlib.sha256(recipe_of(method, "").encode()).hexdigest()[:16]


class Clock:
    """Measures the processor time of steps."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = time.process_time()

    def lap(self, name: str) -> None:
        """Note the time since the last step."""
        now = time.process_time()
        self.laps[name] = now - self._since
        self._since = now


def _drawn(train: Transactions, method: Method, terms: Terms, randomness: Randomness) -> tuple[Method, Drawn]:
    if not terms.distinct_labels:
        refuse_look_alikes(method, LookAlikes.of(train))
    for found in names_found(method, train):
        found.refuse("accept")
    rng = randomness.generator()
    bound = method.bind(train, linked=terms.ids != "drop", rng=rng)
    return bound, draw(bound, train, terms.ids, randomness, rng)


def _judged(train: Transactions, bound: Method, drawn: Drawn, terms: Terms) -> tuple[Status, str]:
    try:
        verdict = judge(drawn.published, train, drawn.alignment, bound, terms, drawn.account, drawn.advice)
    except GuaranteeViolated as error:
        return ("undecided" if _is_undecided(error.verdict) else "violated"), str(error)
    if verdict is None:
        return "no guarantee", ""
    return "holds", "" if verdict else str(verdict)


def _is_undecided(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.status == "undecided"


def _measured(bench: Bench, case: Case, known: Mapping[str, Any], asked: Asked) -> tuple[Measurements, Pair]:
    form = type(case.published)
    listed: list[Metric | Measurement] = []
    for one in (asked.task, *asked.metrics):
        metrics, lacking = chosen_metrics([one], known, form, heldout=True)
        listed += [*metrics, *([] if one in LEVELS else lacking)]
    chosen = [one for one in listed if isinstance(one, Metric)]
    pair = Pair(bench.train, case.published, case.alignment, metrics=chosen, heldout=bench.people, before=bench.before)
    measured = iter(measure_pair(pair, chosen))
    return Measurements(next(measured) if isinstance(one, Metric) else one for one in listed), pair
