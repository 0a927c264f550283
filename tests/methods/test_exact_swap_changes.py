"""Loops of ExactSwap that change records: updated counts, sets that become frequent, the cheapest swap."""

import numpy as np
import pytest

from setveil.methods.itemsets import _exchange_kernels as exchange
from setveil.methods.itemsets import _hiding, _tracking
from setveil.methods.itemsets import _tracking_kernels as tracking

from oracle import exact_swap as oracle
from support.hiding_cases import ENOUGH, State, assert_pairs_are_counted, split

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # hashing, with the compiler off
    pytest.mark.plain_python,
]
seeds = pytest.mark.parametrize("seed", range(30))


# -- changes -------------------------------------------------------------------------------------------------------------


@seeds
def test_all_counts_are_updated_when_records_change(seed):
    state = State(seed)
    tracked, counters = state.hiding.tracked, state.counters
    lost_for = [-1] * len(state.known)
    for _ in range(25 if any(state.rows) else 0):
        if not any(state.rows):
            break
        was, was_now = state.rows, state.now
        _, left, exchanged, secret = state.change()
        rows = state.rows
        (record, item), *rest = left
        if exchanged:
            assert rows == oracle.exchanged(was, record, item, *rest[0])
        else:
            assert rows == [row - {item} if r == record else row for r, row in enumerate(was)]
        assert list(state.now.values()) == [oracle.support(rows, one) for one in state.known]
        assert state.hiding.after.tolist() == [oracle.support(rows, s) for s in state.named]
        open_now = [
            d and oracle.support(rows, s) > t
            for d, s, t in zip(state.hiding.driving, state.named, state.targets, strict=True)
        ]
        assert counters[exchange.OPEN] == sum(open_now)
        assert tracked.sets.cost == pytest.approx(
            [
                float(oracle.weight(held, state.levels)) * matters
                for held, matters in zip(state.now.values(), tracked.matters, strict=True)
            ]
        )
        assert_pairs_are_counted(state)
        alive = split(state.hiding.group_starts, state.goals.alive)
        groups = split(state.hiding.group_starts, state.hiding.group)
        assert all(
            one == (state.named[k] <= rows[r])
            for r, both in enumerate(zip(alive, groups, strict=True))
            for one, k in zip(*both, strict=True)
        )
        fell = []
        for who, what in left:
            around = oracle.sets_around(was[who], what, state.known)
            around |= set() if exchanged else {frozenset([what])} & set(state.known)
            fell += [one for one in around if was_now[one] in state.levels]
            for one in around:
                if was_now[one] == min(state.levels):
                    lost_for[state.known.index(one)] = secret
        fallen = [state.known[one] for one in state.fallen[: counters[exchange.FALLEN]]]
        assert sorted(map(sorted, fallen)) == sorted(map(sorted, fell))
        assert tracked.lost_for.tolist() == lost_for
    for code in state.ranked():
        assert_records_are_counted(state, int(code))


def assert_records_are_counted(state, code):
    """Compare the counts of sets with an item after all changes, including items that were removed and restored."""
    others = [int(other) for other in state.ranked() if other != code]
    chosen = state.rng.permutation(others)[: state.rng.integers(0, 4)].astype(int)
    parts = state.rng.permutation([code, *chosen.tolist()])
    state.room.parts[: len(parts)] = state.hiding.rank[parts]
    found = state.call(tracking.count_records, n_parts=len(parts))
    assert found == oracle.support(state.rows, {code, *chosen.tolist()})


def assert_new_sets_are_seen(state, *, exact, all_known):
    """Add every counted item to every record without it, to the whole record and to the record without one of its items."""
    hiding, rows = state.hiding, state.rows
    for row in rows:
        for item in state.ranked():
            if item in row or hiding.index.pair_row[hiding.rank[item]] < 0:
                continue
            for left_out in [None, *row][: 1 if exact else 3]:
                joined = row - {left_out}
                n_members = state.write_members(joined)
                new, possible = state.call(
                    tracking.new_sets,
                    item=hiding.rank[item],
                    n_members=n_members,
                    exact=np.int64(ENOUGH if exact else 0),
                )
                becomes = oracle.becomes_frequent(rows, joined, item, state.before, state.levels)
                assert new + possible > 0 or not becomes
                assert possible == 0 or not exact or not all_known
                if all_known and not possible:
                    assert (new > 0) == bool(becomes)


@seeds
@pytest.mark.parametrize("exact", [False, True])
def test_a_set_that_becomes_frequent_is_seen(seed, exact):
    state = State(seed, records=12, items=7)
    assert_new_sets_are_seen(state, exact=exact, all_known=True)
    for _ in range(6):
        state.change()
    lowest = min(state.levels)
    new = oracle.new_frequent(state.before, oracle.all_supports(state.rows), [lowest])
    assert_new_sets_are_seen(state, exact=exact, all_known=not new)


@seeds
@pytest.mark.parametrize("longest", [2, 3])
def test_a_set_that_becomes_frequent_is_seen_if_only_short_sets_are_tracked(seed, longest, monkeypatch):
    state = State(seed, records=12, items=7, density=0.8)
    short = [x for x in oracle.frequent(state.rows, min(state.levels)) if len(x) <= longest]
    monkeypatch.setattr(_tracking, "TRACKED_LIMIT", len(short))
    limited = State(seed, records=12, items=7, density=0.8)
    assert limited.known == state.known or limited.hiding.tracked.longest_tracked >= min(longest, 2)
    for exact in (False, True):
        assert_new_sets_are_seen(limited, exact=exact, all_known=False)


def test_counting_stops_when_the_budget_is_used_up():
    state = State(3, records=12, items=7, density=0.8, levels=[3])
    counters = state.counters
    counted = []
    for budget in (0, 1, ENOUGH):
        counters[tracking.BUDGET] = budget
        counters[tracking.COUNTED] = 0
        for row in state.rows:
            for item in set(state.ranked().tolist()) - row:
                if state.hiding.index.pair_row[state.hiding.rank[item]] >= 0:
                    n_members = state.write_members(row)
                    state.call(
                        tracking.new_sets, item=state.hiding.rank[item], n_members=n_members, exact=np.int64(ENOUGH)
                    )
        counted.append(int(counters[tracking.COUNTED]))
    assert counted[:2] == [0, 1]
    assert counted[2] > 1


# -- the search for a swap -----------------------------------------------------------------------------------------------


def new_of(state, donor, item, record, given):
    """Return what the loop reports for both records of a swap, and the sets that become frequent."""
    rows, said, becomes = state.rows, np.zeros(2, dtype=int), set()
    for who, gets, gives in ((donor, item, given), (record, given, item)):
        rank = state.hiding.rank[gets]
        if rank >= 0:
            n_members = state.write_members(rows[who] - {gives})
            said += state.call(tracking.new_sets, item=rank, n_members=n_members, exact=np.int64(0))
            becomes |= oracle.becomes_frequent(rows, rows[who] - {gives}, gets, state.before, state.levels)
    return said, becomes


@seeds
@pytest.mark.parametrize("afi", ["forbid", "cost", "off"])
def test_the_cheapest_swap_is_found(seed, afi, monkeypatch):
    monkeypatch.setattr(_hiding, "SCARCE", ENOUGH)
    state = State(seed + 100, records=10, items=9, density=0.5)
    for _ in range(seed % 3):
        state.change()
    if afi == "forbid" and oracle.new_frequent(state.before, oracle.all_supports(state.rows), state.levels):
        state = State(seed + 100, records=10, items=9, density=0.5)  # a run never reaches such a state
    hiding, rng = state.hiding, np.random.default_rng(seed)
    offers = hiding.make_offers(afi, ENOUGH, rng)
    rows, now = state.rows, state.now
    for record, row in enumerate(rows):
        for item in sorted(row & set().union(*state.named)):
            place = state.search(record, item, offers)
            looked_at = {*offers.free[:-1].tolist(), *offers.others[:-1].tolist()}
            possible = {at: (who, what) for at, who, what in state.swaps(record, item) if at in looked_at}
            costs, undecided = {}, {}
            for at, (donor, given) in possible.items():
                (new, may_be), becomes = new_of(state, donor, item, record, given)
                loss = float(oracle.loss(rows[donor], given, now, state.named, state.levels))
                if afi == "off":
                    costs[at] = loss
                elif afi == "cost":
                    (undecided if may_be else costs)[at] = loss + new
                elif not new:
                    (undecided if may_be else costs)[at] = loss + ENOUGH * len(becomes)
            if costs:
                assert place in costs
                assert costs[place] == pytest.approx(min(costs.values()))
            elif afi == "cost" and undecided:
                assert place in undecided
            elif place >= 0:
                assert undecided[place] < ENOUGH
            elif afi == "forbid" and 0 < len(undecided) <= exchange.N_REMEMBERED:
                assert min(undecided.values()) >= ENOUGH
            assert place >= 0 or afi == "forbid" or not possible


@seeds
def test_one_step_loses_the_minimum(seed):
    """A single itemset is one record above its target."""
    rng = np.random.default_rng(seed)
    plain = State(seed, records=12, items=8, density=0.5)
    s = sorted(plain.named[0])
    state = State(seed, records=12, items=8, density=0.5, named=[s], levels=plain.levels)
    hiding, swaps = state.hiding, bool(seed % 2)
    hiding.targets[:] = hiding.before - 1
    hiding.is_open[:] = True
    hiding.excess = 1
    hiding._list_entries()
    rows, now = state.rows, state.now
    hiding.weigh(swaps=swaps)
    hiding.hide(afi="cost", most=ENOUGH >> 10, rng=rng)
    costs = {
        (record, item): float(oracle.loss(row, item, now, state.named, state.levels, alone=not swaps))
        for record, row in enumerate(rows)
        if set(s) <= row
        for item in s
    }
    left = {(r, i) for r, (was, row) in enumerate(zip(rows, state.rows, strict=True)) for i in was - row}
    assert len(left) <= 2
    assert min(costs[one] for one in left if one in costs) == pytest.approx(min(costs.values()))
    assert oracle.support(state.rows, frozenset(s)) == hiding.before[0] - 1
