"""`advise`: recommend set-ups for a context, by trials that use a part of the data.

The set-ups to try follow from the answers (`candidates`). Each is tried on the same people. The recommended one keeps most of the work
among those whose risk is acceptable. No set-up that was tried beats one that is shown in both utility and risk.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from setveil.base import progress
from setveil.base.arguments import check_arguments, describe
from setveil.base.display import quantity, share
from setveil.comparison.candidates import Candidate, Gap, SideFiles, candidates, items_known, warnings
from setveil.comparison.recommendation import Recommendation, TriedSetUp
from setveil.comparison.trials import ATTACKS, Asked, Bench, run_trial
from setveil.errors import BadParameter, InputError
from setveil.kernels.threads import with_threads
from setveil.release.context import Context
from setveil.release.inputs import as_records

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from setveil.data.records.transactions import Transactions
    from setveil.methods.base import Method

TASKS: Final = {
    "counts": "pair-probabilities",
    "rules": "pair-probabilities",
    "recommendation": "ease",
    "prediction": "item-prediction",
}
"""The metric that shows how well a release serves the work."""
ACCEPTABLE: Final = {"everyone": 0.05, "contract": 0.1, "inside": 0.2, "provider": 0.05}
"""The largest excess of these attacks that is acceptable, by recipients."""
TRIED_RECORDS: Final = 20_000
"""Default number of records of the sample; with more data, 5 % of them up to `MOST_TRIED`."""
MOST_TRIED: Final = 50_000
MOST_SHOWN: Final = 3


@with_threads
@check_arguments
def advise(
    data: Any,
    context: Context | Mapping[str, Any] | str | Path,
    files: SideFiles | None = None,
    *,
    records: int | None = None,
    seed: int = 0,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Recommendation:
    """Recommend set-ups for a context.

    Each set-up that fits the answers is tried: on a sample of the records, of which a fifth is held out to test the work and to compare
    attackers with. Nothing is written or published. On a sample, rare items are rarer than in all data, so that methods which need many
    records with the same items keep less.

    Parameters
    ----------
    data
        The data to publish, or a path to read them from.
    context
        The answers to seven questions: a `Context`, a file, or a dictionary.
    files
        What is known about the items: categories, sensitive items, itemsets, a hierarchy.
    records
        The number of records to draw for the trials; by default 20,000, or 5 % of more than 400,000, at most 50,000.
    seed
        Determines the sample and the draws of the trials.
    threads
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    Recommendation
        At most three set-ups, each with the reason, a bound on all data, and what the trial found.

    Raises
    ------
    Missing, BadParameter
        If an answer is missing or wrong.
    BadData
        If the data cannot be read, or are too few to be divided.

    Examples
    --------
    >>> import setveil as sv
    >>> context = {"record": "person", "recipients": "contract", "hide": "identity", "known": "2",
    ...            "rows": "true", "work": "recommendation", "earlier": "no"}
    >>> found = sv.advise("sample:supermarket?records=2000", context)
    >>> found.set_ups[0].role, found.set_ups[0].candidate.method.name
    ('recommended', 'disassociation')
    """
    if records is not None and records < 1:
        raise BadParameter(f"`records=` is {records!r}; allowed is a whole number of at least 1")
    if seed < 0:
        raise BadParameter(f"`seed=` is {seed}; allowed is a whole number of at least 0")
    if files is not None and not isinstance(files, SideFiles):
        raise BadParameter(f"files is {describe(files)}; expected SideFiles, such as SideFiles(sensitive=...), or None")
    answers = Context.of(context)
    everyone = as_records(data)
    listed = candidates(answers, files or SideFiles())
    to_try = [one for one in listed if isinstance(one, Candidate)]
    tried: list[TriedSetUp] = []
    sample = ""
    if to_try:
        number = records or min(max(TRIED_RECORDS, everyone.records // 20), MOST_TRIED)
        bench = Bench.of(everyone, records=number, seed=seed)
        sample = _sample_text(bench, everyone)
        asked = Asked(TASKS[answers.work[0]], attacks=(f"find-record:known={items_known(answers)}", *ATTACKS))
        with progress.step("trying set-ups", len(to_try)) as advance:
            for done, one in enumerate(to_try):
                tried.append(TriedSetUp(one, _bound(one.method, everyone), run_trial(bench, one.method, seed, asked)))
                advance(done + 1)
    chosen = recommended(tried, answers)
    gaps = [one for one in listed if isinstance(one, Gap)]
    roles = {id(one.candidate): one for one in chosen}
    tried = [roles.get(id(one.candidate), one) for one in tried]
    return Recommendation(answers, chosen, tried, gaps, warnings(answers), sample, everyone)


def _bound(method: Method, data: Transactions) -> str:
    """Return the bound on these data; none if the method refuses them, for which the trial states the reason."""
    try:
        return method.bound_in(data)
    except InputError:
        return ""


def recommended(tried: list[TriedSetUp], context: Context) -> list[TriedSetUp]:
    """Return at most three set-ups with their roles: one for each thing to hide, then others on the frontier of the first."""
    limit = ACCEPTABLE[context.recipients]
    first: list[TriedSetUp] = []
    others: list[TriedSetUp] = []
    for hidden in context.hide:
        best = frontier([one for one in tried if one.candidate.hides == hidden])
        if not best:
            continue
        choice = _choose(best, limit)
        role = "recommended" if not first else f"recommended to hide {hidden}"
        if choice.risk is None:
            role += f", but no attack on {hidden} had a result"
        elif choice.excess > limit:
            role += f", but its risk is above {share(limit)}"
        elif choice.excess_at_most > limit:
            role += f"; its risk may be above {share(limit)}"
        first.append(replace(choice, role=role))
        if len(first) == 1:
            others = [replace(one, role=_compared(one, choice)) for one in best if one is not choice]
    return [*first, *others][:MOST_SHOWN]


def _choose(best: list[TriedSetUp], limit: float) -> TriedSetUp:
    """Return the set-up that keeps most among those whose risk is acceptable, or else among those that may have the least risk."""
    acceptable = [one for one in best if one.excess <= limit]
    if not acceptable:
        least = min(best, key=lambda one: one.excess)
        acceptable = [one for one in best if one.excess_at_least <= least.excess_at_most]
    return max(acceptable, key=lambda one: (one.kept, -one.excess))


def frontier(tried: list[TriedSetUp]) -> list[TriedSetUp]:
    """Return the set-ups whose guarantee holds and that no other one beats in utility or risk without being worse in the other."""
    holding = [one for one in tried if one.result.status == "holds"]
    return [
        one
        for one in holding
        if not any(
            (other.kept, -other.excess) != (one.kept, -one.excess)
            and other.kept >= one.kept
            and other.excess <= one.excess
            for other in holding
        )
    ]


def _compared(one: TriedSetUp, choice: TriedSetUp) -> str:
    if one.kept > choice.kept:
        return "keeps more, at more risk"
    if one.kept == choice.kept:
        return "same utility and risk"
    return "less risk, keeps less" if one.utility is not None else "less risk, no figure for the work"


def _sample_text(bench: Bench, everyone: Transactions) -> str:
    held_out = bench.people.people.records
    people = bench.train.records + held_out
    of = "all" if people == everyone.records else f"a sample of {people:,} of"
    return (
        f"tried on {of} {quantity(everyone.records, 'record')}: the methods saw {bench.train.records:,}, and {held_out:,} were held out to "
        "test the work and to compare attackers with"
    )
