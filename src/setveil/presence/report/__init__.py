"""Report pages of joined tables."""
