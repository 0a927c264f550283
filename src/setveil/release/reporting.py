"""`write_report`: add measurements to the private folder of a release, and write its report again."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from setveil.attacks.findings import Findings
from setveil.base.atomic import make_files
from setveil.catalog import METRICS
from setveil.errors import BadData, BadParameter, Missing
from setveil.metrics.base import NOT_COMPUTED, Measurement
from setveil.metrics.measurements import Measurements
from setveil.parameters.item_names import as_item_names
from setveil.release.checking import guarantee_of, refuse_other_release
from setveil.release.dossier import DOSSIER_NAME, REPORT_NAME, dossier_text, item_names_in, metric_notes, report_text
from setveil.release.example_records import example_records
from setveil.release.inputs import as_opened, as_records, original_of, private_of, refuse_unrelated
from setveil.release.kept import kept
from setveil.release.measuring import LEVELS, as_metrics, check_original, chosen_metrics, given_parameters, measure_all
from setveil.release.report_data import pictures
from setveil.release.summary import not_protected, singled_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from setveil.data.records.transactions import Transactions
    from setveil.metrics.base import Metric
    from setveil.release.dossier import Private
    from setveil.release.inputs import Reading
    from setveil.release.opening import Opened


def write_report(
    release: Any,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    original: Any = None,
    private: str | Path | Private | None = None,
    reading: Reading | None = None,
    separator: str | None = None,
    names: Mapping[str, str] | str | Path | None = None,
    **parameters: Any,
) -> Measurements:
    """Add measurements to the private folder of a release, and write its report again.

    The release folder is not changed. The dossier and the report are replaced together once everything is measured. Without `original`,
    nothing is measured, and the report is written from the dossier.

    Parameters
    ----------
    release
        A release folder, or the result of `open_release`.
    metrics
        What to measure in addition, as in `publish`; by default `full` if `original` is given. A level measures only what is not there
        yet; a named metric replaces its earlier measurement.
    original
        The data that the release was made from, or a path to read them from. A file is read with the options that the dossier holds.
    private
        The private folder; by default `RELEASE.private` beside the release folder.
    reading, separator, **parameters
        As in `measure`.
    names
        The names of items that are codes, as in `publish`; they replace those that the report has.

    Returns
    -------
    Measurements
        All measurements that the report now shows.

    Raises
    ------
    Missing
        If there is no private folder, or metrics are chosen and `original` is not given.
    BadData
        If a file cannot be read, the original is not the data that the release was made from, or the private folder belongs to another
        release.
    BadParameter, UnknownName
        If a metric or a parameter is wrong.
    OutputRefused
        If the private folder cannot be written.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release", metrics="none")
    >>> sv.write_report("release", "query-error", original=baskets)["query-error"].value
    0.0
    """
    opened, found = with_private_folder(release, private, "holds the measurements and the report")
    asked = as_metrics("none" if metrics is None and original is None else "full" if metrics is None else metrics)
    if original is None and (parameters or any(one != "none" for one in asked)):
        source = found.dossier["input"].get("source")
        read_from = f", which was read from {source!r}" if source else ""
        raise Missing(f"metrics compare the release with its original{read_from}: name it with `original=`")
    item_names = None if names is None else as_item_names(names, opened.data)
    with rewritten(opened, found, changes=original is not None or names is not None) as dossier:
        if original is not None:
            compared = as_records(original_of(original, found, reading))
            _refuse_other(compared, opened, found)
            given = given_parameters(parameters, compared, separator)
            dossier.update(_measured(opened, found, compared, asked, given))
        if item_names is not None:
            dossier["item_names"] = item_names_in(dossier, item_names)
    return _measurements(dossier)


def with_private_folder(release: Any, private: str | Path | Private | None, what_for: str) -> tuple[Opened, Private]:
    """Open a release folder and its private folder; refuse that of another release. `what_for` is what the private folder does here."""
    opened = as_opened(release)
    if opened.card is None:
        raise BadParameter(f"{opened.folder} is a data file without a card; give the release folder")
    found = private_of(opened, private)
    if found is None:
        raise Missing(f"{opened.folder} has no private folder beside it, which {what_for}; name it with `private=`")
    refuse_other_release(opened, found)
    return opened, found


@contextmanager
def rewritten(opened: Opened, private: Private, *, changes: bool = True) -> Iterator[dict[str, Any]]:
    """Give the dossier to change, and write it and its report; without `changes`, only the report is written again."""
    changing = [private.folder / DOSSIER_NAME] if changes else []
    with make_files(*changing, private.folder / REPORT_NAME, force=True) as files:
        dossier = dict(private.dossier)
        yield dossier
        if changes and "summary" in dossier:  # not made by an older version
            guarantee = None if private.card.guarantee.name is None else guarantee_of(opened, private)
            found = findings_in(dossier)
            line = not_protected(guarantee, _measurements(dossier), found, dossier.get("singled_out"))
            dossier["summary"] = dossier["summary"] | {"not_protected": line}
        if changes:
            files[0].write_text(dossier_text(dossier), encoding="utf-8")
        card = private.card.model_dump(mode="json")  # an older dossier holds an older card
        files[-1].write_text(report_text(dossier | {"card": card}), encoding="utf-8")


def findings_in(dossier: dict[str, Any]) -> Findings:
    """Return what attacks found, as the dossier holds it; a dossier of an earlier version has none."""
    return Findings.from_dict(dossier["attacks"]) if "attacks" in dossier else Findings()


def _refuse_other(original: Transactions, opened: Opened, private: Private) -> None:
    """Refuse data other than those that the release was compared with, or could be compared with."""
    if opened.data.made_from is None:
        private.refuse_other_original(original)
        return
    refuse_unrelated(original, opened.data)
    if private.dossier.get("compared") not in (None, original.checksum()):
        raise BadData(
            "the original is not the data that this release was compared with: its checksum differs from the one in the dossier; name the "
            "same data"
        )


def _measured(
    opened: Opened, private: Private, original: Transactions, asked: list[str | Metric], given: dict[str, Any]
) -> dict[str, Any]:
    """Measure what is asked and not there yet, and return the entries of the dossier that change."""
    started = time.perf_counter()
    dossier, data, alignment = private.dossier, opened.data, private.alignment
    earlier = _measurements(dossier)
    known = private.known_parameters() | given
    chosen, lacking = chosen_metrics(asked, known, type(data))
    named, _lacking = chosen_metrics([one for one in asked if one not in LEVELS], known, type(data))
    there = [_settings(one) for one in earlier if _is_computed(one) and (one.value is not None or not given)]
    new = [one for one in chosen if one in named or (one.name, one.public_parameters()) not in there]
    guarantee = None if private.card.guarantee.name is None else guarantee_of(opened, private)
    before = dossier.get("before")
    is_direct = data.made_from is None
    if guarantee is not None and before is None and "full" in asked and is_direct:
        verdict = check_original(guarantee, original)
        before = None if verdict is None else verdict.to_dict()
    measurements = merged(earlier, measure_all(original, data, alignment, new) + lacking)
    changed: dict[str, Any] = {
        "compared": original.checksum(),
        "before": before,
        "metrics": [one.to_dict() for one in measurements],
        "metric_notes": metric_notes(measurements),
        "pictures": dossier.get("pictures") or pictures(original, data),
        "examples": dossier.get("examples") or example_records(original, data, alignment),
    }
    if new:
        seconds = dossier["seconds"].get("measuring", 0) + time.perf_counter() - started
        changed["seconds"] = dossier["seconds"] | {"measuring": round(seconds, 3)}
    if "summary" not in dossier:  # made by an older version
        return changed
    found = dossier.get("singled_out")
    if "singled_out" not in dossier and is_direct:
        found = singled_out(data.plain, original)
    lines = {}
    if not is_direct and dossier.get("compared") is None:
        lines["cost"] = kept(original, data, alignment).cost()
    return changed | {"singled_out": found, "summary": dossier["summary"] | lines}


def _measurements(dossier: dict[str, Any]) -> Measurements:
    """Return the measurements in a dossier."""
    return Measurements(Measurement(**one) for one in dossier["metrics"])


def _settings(measured: Measurement) -> tuple[str, dict[str, Any]]:
    return measured.name, measured.parameters


def _is_computed(measured: Measurement) -> bool:
    return not measured.reason.startswith(NOT_COMPUTED)


def merged(earlier: Measurements, new: Measurements) -> Measurements:
    """Return the measurements of both, those that were computed first, in the order of the catalog and of the default settings.

    A new measurement replaces the earlier one with the same settings. The statement that a metric was not computed is replaced by any
    other measurement of this metric, and never replaces one.
    """
    computed = [one for one in new if _is_computed(one)]
    replaced = [_settings(one) for one in computed]
    computed = [one for one in earlier if _is_computed(one) and _settings(one) not in replaced] + computed
    names = {one.name for one in computed}
    stated = {one.name: one for one in (*earlier, *new) if one.name not in names}
    return Measurements([*sorted(computed, key=_place), *sorted(stated.values(), key=_place)])


def _place(measured: Measurement) -> tuple[int, int]:
    """Return the place of a measurement in a list of all metrics with their default settings; other settings come last."""
    if measured.name not in METRICS:  # measured by another version
        return len(METRICS), 0
    defaults = METRICS[measured.name].variants
    fits = (place for place, one in enumerate(defaults) if one.items() <= measured.parameters.items())
    return [*METRICS].index(measured.name), next(fits, len(defaults))
