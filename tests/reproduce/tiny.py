"""A run small enough for every test: data of a few hundred records under the names of the real ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from setveil.reproduce import tendency_swapping
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
