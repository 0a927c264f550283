"""What the experiments of every paper have in common: data sets, how a method is timed, and what a run gives."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil import __version__
from setveil.kernels.threads import number_of_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions
    from setveil.methods.base import Outcome
    from setveil.reproduce.figures import Figures
    from setveil.reproduce.judging import Verdict


@dataclass(frozen=True)
class Column:
    """A column of the figures in short, as the command line prints them."""

    heading: str
    metric: str
    by_support: bool = False
    form: Literal["count", "two digits", "three digits", "short"] = "short"
    at: str = ""
    """The setting whose figure is told, where it is not told by support."""


@dataclass(frozen=True)
class Paper:
    """A paper, and how what its experiments give is told."""

    reference: str
    """Its key in references.bib."""
    titles: Mapping[str, str]
    """What people read for each line of the figures, in the order they are told."""
    draws: tuple[str, str]
    """What one seed draws, and what several draw: `ways to deal out categories`."""
    readings: tuple[str, str]
    """Names of the two readings of the paper's method, the one that verdicts are on first."""
    second: str
    """What the second reading is, as a heading."""
    full: str
    """What the data sets are that the paper does not have, as a heading; empty where there are none."""
    columns: tuple[Column, ...]
    shown: tuple[str, ...] = ()
    """The supports, or other settings, whose figures are told in short; without any, all."""
    counted: tuple[tuple[str, str], ...] = (("records", "records"), ("distinct", "items"))
    """Which counts of a data set are told, and what they count."""


@dataclass(frozen=True)
class Dataset:
    """A data set as it goes into the experiments."""

    name: str
    size: str
    """`paper` or `full`."""
    what: str
    supports: tuple[str, ...]
    data: Transactions = field(repr=False, compare=False)
    printed: tuple[int, int, int] | None = None
    """Records, items and distinct items in the paper's table."""

    def to_dict(self) -> dict[str, Any]:
        """Return its counts as plain values, those of the paper beside."""
        data = self.data
        counts = {"records": data.records, "items": data.occurrences, "distinct": len(data.vocabulary)}
        mean = data.occurrences / max(data.records, 1)
        printed = dict(zip(counts, self.printed, strict=True)) if self.printed else None
        return {
            "name": self.name,
            "size": self.size,
            "what": self.what,
            **counts,
            "mean_length": mean,
            "printed": printed,
        }


@dataclass(frozen=True)
class Reproduction:
    """What a run gave: the figures, and what they say of the claims."""

    paper: Paper
    datasets: list[dict[str, Any]]
    figures: Figures
    verdicts: list[Verdict]
    about: dict[str, Any]
    more: dict[str, Any] = field(default_factory=dict)
    """What a paper's page shows beside figures and verdicts."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "paper": self.paper.reference,
            "about": self.about,
            "datasets": self.datasets,
            "methods": dict(self.paper.titles),
            "summary": self.figures.summary(),
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            **self.more,
        }


def shortest_run(make: Callable[[Generator], Outcome], seed: int, *, within: float, most: int) -> tuple[Outcome, float]:
    """Run again and again within so many seconds, and return what was made and how long the shortest run took."""
    best, spent = float("inf"), 0.0
    for _ in range(most):
        rng = np.random.default_rng(seed)
        started = time.perf_counter()
        made = make(rng)
        seconds = time.perf_counter() - started
        best, spent = min(best, seconds), spent + seconds
        if spent > within:
            break
    return made, best


def circumstances(seeds: tuple[int, ...], started: float, **settings: Any) -> dict[str, Any]:
    """Return what a run was made with, and on which machine; `started` is a time of `time.monotonic`."""
    return {
        "seeds": list(seeds),
        **settings,
        "threads": number_of_threads(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "versions": {"setveil": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "seconds": round(time.monotonic() - started, 1),
    }
