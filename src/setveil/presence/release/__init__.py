"""Releases of joined tables: the card, the folders, and runs that write them."""
