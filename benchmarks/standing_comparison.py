"""All methods on the four real data sets at comparable settings: what a task keeps, and what the strongest attack finds.

Makes four comparisons in build/standing-comparison, or continues them, and writes their tables and pictures into the docs. The page says
what was compared. Run: make standing-comparison
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import vl_convert

import setveil as sv
from setveil.base.display import share
from setveil.comparison.charts import frontier
from setveil.comparison.results import Comparison, Estimate, SetUpSummary, interval_text
from setveil.comparison.trials import Bench
from setveil.metrics.pair import Pair
from setveil.report.theme import LIGHT, LOOK

from measuring import data_folder

DATA = {
    "retail": "retail",
    "bms-webview-1": "BMS-WebView-1",
    "bms-webview-2": "BMS-WebView-2",
    "bms-pos-100k": "BMS-POS-100k",
}
DOCS = Path(__file__).parents[1] / "docs"
PAGE, PICTURES = DOCS / "standing-comparison.md", DOCS / "pictures"
BUILD = Path(__file__).parents[1] / "build" / "standing-comparison"
BEGIN = "<!-- written by benchmarks/standing_comparison.py: do not change what follows -->"
CATEGORIES, SUPPORT, ITEMSETS, SENSITIVE_SHARE = "random:20?seed=0", "0.5%", 10, 0.05
METRICS = {"item-knn": "item-kNN", "pair-probabilities": "pairs R²", "item-prediction": "prediction"}
SAME_ATTACK = "find-record"
"""An attack that applies to nearly all methods, so that they can be compared by it."""
SEEDS = 3
FURTHEST_LEFT = -0.2
"""The lowest figure of EASE that the pictures show."""


def grid(name: str) -> dict[str, Any]:
    """Return the comparison of all methods on a data set; its sensitive items and itemsets are drawn at random."""
    data = sv.read(data_folder() / f"{name}.dat.gz", unit="person")
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / f"{name}.parquet"  # with ids, without which no whole record can be swapped
    sv.write(data.with_ids([f"p{number}" for number in range(data.records)]), path, format="list", force=True)
    rng = np.random.default_rng(0)
    sensitive = rng.choice(np.array(data.vocabulary), round(SENSITIVE_SHARE * len(data.vocabulary)), replace=False)
    frequent = [pair for pair in sv.mine(data, SUPPORT, max_length=2).to_lists() if len(pair) == 2]
    drawn = rng.choice(len(frequent), min(ITEMSETS, len(frequent)), replace=False)
    itemsets = [[frequent[place] for place in sorted(drawn)]]
    items = [sorted(sensitive.tolist())]
    given: dict[tuple[str, ...], dict[str, Any]] = {
        ("part-swap", "full-swap", "rand-swap", "part-supp", "split-person"): {"categories": CATEGORIES},
        ("exact-swap", "swap-itemsets", "heu", "naive"): {"itemsets": itemsets, "min_support": SUPPORT},
        ("disassociation", "apriori-generalization"): {"k": 5, "m": 2},
        ("insert", "partial-suppression", "global-suppression", "td-control"): {"sensitive": items, "rho": "50%"},
        ("permutation",): {"sensitive": items, "p": 2},
    }
    return {
        "data": {"path": str(path), "unit": "person"},
        "seeds": SEEDS,
        "sample": 0,
        "metrics": [*METRICS],
        "methods": [{"name": one, **settings} for several, settings in given.items() for one in several],
    }


def table(found: Comparison) -> list[str]:
    """Return the lines of a table with one row per method."""

    def row(one: SetUpSummary) -> list[str]:
        measured = {title.partition(" ")[0]: value for title, value in one.measurements.items()}
        found = [
            finding["excess"]["value"] for trial in one.trials for finding in trial["findings"] if is_same(finding)
        ]
        return [
            f"[{one.method}](methods/{one.method}.md)" + (" *" if one.is_best else ""),
            interval_text(one.task, is_share=False) or one.status,
            *("–" if measured.get(name) is None else f"{measured[name]:.3f}" for name in METRICS),
            share(fmean(found)) if found else "–",
            f"{interval_text(one.excess)}: {one.attack.partition(' ')[0]}" if one.attack else "–",
        ]

    def is_same(finding: dict[str, Any]) -> bool:
        return finding["name"] == SAME_ATTACK and finding["excess"] is not None

    header = ["method", "EASE", *METRICS.values(), SAME_ATTACK, "strongest attack"]
    return ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *map(row, found.ordered))]


def reassociated(name: str) -> list[str]:
    """Return a row for each way to re-associate the release of disassociation; a grid cannot hold it, because it takes a release."""
    bench = Bench.of(sv.read(BUILD / f"{name}.parquet", unit="person"))
    metrics = [sv.Ease(), sv.ItemKnn(), sv.PairProbabilities(), sv.ItemPrediction()]
    quiet: dict[str, Any] = {"metrics": "none", "attacks": "none", "experiment": True}
    rows = []
    for term_chunk in ("drop", "place"):
        measured = []
        for seed in range(SEEDS):
            chunks = sv.publish(bench.train, sv.Disassociation(k=5, m=2), seed=seed, **quiet)
            copies = sv.publish(chunks, sv.Reassociation(term_chunk=term_chunk), seed=seed, **quiet).data
            pair = Pair(bench.train, copies, metrics=metrics, heldout=bench.people, before=bench.before)
            measured.append([one.of(pair) for one in metrics])
        task, *others = zip(*measured, strict=True)
        estimate = Estimate.of([(one.value, one.interval) for one in task])
        means = [f"{fmean(one.value for one in several):.3f}" for several in others]
        cells = [
            f"[reassociation](methods/reassociation.md), {term_chunk}",
            interval_text(estimate, is_share=False),
            *means,
        ]
        rows.append("| " + " | ".join([*cells, "–", "–"]) + " |")
    return rows


def draw(found: Comparison, file: Path) -> str:
    """Write the frontier as a picture in the colours of a light page; return what is too far on the left for it, as a sentence."""
    outside = [one for one in found.set_ups if one.task is not None and one.task.value < FURTHEST_LEFT]
    chart = frontier(replace(found, set_ups=[one for one in found.set_ups if one not in outside]))
    assert chart is not None
    look = LOOK | {"background": LIGHT["paper"], "legend": LOOK["legend"] | {"columns": 5}}
    spec = json.dumps({**chart.spec, "width": 720, "config": look})
    for name, value in LIGHT.items():
        spec = spec.replace(f"var(--{name})", value)
    file.parent.mkdir(exist_ok=True)
    file.write_text(vl_convert.vegalite_to_svg(spec))
    names = ", ".join(f"{one.method} at {one.task.value:.2f}" for one in outside if one.task is not None)
    return f"Too far on the left for the picture: {names}." if names else ""


def main(names: list[str]) -> None:
    """Make or continue the comparisons, and write the page."""
    lines = [BEGIN]
    for name in names or DATA:
        found = sv.compare(grid(name), out=BUILD / name)
        outside = draw(found, PICTURES / f"standing-{name}.svg")
        data = found.facts["data"]
        failed = {one.method: one.reason for one in found.set_ups if one.fails}
        lines += [
            *("", f"## {DATA[name]}", ""),
            f"The methods saw {data['used']:,} records; {data['held_out']:,} were held out.",
            *("", f"![Frontier of {DATA[name]}](pictures/standing-{name}.svg)", ""),
            *([outside, ""] if outside else []),
            *table(found),
            *reassociated(name),
            *(f"\n`{method}`: {reason}" for method, reason in failed.items()),
        ]
    introduction = PAGE.read_text().partition(BEGIN)[0]
    PAGE.write_text(introduction + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
