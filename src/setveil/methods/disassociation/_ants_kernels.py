"""Loops of ants: which records hold which rule, who takes which record first, and who takes it from whom.

Every record has a place for each of its rules, from `first[record]` on: `rule_of` tells the rule, `record_of` the record. The records of
cluster c that hold rule l are a list through such places, in the order in which they came: `heads[l, c]` is the first place, `tails[l, c]`
the last one, `links` tell what comes before and after each, and `pheromone[l, c]` is how many they are.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, first_not_below

BEFORE = 0
AFTER = 1


@kernel
def find(offsets, items, item_starts, item_holders, rule_offsets, rule_items, ends, control):
    """Return the records that hold each rule, one rule after the other, and tell where those of each end.

    The first item of a rule is its rarest: `item_starts` and `item_holders` tell its records.
    """
    found = np.empty(1024, np.int64)
    used = 0
    for rule in range(len(ends)):
        control[DONE] = rule
        rarest = rule_items[rule_offsets[rule]]
        for at in range(item_starts[rarest], item_starts[rarest + 1]):
            if control[STOP]:
                return found
            record = item_holders[at]
            last = offsets[record + 1]
            holds = True
            for number in range(rule_offsets[rule] + 1, rule_offsets[rule + 1]):
                place = first_not_below(items, offsets[record], last, rule_items[number])
                if place == last or items[place] != rule_items[number]:
                    holds = False
                    break
            if holds:
                if used == len(found):
                    found = doubled(found, used)
                found[used] = record
                used += 1
        ends[rule] = used
    return found


@kernel
def settle(first, rule_of, starts, holders, group, pheromone, heads, tails, links, control):
    """Let ants take turns: each takes the next record that holds its rule and that nobody has taken, until none is left."""
    ants = len(starts) - 1
    waiting = np.empty(ants, np.int64)
    at = np.empty(ants, np.int64)
    for ant in range(ants):
        waiting[ant] = ant
        at[ant] = starts[ant]
    while ants > 0:
        if control[STOP]:
            return
        left = 0
        for turn in range(ants):
            ant = waiting[turn]
            while at[ant] < starts[ant + 1] and group[holders[at[ant]]] >= 0:
                at[ant] += 1
            if at[ant] < starts[ant + 1]:
                _enter(holders[at[ant]], ant, first, rule_of, group, pheromone, heads, tails, links)
                waiting[left] = ant
                left += 1
        ants = left


@kernel
def carry(
    first,
    rule_of,
    record_of,
    supports,
    need,
    least,
    by_rest,
    k,
    iterations,
    group,
    pheromone,
    heads,
    tails,
    links,
    control,
):
    """Let ants carry records until all are content, none can move, or `iterations` are over; return how many there were, and moves.

    `need` is how many of its `supports` records a rule should have in its cluster, rounded up, and `by_rest` are the rules by how much
    that was. From a cluster with no more than `least` records nothing is taken.
    """
    ants = len(need)
    done, moves, content = 0, 0, 0
    while done < iterations and content < ants:
        control[DONE] = done
        before = moves
        content = 0
        for ant in range(ants):
            if control[STOP]:
                return done, moves
            has = pheromone[ant, ant]
            rule = ant
            if has >= need[ant] and (has >= k or k >= supports[ant]):
                content += 1
                rule = _neediest(pheromone, need, by_rest)
            source = _densest(pheromone, rule, least) if rule >= 0 else -1
            if source >= 0:
                record = record_of[heads[rule, source]]
                _leave(record, source, first, rule_of, pheromone, heads, tails, links)
                _enter(record, rule, first, rule_of, group, pheromone, heads, tails, links)
                moves += 1
        done += 1
        if moves == before:
            break
    return done, moves


@kernel
def _neediest(pheromone, need, by_rest):
    """Return the rule whose cluster lacks the most of its records, -1 where none lacks any; of equal ones the first."""
    best, most = -1, 0
    for place in range(len(by_rest)):
        rule = by_rest[place]
        lacks = need[rule] - pheromone[rule, rule]
        if lacks > most:
            best, most = rule, lacks
    return best


@kernel
def _densest(pheromone, rule, least):
    """Return the other cluster with the largest share of records that hold a rule, -1 where none can give one; of equal ones the first."""
    best, held, size = -1, 0, 1
    for cluster in range(len(least)):
        here = pheromone[rule, cluster]
        if here == 0 or cluster == rule:
            continue
        all_here = pheromone[cluster, cluster]
        if all_here > least[cluster] and here * size > held * all_here:
            best, held, size = cluster, here, all_here
    return best


@kernel
def _enter(record, cluster, first, rule_of, group, pheromone, heads, tails, links):
    """Put a record into a cluster, behind those that are there."""
    group[record] = cluster
    for place in range(first[record], first[record + 1]):
        rule = rule_of[place]
        links[AFTER, place] = -1
        if pheromone[rule, cluster] == 0:
            links[BEFORE, place] = -1
            heads[rule, cluster] = place
        else:
            last = tails[rule, cluster]
            links[BEFORE, place] = last
            links[AFTER, last] = place
        tails[rule, cluster] = place
        pheromone[rule, cluster] += 1


@kernel
def _leave(record, cluster, first, rule_of, pheromone, heads, tails, links):
    """Take a record out of its cluster."""
    for place in range(first[record], first[record + 1]):
        rule = rule_of[place]
        before, after = links[BEFORE, place], links[AFTER, place]
        if before < 0:
            heads[rule, cluster] = after
        else:
            links[AFTER, before] = after
        if after < 0:
            tails[rule, cluster] = before
        else:
            links[BEFORE, after] = before
        pheromone[rule, cluster] -= 1
