"""The rules that decide the claims of gunawan2021: each looks at figures and returns cases.

Where the paper says *about* or *slightly*, a constant says what we take it for, and what the paper prints stands beside our numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.reproduce.figures import ORIGINAL
from setveil.reproduce.itemset_lines import HEU, NV, SW
from setveil.reproduce.itemset_printed import (
    DISSIMILARITY,
    FOODMART,
    HIDING_FAILURE,
    PRINTED,
    PRINTED_HEU,
    PRINTED_MEAN_LENGTH,
    PRINTED_NV,
    PRINTED_SW,
    SUPPORTS,
    TABLE_2,
)
from setveil.reproduce.judging import Case, outcome_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setveil.reproduce.judging import Values, View

THREE = (SW, HEU, NV)
ALL_PRINTED = tuple(PRINTED.values())
LOWEST, HIGHEST = SUPPORTS[0], SUPPORTS[-1]

HALF_A_DIGIT = 0.005
"""Table II prints two digits after the point."""
SAME = 0.0015
"""The paper calls 0.001 and 0 the same: equal but for one in the last printed digit."""
NEAR = 0.005
"""A cell of a table is about as printed within this, or within a quarter of it."""
CLOSE_TO_ZERO = 0.01


def counts(view: View) -> list[Case]:
    """Compare the three counts of Table II."""
    cases = []
    for metric, printed in zip(("records", "items", "distinct-items"), TABLE_2, strict=True):
        found = view.value(FOODMART, ORIGINAL, metric, 0)
        numbers = {"as printed": float(printed), "ours": found}
        test = outcome_of([{"ours": found}], lambda v, printed=printed: v["ours"] == printed)  # type: ignore[misc]
        cases.append(Case(metric.replace("-", " "), test, numbers, "itemsets"))
    return cases


def mean_length(view: View) -> list[Case]:
    """Compare the mean length of a record with what Table II prints."""
    found = view.value(FOODMART, ORIGINAL, "mean-length", 0)
    outcome = outcome_of([{"ours": found}], lambda v: abs(v["ours"] - PRINTED_MEAN_LENGTH) < HALF_A_DIGIT)
    return [Case("items a record", outcome, {"as printed": PRINTED_MEAN_LENGTH, "ours": found}, "length")]


def more_complex(view: View) -> list[Case]:
    """Compare FoodMart with the two data sets that section V names."""
    cases = []
    for metric, what, unit in (
        ("distinct-items", "distinct items", "itemsets"),
        ("mean-length", "items a record", "length"),
    ):
        for other in (name for name in ("BMS1", "BMS2") if name in view.datasets):
            numbers = {name: view.value(name, ORIGINAL, metric, 0) for name in (FOODMART, other)}
            outcome = outcome_of([numbers], lambda v, other=other: v[FOODMART] > v[other])  # type: ignore[misc]
            cases.append(Case(f"{what}, {FOODMART} and {other}", outcome, numbers, unit))
    return cases


def failure_order(view: View) -> list[Case]:
    """Compare the hiding failures of the three methods."""

    def test(v: Values) -> bool:
        return v[SW] < v[HEU] < v[NV]

    return view.by_dataset("hiding-failure", THREE, test, unit="share", beside=ALL_PRINTED)


def failure_of(view: View, methods: Sequence[str]) -> list[Case]:
    """Compare hiding failures with what is printed."""
    cases = []
    for method in methods:
        printed = HIDING_FAILURE[PRINTED[method]]

        def test(v: Values, method: str = method, printed: float = printed) -> bool:
            return printed / 2 <= v[method] <= 2 * printed

        cases += view.by_dataset("hiding-failure", (method,), test, unit="share", beside=(PRINTED[method],))
    return cases


def cost_slightly_above(view: View) -> list[Case]:
    """Compare the misses costs of SW and HEU at the lowest support."""

    def test(v: Values) -> bool:
        return v[HEU] < v[SW] <= 2 * v[HEU]

    beside = (PRINTED_SW, PRINTED_HEU)
    return [view.case(name, "misses-cost", (SW, HEU), test, support=LOWEST, beside=beside) for name in view.datasets]


def cost_equal(view: View) -> list[Case]:
    """Compare the misses costs of SW and HEU at the highest support."""

    def test(v: Values) -> bool:
        return abs(v[SW] - v[HEU]) < SAME

    beside = (PRINTED_SW, PRINTED_HEU)
    return [view.case(name, "misses-cost", (SW, HEU), test, support=HIGHEST, beside=beside) for name in view.datasets]


def cost_highest(view: View) -> list[Case]:
    """Look whether NV's misses cost is the highest."""

    def test(v: Values) -> bool:
        return v[NV] > max(v[SW], v[HEU])

    return view.by_support("misses-cost", THREE, test, beside=ALL_PRINTED)


def as_in_table(view: View, metric: str, table: Mapping[str, Sequence[float]]) -> list[Case]:
    """Compare every cell of a printed table with ours."""
    cases = []
    for method, line in PRINTED.items():
        for support, printed in zip(SUPPORTS, table[line], strict=True):

            def test(v: Values, method: str = method, printed: float = printed) -> bool:
                return abs(v[method] - printed) <= max(NEAR, printed / 4)

            cases += [
                view.case(name, metric, (method,), test, support=support, beside=(line,)) for name in view.datasets
            ]
    return cases


def columns_equal(view: View) -> list[Case]:
    """Compare the two middle columns of Tables IV and V, method by method."""
    cases = []
    one, other = SUPPORTS[1:3]
    for metric, what in (("misses-cost", "MC"), ("artificial-itemsets", "AFI")):
        for method in THREE:
            for name in view.datasets:
                by_seed = [
                    {support: view.value(name, method, metric, seed, support) for support in (one, other)}
                    for seed in view.figures.seeds()
                ]
                means = {support: view.mean(name, method, metric, support) for support in (one, other)}
                outcome = outcome_of(by_seed, lambda v: v[one] == v[other])
                cases.append(Case(f"{what} of {view.title(method)}", outcome, means))
    return cases


def lower_threshold(view: View) -> list[Case]:
    """Compare what HEU and SW leave in some record."""

    def test(v: Values) -> bool:
        return v[HEU] > v[SW]

    return view.by_dataset("residual", (HEU, SW), test, unit="share")


def item_frequencies(view: View) -> list[Case]:
    """Compare of how many items the frequency changed."""

    def test(v: Values) -> bool:
        return v[SW] < v[HEU] < v[NV]

    return view.by_dataset("items-changed", THREE, test, unit="share")


def diss_lowest(view: View) -> list[Case]:
    """Look whether SW's dissimilarity is the lowest."""

    def test(v: Values) -> bool:
        return v[SW] < min(v[HEU], v[NV])

    return view.by_dataset("dissimilarity", THREE, test, unit="share")


def diss_order(view: View) -> list[Case]:
    """Compare the dissimilarities of the three methods."""

    def test(v: Values) -> bool:
        return v[SW] < v[HEU] < v[NV]

    return view.by_dataset("dissimilarity", THREE, test, unit="share")


def diss_ratio(view: View) -> list[Case]:
    """Compare how many times HEU's dissimilarity NV's is with what is printed."""
    printed = DISSIMILARITY[PRINTED_NV] / DISSIMILARITY[PRINTED_HEU]

    def test(v: Values) -> bool:
        return v[HEU] > 0 and printed / 2 <= v[NV] / v[HEU] <= 2 * printed

    cases = []
    for case in view.by_dataset("dissimilarity", (HEU, NV), test):
        heu, nv = case.numbers.values()
        ours = nv / heu if heu and nv is not None else None
        cases.append(Case(case.place, case.outcome, {"NV by HEU, as printed": printed, "ours": ours}))
    return cases


def keeps_items(view: View) -> list[Case]:
    """Look whether SW keeps the frequency of every item."""
    return view.by_dataset("dissimilarity", (SW,), lambda v: v[SW] == 0, unit="share")


def new_below_nv(view: View) -> list[Case]:
    """Compare the artificial itemsets of SW and NV."""
    return view.by_support("artificial-itemsets", (SW, NV), lambda v: v[SW] < v[NV], beside=(PRINTED_SW, PRINTED_NV))


def new_like_heu(view: View) -> list[Case]:
    """Compare the artificial itemsets of SW and HEU above the lowest support."""

    def test(v: Values) -> bool:
        return abs(v[SW] - v[HEU]) < SAME

    beside = (PRINTED_SW, PRINTED_HEU)
    return [
        view.case(name, "artificial-itemsets", (SW, HEU), test, support=support, beside=beside)
        for name in view.datasets
        for support in SUPPORTS[1:]
    ]


def new_of_heu(view: View) -> list[Case]:
    """Look whether HEU makes artificial itemsets."""
    return view.by_support("artificial-itemsets", (HEU,), lambda v: v[HEU] == 0, beside=(PRINTED_HEU,))


def new_least(view: View) -> list[Case]:
    """Look whether one of the others makes fewer artificial itemsets than SW."""

    def test(v: Values) -> bool:
        return v[SW] <= min(v[HEU], v[NV])

    return view.by_support("artificial-itemsets", THREE, test, beside=ALL_PRINTED)


def new_close_to_zero(view: View) -> list[Case]:
    """Look whether SW and HEU make hardly any artificial itemsets."""

    def test(v: Values) -> bool:
        return max(v[SW], v[HEU]) < CLOSE_TO_ZERO

    return view.by_support("artificial-itemsets", (SW, HEU), test, beside=(PRINTED_SW, PRINTED_HEU))


def same_itemsets(view: View) -> list[Case]:
    """Look at lost and new itemsets of SW together."""
    cases = []
    for name in view.datasets:
        for support in view.figures.supports(name):
            metrics = {"MC": "misses-cost", "AFI": "artificial-itemsets"}
            by_seed = [
                {what: view.value(name, SW, metric, seed, support) for what, metric in metrics.items()}
                for seed in view.figures.seeds()
            ]
            means = {what: view.mean(name, SW, metric, support) for what, metric in metrics.items()}
            cases.append(Case(f"{name} at {support}", outcome_of(by_seed, lambda v: not any(v.values())), means))
    return cases
