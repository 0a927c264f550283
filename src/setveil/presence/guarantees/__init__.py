"""Guarantees of joined tables, one file per guarantee. No check uses the code of a method."""

MEMBERS = {
    "k-anonymity": "k_anonymity.KAnonymity",
    "site-presence": "site_presence.SitePresence",
}
"""The name of each guarantee, its module and its class, in the order of lists and help texts."""
