"""Compare methods and settings on the same data: what a task keeps and what an attacker gains; and advise which to use."""
