"""Methods that hide what a person leans to."""

MEMBERS = {
    "PartSwap": "part_swap",
    "FullSwap": "full_swap",
    "RandSwap": "rand_swap",
    "PartSupp": "part_supp",
    "SplitPerson": "split_person",
}
"""The class of each method and its module, in the order in which people see them."""
