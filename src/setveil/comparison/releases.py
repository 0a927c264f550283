"""`compare_releases`: finished releases of the same original, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.atomic import make_folder, refuse_folder
from setveil.comparison.facts import described, facts_of, higher_is_better, refuse_undirected
from setveil.comparison.folder import PAGE_NAME, TABLE_NAME, as_line, as_text, refuse_inside_release
from setveil.comparison.grid import DEFAULTS
from setveil.comparison.page import comparison_page
from setveil.comparison.results import ALL, Comparison, compared, summarized
from setveil.comparison.trials import ATTACKS, TASK, Asked, Bench, Clock, TrialResult, tested
from setveil.errors import BadData, BadParameter
from setveil.kernels.threads import with_threads
from setveil.release.attack_runs import as_attacks
from setveil.release.attacking import case_in
from setveil.release.checking import Evidence
from setveil.release.inputs import as_records, original_of
from setveil.release.measuring import as_metrics
from setveil.release.reporting import with_private_folder
from setveil.release.tried import FACTS_NAME, RESULTS_NAME
from setveil.report.page import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setveil.attacks.base import Attack
    from setveil.metrics.base import Metric
    from setveil.release.dossier import Private
    from setveil.release.inputs import Reading
    from setveil.release.opening import Opened


@check_arguments
@with_threads
def compare_releases(
    original: Any,
    releases: Sequence[str | Path],
    *,
    out: str | Path | None = None,
    heldout: Any = None,
    task: str | Metric = TASK,
    attacks: str | Attack | Iterable[str | Attack] = ATTACKS,
    reading: Reading | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Comparison:
    """Compare finished releases of the same data: what a task keeps, and what the strongest attack gains.

    Without `heldout`, the task is tested on the same people that the releases were made from, which is optimistic. `compare` holds people
    out before it runs any method.

    Parameters
    ----------
    original
        The data that the releases were made from, or a path to read them from.
    releases
        Release folders, each with its private folder beside it.
    out
        The folder to write, with the page `compare.html`. Without it, nothing is written.
    heldout
        Records of people who are not in the original, or a path to read them from.
    task
        The metric that states what is kept, such as `ease` or ``Ease(items=500)``.
    attacks
        The attacks to try, as for `attack`.
    reading
        Options of `read` for the files; by default those that the dossier of each release holds.
    threads
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    Comparison
        It prints as a table; `set_ups` has one summary per release, and `best` those that no other one beats.

    Raises
    ------
    Missing
        If a private folder cannot be found.
    BadData
        If a release was not made from the original, or a file cannot be read.
    OutputRefused
        If the folder exists.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.read("sample:supermarket?records=1000")
    >>> for k in (3, 10):
    ...     release = sv.publish(data, sv.Disassociation(k=k, m=2), out=f"release-{k}", metrics=[], attacks="none")
    >>> found = sv.compare_releases(data, ["release-3", "release-10"], task="item-knn", attacks="find-record:known=2")
    >>> [one.title for one in found.set_ups]
    ['release-3', 'release-10']
    """
    folders = [Path(one) for one in releases]
    if len({*folders}) < len(folders) or not folders:
        raise BadParameter("releases names none, or one of them twice; name each release folder once")
    refuse_undirected(task)
    if out is not None:
        refuse_inside_release(Path(out))
        refuse_folder(Path(out))
    asked = Asked(task, tuple(as_metrics(DEFAULTS["metrics"])), tuple(as_attacks(attacks)))
    opened = [with_private_folder(one, None, "says which row is whose") for one in folders]
    first = opened[0][1]
    records = as_records(original_of(original, first, reading))
    people = None if heldout is None else as_records(original_of(heldout, first, reading))
    bench = Bench.with_people(records, people)
    results = []
    with progress.step("comparing releases", len(opened)) as advance:
        for done, pair in enumerate(opened, start=1):
            results.append(_result(*pair, bench, asked, reading))
            advance(done)
    source = records.source
    measured = described(asked) | {"releases": [str(folder) for folder in folders]}
    facts = facts_of(records, "" if source is None else source.place, bench, asked.task, measured)
    are_different = len({one.name for one in folders}) == len(folders)
    names = [one.name if are_different else str(one) for one in folders]
    summaries = [
        summarized(private.dossier["method"]["name"], _settings(private), name, [result], stage=ALL)
        for name, (_opened, private), result in zip(names, opened, results, strict=True)
    ]
    found = Comparison(
        facts, compared(summaries, higher_is_better=higher_is_better(task)), None if out is None else Path(out)
    )
    if out is not None:
        with make_folder(Path(out)) as new:
            (new / FACTS_NAME).write_text(as_text(facts), encoding="utf-8")
            (new / RESULTS_NAME).write_text("".join(map(as_line, results)), encoding="utf-8")
            (new / TABLE_NAME).write_text(found.to_csv(), encoding="utf-8")
            (new / PAGE_NAME).write_text(comparison_page(found), encoding="utf-8")
    return found


def _result(opened: Opened, private: Private, bench: Bench, asked: Asked, reading: Reading | None) -> dict[str, Any]:
    """Return the result of one release, as that of a trial."""
    if opened.data.made_from is not None:
        raise BadData(
            "is made from another release, so its rows come from no single record; compare the release that it was made from",
            file=str(opened.folder),
        )
    clock = Clock()
    case = case_in(opened, private, bench.train, reading)
    if case.guarantee is None:
        result = TrialResult("no guarantee")
    else:
        verdict = Evidence(opened, private, bench.train).check()
        result = TrialResult(verdict.status, "" if verdict else str(verdict))
    clock.lap("checking")
    found = tested(bench, case, asked, result, clock)
    return {"set_up": private.card.run, "seed": 0, "records": bench.train.records, **found.to_dict()}


def _settings(private: Private) -> dict[str, str]:
    return {name: brief(value) for name, value in private.dossier["method"]["parameters"].items()}
