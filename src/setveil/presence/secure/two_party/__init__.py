"""Secure computation between the two providers alone, from oblivious transfer and half-gates.

Experimental cryptography: no outside review. Parties are taken to keep to the protocol and to be curious about what they receive. The page
docs/presence/two-party.md says what each part is, on what it rests, and what it does not cover.

How little needs computing: who exists where stays fixed through a run, so the rows of the OT extension that stand for it are made once,
in each direction, and hashed anew at every level. The owner of a group sends numbers over the other's rows, and both hold shares of the
numbers of the hidden lower part; no extension for an id and level is needed. Sums over known groups are local. What is left for circuits
is the sign of a sum of two shares, an AND of such signs, and the highest of a few scores.
"""
