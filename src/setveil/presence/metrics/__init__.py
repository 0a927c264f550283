"""Utility metrics of joined tables."""

MEMBERS = {
    "RangeQueryError": "range_queries",
}
"""The class of each metric and its module, in the order of lists and help texts."""
