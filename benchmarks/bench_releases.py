"""Releases of the real data sets, made and checked from the command line, each in its own process.

50 random categories with seeds 0-4 and rows under pseudonyms: nothing may be violated or left unhidden. 5 categories: failures beside
the bounds. FoodMart by the levels of its own taxonomy. Run: python benchmarks/bench_releases.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import data_folder

ANY_NUMBER = 10**9


def setveil(*arguments):
    """Run the program; return its exit code, its JSON and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "setveil", *map(str, arguments), "--json", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr.strip()


def released(data, categories, *options):
    """Publish, check in another process, compare supports independently; return a row of figures."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        common = ("--categories", categories, *options)
        started = time.perf_counter()
        code, _made, said = setveil(
            "publish",
            data,
            "--method",
            "part-swap",
            "--ids",
            "pseudonym",
            "--out",
            out,
            "--allow-failures",
            ANY_NUMBER,
            *common,
        )
        seconds = time.perf_counter() - started
        if code:
            sys.exit(said)
        private = out.with_name("release.private")
        code, verdict, _said = setveil(
            "check", out, "--original", data, "--private", private, "--allow-failures", ANY_NUMBER
        )
        account = json.loads((private / "dossier.json").read_text())["account"]
        metrics = {m["name"]: m for m in json.loads((private / "dossier.json").read_text())["metrics"]}
        return {
            "check": code,
            "violations": {k: v for k, v in verdict["violations"].items() if k != "not-hidden"},
            "unhidden": verdict["failures"],
            "to hide": verdict["counts"]["to-hide"],
            "bounds": account["bounds"],
            "diss": metrics["dissimilarity"]["value"],
            "posterior": metrics["tendency-posterior"],
            "seconds": seconds,
        }


def show(name, row):
    bounds = row["bounds"]
    tight = max(bounds["at-least-unhidden-with-helpers"], bounds["at-least-unhidden-by-item"])
    posterior = row["posterior"]
    print(
        f"{name:<34}{row['to hide']:>9,}{row['unhidden']:>9,}{tight:>7,}{bounds['at-least-unhidden-by-exchange']:>9,}"
        f"{len(row['violations']):>11}{row['diss']:>6.3g}{posterior['value']:>10.3f}{posterior['details']['base-rate']:>7.3f}"
        f"{row['seconds']:>7.1f}",
        flush=True,
    )


def main():
    widths = {
        "to hide": 9,
        "unhidden": 9,
        "bound": 7,
        "by pairs": 9,
        "violations": 11,
        "Diss": 6,
        "posterior": 10,
        "base": 7,
        "s": 7,
    }
    print(f"{'data':<34}" + "".join(f"{name:>{width}}" for name, width in widths.items()))
    folder = data_folder()
    for groups in (50, 5):
        for name in ("bms-webview-1", "bms-webview-2", "retail", "bms-pos-100k"):
            for seed in range(5):
                row = released(
                    folder / f"{name}.dat.gz", f"random:{groups}?seed={seed}", "--seed", seed, "--experiment"
                )
                show(f"{name} {groups} categories, seed {seed}", row)
                assert not row["violations"]
                assert groups == 5 or not row["unhidden"]
    foodmart, taxonomy = folder / "foodmart.dat.gz", folder / "foodmart_taxonomy.csv.gz"
    for level in ("subcategory", "category", "department", "family"):
        show(f"foodmart by {level}", released(foodmart, taxonomy, "--level", level, "--seed", 0, "--experiment"))
    by_family = ("--ids", "pseudonym", "--categories", taxonomy, "--level", "family")
    code, _made, said = setveil("publish", foodmart, "--method", "part-swap", "--out", "nowhere", *by_family)
    print(f"\nfoodmart by family without --allow-failures: exit {code}\n{said}")
    assert code == 3


if __name__ == "__main__":
    main()
