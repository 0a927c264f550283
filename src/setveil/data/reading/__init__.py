"""Reading data from files, databases, samples and in-memory tables."""
