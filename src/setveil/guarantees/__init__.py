"""What must hold of a release, one file each, checked without the code of any method."""

MEMBERS = {
    "HiddenTendency": "hidden_tendency",
    "HiddenItemsets": "hidden_itemsets",
    "RhoUncertainty": "rho_uncertainty",
    "PermutationPrivacy": "permutation_privacy",
    "KmAnonymity": "km_anonymity",
    "Reconstruction": "reconstruction",
}
"""The class of each guarantee and its module, in the order in which people see them."""
