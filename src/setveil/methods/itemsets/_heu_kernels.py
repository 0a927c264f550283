"""Loops of HEU: records lose items, one at a time, until every named itemset is at its target.

An itemset is *open* while more records hold it than its target allows. A *link* is a record and an itemset that it holds: `held` names
the itemsets by record, so that its places are the links.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

ZERO = np.int64(0)
RISING, FALLING = np.int64(1), np.int64(-1)


class Links(NamedTuple):
    """The record of each link, and the links of each itemset."""

    record: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]


class Tally(NamedTuple):
    """The target of each itemset and how many records hold it, which links are broken, and of each record its length and open itemsets."""

    target: NDArray[np.int64]
    count: NDArray[np.int64]
    broken: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    open_held: NDArray[np.int64]


class Room(NamedTuple):
    """A vote per item, 0 everywhere, and room for ranking records: how many have a key, the records, and the same again."""

    votes: NDArray[np.int64]
    per_key: NDArray[np.int64]
    ranked: NDArray[np.int64]
    spare: NDArray[np.int64]


@kernel
def hide(rows, supports, held, links, tally, room, leaves, control):
    """Mark the items that are left out in `leaves`.

    While an itemset is treated, the others' records keep their rank until some itemset closes: then they are ranked anew, which happens
    once an itemset. A record leaves the ranks with its first item, since it no longer holds the set.
    """
    target, count = tally.target, tally.count
    for r in range(len(tally.lengths)):
        for link in range(held.starts[r], held.starts[r + 1]):
            tally.open_held[r] += count[held.sets[link]] > target[held.sets[link]]
    for s in range(len(target)):
        control[DONE] = s
        while count[s] > target[s]:
            number = ZERO
            for k in range(links.starts[s], links.starts[s + 1]):
                if not tally.broken[links.places[k]]:
                    room.ranked[number] = links.record[links.places[k]]
                    number += 1
            # Rows rise and both sorts are stable: most open itemsets first, then the shortest, then the lowest row.
            sort_by(tally.lengths, RISING, room.ranked, room.spare, number, room.per_key)
            sort_by(tally.open_held, FALLING, room.spare, room.ranked, number, room.per_key)
            closed = False
            at = 0
            while not closed:
                if control[STOP]:
                    return
                r = room.ranked[at]
                at += 1
                item = victim(r, s, supports, held, tally, room.votes)
                for place in range(rows.offsets[r], rows.offsets[r + 1]):
                    if rows.items[place] == item:
                        leaves[place] = True
                tally.lengths[r] -= 1
                closed = break_links(r, item, held, links, tally)
    control[DONE] = len(target)


@kernel
def sort_by(key, sign, rows, out, number, per_key):
    """Sort rows by their keys times a sign, those with equal ones in the order in which they come."""
    least = most = sign * key[rows[0]]
    for k in range(number):
        least, most = min(least, sign * key[rows[k]]), max(most, sign * key[rows[k]])
    for b in range(most - least + 2):
        per_key[b] = 0
    for k in range(number):
        per_key[sign * key[rows[k]] - least + 1] += 1
    for b in range(most - least + 1):
        per_key[b + 1] += per_key[b]
    for k in range(number):
        b = sign * key[rows[k]] - least
        out[per_key[b]] = rows[k]
        per_key[b] += 1


@kernel
def victim(r, s, supports, held, tally, votes):
    """Return the item of the set that is in most open itemsets of the record, then of lowest support, then of lowest code."""
    starts, items = held.set_starts, held.set_items
    for link in range(held.starts[r], held.starts[r + 1]):
        other = held.sets[link]
        if not tally.broken[link] and tally.count[other] > tally.target[other]:
            for part in range(starts[other], starts[other + 1]):
                votes[items[part]] += 1
    best = items[starts[s]]
    for part in range(starts[s] + 1, starts[s + 1]):
        item = items[part]
        if votes[item] > votes[best] or (votes[item] == votes[best] and supports[item] < supports[best]):
            best = item
    for link in range(held.starts[r], held.starts[r + 1]):
        for part in range(starts[held.sets[link]], starts[held.sets[link] + 1]):
            votes[items[part]] = 0
    return best


@kernel
def break_links(r, item, held, links, tally):
    """Let the record lose the item, and with it the itemsets that the item is in; tell whether some itemset closed by that."""
    count, target, broken = tally.count, tally.target, tally.broken
    closed = False
    for link in range(held.starts[r], held.starts[r + 1]):
        s = held.sets[link]
        if broken[link]:
            continue
        for part in range(held.set_starts[s], held.set_starts[s + 1]):
            if held.set_items[part] == item:
                broken[link] = True
        if not broken[link]:
            continue
        if count[s] > target[s]:
            tally.open_held[r] -= 1
            if count[s] == target[s] + 1:
                closed = True
                for k in range(links.starts[s], links.starts[s + 1]):
                    if not broken[links.places[k]]:
                        tally.open_held[links.record[links.places[k]]] -= 1
        count[s] -= 1
    return closed
