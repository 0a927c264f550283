"""Methods that hide named itemsets, such as trade secrets."""

MEMBERS = {
    "ExactSwap": "exact_swap",
    "SwapItemsets": "swap_itemsets",
    "HEU": "heu",
    "Naive": "naive",
}
"""The class of each method and its module, in display order."""
