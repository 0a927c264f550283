"""Records in memory: transactions, their labels, ragged arrays and the alignment of released rows with original records."""
