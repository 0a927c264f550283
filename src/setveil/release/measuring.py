"""Measure a release with several metrics at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.declaration import Declaration, Parameter
from setveil.catalog import METRICS, named
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter, InputError, closest
from setveil.metrics.base import Measurement, Metric
from setveil.metrics.measurements import Measurements
from setveil.metrics.pair import Pair
from setveil.metrics.tasks.heldout import Heldout
from setveil.parameters import values_of
from setveil.parameters.names_found import NameList
from setveil.parameters.texts import extra_options, settings_in
from setveil.release.checking import refuse_other_release
from setveil.release.inputs import as_opened, as_published, as_records, original_of, private_of
from setveil.release.object_store import is_address
from setveil.release.opening import Opened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.base.verdict import Verdict
    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment
    from setveil.guarantees.base import Guarantee
    from setveil.release.dossier import Private
    from setveil.release.inputs import Reading

LEVELS = ("none", "quick", "full")
"""Names for sets of metrics: none; those that cost little or that the summary shows; all that apply."""


def measure(
    original: Any,
    release: Any,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    private: str | Path | Private | None = None,
    reading: Reading | None = None,
    separator: str | None = None,
    exact: bool = False,
    heldout: Any = None,
    **parameters: Any,
) -> Measurements:
    """Measure what a release costs and what can still be inferred from it.

    Parameters
    ----------
    original
        The data that the release was made from, or a path to read them from. A file is read with the options that the dossier holds.
    release
        A `Release`, a release folder, the result of `open_release`, or data.
    metrics
        Metrics such as ``FiSimilarity(min_support="1%")``, texts `NAME[:param=value,...]`, or a level (`quick` or `full`); by default
        `full`, which is all metrics.
    private
        The private folder; by default `RELEASE.private` beside the release folder, if it exists.
    reading
        Options of `read` for the files; by default those that the dossier holds.
    separator
        What separates items in files of itemsets and rules; by default blanks.
    exact
        Compute everything in full, however long it takes. By default, `tendency-posterior` tests its guessers on a sample of large data and
        returns an estimate with a 95 % interval, and `tree-edit-distance` returns an upper bound where its `budget` ends. Models are tested
        on at most 20,000 people.
    heldout
        Records of people who are not in the original, or a path to read them from, with the options of the original. Metrics such as `ease`
        train a model on the release and test it on them. Without them, a level leaves these metrics out; if you name one, it is tested on
        the people of the original, and its status is an optimistic estimate.
    **parameters
        Parameters that metrics require and the private folder does not hold, such as `categories`, `sensitive` or `min_support`. A text is
        read as on the command line: a file or a sample, together with its options, such as the `level` of `categories`.

    Returns
    -------
    Measurements
        A list with one measurement per metric. It prints as a table, finds a measurement by the name of its metric, and becomes a data
        frame with `to_pandas`. A metric that cannot be computed has the value None and states the reason.

    Raises
    ------
    BadParameter
        If a metric or a parameter is wrong, or the original has no plain records.
    UnknownName
        If no metric has the given name.
    BadData
        If a file cannot be read, the private folder belongs to another release, or the held-out records are those of the original.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1))
    >>> sv.measure(baskets, release, ["tlost:k=2"])["tlost"].value
    0.0
    """
    if isinstance(getattr(release, "method", None), Declaration):  # a `Release`
        known = {name: getattr(release.method, name) for name in type(release.method).model_fields}
        compared, published, alignment = as_records(original), release.data, release.alignment
        found = None
    else:
        found = private_of(release, private)
        compared = as_records(original_of(original, found, reading))
        is_folder = (
            isinstance(release, Opened)
            or is_address(release)
            or (isinstance(release, str | Path) and Path(release).is_dir())
        )
        opened = as_opened(release) if is_folder else None
        published = as_published(release, reading) if opened is None else opened.data
        known, alignment = _private_facts(opened, published, compared, found)
    known |= given_parameters(parameters, compared, separator)
    people = (
        None if heldout is None else Heldout(compared, as_records(original_of(heldout, found, reading)), exact=exact)
    )
    named = "full" if metrics is None else metrics
    chosen, lacking = chosen_metrics(named, known, type(published), heldout=people is not None)
    return measure_all(compared, published, alignment, chosen, exact=exact, heldout=people) + lacking


def required_parameters() -> dict[str, dict[str, Parameter]]:
    """Return the parameters that metrics require, by name, each with the metrics that require it and their declarations."""
    found: dict[str, dict[str, Parameter]] = {}
    for metric in METRICS.values():
        for parameter in metric.parameters():
            if parameter.required:
                found.setdefault(parameter.name, {})[metric.name] = parameter
    return found


def given_parameters(parameters: Mapping[str, Any], original: Transactions, separator: str | None) -> dict[str, Any]:
    """Return the values of parameters; refuse unknown ones, and a list read from a file if none of its names occurs in the original."""
    required = [next(iter(declared.values())) for declared in required_parameters().values()]
    known = [name for one in required for name in (one.name, *(option.name for option in extra_options(one)))]
    for name in parameters:
        if name not in known:
            message = f"no metric requires a parameter {name!r}; metrics require: {', '.join(dict.fromkeys(known))}"
            raise BadParameter(message, parameter=name, allowed=sorted(set(known)), suggestion=closest(name, known))
    values = values_of(required, parameters, data=original, separator=separator)
    for name, value in values.items():
        if isinstance(value, NameList) and value is not parameters[name]:
            value.found_in(original, name).refuse("accept", file=str(parameters[name]))
    return values


def _private_facts(
    opened: Opened | None, published: Published, original: Transactions, private: Private | None
) -> tuple[dict[str, Any], Alignment | None]:
    """Return the parameters and the alignment in the private folder; refuse the private folder of another release."""
    if private is None:
        return {}, None
    if opened is not None:
        refuse_other_release(opened, private)
    if published.made_from is None:
        private.refuse_other_original(original)
    return dict(private.known_parameters()), private.alignment


def as_metrics(given: str | Metric | Iterable[str | Metric]) -> list[str | Metric]:
    """Return the metrics and levels that were given as a list; refuse everything else."""
    listed = [given] if isinstance(given, str | Metric) or not isinstance(given, Iterable) else list(given)
    for one in listed:
        if not isinstance(one, str | Metric):
            raise BadParameter(
                f"metrics: {one!r} is neither a metric, such as FiSimilarity(), nor the name of one, nor a level: {' | '.join(LEVELS)}"
            )
    return listed


def chosen_metrics(
    given: str | Metric | Iterable[str | Metric],
    known: Mapping[str, Any],
    form: type[Published] = Transactions,
    *,
    heldout: bool = False,
) -> tuple[list[Metric], Measurements]:
    """Return the chosen metrics, and an empty measurement with the reason for each one that cannot be computed.

    A level stands for its metrics. Those that are also named are not repeated. `heldout` states whether there are people to test models on.
    """
    listed = as_metrics(given)
    made = [
        one if isinstance(one, Metric) else metric_of(one, known, form)
        for one in listed
        if isinstance(one, Metric) or one not in LEVELS
    ]
    metrics: list[Metric] = [one for one in made if isinstance(one, Metric)]
    lacking = Measurements(one for one in made if isinstance(one, Measurement))
    named = {one.name for one in made}
    level = max((one for one in listed if one in LEVELS), key=LEVELS.index, default="none")
    if level != "none":
        of_level, not_measured = all_metrics(known, form, quick=level == "quick", heldout=heldout)
        metrics = [one for one in of_level if one not in metrics] + metrics
        lacking = Measurements(one for one in not_measured if one.name not in named) + lacking
    return metrics, lacking


def all_metrics(
    known: Mapping[str, Any], form: type[Published] = Transactions, *, quick: bool = False, heldout: bool = False
) -> tuple[list[Metric], Measurements]:
    """Return all variants of every metric that applies and whose parameters are known, and an empty measurement for each other one.

    With `quick`, only metrics that declare themselves quick are returned; without `heldout`, none that tests a model on people.
    """
    metrics: list[Metric] = []
    lacking = Measurements()
    for kind in METRICS.values():
        needed = [p.name for p in kind.parameters() if p.required]
        missing = [name for name in needed if known.get(name) is None]
        if not kind.applies_to(form):
            lacking.append(_of_other_form(kind, form))
        elif form in kind.only_if_named:
            lacking.append(kind.not_computed("takes long: name the metric to compute it"))
        elif kind.tests_people and not heldout:
            lacking.append(kind.not_computed("needs heldout: people who are not in the original"))
        elif missing:
            lacking.append(kind.not_computed(f"needs {', '.join(missing)}"))
        elif quick and not kind.quick:
            lacking.append(kind.not_computed("only the level full measures it"))
        else:
            metrics.extend(kind(**{name: known[name] for name in needed}, **variant) for variant in kind.variants)
    return metrics, lacking


def _of_other_form(kind: type[Metric], form: type[Published]) -> Measurement:
    return kind.not_computed(f"does not apply to {form.form_title}")


def metric_of(text: str, known: Mapping[str, Any], form: type[Published] = Transactions) -> Metric | Measurement:
    """Create a metric from `NAME[:param=value,...]`; missing parameters are taken from `known`."""
    name, texts = settings_in(text)
    kind = named("metric", METRICS, name, levels=LEVELS)
    if not kind.applies_to(form):
        return _of_other_form(kind, form)
    given: dict[str, Any] = {**texts}
    for parameter in kind.parameters():
        if parameter.required and parameter.name not in given:
            if known.get(parameter.name) is None:
                return kind.not_computed(f"needs {parameter.name}")
            given[parameter.name] = known[parameter.name]
    return kind(**given)


def measure_all(
    original: Transactions,
    published: Published,
    alignment: Alignment | None,
    metrics: Iterable[Metric],
    *,
    exact: bool = False,
    heldout: Heldout | None = None,
) -> Measurements:
    """Measure with each metric; all share their work, and releases of one original share that of `heldout`.

    A metric that needs the alignment and lacks it states this, and the others are still computed.
    """
    metrics = list(metrics)
    return measure_pair(Pair(original, published, alignment, metrics=metrics, exact=exact, heldout=heldout), metrics)


def measure_pair(pair: Pair, metrics: list[Metric]) -> Measurements:
    """Measure with each of the metrics that a pair was made for."""
    results = Measurements()
    with progress.step("measuring", len(metrics)) as advance:
        for done, metric in enumerate(metrics):
            try:
                if "alignment" in metric.needs and pair.alignment is None:
                    results.append(metric.not_computed("needs the alignment, which is in the private folder"))
                else:
                    results.append(metric.of(pair))
            except InputError as error:
                results.append(metric.not_computed(str(error)))
            advance(done + 1)
    return results


def check_original(guarantee: Guarantee, original: Transactions) -> Verdict | None:
    """Check a guarantee on the original, for the report of the level `full`; None if this is not meaningful."""
    with progress.step(f"checking {guarantee.name} of the original"):
        return guarantee.before(original)
