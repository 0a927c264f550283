"""The experiments of awad2020, sections 2.6 and 5: Tables 3 to 6, Figures 5 and 6, on the paper's data set.

Paper    awad2020 (references.bib): Table 3 (error of associations), Table 4 and Figure 5 (tree edit distance), Tables 5 and 6 (frequent
         pairs and triples), Figure 6 (association rules). The tables print numbers, which stand beside ours.
Departs  Table 3 tells neither k, m and δ nor the 70 utility rules, only that the most frequent is in 1,204 records and the rarest in 2, nor
         how supports are read. So: k = m = 3 and δ = 20, three ways to choose rules, and both readings (`mining.support_bounds`).
         The rules of Figure 6 have a confidence of 80 %, which the paper's program takes where nothing is said. What is in fewer than 0.1 %
         of the re-associated records counts as 0.
         Pairs 9 and 10 of Table 5 have the same count, and the paper names no items: the one that falls further is taken as 9.
         Everything runs twice: as the paper has it, where clusters may be below k records, and in our safe way. Ants of the first kind take
         records from each other until they are stopped.
         Added: what breaks k^m-anonymity, rare pairs, what is left out, distances of re-associated sets to each other and their centroid.
"""

from __future__ import annotations

import time
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from setveil.base import progress
from setveil.data.reading.source import read
from setveil.errors import BadParameter
from setveil.kernels.threads import with_threads
from setveil.reproduce.disassociation_claims import judge
from setveil.reproduce.disassociation_lines import (
    BMS1,
    DELTAS,
    KMEANS,
    KMEANS_SAFE,
    LEVELS,
    RANDOM,
    RULE_SETS,
    TITLES,
    WHEEL,
    WHEEL_SAFE,
    at,
    printed_figures,
)
from setveil.reproduce.disassociation_measuring import LINES, Experiment
from setveil.reproduce.figures import Figures
from setveil.reproduce.paper import Column, Dataset, Paper, Reproduction, circumstances
from setveil.reproduce.sources import data_folder, need_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


SEEDS, QUICK_SEEDS = (0, 1, 2, 3, 4), (0, 1)
FILE = "bms-webview-1"
QUICK_LEVELS, QUICK_DELTAS = (2, 4), (20, 60)

PAPER = Paper(
    reference="awad2020",
    titles=TITLES,
    draws=("seed", "seeds"),
    readings=("plain", "safe"),
    second="safe",
    full="",
    columns=(
        Column("TED", "ted", by_support=True, form="count"),
        Column("left out", "items-left-out", by_support=True, form="count"),
        Column("rare pairs", "rare-pairs", by_support=True, form="count"),
        Column("violations", "violations", by_support=True, form="count"),
        Column("records", "mean-records", form="count"),
        Column("UR inside", "rae-ur-inside", at=RANDOM),
        Column("UR expected", "rae-ur-expected", at=RANDOM),
        Column("GA inside", "rae-ga-inside", at=RANDOM, form="count"),
        Column("GA expected", "rae-ga-expected", at=RANDOM, form="count"),
    ),
    shown=(at(2, 20), at(4, 20)),
)


@with_threads
def reproduce(
    data: str | Path | None = None,
    *,
    full: bool = True,
    seeds: tuple[int, ...] | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Reproduction:
    """Run the experiments and judge the claims; `full` says whether at all nine settings with five seeds, or at four with two.

    >>> reproduce("../shared/data", full=False).figures.spread("BMS1", "wheel", "ted", "k=m=4, δ=20").mean     # doctest: +SKIP
    75679.5
    """
    chosen = seeds if seeds is not None else SEEDS if full else QUICK_SEEDS
    if not chosen or min(chosen) < 0:
        raise BadParameter("at least one seed is needed, each a whole number from 0 on")
    started = time.monotonic()
    dataset = read_dataset(data)
    figures = Figures(printed_figures(), setting_column="setting")
    experiment = Experiment(dataset, figures)
    jobs = work_of(experiment, chosen, full=full)
    with progress.step("reproducing", total=len(jobs)) as advance:
        for done, job in enumerate(jobs):
            job()
            advance(done + 1)
    described = [dataset.to_dict()]
    verdicts = judge(figures, {"paper": [BMS1], "full": []}, {BMS1: dataset.data.records}, TITLES)
    more = {
        "sets": {name: list(labels) for name, labels in experiment.top_sets.items()},
        "rules": [{"left": list(left), "right": right} for left, right in experiment.top_rules],
    }
    about = circumstances(chosen, started, quick=not full)
    return Reproduction(PAPER, described, figures, verdicts, about, more)


def read_dataset(folder: str | Path | None = None) -> Dataset:
    """Read the paper's data set."""
    place = data_folder(folder)
    found = read(need_files((FILE,), folder=place)[FILE])
    return Dataset(BMS1, "paper", "clicks in a web shop (BMS-WebView-1), complete", (), found)


def work_of(on: Experiment, seeds: tuple[int, ...], *, full: bool) -> list[Callable[[], None]]:
    """Return all that is run, piece by piece."""
    levels, deltas = (LEVELS, DELTAS) if full else (QUICK_LEVELS, QUICK_DELTAS)
    jobs: list[Callable[[], None]] = [on.measure_original]
    for line in (WHEEL, WHEEL_SAFE):
        for k in levels:
            for delta in deltas:
                jobs.append(partial(on.measure_setting, line, k, delta))
                jobs += [partial(on.measure_neighbour, line, k, delta, seed) for seed in seeds]
                jobs.append(partial(on.measure_spread, line, k, delta, centroid=delta == deltas[0]))
        jobs += [partial(on.measure_means, line, seed) for seed in seeds]
    lines = lines_at_hand()
    jobs += [
        partial(on.measure_rules, kind, seed, lines) for kind in (RULE_SETS if full else (RANDOM,)) for seed in seeds
    ]
    return jobs


def lines_at_hand() -> list[str]:
    """Return how records are put into clusters for Table 3; k-means needs scikit-learn."""
    if find_spec("sklearn"):
        return [*LINES]
    progress.note(f"scikit-learn is not installed: {TITLES[KMEANS]} is left out")
    return [line for line in LINES if line not in (KMEANS, KMEANS_SAFE)]
