"""Methods that hide itemsets which are trade secrets."""
