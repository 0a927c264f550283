"""What gunawan2021 prints: Tables II, IV and V, and the values that its text names of Figures 4 and 7. Nothing here was measured by us."""

from __future__ import annotations

from setveil.reproduce.figures import Figure

FOODMART = "FoodMart"
PRINTED_SW, PRINTED_HEU, PRINTED_NV = "printed-sw", "printed-heu", "printed-nv"
PRINTED = {"sw": PRINTED_SW, "heu": PRINTED_HEU, "nv": PRINTED_NV}
"""Under which name the printed figures of a method stand beside ours."""

SUPPORTS = ("0.03%", "0.05%", "0.07%", "0.1%")
TABLE_2 = (4_141, 18_319, 1_559)
"""Transactions, items, distinct items."""
PRINTED_MEAN_LENGTH = 11.75
"""The "average tuple length" of Table II, which is 18,319 / 1,559: items by distinct items."""

HIDING_FAILURE = {PRINTED_SW: 0.07143, PRINTED_HEU: 0.47619, PRINTED_NV: 0.66667}
TABLE_4 = {
    PRINTED_SW: (0.064, 0.006, 0.006, 0.0),
    PRINTED_HEU: (0.034, 0.005, 0.005, 0.0),
    PRINTED_NV: (0.276, 0.029, 0.029, 0.034),
}
TABLE_5 = {
    PRINTED_SW: (0.009, 0.001, 0.001, 0.0),
    PRINTED_HEU: (0.0, 0.0, 0.0, 0.0),
    PRINTED_NV: (0.947, 0.902, 0.902, 0.411),
}
DISSIMILARITY = {PRINTED_SW: 1.372, PRINTED_HEU: 4.327, PRINTED_NV: 366.436}
"""Equation 5 is at most 1 where items only leave, and the paper names no unit: they stand under a metric of their own."""


def printed_figures() -> list[Figure]:
    """Return them as figures, without a seed and under names that say where they are from."""

    def figure(method: str, metric: str, value: float, support: str = "") -> Figure:
        return Figure(FOODMART, method, None, support, metric, value)

    found = [figure(method, "hiding-failure", value) for method, value in HIDING_FAILURE.items()]
    for metric, table in (("misses-cost", TABLE_4), ("artificial-itemsets", TABLE_5)):
        found += [
            figure(method, metric, value, support)
            for method, row in table.items()
            for support, value in zip(SUPPORTS, row, strict=True)
        ]
    found += [figure(method, "dissimilarity-of-unknown-unit", value) for method, value in DISSIMILARITY.items()]
    return found
