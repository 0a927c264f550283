"""Loops of HEU: records lose items, one at a time, until every named itemset is at its target.

An itemset is *open* while more records hold it than its target allows. A *link* is a record and an itemset that it holds: `held` names
the itemsets by record, `record_of` the record of each link, and `links` lists them by itemset.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel


@kernel
def hide(
    offsets,
    items,
    supports,
    held_starts,
    held,
    record_of,
    links_starts,
    links,
    set_starts,
    set_items,
    target,
    count,
    broken,
    lengths,
    open_held,
    votes,
    tally,
    ranked,
    spare,
    leaves,
    control,
):
    """Mark the items that are left out in `leaves`.

    While an itemset is treated, the others' records keep their rank until some itemset closes: then they are ranked anew, which happens
    once an itemset. A record leaves the ranks with its first item, since it no longer holds the set.
    """
    for r in range(len(lengths)):
        for link in range(held_starts[r], held_starts[r + 1]):
            open_held[r] += count[held[link]] > target[held[link]]
    for s in range(len(target)):
        control[DONE] = s
        while count[s] > target[s]:
            number = 0
            for k in range(links_starts[s], links_starts[s + 1]):
                if not broken[links[k]]:
                    ranked[number] = record_of[links[k]]
                    number += 1
            # Rows rise and both sorts are stable: most open itemsets first, then the shortest, then the lowest row.
            sort_by(lengths, False, ranked, spare, number, tally)
            sort_by(open_held, True, spare, ranked, number, tally)
            closed = False
            at = 0
            while not closed:
                if control[STOP]:
                    return
                r = ranked[at]
                at += 1
                item = victim(
                    r, s, supports, held_starts, held, set_starts, set_items, target, count, broken, votes
                )  # fmt: skip
                for place in range(offsets[r], offsets[r + 1]):
                    if items[place] == item:
                        leaves[place] = True
                lengths[r] -= 1
                closed = break_links(
                    r, item, held_starts, held, record_of, links_starts, links, set_starts, set_items, target, count, broken, open_held
                )  # fmt: skip
    control[DONE] = len(target)


@kernel
def sort_by(key, falling, rows, out, number, tally):
    """Sort rows by their keys, those with equal ones in the order in which they come."""
    least = most = key[rows[0]]
    for k in range(number):
        least, most = min(least, key[rows[k]]), max(most, key[rows[k]])
    for b in range(most - least + 2):
        tally[b] = 0
    for k in range(number):
        tally[(most - key[rows[k]] if falling else key[rows[k]] - least) + 1] += 1
    for b in range(most - least + 1):
        tally[b + 1] += tally[b]
    for k in range(number):
        b = most - key[rows[k]] if falling else key[rows[k]] - least
        out[tally[b]] = rows[k]
        tally[b] += 1


@kernel
def victim(r, s, supports, held_starts, held, set_starts, set_items, target, count, broken, votes):
    """Return the item of the set that is in most open itemsets of the record, then of lowest support, then of lowest code."""
    for link in range(held_starts[r], held_starts[r + 1]):
        other = held[link]
        if not broken[link] and count[other] > target[other]:
            for part in range(set_starts[other], set_starts[other + 1]):
                votes[set_items[part]] += 1
    best = set_items[set_starts[s]]
    for part in range(set_starts[s] + 1, set_starts[s + 1]):
        item = set_items[part]
        if votes[item] > votes[best] or (votes[item] == votes[best] and supports[item] < supports[best]):
            best = item
    for link in range(held_starts[r], held_starts[r + 1]):
        for part in range(set_starts[held[link]], set_starts[held[link] + 1]):
            votes[set_items[part]] = 0
    return best


@kernel
def break_links(
    r, item, held_starts, held, record_of, links_starts, links, set_starts, set_items, target, count, broken, open_held
):  # fmt: skip
    """Let the record lose the item, and with it the itemsets that the item is in; tell whether some itemset closed by that."""
    closed = False
    for link in range(held_starts[r], held_starts[r + 1]):
        s = held[link]
        if broken[link]:
            continue
        for part in range(set_starts[s], set_starts[s + 1]):
            if set_items[part] == item:
                broken[link] = True
        if not broken[link]:
            continue
        if count[s] > target[s]:
            open_held[r] -= 1
            if count[s] == target[s] + 1:
                closed = True
                for k in range(links_starts[s], links_starts[s + 1]):
                    if not broken[links[k]]:
                        open_held[record_of[links[k]]] -= 1
        count[s] -= 1
    return closed
