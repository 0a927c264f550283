"""Methods that hide named itemsets, such as trade secrets."""

MEMBERS = {
    "exact-swap": "exact_swap.ExactSwap",
    "swap-itemsets": "swap_itemsets.SwapItemsets",
    "heu": "heu.HEU",
    "naive": "naive.Naive",
}
"""The name of each method, its module and its class, in display order."""
