"""The choice of entries that loses the fewest itemsets: one integer program for each connected part of the problem.

y[e] = 1 if entry e is removed from its record, z[h] = 1 if holder h (a record and an open named itemset in it) is broken, b[x, t] = 1 if
record t no longer holds set x, lost[x] = 1 if x is no longer frequent. Minimize the lost sets, then the entries, subject to

    z[h] <= sum of y[e] over the entries of h;    sum of z over the holders of a named itemset >= its support - its target
    b[x, t] >= y[e] for the entries e of t in x;  sum of b[x, .] <= margin of x + (records of x here - margin) * lost[x]
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from setveil.data.records.ragged import distinct, owner_of, picked, runs
from setveil.errors import BadParameter
from setveil.kernels.control import DONE, STOP
from setveil.kernels.threads import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.methods.itemsets._hiding import Hiding

MOST_PAIRS = 2_000_000
"""Maximum number of pairs of an entry and a set that it could break, for which a plan is computed."""
ONE_PART_SECONDS = 10.0
"""Maximum time for one part. The solver does not see Ctrl-C until a part is finished."""


@dataclass
class _Task:
    """The problem as pairs of numbers; entries, holders and sets are numbered from 0."""

    entries: int
    breaks: NDArray[np.int64]
    """Pairs (holder, entry): removing the entry breaks the holder."""
    secret_of_holder: NDArray[np.int64]
    needed: NDArray[np.int64]
    """The number of holders of each named itemset that must be broken."""
    touches: NDArray[np.int64]
    """Pairs (set, entry): without the entry, its record no longer holds the set."""
    margin: NDArray[np.int64]
    """The number of records that each set can lose and still be frequent."""
    record_of_entry: NDArray[np.int64]


def least_loss(hiding: Hiding, *, seconds: float) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """Return the entries of the best plan found, and its figures. For parts without a plan, entries are chosen step by step later."""
    task = _task(hiding)
    label, parts = _parts(task)
    deadline = time.monotonic() + seconds
    chosen: list[NDArray[np.int64]] = []
    figures = {"parts": parts, "parts-proven": 0, "loses": 0, "loses-at-least": 0, "parts-without-a-plan": 0}

    def solve_all(control: NDArray[np.int64]) -> None:
        for part in range(parts):
            control[DONE] = part
            if control[STOP]:
                return
            left = min(deadline - time.monotonic(), ONE_PART_SECONDS)
            solved = _solve(task, label, part, left) if left > 0 else None
            if solved is None:
                figures["parts-without-a-plan"] += 1
                continue
            entries, loses, at_least = solved
            chosen.append(entries)
            figures["parts-proven"] += loses == at_least
            figures["loses"] += loses
            figures["loses-at-least"] += at_least

    run("planning which items to move", solve_all, total=parts)
    figures["proven"] = figures["parts-proven"] == parts
    return np.concatenate([np.empty(0, dtype=np.int64), *chosen]), {"plan": figures}


def _task(hiding: Hiding) -> _Task:
    """Return the problem: which entries break which holders and which sets."""
    tracked = hiding.tracked
    entry, around = hiding.entries, hiding.around
    lengths = around.last - around.first
    if np.any(around.last < 0) or lengths.sum() > MOST_PAIRS:
        raise BadParameter(
            f"the problem is too large for a plan: there are more than {MOST_PAIRS:,} pairs of an item that could be moved and a frequent "
            "itemset; use `plan='greedy'`, a higher `min_support=`, or fewer itemsets"
        )
    entries = len(entry.record)
    touching = np.repeat(np.arange(entries), lengths)
    sets = around.sets[runs(around.first, lengths)].astype(np.int64)
    if not hiding.swaps:
        alone = tracked.sets.tree.single[hiding.rank[entry.item]]
        sets, touching = np.append(sets, alone[alone >= 0]), np.append(touching, np.flatnonzero(alone >= 0))
    matters = tracked.matters[sets]
    sets, touching = sets[matters], touching[matters]
    record = entry.record.astype(np.int64)
    # Omit the sets that stay frequent even if every record here loses them.
    here = distinct(sets * hiding.data.records + record[touching]) // hiding.data.records
    at_risk = np.bincount(here, minlength=len(tracked.before)) > tracked.before - tracked.lowest
    sets, touching = sets[at_risk[sets]], touching[at_risk[sets]]
    numbers, place = np.unique(sets, return_inverse=True)

    holder_record = owner_of(hiding.group_starts)
    open_holder = np.flatnonzero(hiding.is_open[hiding.group])
    secret = hiding.group[open_holder].astype(np.int64)
    offsets, places = picked(hiding.offsets, secret)
    holder = owner_of(offsets)
    width = len(hiding.data.vocabulary)
    entry_key = record * width + entry.item
    order = np.argsort(entry_key)
    wanted = holder_record[open_holder][holder] * width + hiding.codes[places]
    broken_by = order[np.searchsorted(entry_key[order], wanted)]
    return _Task(
        entries,
        np.stack((holder, broken_by)),
        secret,
        np.where(hiding.is_open, hiding.before - hiding.targets, 0),
        np.stack((place.astype(np.int64), touching)),
        (tracked.before - tracked.lowest)[numbers],
        record,
    )


def _parts(task: _Task) -> tuple[NDArray[np.int64], int]:
    """Return the part of each entry, and the number of parts. Parts share neither a set at risk nor a named itemset with a choice."""
    # If all holders of a named itemset must be broken, there is no choice, and they do not connect parts.
    forced = np.bincount(task.secret_of_holder, minlength=len(task.needed)) == task.needed
    group_of_holder = np.where(
        forced[task.secret_of_holder], len(task.needed) + np.arange(len(task.secret_of_holder)), task.secret_of_holder
    )
    groups = len(task.needed) + len(task.secret_of_holder)
    left = np.concatenate((task.breaks[1], task.touches[1]))
    right = np.concatenate((group_of_holder[task.breaks[0]], groups + task.touches[0]))
    nodes = task.entries + groups + len(task.margin)
    graph = coo_array((np.ones(len(left), dtype=np.int8), (left, task.entries + right)), shape=(nodes, nodes))
    _count, label = connected_components(graph, directed=False)
    _used, label = np.unique(label[: task.entries], return_inverse=True)
    return label.astype(np.int64), len(_used)


def _solve(
    task: _Task, label: NDArray[np.int64], part: int, seconds: float
) -> tuple[NDArray[np.int64], int, int] | None:
    """Return the entries of the best plan of a part, the number of sets it loses, and a lower bound for any plan; None without a plan."""
    entries = np.flatnonzero(label == part)
    number = np.full(task.entries, -1, dtype=np.int64)
    number[entries] = np.arange(len(entries))
    holder, breaking = (pairs[number[task.breaks[1]] >= 0] for pairs in task.breaks)
    holders, holder = np.unique(holder, return_inverse=True)
    touched, touching = (pairs[number[task.touches[1]] >= 0] for pairs in task.touches)
    sets, touched = np.unique(touched, return_inverse=True)
    pair_key = touched * (int(task.record_of_entry.max()) + 1) + task.record_of_entry[touching]
    pairs, pair = np.unique(pair_key, return_inverse=True)
    set_of_pair = pairs // (int(task.record_of_entry.max()) + 1)

    # Variables in this order: entries, holders, pairs of a set and a record, sets.
    at_z, at_b = len(entries), len(entries) + len(holders)
    at_lost = at_b + len(pairs)
    size = at_lost + len(sets)
    secrets, secret = np.unique(task.secret_of_holder[holders], return_inverse=True)
    in_set = np.bincount(set_of_pair, minlength=len(sets))
    margin = task.margin[sets]
    every = np.arange
    rules = [
        _rule(size, (holder, number[breaking], 1.0), (every(len(holders)), at_z + every(len(holders)), -1.0), low=0.0),
        _rule(size, (secret, at_z + every(len(holders)), 1.0), low=task.needed[secrets]),
        _rule(size, (every(len(pair)), at_b + pair, 1.0), (every(len(pair)), number[touching], -1.0), low=0.0),
        _rule(
            size,
            (set_of_pair, at_b + every(len(pairs)), -1.0),
            (every(len(sets)), at_lost + every(len(sets)), (in_set - margin).astype(float)),
            low=-margin,
        ),
    ]
    cost = np.zeros(size)
    cost[at_lost:] = 1.0
    cost[: len(entries)] = 0.5 / (
        len(entries) + 1
    )  # among plans that lose equally many sets, prefer the one that changes least
    whole = np.ones(size)
    whole[at_b:at_lost] = 0
    found = milp(
        cost,
        integrality=whole,
        bounds=Bounds(0, 1),
        constraints=[rule for rule in rules if rule is not None],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if found.x is None:
        return None
    loses = int(np.rint(found.x[at_lost:]).sum())
    # All entries together cost less than one half, so that a bound on the total cost gives a bound on the number of sets.
    at_least = loses if found.status == 0 else max(0, int(np.ceil((found.mip_dual_bound or 0.0) - 0.5 - 1e-6)))
    return entries[found.x[: len(entries)] > 0.5], loses, min(at_least, loses)


def _rule(size: int, *terms: tuple[Any, Any, Any], low: Any) -> LinearConstraint | None:
    """Return the constraint that the sum of the terms (row, variable, factor) of each row is at least `low`; None if there are no rows."""
    rows = np.concatenate([term[0] for term in terms])
    if not len(rows):
        return None
    columns = np.concatenate([term[1] for term in terms])
    factors = np.concatenate([np.broadcast_to(term[2], len(term[0])) for term in terms])
    matrix = csr_array((factors, (rows, columns)), shape=(int(rows.max()) + 1, size))
    return LinearConstraint(matrix, lb=low)
