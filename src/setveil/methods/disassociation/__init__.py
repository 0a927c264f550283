"""Methods that reach k^m-anonymity, and re-association, which makes plain records from disassociated data."""

MEMBERS = {
    "disassociation": "disassociation.Disassociation",
    "reassociation": "reassociation.Reassociation",
    "apriori-generalization": "apriori_generalization.AprioriGeneralization",
}
"""The name of each method, its module and its class, in the order of the lists that users see."""
