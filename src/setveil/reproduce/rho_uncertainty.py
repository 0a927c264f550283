"""The experiments of jia2014, section 4: Figures 2 to 9 and Table 3, on what is at hand of the paper's data sets.

Paper    jia2014 (references.bib), in the extended version: Figures 2 (ρ from 0.1 to 0.9), 3 (loss), 4 (divergence), 5 (rules on records
         cut to 5 items), Table 3 (time), 6 (size of the data), 7 (t_max), 8 (b_max), 9 (permutation). The figures are pictures: only what
         the text and the tables state can be compared.
Departs  which 40 % of the item types are sensitive is not told. They are the first of a random order of all types, by the seeds of 0 to 299
         whose sensitive share is nearest to that of Table 2, the three nearest. WV and Retail are complete, POS are the first 100,000
         records, Syn is generated like the paper's (`uniform`). The empty set of known items does
         not count, which the paper does not say. Cut are records to their first five items in label order: no other order is known.
         There is no b_max here, and nothing to show of Figure 8. Figure 9(a) is read as the reconstruction error of ghinita2008, since
         a permutation changes no item frequency; half a record is added to every cell, so that it is defined for items that are gone.
         TDControl has a balanced tree over the items that are not sensitive, in label order, as the paper gives no hierarchy; its rules are
         not specialized.
         Global runs by the payoff of cao2010, and beside it leaving out sensitive types only.
         Added: deleting all sensitive items and an estimated bound (`overlaps`), between which every loss stands; unsplit runs; Insert.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from setveil.base import progress
from setveil.data.reading.source import read
from setveil.errors import BadParameter
from setveil.kernels.threads import number_of_threads, with_threads
from setveil.reproduce import uncertainty_lines as lines
from setveil.reproduce.figures import ORIGINAL, Figures
from setveil.reproduce.paper import Column, Paper, Reproduction, circumstances
from setveil.reproduce.sources import data_folder, find_files, need_files
from setveil.reproduce.uncertainty_claims import judge
from setveil.reproduce.uncertainty_lines import POS, RETAIL, SYN, TITLES, WV
from setveil.reproduce.uncertainty_measuring import Experiment, SensitiveSet, nearest_seeds
from setveil.reproduce.uncertainty_printed import SENSITIVE_SHARE, TABLE_2, printed_figures
from setveil.reproduce.uniform import OCCURRENCES, RECORDS, generated_uniform

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from setveil.data.records.transactions import Transactions

DRAWS, QUICK_DRAWS = 3, 1
SEEDS_TRIED = 300
FILES = ((WV, "bms-webview-2"), (RETAIL, "retail"), (POS, "bms-pos-100k"))
WHAT = {
    WV: "clicks in a web shop (BMS-WebView-2), complete",
    RETAIL: "Belgian supermarket baskets, complete",
    POS: "the first 100,000 records of BMS-POS; the others are not at hand",
    SYN: "generated: uniform items, geometric lengths",
}
COMPARED = (lines.MINE, lines.DIST, lines.GLOBAL, lines.GLOBAL_OURS, lines.TD, lines.INSERT)
IN_FIGURE_2 = (lines.MINE, lines.DIST, lines.INSERT)
UNSPLIT = (lines.MINE_WHOLE, lines.DIST_WHOLE)
IN_FIGURE_5 = (lines.TRIVIAL, *COMPARED)
IN_FIGURE_9 = (lines.PERMUTATION, lines.MINE, lines.DIST, lines.INSERT)
SLOW = {(RETAIL, lines.TD), (POS, lines.TD), (SYN, lines.TD), (SYN, lines.GLOBAL)}
"""What is run with the first draw only, since it takes half a minute and more each time."""
CUT_TOO_LONG = {(SYN, lines.TD), (RETAIL, lines.TD)}
"""What is not run again on records that were cut."""
SYN_RECORDS, SYN_OCCURRENCES = RECORDS, OCCURRENCES

PAPER = Paper(
    reference="jia2014",
    titles=TITLES,
    draws=("draw of sensitive items", "draws of sensitive items"),
    readings=("split", "whole"),
    second="unsplit",
    full="on parts and stand-ins",
    columns=(
        Column("loss", "info-loss", by_support=True, form="three digits"),
        Column("divergence", "symmetric-kl", by_support=True),
        Column("rules", "cut-rule-similarity", by_support=True, form="three digits"),
        Column("other rules", "cut-non-sensitive-rules", by_support=True, form="three digits"),
        Column("sensitive types left", "sensitive-types-left", by_support=True),
        Column("seconds", "seconds", by_support=True),
        Column("Table 3", "table-3-seconds"),
    ),
    shown=(lines.at_rho(lines.LOW), lines.at_rho(lines.HIGH)),
)


@with_threads
def reproduce(
    data: str | Path | None = None,
    *,
    full: bool = True,
    seeds: tuple[int, ...] | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Reproduction:
    """Run the experiments and judge the claims; `full` says whether on four data sets with three draws each, or with one on WV.

    `seeds` are the seeds of the sensitive items of every data set; else they are found by their share.

    >>> reproduce("../shared/data", full=False).figures.spread("WV", "insert", "info-loss", "ρ=0.7").mean     # doctest: +SKIP
    0.26210
    """
    if seeds is not None and (not seeds or min(seeds) < 0):
        raise BadParameter("at least one seed of sensitive items is needed, each a whole number from 0 on")
    started = time.monotonic()
    datasets = read_datasets(data, full=full, seeds=seeds)
    figures = Figures(printed_figures([d.name for d in datasets]), seed_column="draw", setting_column="setting")
    jobs: list[Callable[[], None]] = []
    for dataset in datasets:
        figures_of = Experiment(dataset, figures)
        figures_of.add(ORIGINAL, None, "", "threads", float(number_of_threads()))
        jobs += work_of(figures_of, full=full)
    with progress.step("reproducing", total=len(jobs)) as advance:
        _warm_up()
        for done, job in enumerate(jobs):
            job()
            advance(done + 1)
    sizes = {size: [d.name for d in datasets if d.size == size] for size in ("paper", "full")}
    draws = tuple(range(max(len(d.seeds) for d in datasets)))
    about = circumstances(draws, started)
    described = [dataset.to_dict() for dataset in datasets]
    records = {entry["name"]: entry["records"] for entry in described}
    return Reproduction(PAPER, described, figures, judge(figures, sizes, records, TITLES), about)


def read_datasets(
    folder: str | Path | None = None, *, full: bool, seeds: tuple[int, ...] | None = None
) -> list[SensitiveSet]:
    """Read WV, and where asked for the others that are at hand, generate Syn, and find the seeds of the sensitive items."""
    place = data_folder(folder)
    need_files(("bms-webview-2",), folder=place)
    wanted = FILES if full else FILES[:1]
    at_hand = find_files([file for _name, file in wanted], folder=place)
    found = []
    for name, file in wanted:
        if file in at_hand:
            found.append(_described(name, read(at_hand[file]), full=full, seeds=seeds))
        else:
            progress.note(f"{file}.dat.gz is not in {place}: left out")
    if full:
        generated = generated_uniform(records=SYN_RECORDS, occurrences=SYN_OCCURRENCES)
        found.append(_described(SYN, generated, full=full, seeds=seeds))
    return found


def _described(name: str, data: Transactions, *, full: bool, seeds: tuple[int, ...] | None) -> SensitiveSet:
    how_many = DRAWS if full else QUICK_DRAWS
    own = seeds or nearest_seeds(data, SENSITIVE_SHARE[name], among=SEEDS_TRIED, how_many=how_many)
    size = "paper" if name in (WV, RETAIL) else "full"
    supports = tuple(map(lines.at_rho, (lines.LOW, lines.HIGH)))
    return SensitiveSet(name, size, WHAT[name], supports, data, TABLE_2[name], own)


def work_of(on: Experiment, *, full: bool) -> list[Callable[[], None]]:
    """Return all that is run on a data set, piece by piece."""
    name, draws = on.dataset.name, range(len(on.dataset.seeds))
    rhos = rhos_of(name, full=full)
    jobs: list[Callable[[], None]] = [partial(on.measure_original, rhos)]
    for draw in draws:
        for rho in rhos:
            jobs.append(partial(on.measure_limits, draw, rho))
            jobs += [
                partial(on.measure, line, draw, rho, rules=name == WV and line in IN_FIGURE_2, proof=rho == lines.HIGH)
                for line in lines_of(name, rho, draw, full=full)
            ]
        for line in IN_FIGURE_5:
            runs = not draw or (name, line) not in SLOW
            if runs and (name, line) not in CUT_TOO_LONG:
                jobs += [partial(on.measure_cut, line, draw, rho) for rho in (lines.LOW, lines.HIGH)]
        if name == POS:
            jobs.append(partial(on.measure_cut, lines.DIST, draw, lines.RHOS[-1]))
        jobs += [
            partial(on.measure_table_3, line, draw)
            for line in (lines.MINE, lines.DIST, lines.GLOBAL, lines.TD)
            if line in lines_of(name, lines.HIGH, draw, full=full)
        ]
    if name == RETAIL:
        jobs += _splits(on, draws)
    if name == WV:
        degrees = lines.DEGREES if full else lines.DEGREES[:1]
        jobs += [
            partial(on.measure_permutation, line, draw, p) for draw in draws for p in degrees for line in IN_FIGURE_9
        ]
    return jobs


def rhos_of(name: str, *, full: bool) -> tuple[str, ...]:
    """Return at which ρ a data set is run."""
    return lines.RHOS if full and name == WV else (lines.LOW, lines.HIGH)


def lines_of(name: str, rho: str, draw: int, *, full: bool) -> list[str]:
    """Return what is run on a data set at a ρ, with a draw."""
    if rho not in (lines.LOW, lines.HIGH):
        return [*IN_FIGURE_2]
    chosen = [line for line in COMPARED if not draw or (name, line) not in SLOW]
    return [*chosen, *(UNSPLIT if full and rho == lines.HIGH and name in (WV, RETAIL) else ())]


def _splits(on: Experiment, draws: range) -> list[Callable[[], None]]:
    """Return what Figures 6 and 7 need: Mine and Dist at every t_max with all draws, and on fifths of the records with the first."""
    jobs: list[Callable[[], None]] = [
        partial(on.measure_t_max, line, draw, t_max)
        for draw in draws
        for line in (lines.MINE, lines.DIST)
        for t_max in lines.T_MAXES
    ]
    jobs += [
        partial(on.measure_fifth, line, 0, fifth)
        for fifth in lines.FIFTHS
        for line in (lines.MINE, lines.DIST, *UNSPLIT)
    ]
    return jobs


def _warm_up() -> None:
    """Let every loop be compiled or loaded before anything is timed."""
    data = generated_uniform(records=3000, items=60, occurrences=9000, longest=12)
    small = SensitiveSet("warming up", "paper", "", (), data, None, (0,))
    on = Experiment(small, Figures())
    on.measure_original((lines.HIGH,))
    for line in (*COMPARED, *UNSPLIT):
        on.measure(line, 0, lines.HIGH, proof=True)
    for line in IN_FIGURE_9:
        on.measure_permutation(line, 0, 2)
