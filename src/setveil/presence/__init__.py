"""Two providers and a collector: a joined table, and nobody learns who is a customer of whom."""

PROTECTS = "The protocol protects against a curious peer that follows it; a peer that deviates can learn who your customers are."
"""What every page, help text and policy of this part says."""
