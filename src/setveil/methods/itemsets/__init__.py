"""Methods that hide itemsets which are trade secrets."""

MEMBERS = {
    "ExactSwap": "exact_swap",
    "SwapItemsets": "swap_itemsets",
    "HEU": "heu",
    "Naive": "naive",
}
"""The class of each method and its module, in the order in which people see them."""
