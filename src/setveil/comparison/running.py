"""`compare`: run all set-ups of a grid, first on a sample and then on all records, and summarize what they keep and reveal."""

from __future__ import annotations

import re
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.atomic import replace_file
from setveil.base.display import quantity, round_minutes
from setveil.comparison.facts import described, facts_of, higher_is_better, refuse_undirected
from setveil.comparison.folder import PAGE_NAME, TABLE_NAME, Results, TrialKey, results_of
from setveil.comparison.grid import Grid
from setveil.comparison.page import comparison_page
from setveil.comparison.results import (
    ALL,
    NOT_TRIED,
    SAMPLE,
    Comparison,
    SetUpSummary,
    compared,
    summarized,
)
from setveil.comparison.trial_processes import Task, TrialProcesses, trial_processes
from setveil.comparison.trials import Bench, key_of, number_held_out
from setveil.errors import BadParameter
from setveil.kernels.threads import number_of_threads, with_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


TERMS: Final = ("held_out", "allow_failures", "distinct_labels")
"""The keys of a grid besides those about what is measured that must be equal for results to be reused."""
LEAST_RATIO: Final = 2
"""A sample is used if there are at least this many times as many records."""
LONG_SECONDS: Final = 60
_BUDGET = re.compile(r"(\d+(?:\.\d+)?) ?(s|min|h)")
_SECONDS = {"s": 1, "min": 60, "h": 3600}


@check_arguments
@with_threads
def compare(
    grid: Grid | str | Path | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    budget: str | float | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Comparison:
    """Compare methods and settings on the same data: what a task keeps, and what the strongest attack gains.

    A part of the people is held out. Each trial runs one method with one seed on the others, checks its guarantee, and tests the task and
    the attacks with the people who were held out. All set-ups are first run on a sample, and then on all records. Nothing is published.
    The result depends on the private data, and so does a choice among set-ups: keep the folder private, and name it with `comparison`
    when you publish.

    Parameters
    ----------
    grid
        A TOML file, or a dictionary with its keys. See docs/comparison.md.
    out
        The folder to write, with the page `compare.html`. If it holds the same comparison, the trials in it are not run again. Without
        it, nothing is written.
    budget
        How long to run, such as "20min", "90s" or a number of seconds. The best set-ups on the sample run first. By default, all
        trials are run.
    threads
        Number of processes that run trials; by default one per core. The result does not depend on it.

    Returns
    -------
    Comparison
        It prints as a table; `set_ups` has one summary per set-up, and `best` those that no other one beats.

    Raises
    ------
    BadParameter, UnknownName, Missing
        If a key or a value of the grid is wrong or missing.
    BadData
        If a file cannot be read, or there are too few records to hold some out.
    OutputRefused
        If the folder holds something else, or another comparison.

    Examples
    --------
    >>> import setveil as sv
    >>> methods = [{"name": "disassociation", "k": [3, 10], "m": 2}]
    >>> data = {"path": "sample:supermarket?records=1000"}
    >>> found = sv.compare({"data": data, "methods": methods, "seeds": 1, "task": "item-knn"}, out="comparison")
    >>> [one.title for one in found.set_ups]
    ['disassociation k=3', 'disassociation k=10']
    """
    grid = Grid.of(grid)
    seconds = seconds_of(budget)
    until = None if seconds is None else time.monotonic() + seconds
    data = grid.read_data()
    asked = grid.asked(data)
    refuse_undirected(asked.task)
    bench = Bench.of(data, held_out=grid.content["held_out"])
    keys = [key_of(one.made(data)) for one in grid.set_ups]
    measured = described(asked) | {name: grid.content[name] for name in TERMS}
    facts = facts_of(data, grid.to_dict()["data"]["path"], bench, asked.task, measured)
    with results_of(out, facts, grid.to_toml()) as results:
        run = _Run(grid, data.records, keys, results, higher_is_better=higher_is_better(asked.task))
        given = {"grid": grid.described(), "checksum": data.checksum(), "keys": keys}
        with trial_processes(given, number_of_threads()) as processes:
            run.all(processes, until)
        found = Comparison(facts, run.summaries(), None if out is None else Path(out))
        if out is not None:
            with progress.step("writing the page"):
                replace_file(Path(out) / TABLE_NAME, found.to_csv().encode(), mode=0o600, is_result=False)
                replace_file(Path(out) / PAGE_NAME, comparison_page(found).encode(), mode=0o600)
    return found


def seconds_of(budget: str | float | None) -> float | None:
    """Return a budget in seconds; None if there is none."""
    if budget is None:
        return None
    found = _BUDGET.fullmatch(budget.strip()) if isinstance(budget, str) else None
    seconds = budget if not isinstance(budget, str) else float(found[1]) * _SECONDS[found[2]] if found else 0
    if not seconds > 0:
        raise BadParameter(f"`budget=` is {budget!r}; allowed is a time such as 90s, 20min or 2h")
    return float(seconds)


class _Run:
    """The trials of a comparison: which are there, which are left, and in which order they run."""

    def __init__(self, grid: Grid, records: int, keys: list[str], results: Results, *, higher_is_better: bool) -> None:
        self.grid = grid
        self.higher_is_better = higher_is_better
        self.records = records
        self.keys = keys
        self.results = results
        self.ended: dict[int, dict[str, Any]] = {}
        """The set-ups whose process ended without a result, which the next run tries again."""
        sample = grid.content["sample"]
        can_be_divided = number_held_out(sample, grid.content["held_out"]) > 0
        self.sample = sample if can_be_divided and sample <= records / LEAST_RATIO else 0

    def all(self, processes: TrialProcesses, until: float | None) -> None:
        """Run what is left: all set-ups on the sample, then on all records, one seed after the other."""
        numbers = [*range(len(self.keys))]
        if self.sample:
            first = [Task(number, self.grid.seeds[0], self.sample) for number in numbers]
            durations = self._run(processes, "running all set-ups on a sample", first, until)
            self._announce(durations)
            leading = {one.title for one in self._on_sample() if one.is_best}
            numbers = sorted(numbers, key=lambda number: self._titles[number] not in leading)
        rest = [Task(number, seed, self.records) for seed in self.grid.seeds for number in numbers]
        self._run(processes, "running all set-ups on all records", rest, until)

    def _run(self, processes: TrialProcesses, label: str, tasks: list[Task], until: float | None) -> list[float]:
        by_key = {self._key_of(task): task for task in tasks if task.number not in self.ended}  # set-ups may be equal
        left = [task for key, task in by_key.items() if key not in self.results.found]
        durations = []
        with progress.step(label, len(tasks)) as advance:
            done = len(tasks) - len(left)
            advance(done)
            for task, result, seconds in processes.run(left, until=until) if left else ():
                if "ended" in result:
                    self.ended[task.number] = _ended(task, result["ended"])
                else:
                    self.results.add(self._key_of(task), result)
                durations.append(seconds)
                done += 1
                advance(done)
        if done < len(tasks):
            progress.note(f"the budget is used up: {quantity(len(tasks) - done, 'trial')} of {len(tasks):,} not run")
        return durations

    def _announce(self, durations: list[float]) -> None:
        """Note how long the rest will take, if that is long: at most in proportion to the records."""
        trials = len(self.keys) * len(self.grid.seeds)
        left = trials - sum(key.records == self.records for key in self.results.found)
        if durations:
            seconds = sum(durations) / len(durations) * left * self.records / self.sample / number_of_threads()
            if seconds >= LONG_SECONDS:
                progress.note(
                    f"{quantity(left, 'trial')} will take up to {round_minutes(seconds)}, estimated from the sample"
                )

    def _key_of(self, task: Task) -> TrialKey:
        return TrialKey(self.keys[task.number], task.seed, task.records)

    @cached_property
    def _titles(self) -> list[str]:
        return titles([(one.name, one.settings) for one in self.grid.set_ups])

    def _on_sample(self) -> list[SetUpSummary]:
        found = [self._summary(number, SAMPLE) for number in range(len(self.keys))]
        return compared(found, higher_is_better=self.higher_is_better)

    def summaries(self) -> list[SetUpSummary]:
        """Return the summary of each set-up, with the sample where nothing else was run."""
        found = []
        for number in range(len(self.keys)):
            stages = (self._summary(number, stage) for stage in (ALL, SAMPLE, NOT_TRIED))
            found.append(next(one for one in stages if one.trials or one.stage == NOT_TRIED))
        return compared(found, higher_is_better=self.higher_is_better)

    def _summary(self, number: int, stage: str) -> SetUpSummary:
        one = self.grid.set_ups[number]
        tasks = {
            ALL: [Task(number, seed, self.records) for seed in self.grid.seeds],
            SAMPLE: [Task(number, self.grid.seeds[0], self.sample)],
        }
        keys = [self._key_of(task) for task in tasks.get(stage, [])]
        trials = [self.results.found[key] for key in keys if key in self.results.found]
        if number in self.ended and stage == ALL:
            trials.append(self.ended[number])
        return summarized(one.name, one.settings, self._titles[number], trials, stage=stage)


def titles(set_ups: Iterable[tuple[str, dict[str, str]]]) -> list[str]:
    """Return a short text for each set-up: the method, and the parameters that differ between its set-ups."""
    listed = [*set_ups]
    of_method: dict[str, list[dict[str, str]]] = {}
    for name, settings in listed:
        of_method.setdefault(name, []).append(settings)
    differing = {
        (name, key)
        for name, several in of_method.items()
        for key in {key for settings in several for key in settings}
        if len({settings.get(key) for settings in several}) > 1
    }
    return [
        " ".join([name, *(f"{key}={value}" for key, value in settings.items() if (name, key) in differing)])
        for name, settings in listed
    ]


def _ended(task: Task, reason: str) -> dict[str, Any]:
    nothing: dict[str, Any] = {"measurements": [], "findings": [], "seconds": {}}
    return {"seed": task.seed, "records": task.records, "status": "ended", "reason": reason, **nothing}
