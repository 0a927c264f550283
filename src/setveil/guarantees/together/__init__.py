"""What several releases of the same data reveal together: one module per joint definition (docs/together.md).

Every definition takes the rows of the releases as linked: the attacker knows which rows belong to the same record. `definitions` lists all
of them, and which releases each one applies to.
"""
