"""`publish`: makes a release and checks its guarantee, or raises."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.data.forms.base import Ids, Naming
from setveil.data.reading.source import in_words
from setveil.data.records.look_alikes import LookAlikes
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, BadParameter
from setveil.kernels.threads import with_threads
from setveil.parameters.names_found import MissingNames, names_found, refuse_look_alikes
from setveil.release.inputs import as_published, as_records
from setveil.release.measuring import chosen_metrics, measure_all
from setveil.release.release import Release, Terms, judge
from setveil.release.saving import Packing, Target
from setveil.release.seed import Randomness, Seed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.data.forms.disassociated import Disassociated
    from setveil.methods.base import Method
    from setveil.metrics.base import Metric


@with_threads
def publish(
    data: Any,
    method: Method,
    *,
    out: str | Path | None = None,
    private: str | Path | None = None,
    format: str | None = None,  # noqa: A002 - the word people use
    separator: str | None = None,
    compress: Packing | None = None,
    force: bool = False,
    ids: Ids | None = None,
    seed: int | None = None,
    experiment: bool = False,
    allow_failures: int = 0,
    no_guarantee: bool = False,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
    metrics: Iterable[str | Metric] | None = None,
    original: Any = None,
    missing_names: MissingNames = "accept",
    distinct_labels: bool = False,
) -> Release:
    """Make a release and check its guarantee, or raise GuaranteeViolated with the verdict.

    Parameters
    ----------
    data
        A path, a sample, a database, lists of items, a data frame, an Arrow table, or what `read` returned. Methods that take a release
        accept its folder, or a `Release`. Read files with special columns or separators with `read` first.
    method
        How to protect the data, such as ``PartSwap(categories=...)``.
    out, private, format, separator, compress, force
        Where and how to write the release, as in `Release.save`. Without `out` nothing is written.
    ids
        What becomes of ids: `pseudonym` (default if the data have ids and the method is about people), `keep` or `drop`.
    seed
        A whole number of 64 bits or more; by default 128 random bits. The same data, method, ids and seed give the same release.
    experiment
        Accept a seed below 64 bits. It can be guessed, and the card says so.
    allow_failures
        Accept this number of records that are not protected; the card says how many there are.
    no_guarantee
        Allow a method that promises nothing.
    threads
        How many threads to use; by default all cores. Results do not depend on it.
    metrics
        Metrics to measure with, such as ``FiSimilarity(min_support="1%")``, or as `NAME[:param=value,...]`; by default all. An empty list
        saves time.
    original
        For a release made from a release: the data to measure against.
    missing_names
        `error` refuses lists of items, itemsets or rules of which only some occur in the data; `accept` lists them in `Release.names`. A
        list of which nothing occurs is always refused.
    distinct_labels
        Labels that look alike are different items. Without it, a label that looks like a named one is refused.

    Returns
    -------
    Release
        The data, the verdict, a summary, and apart from it what stays private.

    Examples
    --------
    >>> release = sv.publish("baskets.csv", sv.PartSwap(categories=categories), out="release")  # doctest: +SKIP
    """
    target = None
    if out is not None:
        target = Target.of(out, private, format=format, separator=separator, compress=compress, force=force)
        target.refuse()  # before the work, not after it
    place = in_words(data) if isinstance(data, str | Path) else ""
    data = _taken(data, method)
    if original is not None:
        if data.plain is not None:
            raise BadParameter("original is for a method that takes a release; here the data are the original")
        original = as_records(original)
    terms = Terms(resolve_ids(data, ids, type(method)), allow_failures, distinct_labels)
    written = None if target is None else target.data_format(method.form, data, terms.ids)
    if not data.records:
        raise BadData("the data has no records: there is nothing to publish")
    if allow_failures < 0:
        raise BadParameter(f"`allow_failures=` is {allow_failures}; allowed is a whole number from 0 on")
    if original is not None and not original.code_of.keys() >= set(data.vocabulary):
        raise BadData(
            "the original lacks items of the release, so the release was not made from it; give the data that it was made from"
        )
    if data.plain is not None and not distinct_labels:
        refuse_look_alikes(method, LookAlikes.of(data.plain))
    names = names_found(method, data)
    for found in names:
        found.refuse(missing_names)
    randomness = Randomness.of_run(Seed.of(seed, experiment=experiment), data.checksum(), method, terms.ids)
    rng = randomness.generator()
    taken: Any = data  # a method looks itself at what it accepts
    bound = method.bind(taken, linked=terms.ids != "drop", rng=rng)
    if bound.guarantee is None and not no_guarantee:
        raise BadParameter(f"{method.name} promises nothing; say `no_guarantee=True` if that is what you want")
    if randomness.seed.weak:
        progress.note("the seed has fewer than 64 bits and can be guessed: good for experiments, not for a release")
    started = time.perf_counter()
    outcome = bound.apply(taken, rng=rng)
    applied = time.perf_counter()
    naming = Naming(terms.ids, data, randomness.pseudonyms)
    published, alignment = outcome.published.arrange(outcome.alignment.rows, naming)
    verdict = judge(published, data, alignment, bound, terms, outcome.account, outcome.advice)
    checked = time.perf_counter()
    known = {name: getattr(bound, name) for name in type(bound).model_fields}
    chosen, lacking = chosen_metrics(metrics, known, method.form)
    compared = original if data.plain is None else data.plain
    if compared is None:
        lacking += [type(one).not_computed("needs the original, which was not given") for one in chosen]
        measurements = lacking
    else:
        measurements = measure_all(compared, published, alignment, chosen) + lacking
    before = None
    if bound.guarantee is not None and metrics is None and data.plain is not None:
        with progress.step(f"checking {bound.guarantee.name} of the original"):
            before = bound.guarantee.before(data.plain)
    seconds = {
        "method": applied - started,
        "arranging and checking": checked - applied,
        "measuring": time.perf_counter() - checked,
    }
    data_source = getattr(data, "source", None)
    release = Release(
        data=published,
        verdict=verdict,
        method=bound,
        terms=terms,
        original=data,
        alignment=alignment,
        randomness=randomness,
        account=outcome.account,
        advice=outcome.advice,
        seconds=seconds,
        before=before,
        measurements=measurements,
        source=place if data_source is None else data_source.place,
        reading={} if data_source is None else data_source.options,
        compared=compared,
        names=names,
    )
    if target is not None and written is not None:
        release.save_as(target, written)
    return release


def _taken(given: Any, method: Method) -> Transactions | Disassociated:
    """Return data of a form that the method takes."""
    found = as_published(given)
    if found.rows_are_records and Transactions in method.accepts:
        found = found.as_records()
    if not isinstance(found, method.accepts):
        taken = " or ".join(form.form_in_words for form in method.accepts)
        raise BadParameter(f"{method.name} takes {taken}, not {found.form_in_words}")
    return found  # type: ignore[return-value]


def resolve_ids(data: Transactions | Disassociated, ids: Ids | None, method: type[Method]) -> Ids:
    """Return what happens to ids: pseudonyms where the data has ids and the method is about people, else none, unless said otherwise."""
    has_ids = data.plain is not None and data.plain.ids is not None
    if ids is None:
        return "pseudonym" if has_ids and method.about_people else "drop"
    if ids not in ("pseudonym", "keep", "drop"):
        raise BadParameter(f"ids is {ids!r}; allowed is pseudonym | keep | drop")
    method.form.refuse_ids(ids)
    if ids == "keep" and not has_ids:
        raise BadParameter("the data has no ids to keep; allowed is pseudonym (by record number) or drop")
    return ids
