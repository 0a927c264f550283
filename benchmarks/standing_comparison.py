"""All methods on the four real data sets at comparable settings: what a task keeps against what the strongest attack finds.

Writes docs/standing-comparison.md with its pictures from the folders of four comparisons, which it makes first or continues:
people divided 80 to 20, two seeds. Run: make standing-comparison
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert
from measuring import data_folder

import setveil as sv
from setveil.base import progress
from setveil.comparison.charts import frontier
from setveil.comparison.results import Comparison, SetUpSummary, interval_text
from setveil.report.charts import LOOK

DATA = {
    "retail": "retail",
    "bms-webview-1": "BMS-WebView-1",
    "bms-webview-2": "BMS-WebView-2",
    "bms-pos-100k": "BMS-POS-100k",
}
PAGE = Path(__file__).parents[1] / "docs" / "standing-comparison.md"
PICTURES = PAGE.parent / "pictures"
RHO, CATEGORIES, ITEMSETS, SUPPORT = "50%", "random:20?seed=0", 10, "0.5%"
SENSITIVE_SHARE = 0.05
SEEDS = 2


def grid(name: str, folder: Path) -> dict[str, Any]:
    """Return the comparison of all methods on a data set; files with sensitive items and itemsets are written to the folder."""
    path = data_folder() / f"{name}.dat.gz"
    data = sv.read(path, unit="person")
    rng = np.random.default_rng(0)
    number = round(SENSITIVE_SHARE * len(data.vocabulary))
    sensitive = sorted(rng.choice(np.array(data.vocabulary), number, replace=False).tolist())
    pairs = [pair for pair in sv.mine(data, SUPPORT, max_length=2).to_lists() if len(pair) == 2]
    itemsets = [pairs[place] for place in sorted(rng.choice(len(pairs), min(ITEMSETS, len(pairs)), replace=False))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sensitive.txt").write_text("\n".join(sensitive) + "\n")
    (folder / "itemsets.txt").write_text("\n".join(" ".join(one) for one in itemsets) + "\n")
    categories = {"categories": CATEGORIES}
    limit = {"sensitive": str(folder / "sensitive.txt"), "rho": RHO}
    hidden = {"itemsets": str(folder / "itemsets.txt"), "min_support": SUPPORT}
    return {
        "data": {"path": str(path), "unit": "person"},
        "seeds": SEEDS,
        "sample": 0,
        "metrics": ["item-knn", "pair-probabilities", "rare-item-recall"],
        "methods": [
            *({"name": one, **categories} for one in ("part-swap", "full-swap", "rand-swap", "part-supp", "split-person")),
            *({"name": one, **hidden} for one in ("exact-swap", "swap-itemsets", "heu", "naive")),
            *({"name": one, "k": 5, "m": 2} for one in ("disassociation", "apriori-generalization")),
            *({"name": one, **limit} for one in ("insert", "partial-suppression", "global-suppression", "td-control")),
            {"name": "permutation", "sensitive": limit["sensitive"], "p": 2},
        ],
    }


def table(found: Comparison) -> list[str]:
    """Return the lines of a table with one row per method."""

    def cells(one: SetUpSummary) -> list[str]:
        others = [one.measurements.get(name) for name in one.measurements]
        return [
            f"[{one.method}](methods/{one.method}.md){' **best**' if one.is_best else ''}",
            one.status if one.status != "refused" else f"refused: {one.reason.split(';')[0][:80]}",
            interval_text(one.task, is_share=False) or "–",
            *("–" if value is None else f"{value:.3f}" for value in others),
            f"{interval_text(one.excess)}, {one.attack}" if one.attack else "–",
            "–" if one.seconds is None else f"{one.seconds:.1f} s",
        ]

    names = next((list(one.measurements) for one in found.set_ups if one.measurements), [])
    header = ["method", "guarantee", "EASE", *names, "strongest attack", "CPU"]
    rows = [cells(one) for one in found.ordered]
    width = len(header)
    rows = [row[:3] + ["–"] * (width - len(row)) + row[3:] for row in rows]
    return ["| " + " | ".join(row) + " |" for row in [header, ["---"] * width, *rows]]


def main() -> None:
    """Make or continue the comparisons, and write the page."""
    build = Path("build") / "standing-comparison"
    PICTURES.mkdir(exist_ok=True)
    lines: list[str] = []
    for name, title in DATA.items():
        started = time.perf_counter()
        folder = build / name
        with progress.reporting(progress.to_stderr) if hasattr(progress, "to_stderr") else progress.step(title, 1):
            found = sv.compare(grid(name, folder.with_name(f"{name}-files")), out=folder)
        print(title, f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
        chart = frontier(found)
        if chart is not None:
            svg = vl_convert.vegalite_to_svg({**chart.spec, "config": LOOK.get("config", {}), "width": 640})
            (PICTURES / f"standing-{name}.svg").write_text(svg)
        people = found.facts["people"]
        lines += ["", f"## {title}", "", f"{people}", "", f"![{title}](pictures/standing-{name}.svg)", "", *table(found)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
