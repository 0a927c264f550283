"""The circuits: written once, evaluated with half-gates by the parties and with plain bits by the tests.

Numbers are arrays of wires, lowest bit first. XOR and NOT cost nothing, so each circuit is built to have few ANDs: one per bit of a sum, a
comparison or a choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from setveil.presence.secure.two_party.gates import Gates, Wires


def carries(gates: Gates, p: Wires, q: Wires) -> list[Wires]:
    """Return the carries into all bits except the lowest when two numbers are added; one AND each."""
    carried = [gates.both(p[0], q[0])]
    for bit in range(1, len(p) - 1):
        before = carried[-1]
        carried.append(gates.both(p[bit] ^ before, q[bit] ^ before) ^ before)
    return carried


def total(gates: Gates, p: Wires, q: Wires) -> Wires:
    """Return the sum modulo two to the number of bits."""
    if len(p) == 1:
        return p ^ q
    return np.concatenate([(p[0] ^ q[0])[None], p[1:] ^ q[1:] ^ np.stack(carries(gates, p, q))])


def sign(gates: Gates, p: Wires, q: Wires) -> Wires:
    """Return the highest bit of the sum: whether it is negative as a signed number."""
    top = p[-1] ^ q[-1]
    return np.asarray(top if len(p) == 1 else top ^ carries(gates, p, q)[-1])


def not_negative(gates: Gates, p: Wires, q: Wires) -> Wires:
    """Return whether sums of shares are not negative."""
    return gates.flip(sign(gates, p, q))


def less(gates: Gates, x: Wires, y: Wires) -> Wires:
    """Return whether x < y, for signed numbers whose difference fits their bits."""
    borrowed = gates.both(gates.flip(x[0]), y[0])
    for bit in range(1, len(x) - 1):
        borrowed = gates.both(gates.flip(x[bit]) ^ borrowed, y[bit] ^ borrowed) ^ borrowed
    return np.asarray(x[-1] ^ y[-1] ^ borrowed)


def either(gates: Gates, chooses_y: Wires, x: Wires, y: Wires) -> Wires:
    """Return y if the bit is set and x otherwise (bits x ...)."""
    return gates.both(x ^ y, chooses_y[None]) ^ x


def all_of(gates: Gates, bits: Wires) -> Wires:
    """Return the AND over the first axis, as a tree."""
    while len(bits) > 1:
        half = len(bits) // 2
        bits = np.concatenate([gates.both(bits[:half], bits[half : 2 * half]), bits[2 * half :]])
    return np.asarray(bits[0])


def at_least(gates: Gates, bits: Wires, least: int, shape: tuple[int, ...]) -> Wires:
    """Return whether at least `least` bits along the first axis are set; `shape` is that of the axes after it."""
    # reached[j] is set if more than j bits were set so far.
    reached = gates.constant((least, *shape), value=False)
    always = gates.constant((1, *shape), value=True)
    for bit in bits:
        below = np.concatenate([always, reached[:-1]])
        reached = gates.both(below ^ reached, bit[None]) ^ reached
    return np.asarray(reached[-1])


def first_highest(gates: Gates, scores: Wires) -> Wires:
    """Return the index of the highest score, the first of equal ones (bits x batch), from scores (bits x candidates x batch).

    A tournament: of two adjacent scores, the right one advances if the left one is less. The number of candidates must be a power of two.
    """
    # The bits of the index of the candidate that remains at each position, lowest first.
    number = scores[:0]
    while scores.shape[1] > 1:
        right_wins = less(gates, scores[:, 0::2], scores[:, 1::2])
        # The score of the last winner is not needed.
        width = len(scores) if scores.shape[1] > 2 else 0
        moving = np.concatenate([scores[:width], number])
        moved = either(gates, right_wins, moving[:, 0::2], moving[:, 1::2]) if len(moving) else moving[:, 0::2]
        scores, number = moved[:width], np.concatenate([moved[width:], right_wins[None]])
    return number[:, 0]


def keeps_rules(gates: Gates, p: Wires, q: Wires, *, rules: int, parts: int, least_values: int) -> Wires:
    """Return whether shared numbers satisfy the rules (1 x batch).

    The first `rules` numbers must not be negative. If more than one value must occur, they are followed by c[s] - 1 for each value s and
    part, value by value.
    """
    batch = p.shape[2]
    if not rules and least_values <= 1:
        return gates.constant((1, batch), value=True)
    signs = not_negative(gates, p, q)
    kept = signs[:rules]
    if least_values > 1:
        occurs = signs[rules:].reshape(-1, parts, *signs.shape[1:])
        kept = np.concatenate([kept, at_least(gates, occurs, least_values, (parts, batch))])
    return all_of(gates, kept)[None]


def best_candidate(gates: Gates, p: Wires, q: Wires) -> Wires:
    """Return the index of the highest shared score."""
    return first_highest(gates, total(gates, p, q))
