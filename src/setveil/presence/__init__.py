"""Joined tables: two providers and a collector publish one without revealing which people are customers of which provider."""

PROTECTS = "The protocol protects against a curious peer that follows it; a peer that deviates can learn who your customers are."
"""The limit of the protection, as every page, help text and policy file states it."""
