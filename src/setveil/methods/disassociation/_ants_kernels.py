"""Loops of ants: which records hold which rule, which ant takes which record first, and which ant takes it from another.

Each rule has an ant and a cluster, which have its number.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.kernels.rows import doubled, first_not_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

BEFORE = 0
AFTER = 1


class Rules(NamedTuple):
    """The items of each rule, the rarest one first: those of rule l are `items[offsets[l]:offsets[l + 1]]`."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]


class Places(NamedTuple):
    """Every record has a place for each of its rules, from `first[record]` on: the rule and the record of each place."""

    first: NDArray[np.int64]
    rule_of: NDArray[np.int64]
    record_of: NDArray[np.int64]


class Needs(NamedTuple):
    """By rule, how many records hold it, how many of them its cluster should have, and how many its cluster keeps.

    `need` is rounded up, and `by_rest` lists the rules by how much that was.
    """

    supports: NDArray[np.int64]
    need: NDArray[np.int64]
    least: NDArray[np.int64]
    by_rest: NDArray[np.int64]


class Clusters(NamedTuple):
    """The cluster of each record, and by rule and cluster a list of the records in it that hold the rule, in the order of their arrival.

    `pheromone[l, c]` is how many records of cluster c hold rule l, `heads[l, c]` and `tails[l, c]` are the first and the last of their
    places for it, and `links` are the places before and after each place.
    """

    group: NDArray[np.int64]
    pheromone: NDArray[np.int64]
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    links: NDArray[np.int64]


@kernel
def find(data, holders, rules, ends, control):
    """Return the records that hold each rule, one rule after the other, and write where those of each end.

    `holders` lists the records of each item that is the rarest of a rule: only these are examined.
    """
    starts, records = holders.starts, holders.records
    found = np.empty(1024, np.int64)
    used = 0
    for rule in range(len(ends)):
        control[DONE] = rule
        first, last = rules.offsets[rule], rules.offsets[rule + 1]
        rarest = rules.items[first]
        for at in range(starts[rarest], starts[rarest + 1]):
            if control[STOP]:
                return found
            if _holds(records[at], first + 1, last, data, rules):
                if used == len(found):
                    found = doubled(found, used)
                found[used] = records[at]
                used += 1
        ends[rule] = used
    return found


@kernel
def _holds(record, first, last, data, rules):
    """Return whether a record holds the items of the rules from `first` to before `last`."""
    items, wanted = data.items, rules.items
    begin, end = data.offsets[record], data.offsets[record + 1]
    for at in range(first, last):
        place = first_not_below(items, begin, end, wanted[at])
        if place == end or items[place] != wanted[at]:
            return False
    return True


@kernel
def settle(places, holders, clusters, control):
    """Let ants take turns: each takes the next record that holds its rule and that nobody has taken, until none is left."""
    starts, records, group = holders.starts, holders.records, clusters.group
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
            while at[ant] < starts[ant + 1] and group[records[at[ant]]] >= 0:
                at[ant] += 1
            if at[ant] < starts[ant + 1]:
                _enter(records[at[ant]], ant, places, clusters)
                waiting[left] = ant
                left += 1
        ants = left


@kernel
def carry(places, needs, k, iterations, clusters, control):
    """Let ants carry records until all are content, none can move, or `iterations` are over; return how many there were, and moves.

    From a cluster with no more than `needs.least` records nothing is taken.
    """
    pheromone, heads, record_of = clusters.pheromone, clusters.heads, places.record_of
    supports, need, least, by_rest = needs
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
                _leave(record, source, places, clusters)
                _enter(record, rule, places, clusters)
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
def _enter(record, cluster, places, clusters):
    """Put a record into a cluster, behind those that are there."""
    first, rule_of = places.first, places.rule_of
    group, pheromone, heads, tails, links = clusters
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
def _leave(record, cluster, places, clusters):
    """Take a record out of its cluster."""
    first, rule_of = places.first, places.rule_of
    _group, pheromone, heads, tails, links = clusters
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
