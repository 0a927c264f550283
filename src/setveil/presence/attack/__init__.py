"""Attacks: what a party could learn from a run in which it takes part. One file per attack.

Attacks run on a trial with both tables, so that guesses can be compared with the truth.
"""
