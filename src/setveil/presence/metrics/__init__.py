"""Utility metrics of joined tables."""

MEMBERS = {
    "range-query-error": "range_queries.RangeQueryError",
}
"""The name of each metric, its module and its class, in the order of lists and help texts."""
