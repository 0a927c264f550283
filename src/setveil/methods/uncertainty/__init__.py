"""Methods that protect sensitive items against inference."""

MEMBERS = {
    "Insert": "insert",
    "PartialSuppression": "partial_suppression",
    "Permutation": "permutation",
    "GlobalSuppression": "global_suppression",
    "TDControl": "td_control",
}
"""The class of each method and its module, in the order of the lists that users see."""
