"""What can still be computed from a joined table."""

MEMBERS = {
    "RangeQueryError": "range_queries",
}
"""The class of each metric and its module, in the order in which people see them."""
