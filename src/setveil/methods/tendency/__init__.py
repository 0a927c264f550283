"""Methods that hide which category a person's record leans to (its tendency)."""

MEMBERS = {
    "part-swap": "part_swap.PartSwap",
    "full-swap": "full_swap.FullSwap",
    "rand-swap": "rand_swap.RandSwap",
    "part-supp": "part_supp.PartSupp",
    "split-person": "split_person.SplitPerson",
}
"""The name of each method, its module and its class, in display order."""
