"""A run small enough for every test: data of a few hundred records under the names of the real ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from setveil.reproduce import (
    disassociation,
    disassociation_measuring,
    itemset_measuring,
    itemset_swapping,
    rho_uncertainty,
    tendency_swapping,
    uncertainty_measuring,
)
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


def shrink_disassociation(monkeypatch: MonkeyPatch) -> None:
    """Draw three times, name few rules, and mine at a support that fits a few hundred records."""
    monkeypatch.setattr(disassociation, "SEEDS", (0, 1, 2))
    monkeypatch.setattr(disassociation_measuring, "UTILITY_RULES", 8)
    monkeypatch.setattr(disassociation_measuring, "RULE_SUPPORT", 0.02)
    monkeypatch.setattr(disassociation_measuring, "RULE_CONFIDENCE", "20%")
