"""Tables of two providers about the same people, and the table that joins them."""

EXAMPLE_LINES = (
    "import secrets",
    "from setveil.presence.tables.sample import sample",
    "originals = sample(people=2000).originals",
    "keys = sv.Keys(secrets.token_bytes(16), secrets.token_bytes(16))",
)
"""How the examples on help pages get two tables that can be joined."""
