"""Frequent itemsets, association rules and supports: what analysts look for in set-valued data."""
