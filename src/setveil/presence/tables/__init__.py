"""Tables of two providers about the same people, and the joined table."""

EXAMPLE_LINES = (
    "import secrets",
    "from setveil.presence.tables.sample import sample",
    "originals = sample(people=2000).originals",
    "keys = sv.Keys(secrets.token_bytes(16), secrets.token_bytes(16))",
)
"""The first lines of examples on help pages: two sample tables, and keys."""
