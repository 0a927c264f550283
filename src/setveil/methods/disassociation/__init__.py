"""Methods that reach k^m-anonymity, and re-association, which makes plain records from disassociated data."""

MEMBERS = {
    "Disassociation": "disassociation",
    "Reassociation": "reassociation",
    "AprioriGeneralization": "apriori_generalization",
}
"""The class of each method and its module, in the order of the lists that users see."""
