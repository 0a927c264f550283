"""Records in memory: transactions, their labels, ragged arrays, and which released row came from which record."""
