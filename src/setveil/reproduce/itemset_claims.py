"""The claims of gunawan2021, section IV, each with the rule that decides it; those that our additional figures show come after them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from setveil.reproduce import itemset_rules as rules
from setveil.reproduce.itemset_findings import FINDINGS
from setveil.reproduce.itemset_lines import HEU, NV, READINGS, SW
from setveil.reproduce.itemset_printed import TABLE_4, TABLE_5
from setveil.reproduce.judging import Claim, decide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setveil.reproduce.figures import Figures
    from setveil.reproduce.judging import Verdict


def judge(
    figures: Figures, sizes: Mapping[str, Sequence[str]], records: Mapping[str, int], titles: Mapping[str, str]
) -> list[Verdict]:
    """Decide every claim."""
    return [decide(claim, figures, sizes, records, titles, READINGS) for claim in CLAIMS]


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "counts-of-table-2",
        "IV, Table II",
        "Table II",
        "FoodMart has 4,141 transactions, 18,319 items and 1,559 distinct ones.",
        "The three counts are equal.",
        rules.counts,
        sizes=("paper",),
        by_reading=False,
    ),
    Claim(
        "length-of-table-2",
        "IV, Table II",
        "Table II",
        "A transaction of FoodMart has 11.75 items on average.",
        "Items by transactions is 11.75, but for rounding. (11.75 is items by distinct items.)",
        rules.mean_length,
        sizes=("paper",),
        by_reading=False,
    ),
    Claim(
        "more-complex-than-bms",
        "V",
        "Table II",
        "FoodMart is more complex than BMS-WebView-1 and -2, by distinct items and by the length of transactions.",
        "It has more distinct items and longer transactions than each of the two.",
        rules.more_complex,
        sizes=("full",),
        by_reading=False,
    ),
    Claim(
        "failure-order",
        "IV.A.1, Figure 4",
        "Figure 4",
        "SW's hiding failure is the lowest, below HEU's, which is below NV's.",
        "HF of SW < HF of HEU < HF of NV, on each data set.",
        rules.failure_order,
    ),
    Claim(
        "failure-of-sw",
        "IV.A.1, Figure 4",
        "Figure 4",
        "SW fails to hide around 7 % of the sensitive itemsets.",
        "Its HF lies between half and twice the 7.143 % that are printed.",
        partial(rules.failure_of, methods=(SW,)),
        sizes=("paper",),
    ),
    Claim(
        "failure-of-heu-and-nv",
        "IV.A.1, Figure 4",
        "Figure 4",
        "HEU fails to hide 47.6 % of them, NV 66.7 %.",
        "Their HF lie between half and twice what is printed.",
        partial(rules.failure_of, methods=(HEU, NV)),
        sizes=("paper",),
        by_reading=False,
    ),
    Claim(
        "cost-slightly-above-heu",
        "IV.A.2, Figure 5",
        "Figure 5 and Table IV",
        "At 0.03 % SW's misses cost is slightly higher than HEU's.",
        "It is above HEU's, and at most twice it: the two that are printed differ by a factor of 1.9.",
        rules.cost_slightly_above,
        sizes=("paper",),
    ),
    Claim(
        "cost-equal-to-heu",
        "IV.A.2, Figure 5",
        "Figure 5 and Table IV",
        "At 0.1 % SW's misses cost is the same as HEU's.",
        "They differ by no more than one in the third digit.",
        rules.cost_equal,
        sizes=("paper",),
    ),
    Claim(
        "cost-of-nv-highest",
        "IV.A.2, Figure 5",
        "Figure 5 and Table IV",
        "NV's misses cost is the highest at every threshold.",
        "It is above SW's and HEU's, at each support of each data set.",
        rules.cost_highest,
    ),
    Claim(
        "table-4",
        "IV.A.2, Table IV",
        "Figure 5 and Table IV",
        "The misses costs are those of Table IV.",
        "Each cell differs by at most 0.005 or a quarter from what is printed.",
        partial(rules.as_in_table, metric="misses-cost", table=TABLE_4),
        sizes=("paper",),
    ),
    Claim(
        "columns-equal",
        "IV, Tables IV and V",
        "Figure 5 and Table IV",
        "The columns of 0.05 % and of 0.07 % are equal.",
        "MC and AFI of each of the three methods are the same at both. (Either is three records.)",
        rules.columns_equal,
        sizes=("paper",),
    ),
    Claim(
        "heu-shows-at-lower-threshold",
        "IV.A.2",
        "Figure 5 and Table IV",
        "HEU leaves records that hold a sensitive itemset, so that a lower threshold shows it; SW does not do so.",
        "After HEU more of the named itemsets are still in some record than after SW, on each data set.",
        rules.lower_threshold,
    ),
    Claim(
        "item-frequencies",
        "IV.A.3, Figure 6",
        "Figures 6 and 7",
        "Frequencies of items are almost the same after SW, differ a little after HEU and much after NV.",
        "The share of items whose frequency changed rises from SW to HEU to NV, on each data set.",
        rules.item_frequencies,
    ),
    Claim(
        "dissimilarity-lowest",
        "IV.A.3, Figure 7",
        "Figures 6 and 7",
        "SW's dissimilarity is the lowest.",
        "Diss, item by item, is below HEU's and NV's, on each data set.",
        rules.diss_lowest,
    ),
    Claim(
        "dissimilarity-order",
        "IV.A.3, Figure 7",
        "Figures 6 and 7",
        "HEU's dissimilarity lies between SW's and NV's.",
        "Diss of SW < Diss of HEU < Diss of NV, on each data set.",
        rules.diss_order,
    ),
    Claim(
        "dissimilarity-values",
        "IV.A.3, Figure 7",
        "Figures 6 and 7",
        "The dissimilarities are 1.372, 4.327 and 366.436.",
        "Their unit is not told, so that only NV's by HEU's can be compared: ours is between half and twice the printed ratio.",
        rules.diss_ratio,
        sizes=("paper",),
        by_reading=False,
    ),
    Claim(
        "sw-keeps-items",
        "VI",
        "Figures 6 and 7",
        "SW neither adds items to the data nor removes any.",
        "Diss, item by item, is exactly 0, on each data set.",
        rules.keeps_items,
    ),
    Claim(
        "new-below-nv",
        "IV.A.4, Figure 8",
        "Figure 8 and Table V",
        "SW makes considerably fewer artificial itemsets than NV.",
        "AFI of SW is below that of NV, at each support of each data set.",
        rules.new_below_nv,
    ),
    Claim(
        "new-like-heu",
        "IV.A.4, Figure 8",
        "Figure 8 and Table V",
        "Above 0.03 % SW's AFI is the same as HEU's.",
        "They differ by no more than one in the third digit, as those that are printed do, at each of the three higher supports.",
        rules.new_like_heu,
        sizes=("paper",),
    ),
    Claim(
        "new-of-heu-zero",
        "IV.A.4, Table V",
        "Figure 8 and Table V",
        "HEU makes no artificial itemset.",
        "Its AFI is exactly 0, at each support of each data set.",
        rules.new_of_heu,
        by_reading=False,
    ),
    Claim(
        "new-minimized",
        "IV.A.4",
        "Figure 8 and Table V",
        "SW can minimize the AFI.",
        "No other of the three methods has a lower one, at each support of each data set.",
        rules.new_least,
    ),
    Claim(
        "itemsets-remain",
        "IV.A.4",
        "Figure 8 and Table V",
        "Since SW neither removes nor adds items, the frequent itemsets remain the same.",
        "AFI and MC of SW are both 0, at each support of each data set.",
        rules.same_itemsets,
    ),
    Claim(
        "table-5",
        "IV.A.4, Table V",
        "Figure 8 and Table V",
        "The AFI are those of Table V.",
        "Each cell differs by at most 0.005 or a quarter from what is printed.",
        partial(rules.as_in_table, metric="artificial-itemsets", table=TABLE_5),
        sizes=("paper",),
    ),
    Claim(
        "new-close-to-zero",
        "VI",
        "Figure 8 and Table V",
        "The AFI of SW and of HEU are close to zero.",
        "Both are below 0.01, at each support of each data set.",
        rules.new_close_to_zero,
    ),
    *FINDINGS,
)
