"""`setveil report`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import setveil as sv
from setveil.base.display import quantity
from setveil.cli.measure_command import of_metrics
from setveil.cli.options import (
    Declared,
    MeasureOption,
    MetricOption,
    NamesOption,
    OutputOptions,
    ReadingOptions,
    Value,
    about,
    list_separator,
    metrics_given,
)
from setveil.cli.show import say, say_json
from setveil.errors import ExitCode
from setveil.metrics.base import NOT_COMPUTED
from setveil.release.dossier import REPORT_NAME
from setveil.release.inputs import as_opened, private_of


def report(
    release: Annotated[str, about("A release folder.")],
    /,
    *,
    original: Annotated[
        str | None, about("The data that the release was made from. Without it, nothing is measured.")
    ] = None,
    measure: MeasureOption = None,
    metric: MetricOption = None,
    private: Annotated[
        str | None, about("The private folder of the release, which is changed (default: RELEASE.private).")
    ] = None,
    names: NamesOption = None,
    source: ReadingOptions,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(of_metrics, after="private")],
) -> ExitCode:
    """Measure more of a release, and write its report again.

    With --original and neither --measure nor --metric, all metrics that are not there yet are computed. The measurements are stored in the
    private folder, together with the report. The release folder is not changed. The reading options apply to --original. Without them, the
    original is read as for publish.

    Example:
      setveil report release --original sample:supermarket --measure full
    """
    opened = as_opened(release)
    found = private_of(opened, private)
    places = {"original": original, "release": release}
    measured = sv.write_report(
        opened,
        metrics_given(measure, metric) or None,
        original=original,
        private=found,
        reading=source.given(),
        separator=list_separator({**asdict(source), **places}),
        names=names,
        **parameters,
    )
    assert found is not None  # refused above
    file = found.folder / REPORT_NAME
    if output.json:
        say_json({"report": str(file), "metrics": [one.to_dict() for one in measured]})
        return ExitCode.OK
    figures = [one for one in measured if not one.reason.startswith(NOT_COMPUTED)]
    others = len({one.name for one in measured}) - len({one.name for one in figures})
    lacking = (
        f"; {quantity(others, 'metric was', 'metrics were')} not computed, and the report states why" if others else ""
    )
    say(f"Wrote {file}: {quantity(len(figures), 'measurement')}{lacking}.")
    return ExitCode.OK
