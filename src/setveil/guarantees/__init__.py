"""Guarantees, one file each. Their checks use no code of the methods."""

MEMBERS = {
    "hidden-tendency": "hidden_tendency.HiddenTendency",
    "hidden-itemsets": "hidden_itemsets.HiddenItemsets",
    "rho-uncertainty": "rho_uncertainty.RhoUncertainty",
    "permutation-privacy": "permutation_privacy.PermutationPrivacy",
    "km-anonymity": "km_anonymity.KmAnonymity",
    "reconstruction": "reconstruction.Reconstruction",
}
"""The name of each guarantee, its module and its class, in the order in which they are listed."""
