"""The lines of the ρ-uncertainty experiments: what they are called in the figures, and what people read."""

from __future__ import annotations

from setveil.reproduce.figures import ORIGINAL

MINE, DIST = "mine", "dist"
MINE_WHOLE, DIST_WHOLE = "mine-whole", "dist-whole"
"""Without divide and conquer: one part."""
GLOBAL, GLOBAL_OURS, TD = "global", "global-sensitive", "td-control"
"""GLOBAL chooses types by the payoff of cao2010, GLOBAL_OURS leaves out sensitive types only."""
INSERT, PERMUTATION = "insert", "permutation"
TRIVIAL, BOUND = "trivial", "estimated-bound"
PRINTED = {line: f"printed-{line}" for line in (MINE, DIST, GLOBAL, TD)}
"""Under which name what the paper prints of a method stands beside ours."""

READINGS = {"split": {}, "whole": {MINE: MINE_WHOLE, DIST: DIST_WHOLE}}
"""The paper's method runs twice: split into parts as its t_max says, and unsplit."""

TITLES = {
    ORIGINAL: "original",
    PRINTED[MINE]: "Mine (as printed)",
    MINE: "Mine",
    MINE_WHOLE: "Mine, unsplit",
    PRINTED[DIST]: "Dist (as printed)",
    DIST: "Dist",
    DIST_WHOLE: "Dist, unsplit",
    PRINTED[GLOBAL]: "Global (as printed)",
    GLOBAL: "Global",
    GLOBAL_OURS: "Global, sensitive only",
    PRINTED[TD]: "TDControl (as printed)",
    TD: "TDControl",
    PERMUTATION: "Permutation",
    INSERT: "Insert",
    TRIVIAL: "all sensitive deleted",
    BOUND: "estimated bound",
}
"""In the order they are told. Insert is our method; the last two are no methods of anybody, but what every loss stands between."""

WV, RETAIL, POS, SYN = "WV", "Retail", "POS 100k", "Syn-like"

RHOS = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9")
LOW, HIGH = "0.3", "0.7"
"""The two values at which the paper compares methods."""
FIFTHS = ("1/5", "2/5", "3/5", "4/5", "5/5")
T_MAXES = (150, 300, 500, 2000, 8000)
TABLE_T_MAX, DEFAULT_T_MAX = 300, 500
DEGREES = (4, 6, 8, 10)
"""The p of the permutation; ρ is 1/p."""


def at_rho(rho: str) -> str:
    """Return the setting of a figure that belongs to a ρ."""
    return f"ρ={rho}"


def at_t_max(t_max: int) -> str:
    """Return the setting of a figure that belongs to a t_max."""
    return f"t_max={t_max}"


def at_degree(p: int) -> str:
    """Return the setting of a figure that belongs to a degree of the permutation."""
    return f"p={p}"
