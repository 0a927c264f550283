"""`setveil reproduce`: repeat the experiments of a paper."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from setveil.cli.options import ForceOption, OutputOptions, ThreadsOption, about
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode, UnknownName
from setveil.reproduce import PAPERS, experiments

if TYPE_CHECKING:
    from setveil.reproduce.paper import Column, Reproduction


def reproduce(
    paper: Annotated[str | None, about(f"Which paper: {' | '.join(PAPERS)}.")] = None,
    /,
    *,
    data: Annotated[
        str | None, about("Folder with the data sets (default: the variable SETVEIL_DATA, or ../shared/data).")
    ] = None,
    out: Annotated[str | None, about("The folder to write (default: reproduce-PAPER).")] = None,
    quick: Annotated[bool, about("Use only the paper's data sizes: seconds instead of minutes.")] = False,
    threads: ThreadsOption = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    """Repeat the experiments of a paper, and check its claims.

    Runs the experiments on the paper's data, as far as they are public, and on larger data. Reports for each claim whether it holds. Writes
    report.html with charts, figures.csv with all values, and verdicts.json. The same data give the same figures, except for times. Without
    a name, lists the papers. If you have the data sets, start with: setveil reproduce tendency-swapping --quick

    Example:
      setveil reproduce
    """
    if paper is None:
        _list(as_json=output.json)
        return ExitCode.OK
    if paper not in PAPERS:
        raise UnknownName("paper", paper, PAPERS)
    from setveil.reproduce.writing import REPORT, refuse_folder, save  # noqa: PLC0415 - not for --help and the list

    run = experiments(paper)

    folder = Path(out or f"reproduce-{paper}")
    refuse_folder(folder, force=force)  # before the work starts
    started = time.monotonic()
    found = run(data, full=not quick, threads=threads)
    save(found, folder, force=force)
    if output.json:
        say_json({"out": str(folder), **found.to_dict()})
        return ExitCode.OK
    _show(found)
    say(f"Wrote {folder}/ with the report, figures.csv and verdicts.json in {time.monotonic() - started:.0f} s.")
    say(f"Open {(folder / REPORT).resolve()}")
    return ExitCode.OK


def _list(*, as_json: bool) -> None:
    if as_json:
        say_json([{"name": name, "summary": line} for name, line in PAPERS.items()])
        return
    say_table(["name", "paper"], PAPERS.items())
    say("Run one with: setveil reproduce NAME")


def _show(found: Reproduction) -> None:
    """Print a summary of the figures, and the verdicts."""
    paper, seeds = found.paper, len(found.about["seeds"])
    over = f"means over {seeds} {paper.draws[1]}" if seeds > 1 else f"one {paper.draws[0]}"
    first, second = paper.readings
    *some, last = (column.heading for column in paper.columns if column.by_support)
    by_support = f"{', '.join(some)} and {last}"
    for dataset in found.datasets:
        name, supports = dataset["name"], [*paper.shown] or found.figures.supports(dataset["name"])
        say(f"{name}: {dataset['what']}; {', '.join(f'{dataset[key]:,} {of}' for key, of in paper.counted)}")
        say(f"{by_support} at {', '.join(supports)}; {over}")
        rows: list[list[Any]] = []
        for method, shown in paper.titles.items():
            cells = [_cells(found, name, method, column, supports) for column in paper.columns]
            if any(cell != "–" for cell in cells):
                rows.append([shown, *cells])
        say_table(["method", *(column.heading for column in paper.columns)], rows)
    columns = ["claim", "verdict", "cases that agree", paper.second, *([paper.full] if paper.full else [])]
    for heading, ours in (("What the paper claims", False), ("What our additional figures show", True)):
        rows = []
        for verdict in found.verdicts:
            if verdict.claim.ours == ours:
                other = {(f.size, f.reading): f.status for f in verdict.findings[1:]}
                where = verdict.claim.section if not ours else ""
                rows.append([
                    f"{verdict.claim.statement}{f' ({where})' if where else ''}",
                    verdict.status,
                    verdict.findings[0].tally or None,
                    other.get((verdict.findings[0].size, second)),
                    *([other.get(("full", first))] if paper.full else []),
                ])  # fmt: skip
        say_table(columns, rows, title=heading)


def _cells(found: Reproduction, dataset: str, method: str, column: Column, supports: list[str]) -> str:
    """Return the means at all supports as one cell."""
    at = supports if column.by_support else [column.at]
    means = [found.figures.spread(dataset, method, column.metric, support) for support in at]
    if all(mean.mean is None and not mean.note for mean in means):
        return "–"
    return " ".join(_cell(mean.mean, column.form) if mean.mean is not None else "–" for mean in means)


def _cell(value: float, form: str) -> str:
    if form == "count":
        return f"{value:.0f}"
    if form == "two digits":
        return f"{value:.2f}"
    if form == "three digits":
        return "0" if value == 0 else f"{value:.3f}"
    return "0" if value == 0 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"
