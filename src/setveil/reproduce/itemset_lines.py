"""The lines of the itemset experiments: what they are called in the figures, and what people read."""

from __future__ import annotations

from setveil.reproduce.figures import ORIGINAL
from setveil.reproduce.itemset_printed import PRINTED_HEU, PRINTED_NV, PRINTED_SW

SW, SW_ONE, SW_ALL = "sw", "sw-one", "sw-all"
HEU, HEU_ZERO, NV = "heu", "heu-zero", "nv"
EXACT, EXACT_BORDER, EXACT_LEVELS, EXACT_ZERO = "exact-random", "exact-border", "exact-levels", "exact-zero"
ILP = "exact-zero-ilp"
"""The same as EXACT_ZERO, with a plan that loses the fewest itemsets, proven where the solver gets that far."""

READINGS = {"one": {SW: SW_ONE}, "all": {SW: SW_ALL}}
"""SW is run twice: to the letter with one item a record, and with as many as break every named itemset that a record holds."""

TITLES = {
    ORIGINAL: "original",
    PRINTED_SW: "SW (as printed)",
    SW_ONE: "SW, one item",
    SW_ALL: "SW, all itemsets",
    PRINTED_HEU: "HEU (as printed)",
    HEU: "HEU",
    PRINTED_NV: "NV (as printed)",
    NV: "NV",
    EXACT: "exact-swap",
    EXACT_BORDER: "exact-swap, border",
    EXACT_LEVELS: "exact-swap, levels",
    EXACT_ZERO: "exact-swap, to 0",
    ILP: "exact-swap, to 0, ILP",
    HEU_ZERO: "HEU, to 0",
}
"""What the paper prints says so; exact-swap without more is its default, which draws targets at random."""
