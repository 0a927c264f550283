"""Mining of set-valued data: frequent itemsets, association rules and supports."""
