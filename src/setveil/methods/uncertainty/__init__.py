"""Methods that keep sensitive items from being inferred."""

MEMBERS = {
    "Insert": "insert",
    "PartialSuppression": "partial_suppression",
    "Permutation": "permutation",
    "GlobalSuppression": "global_suppression",
    "TDControl": "td_control",
}
"""The class of each method and its module, in the order in which people see them."""
