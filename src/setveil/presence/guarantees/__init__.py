"""Guarantees of joined tables, one file per guarantee. No check uses the code of a method."""

MEMBERS = {
    "KAnonymity": "k_anonymity",
    "SitePresence": "site_presence",
}
"""The class of each guarantee and its module, in the order of lists and help texts."""
