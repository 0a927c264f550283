"""What a party could learn from a run that it lawfully sees: one file an attack.

Attacks run on a trial, with both tables at hand, so that what they guess can be compared with what is true.
"""
