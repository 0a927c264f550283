"""Methods that keep k^m-anonymity, and what makes plain records of disassociated data again."""

MEMBERS = {
    "Disassociation": "disassociation",
    "Reassociation": "reassociation",
    "AprioriGeneralization": "apriori_generalization",
}
"""The class of each method and its module, in the order in which people see them."""
