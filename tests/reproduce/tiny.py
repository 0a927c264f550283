"""A run small enough for every test: data of a few hundred records under the names of the real ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from setveil.reproduce import (
    disassociation,
    disassociation_measuring,
    itemset_measuring,
    itemset_swapping,
    presence_lines,
    rho_uncertainty,
    tendency_swapping,
    uncertainty_measuring,
)
from setveil.reproduce.adult import COLUMNS
from setveil.reproduce.browsing import generated_browsing

if TYPE_CHECKING:
    from pathlib import Path

    from pytest import MonkeyPatch  # noqa: PT013 - the name of a type

NAMES = ("bms-webview-1", "bms-webview-2", "retail", "bms-pos-100k")


def write_tiny(folder: Path, names=NAMES) -> Path:
    """Write records with a few hot items, from a seed."""
    folder.mkdir(exist_ok=True)
    for seed, name in enumerate(names):
        rng = np.random.default_rng(seed)
        lines = []
        for _ in range(300):
            length = 1 + min(int(rng.exponential(4)), 12)
            lines.append(" ".join(map(str, sorted(set(np.minimum(rng.zipf(1.4, length), 150).tolist())))))
        (folder / f"{name}.dat").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def write_tiny_foodmart(folder: Path) -> Path:
    """Write short baskets, so many that 0.03 % of them are two, some of which are there twice."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(7)
    baskets = [rng.choice(400, size=5, replace=False) for _ in range(40)] * 2
    baskets += [rng.choice(400, size=1 + n % 4, replace=False) for n in range(3_360)]
    lines = [" ".join(map(str, sorted((basket + 1).tolist()))) for basket in baskets]
    (folder / "foodmart.dat").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def shrink_itemsets(monkeypatch: MonkeyPatch) -> None:
    """Name few itemsets, in data of a few hundred records at supports that fit them, and time nothing twice."""
    monkeypatch.setattr(itemset_swapping, "NAMED", 8)
    monkeypatch.setattr(itemset_swapping, "SEEDS", (0, 1))
    others = tuple((*entry[:3], "2%", 3) for entry in itemset_swapping.OTHERS)
    monkeypatch.setattr(itemset_swapping, "OTHERS", others)
    monkeypatch.setattr(itemset_measuring, "MOST_TIMED", 1)


def shrink(monkeypatch: MonkeyPatch) -> None:
    """Let the generated data set be small too, and time nothing twice."""
    small = partial(generated_browsing, records=60, occurrences=1500, items=300)
    monkeypatch.setattr(
        tendency_swapping,
        "generated_browsing",
        lambda **given: small(**given) if not given else generated_browsing(**given),
    )
    monkeypatch.setattr(tendency_swapping, "MOST_TIMED", 1)
    monkeypatch.setattr(tendency_swapping, "FULL_SUPPORTS", ("2%", "5%"))
    monkeypatch.setattr(tendency_swapping, "BMS_SUPPORTS", ("2%", "5%"))


def shrink_uncertainty(monkeypatch: MonkeyPatch) -> None:
    """Let Syn be small, draw twice, look at few seeds, and mine at a support that fits a few hundred records."""
    monkeypatch.setattr(rho_uncertainty, "DRAWS", 2)
    monkeypatch.setattr(rho_uncertainty, "SEEDS_TRIED", 20)
    monkeypatch.setattr(rho_uncertainty, "SYN_RECORDS", 400)
    monkeypatch.setattr(rho_uncertainty, "SYN_OCCURRENCES", 1600)
    monkeypatch.setattr(uncertainty_measuring, "MIN_SUPPORT", "2%")


def write_tiny_adult(folder: Path, rows: int = 480) -> Path:
    """Write census records whose columns go together, and some that lack a value."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(3)
    lines = [",".join(COLUMNS)]
    for number in range(rows):
        wealth = rng.random()
        values = {
            "age": 17 + int(60 * wealth), "workclass": "?" if number % 60 == 7 else rng.choice(["Private", "State-gov"]),
            "fnlwgt": int(rng.integers(20_000, 900_000)), "education": rng.choice(["11th", "Bachelors", "Masters"]),
            "education-num": 1 + int(15 * wealth), "marital-status": rng.choice(["Divorced", "Never-married"]),
            "occupation": rng.choice(["Sales", "Tech-support", "Other"]), "relationship": rng.choice(["Husband", "Wife"]),
            "race": rng.choice(["Black", "White"]), "sex": rng.choice(["Female", "Male"]),
            "capital-gain": int(rng.integers(0, 99_999)) if rng.random() < 0.2 else 0, "capital-loss": int(rng.integers(0, 4_000)),
            "hours-per-week": int(rng.integers(1, 99)), "native-country": rng.choice(["Cuba", "Japan"]),
            "income": ">50K" if wealth + 0.3 * rng.random() > 0.9 else "<=50K",
        }  # fmt: skip
        lines.append(",".join(str(values[name]) for name in COLUMNS))
    (folder / "adult.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def shrink_presence(monkeypatch: MonkeyPatch) -> None:
    """Deal out few people, with few keys, limits and queries; a third of A's users and half of B's are common, as in the paper."""
    few = {"common": 90, "only_a": 180, "only_b": 90, "queries": 200}
    full = replace(presence_lines.FULL, seeds=(0, 1), seeds_of_figure_4=(0,), **few)
    monkeypatch.setattr(presence_lines, "FULL", full)
    monkeypatch.setattr(presence_lines, "QUICK", replace(presence_lines.QUICK, **few))


def shrink_disassociation(monkeypatch: MonkeyPatch) -> None:
    """Draw three times, name few rules, and mine at a support that fits a few hundred records."""
    monkeypatch.setattr(disassociation, "SEEDS", (0, 1, 2))
    monkeypatch.setattr(disassociation_measuring, "UTILITY_RULES", 8)
    monkeypatch.setattr(disassociation_measuring, "RULE_SUPPORT", 0.02)
    monkeypatch.setattr(disassociation_measuring, "RULE_CONFIDENCE", "20%")
