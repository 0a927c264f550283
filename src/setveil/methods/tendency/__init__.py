"""Methods that hide which category a person's record leans to (its tendency)."""

MEMBERS = {
    "PartSwap": "part_swap",
    "FullSwap": "full_swap",
    "RandSwap": "rand_swap",
    "PartSupp": "part_supp",
    "SplitPerson": "split_person",
}
"""The class of each method and its module, in display order."""
