"""Secure computation between the two providers only, from oblivious transfer and half-gates.

Experimental cryptography: no outside review. Parties are assumed to follow the protocol and to be curious about what they receive. The page
docs/presence/two-party.md describes each part, its assumptions, and what it does not cover.

The computation is small because the users of each provider stay the same throughout a run: the rows of the OT extension that represent them
are made once in each direction and hashed again at every level. The owner of a group sends numbers over the other provider's rows, and both
then hold shares of the numbers of the hidden lower part, without an extension per id and level. Sums over known groups are local. Circuits
only compute the sign of a sum of two shares, an AND of such signs, and the highest of a few scores.
"""
