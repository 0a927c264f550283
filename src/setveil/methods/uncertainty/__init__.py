"""Methods that protect sensitive items against inference."""

MEMBERS = {
    "insert": "insert.Insert",
    "partial-suppression": "partial_suppression.PartialSuppression",
    "permutation": "permutation.Permutation",
    "global-suppression": "global_suppression.GlobalSuppression",
    "td-control": "td_control.TDControl",
}
"""The name of each method, its module and its class, in the order of the lists that users see."""
