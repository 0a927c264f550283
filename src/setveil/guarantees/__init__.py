"""Guarantees, one file each. Their checks use no code of the methods."""

MEMBERS = {
    "HiddenTendency": "hidden_tendency",
    "HiddenItemsets": "hidden_itemsets",
    "RhoUncertainty": "rho_uncertainty",
    "PermutationPrivacy": "permutation_privacy",
    "KmAnonymity": "km_anonymity",
    "Reconstruction": "reconstruction",
}
"""The class of each guarantee and its module, in the order in which they are listed."""
