"""Methods that keep k^m-anonymity, and what makes plain records of disassociated data again."""
