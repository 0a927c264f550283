"""What must hold of a joined table, one file each, checked without the code of any method."""

MEMBERS = {
    "KAnonymity": "k_anonymity",
    "SitePresence": "site_presence",
}
"""The class of each guarantee and its module, in the order in which people see them."""
