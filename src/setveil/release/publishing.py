"""`publish`: make a release and check its guarantee."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.attacks.base import Attack, Finding
from setveil.attacks.findings import Findings
from setveil.base import progress
from setveil.data.forms.base import Ids
from setveil.data.records.in_blocks import need_blocks
from setveil.data.records.look_alikes import LookAlikes
from setveil.data.records.transactions import Transactions
from setveil.engines.blocks import BLOCK_RECORDS, current_engine
from setveil.engines.chosen import EngineName, using_chosen_engine
from setveil.engines.scratch import using_scratch
from setveil.errors import BadData, BadParameter
from setveil.kernels.threads import using_threads
from setveil.methods.base import Method
from setveil.metrics.pair import Pair
from setveil.parameters.item_names import as_item_names
from setveil.parameters.names_found import MissingNames, names_found, refuse_look_alikes
from setveil.release.attack_runs import (
    QUICK_TARGETS,
    TARGETS,
    Case,
    as_attacks,
    as_limit,
    chosen_attacks,
    run_attacks,
)
from setveil.release.context import Context
from setveil.release.drawing import block_records_of, draw, note_memory
from setveil.release.inputs import as_published, as_records, read_from, refuse_unrelated
from setveil.release.measuring import as_metrics, check_original, chosen_metrics, measure_pair
from setveil.release.publication import Publication
from setveil.release.registrar import Registrar, again_if_created_meanwhile
from setveil.release.release import Release, Terms, judge
from setveil.release.saving import Packing
from setveil.release.seed import Randomness, Seed, recipe_of
from setveil.release.tried import tried_in
from setveil.release.workspace import kept_seed, workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from setveil.data.forms.disassociated import Disassociated
    from setveil.metrics.base import Metric
    from setveil.release.register import Registration
    from setveil.release.repeating import Repeated


def publish(
    data: Any,
    method: Method,
    *,
    out: str | Path | None = None,
    private: str | Path | None = None,
    format: str | None = None,  # noqa: A002 - the word people use
    separator: str | None = None,
    compress: Packing | None = None,
    file_records: int | None = None,
    force: bool = False,
    ids: Ids | None = None,
    seed: int | None = None,
    experiment: bool = False,
    allow_failures: int = 0,
    no_guarantee: bool = False,
    threads: int | None = None,
    block_records: int = BLOCK_RECORDS,
    engine: EngineName = "local",
    spark_remote: str | None = None,
    spark_folder: str | None = None,
    scratch: str | Path | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "quick",
    attacks: str | Attack | Iterable[str | Attack] = "quick",
    attack_limit: float | str | None = None,
    original: Any = None,
    missing_names: MissingNames = "accept",
    distinct_labels: bool = False,
    register: str | Path | Registration | None = None,
    names: Mapping[str, str] | str | Path | None = None,
    comparison: str | Path | None = None,
    context: Context | Mapping[str, Any] | str | Path | None = None,
) -> Release:
    """Make a release and check its guarantee.

    The guarantee is checked by code that shares nothing with the method. With `out`, it is checked again on the written files. If it does
    not hold, nothing is written.

    Parameters
    ----------
    data
        A path, a sample, a database, lists of items, a data frame, an Arrow table, or the result of `read`. Methods that take a release
        accept its folder or a `Release`. Use `read` first for files with special columns or separators.
    method
        The method, such as ``PartSwap(categories=...)``.
    out, private, format, separator, compress, file_records, force
        Where and how to write the release, as in `Release.save`. Without `out`, nothing is written.
    ids
        What to do with ids: `pseudonym` (default if the data have ids and the method protects people), `keep` or `drop`.
    seed
        A whole number of at least 64 bits; by default 128 random bits. The same data, method, ids and seed give the same release.
    experiment
        Accept a seed below 64 bits. It can be guessed, and the card marks the release as an experiment.
    allow_failures
        Maximum number of records that may stay unprotected; the card reports their number.
    no_guarantee
        Allow a baseline, which guarantees nothing.
    threads
        Number of threads; by default all cores. The result does not depend on it.
    block_records
        Data of more records than this are published in blocks of this size, with memory for a few blocks, by methods that can do so. The
        result depends on it.
    engine
        Where blocks are worked on: `local` on this machine, or `spark` on a cluster. The result does not depend on it.
    spark_remote
        For `spark`: the address of the Spark Connect server, such as ``sc://spark.example:15002``. By default, the variable SPARK_REMOTE
        has it.
    spark_folder
        For `spark`: a folder that all machines of the cluster reach, for blocks between steps. By default, it is in the folder of the
        cluster for tables. It holds original data: keep it private.
    scratch
        A folder for temporary files of data that are larger than memory; by default the folder of the system. Finished blocks remain there
        if the run ends early, and the same call resumes it. It holds original data: keep it private.
    metrics
        What to measure. `quick` measures what the summary shows and what costs little, `full` measures all metrics that apply and checks
        the guarantee on the original, and `none` saves time. You can also name metrics, such as ``FiSimilarity(min_support="1%")`` or
        texts `NAME[:param=value,...]`, alone or in a list together with a level. `write_report` adds measurements later.
    attacks
        Which attacks to try: `quick` runs those that fit the guarantee and take little time, `full` all that apply,
        and `none` saves time. You can also name attacks, such as ``FindRecord(known=4)`` or texts `NAME[:param=value,...]`. The card names
        them without a figure. `attack` runs more later.
    attack_limit
        The highest excess over the control that you accept, such as 0.05 or "5%". The card states for each attack whether it is met. A
        release above the limit is still written.
    original
        For a release made from another release: the data to compare with.
    missing_names
        `error` refuses a list of items, itemsets or rules if any of them does not occur in the data; `accept` lists those in
        `Release.names`. A list is always refused if none of it occurs.
    distinct_labels
        Treat labels that look alike as different items. By default, a label that looks like a named one is refused.
    register
        A file that records releases of this source, or a `Registration` with a recipient. It determines the seed, so the same job gives
        the same bytes. A different release of the same people is refused unless the guarantees hold for all of them together, or the
        registration gives a reason to accept it.
    names
        The names of items that are codes, or a file with them as for `read_names`. The report shows them beside the codes. The release
        folder does not depend on them.
    comparison
        The folder that `compare` wrote for these data. The dossier and the report state how many set-ups were tried before this one was
        chosen, because the choice depends on the private data. The release folder does not depend on it.
    context
        The answers to the questions of `advise`, or a file with them. The dossier and the report keep them; the release folder does not
        depend on them.

    Returns
    -------
    Release
        The released data, the verdict and a summary, and the private facts about the run.

    Raises
    ------
    GuaranteeViolated
        If the guarantee is violated or undecided, alone or together with other releases in the register. The exception has the verdict.
    BadParameter
        If a parameter is wrong, the method is a baseline and `no_guarantee` is not set, the seed can be guessed, or a seed and a register
        are given.
    BadData
        If the data cannot be read, are empty or do not fit the method.
    OutputRefused
        If a folder to write exists and `force` is not set, or cannot be written.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1))
    >>> print(release.verdict)
    km-anonymity: holds for 4 of 4 records
    >>> print(release.summary.cost)
    every occurrence kept
    """
    return make_release(Publication(**locals()))


@again_if_created_meanwhile
def make_release(asked: Publication, repeated: Repeated | None = None) -> Release:
    """Make a release, and write it if a folder is given. If it would not be the `repeated` release, it is refused."""
    if (target := asked.target) is not None:
        target.refuse_scratch(asked.scratch)  # before it is made
    with using_threads(asked.threads), using_scratch(asked.scratch), ExitStack() as stack:
        stack.enter_context(
            using_chosen_engine(asked.engine, asked.block_records, asked.spark_remote, asked.spark_folder)
        )
        return _make_release(asked, repeated, stack)


def _make_release(asked: Publication, repeated: Repeated | None, stack: ExitStack) -> Release:
    method, target = asked.method, asked.target
    registrar = None if asked.register is None else Registrar.of(asked.register, asked.seed)
    if target is not None:
        target.refuse()  # before the work starts
        if registrar is not None:
            registrar.refuse_inside(target)
    data = _as_accepted(asked.data, method)
    original = None
    if asked.original is not None:
        if data.plain is not None:
            raise BadParameter(
                f"`original=` applies to a method that takes a release only; {method.name} takes the original itself. Remove it"
            )
        original = as_records(asked.original)
    context = None if asked.context is None else _context(asked.context, repeated)
    terms = Terms(resolve_ids(data, asked.ids, type(method)), asked.allow_failures, asked.distinct_labels)
    metrics, attacks = as_metrics(asked.metrics), as_attacks(asked.attacks)
    limit = as_limit(asked.attack_limit, "attack_limit")
    written = None if target is None else target.data_format(method, data, terms.ids)
    if not data.records:
        raise BadData("the data have no records: there is nothing to publish")
    if terms.allow_failures < 0:
        raise BadParameter(f"`allow_failures=` is {terms.allow_failures}; allowed is a whole number of at least 0")
    if original is not None:
        refuse_unrelated(original, data)
    if data.plain is not None and not terms.distinct_labels:
        refuse_look_alikes(method, LookAlikes.of(data.plain))
    item_names = as_item_names(asked.names, data)
    lists = names_found(method, data)
    for found in lists:
        found.refuse(asked.missing_names)
    checksum = data.checksum()
    note_memory(method, data)
    block_records = block_records_of(method, data)
    recipe = recipe_of(method, terms.ids, block_records)
    seed = None
    if registrar is not None:
        seed = registrar.seed(checksum, recipe)
    elif asked.seed is not None:
        seed = Seed.of(asked.seed, experiment=asked.experiment)
    folder = None
    if asked.scratch is not None and method.runs_in_blocks and need_blocks(data):
        facts = checksum, recipe, str(asked.block_records), "" if seed is None else str(seed.value)
        folder = stack.enter_context(workspace(Path(asked.scratch), *facts))
    resumed = stack.enter_context(ExitStack())
    if folder is not None:
        resumed.enter_context(current_engine().resuming(folder))
    tried = None if asked.comparison is None else _tried(asked.comparison, checksum, repeated)
    if seed is None:
        seed = Seed.of(None) if folder is None else kept_seed(folder)
    randomness = Randomness(seed, checksum, recipe, block_records=block_records)
    if repeated is not None:
        repeated.refuse_other(randomness)
    rng = randomness.generator()
    taken: Any = data  # the method checks the form itself
    bound = method.bind(taken, linked=terms.ids != "drop", rng=rng)
    if bound.guarantee is None and not asked.no_guarantee:
        raise BadParameter(f"{method.name} guarantees nothing here; set `no_guarantee=True` to publish it anyway")
    known = {name: getattr(bound, name) for name in type(bound).model_fields}
    chosen, lacking = chosen_metrics(metrics, known, method.form)
    guarantee = None if bound.guarantee is None else bound.guarantee.name
    chosen_to_try = chosen_attacks(attacks, method.form, guarantee, occurrences=data.occurrences)
    if randomness.seed.weak:
        progress.note("the seed has fewer than 64 bits and can be guessed: use it for experiments, not for a release")
    drawn = draw(bound, taken, terms.ids, randomness, rng)
    resumed.close()  # a check and a metric never take what an earlier run found, perhaps in other data
    published, alignment = drawn.published, drawn.alignment
    started = time.perf_counter()
    verdict = judge(published, data, alignment, bound, terms, drawn.account, drawn.advice)
    checked = time.perf_counter()
    before = None
    if bound.guarantee is not None and "full" in metrics and data.plain is not None:
        before = check_original(bound.guarantee, data.plain)  # first: metrics use what it counts
    compared = original if data.plain is None else data.plain
    if compared is None:
        lacking += [type(one).not_computed("needs the original, which was not given") for one in chosen]
        measurements = lacking
        pair = None
    else:
        pair = Pair(compared, published, alignment, metrics=chosen)
        measurements = measure_pair(pair, chosen) + lacking
    measured = time.perf_counter()
    if data.plain is None:  # no attack applies to a release that was made from a release
        findings = Findings((one for one in chosen_to_try if isinstance(one, Finding)), limit=limit)
    else:
        case = Case(published, alignment, data.plain, bound, guarantee, randomness, pair)
        targets = QUICK_TARGETS if {*attacks} <= {"none", "quick"} else TARGETS
        findings = run_attacks(case, chosen_to_try, case.target(targets=targets), limit=limit)
    seconds = {
        "method": drawn.seconds,
        "arranging and checking": drawn.seconds_arranging + checked - started,
        "measuring": measured - checked,
        "attacking": time.perf_counter() - measured,
    }
    place, reading = read_from(asked.data, data)
    release = Release(
        data=published,
        verdict=verdict,
        method=bound,
        terms=terms,
        original=data,
        alignment=alignment,
        randomness=randomness,
        account=drawn.account,
        advice=drawn.advice,
        seconds=seconds,
        before=before,
        measurements=measurements,
        findings=findings,
        source=place,
        reading=reading,
        compared=compared,
        names=lists,
        item_names=item_names,
        context=context,
        registrar=registrar,
        tried=tried,
        asked=asked,
    )
    if target is not None and written is not None:
        card = release.save_as(target, written)
        if repeated is not None:
            repeated.compare(card)
    return release


def _context(given: Context | Mapping[str, Any] | str | Path, repeated: Repeated | None) -> Context:
    """Return the answers about a release; a repeated release takes them from its dossier, as the file may have changed."""
    noted: dict[str, Any] | None = None if repeated is None else repeated.dossier.get("context")
    return Context.of(noted["answers"] if noted else given)


def _tried(comparison: str | Path, checksum: str, repeated: Repeated | None) -> dict[str, Any]:
    """Return how many set-ups a comparison tried; a repeated release takes it from its dossier, as the folder may be gone."""
    noted: dict[str, Any] | None = None if repeated is None else repeated.dossier.get("comparison")
    return noted or tried_in(comparison, checksum)


def _as_accepted(given: Any, method: Method) -> Transactions | Disassociated:
    """Return data in a form that the method accepts."""
    found = as_published(given)
    if found.rows_are_records and Transactions in method.accepts:
        found = found.as_records()
    if not isinstance(found, method.accepts):
        taken = " or ".join(form.form_title for form in method.accepts)
        raise BadParameter(f"{method.name} takes {taken}, not {found.form_title}")
    return found  # type: ignore[return-value]


def resolve_ids(data: Transactions | Disassociated, ids: Ids | None, method: type[Method]) -> Ids:
    """Return what to do with ids: by default pseudonyms if the data have ids and the method protects people, and no ids otherwise."""
    has_ids = data.plain is not None and data.plain.ids is not None
    if ids is None:
        return "pseudonym" if has_ids and method.about_people else "drop"
    if ids not in ("pseudonym", "keep", "drop"):
        raise BadParameter.not_among("ids", ids, ("pseudonym", "keep", "drop"))
    method.form.refuse_ids(ids)
    if ids == "keep" and not has_ids:
        raise BadParameter("the data have no ids to keep; allowed is pseudonym (by record number) or drop")
    return ids
