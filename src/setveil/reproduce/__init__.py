"""Papers whose experiments can be run again: one module a paper, its tables and figures beside ours."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from setveil.reproduce.paper import Reproduction

PAPERS = {
    "tendency-swapping": "gunawan2019: hiding what a person leans to by swapping items. Figures 3 to 6, and a verdict on each claim.",
    "itemset-swapping": "gunawan2021: hiding itemsets by swapping items. Tables II to V, Figures 4 to 8, and a verdict on each claim.",
    "rho-uncertainty": "jia2014: keeping sensitive items from being inferred. Figures 2 to 9, Table 3, and a verdict on each claim.",
    "disassociation": "awad2020: taking records apart and together again. Tables 3 to 6, Figures 5 and 6, and a verdict on each claim.",
    "site-presence": "takenouchi2012: joining two providers' tables with dummy users. Figures 2 to 4, and a verdict on each claim.",
}
"""The name of each paper on the command line, and a line about it."""


def experiments(name: str) -> Callable[..., Reproduction]:
    """Return what runs a paper's experiments; its module, named after the paper, is loaded only now."""
    runs: Callable[..., Reproduction] = import_module(f"setveil.reproduce.{name.replace('-', '_')}").reproduce
    return runs
