"""Two providers and a collector: a joined table, and nobody learns who is a customer of whom."""
