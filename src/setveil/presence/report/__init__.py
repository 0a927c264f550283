"""Pages of joined tables."""
