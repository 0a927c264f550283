"""The data: transactions and what goes with them, and how they are read and written."""
