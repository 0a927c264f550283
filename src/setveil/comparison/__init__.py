"""Compare set-ups by measuring them, and advise which to use."""
