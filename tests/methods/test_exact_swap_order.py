"""The order in which ExactSwap moves items: the currently cheapest first; and how long it searches for a swap."""

import numpy as np
import pytest

from setveil.methods.itemsets import _exchange_kernels as exchange
from setveil.methods.itemsets import _hiding, _tracking
from setveil.methods.itemsets import _tracking_kernels as tracking

from oracle import exact_swap as oracle
from support.hiding_cases import ENOUGH, State

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # hashing, with the compiler off
    pytest.mark.plain_python,
]


# -- every step, against a reference -------------------------------------------------------------------------------------


def halved(levels):
    """Return weights that are powers of two instead of fractions, so that their sums are exact in any order."""
    return lambda held: max((2.0 ** (level - held) for level in levels if level <= held), default=0.0)


@pytest.fixture(autouse=True)
def _exact_sums(monkeypatch):
    monkeypatch.setattr(
        _tracking, "_weights", lambda levels, top: np.array([halved(levels.tolist())(held) for held in range(top + 1)])
    )
    monkeypatch.setattr(_hiding, "SCARCE", 0)  # only items without a rank are given


def some_state(seed, *, rare):
    """Draw records of common items, some of them with items that no other record holds."""
    rng = np.random.default_rng(seed)
    n, v = int(rng.integers(8, 26)), int(rng.integers(4, 8))
    table = rng.random((n, v)) < rng.choice([0.4, 0.6, 0.75])
    table[0, :3] = True
    lists = [[f"i{j}" for j in np.flatnonzero(row)] for row in table]
    for record, row in enumerate(lists):
        row += [f"x{record:02}{j}" for j in range(rng.integers(0, 2 + rare)) if rng.random() < rare / 2]
    levels = sorted({int(one) for one in rng.integers(2, max(4, n // 2), size=rng.integers(1, 3))})
    return State(seed, lists=lists, levels=levels)


def reference_of(state, *, swaps, most, seed, planned=None):
    hiding, levels = state.hiding, state.levels
    entries = list(zip(hiding.entries.record.tolist(), hiding.entries.item.tolist(), strict=True))
    keys = hiding.entries.keys.copy()
    keys[[] if planned is None else planned] = -1.0
    targets, is_open = hiding.targets.tolist(), hiding.is_open.tolist()
    must_leave = oracle.excess(state.rows, state.named, targets)
    lowered = oracle.watched(state.rows, entries, state.known, state.named, is_open, must_leave, halved(levels))
    rng = np.random.default_rng(seed)  # the same draws as the method
    ranks = rng.permutation(len(entries)).tolist()
    free = _hiding._with_step(hiding.free.copy(), rng).tolist() if swaps else None
    reference = oracle.Steps(
        hiding.items.tolist(), hiding.index.record_of.tolist(), state.named, targets, entries, keys.tolist(), ranks,
        state.known, levels, halved(levels), lowered, free,
    )  # fmt: skip
    reference.run(most)
    return reference


def assert_same_steps(state, *, swaps, most, seed, planned=None):
    """Run the method and the reference, and compare everything that shows the order of their steps."""
    hiding = state.hiding
    hiding.weigh(swaps=swaps)
    reference = reference_of(state, swaps=swaps, most=most, seed=seed, planned=planned)
    hiding.hide(afi="off", most=most, rng=np.random.default_rng(seed), planned=planned)
    assert state.items.tolist() == reference.items
    assert hiding.entries.keys.tolist() == reference.keys
    partners = [place for _, place, _ in reference.taken if place is not None]
    counted = [exchange.STEPS, exchange.SCANNED, exchange.SWAPPED, exchange.LEFT_OUT]
    expected = [reference.steps, reference.looked, len(partners), len(reference.taken) - len(partners)]
    assert hiding.counters[counted].tolist() == expected
    for found, by_swap in ((hiding.swapped, True), (hiding.suppressed, False)):
        secrets = [secret for _, place, secret in reference.taken if (place is not None) == by_swap]
        assert found.tolist() == [secrets.count(k) for k in range(len(state.named))]
    return reference


@pytest.mark.parametrize("seed", range(60))
def test_items_are_suppressed_in_the_order_of_the_current_loss(seed):
    assert_same_steps(some_state(seed, rare=0), swaps=False, most=1, seed=seed)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("most", [1, 4, 256])
def test_items_are_swapped_in_the_order_of_the_current_loss(seed, most):
    assert_same_steps(some_state(seed, rare=1 + seed % 2), swaps=True, most=most, seed=seed)


@pytest.mark.parametrize("seed", range(60, 90))
@pytest.mark.parametrize("swaps", [False, True])
def test_planned_entries_go_first_and_then_the_cheapest(seed, swaps):
    state = some_state(seed, rare=1)
    entries = len(state.hiding.entries.record)
    planned = np.random.default_rng(seed).permutation(entries)[: entries // 4]
    reference = assert_same_steps(state, swaps=swaps, most=4, seed=seed, planned=planned)
    first = [entry in planned for entry, _, _ in reference.taken]
    assert first == sorted(first, reverse=True)


@pytest.mark.parametrize("seed", range(20))
def test_the_order_equals_the_reference_if_no_sets_are_stored(seed, monkeypatch):
    """Without stored sets, no entry is known to be part of a set, and no entry becomes cheaper when a set is lost."""
    monkeypatch.setattr(_hiding, "AROUND", 0)
    monkeypatch.setattr(oracle, "watched", lambda *_: {})
    assert_same_steps(some_state(seed, rare=1), swaps=True, most=4, seed=seed)


# -- known steps ---------------------------------------------------------------------------------------------------------


def made(lines, named, targets, level):
    """Return a state of these records, one item per letter. The cost of a set is 1 at the level, and halves with each record above it."""
    items = sorted(set("".join(lines)))
    state = State(
        1, lists=[list(line) for line in lines], named=[[items.index(i) for i in s] for s in named], levels=[level]
    )
    hiding = state.hiding
    assert list(state.data.vocabulary) == items
    hiding.targets[:] = targets
    hiding.driving = hiding._driving()
    hiding.is_open = hiding.driving & (hiding.before > hiding.targets)
    hiding.excess = int((hiding.before - hiding.targets)[hiding.is_open].sum())
    hiding._list_entries()
    hiding.weigh(swaps=True)
    return state


def entry_of(state, record, item):
    """Return the number of an entry, and its loss at the start."""
    code, hiding = list(state.data.vocabulary).index(item), state.hiding
    (entry,) = np.flatnonzero((hiding.entries.record == record) & (hiding.entries.item == code))
    return int(entry), hiding.entries.keys[entry]


def removed(state, planned=(), most=256, seed=1):
    """Hide the itemsets, and return the records with the original items that they lost."""
    numbers = [entry_of(state, *one)[0] for one in planned]
    was, names = state.rows, state.data.vocabulary
    state.hiding.hide(
        afi="off", most=most, rng=np.random.default_rng(seed), planned=np.array(numbers) if numbers else None
    )
    return {(r, names[i]) for r, (a, b) in enumerate(zip(was, state.rows, strict=True)) for i in a - b}


def keys_of(state, *entries):
    return [entry_of(state, *one)[1] for one in entries]


DEAR = ["bmn", "bmn"]
"""Together with a record that holds b, m and n, these make b expensive there: three sets are at level 3."""


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("target", [2, 1, 0])
def test_the_entry_with_the_least_loss_goes_first(target, seed):
    lines = ["abcmn", "abdgh", "abeop", *["bmn", "bgh", "bop"] * 2, *["ac"] * 2, *["ad"] * 4, *["ae"] * 3]
    state = made(lines, ["ab"], [target], 3)
    order = [(1, "a"), (2, "a"), (0, "a")]
    assert keys_of(state, *order) == [0.25, 0.5, 1]
    assert removed(state, seed=seed) == set(order[: 3 - target])


@pytest.mark.parametrize("seed", range(5))
def test_a_lost_set_makes_other_entries_cheaper_which_go_next(seed):
    """Without a, the first two records lose the pair a, c; once it is lost, the second record has nothing more to lose."""
    lines = ["abcgh", "abcgh", "abdemn", "ac", "bgh", *DEAR, *["ad"] * 3, *["ae"] * 4]
    state = made(lines, ["ab"], [1], 3)
    assert keys_of(state, (0, "a"), (1, "a"), (2, "a")) == [1, 1, 0.75]
    assert keys_of(state, (0, "b"), (1, "b"), (2, "b")) == [3, 3, 3]
    assert removed(state, planned=[(0, "a")], seed=seed) == {(0, "a"), (1, "a")}
    assert keys_of(state, (1, "a"), (2, "a")) == [0.5, 0.75]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("more", "key", "second"), [("", 0.75, 2), ("f", 0.875, 1)])
def test_an_entry_that_became_more_expensive_is_ranked_again_unless_it_is_close_to_the_first(more, key, second, seed):
    """Without the first record, the pair a, c is at its level and costs the second record 1: 1.33 or 1.14 times the cost of the third."""
    lines = ["abcgh", "abcgh", f"abdemn{more}", "ac", "ac", "bgh", *DEAR, *["ad"] * 3, *["ae"] * 4, *["af"] * 5]
    state = made(lines, ["ab"], [1], 3)
    assert keys_of(state, (0, "a"), (1, "a"), (2, "a")) == [0.5, 0.5, key]
    assert removed(state, planned=[(0, "a")], seed=seed) == {(0, "a"), (second, "a")}
    assert keys_of(state, (1, "a")) == [1 if second == 2 else 0.5]


@pytest.mark.parametrize("seed", range(5))
def test_a_loss_is_divided_by_the_number_of_itemsets_that_the_entry_breaks(seed):
    """The first record loses 1 for two itemsets, the second 0.75 for one."""
    lines = ["abcd", "abefmn", "ad", "ad", "bc", "bc", *DEAR, *["ae"] * 3, *["af"] * 4]
    state = made(lines, ["ab", "ac"], [1, 0], 3)
    assert keys_of(state, (0, "a"), (1, "a"), (0, "b"), (0, "c")) == [0.5, 0.75, 1, 1]
    assert removed(state, seed=seed) == {(0, "a")}


@pytest.mark.parametrize("seed", range(5))
def test_a_record_that_lost_an_item_no_longer_loses_sets_with_it(seed):
    """Without a in the first record, the pair a, c is at its level, but c of that record is no longer part of it."""
    lines = ["abcdmn", "cdefmn", "dmn", *["ac"] * 3, *["ce"] * 3, *["cf"] * 4]
    state = made(lines, ["ab", "cd"], [0, 1], 3)
    assert keys_of(state, (0, "c"), (1, "c"), (0, "d"), (1, "d")) == [0.5, 0.75, 3, 3]
    assert removed(state, planned=[(0, "a")], seed=seed) == {(0, "a"), (0, "c")}


@pytest.mark.parametrize("seed", range(5))
def test_a_record_that_received_an_item_can_lose_sets_with_it(seed):
    """The second record receives a for x; without c it would now lose the pair a, c too, so the third record goes first."""
    lines = ["ab", "cdemnx", "cdfmn", "dmn", *["ac"] * 3, *["ce"] * 4, *["cf"] * 3]
    state = made(lines, ["ab", "cd"], [0, 1], 3)
    assert keys_of(state, (1, "c"), (2, "c"), (1, "d"), (2, "d")) == [0.25, 0.5, 3, 3]
    assert removed(state, planned=[(0, "a")], seed=seed) == {(0, "a"), (1, "x"), (2, "c")}
    assert keys_of(state, (1, "c")) == [0.75]


@pytest.mark.parametrize("seed", range(10))
def test_entries_with_equal_loss_go_by_rank(seed):
    state = made(["ab"] * 6, ["ab"], [3], 4)
    ranks = np.random.default_rng(seed).permutation(12)
    expected = {}
    for entry in np.argsort(ranks):
        record, code = int(state.hiding.entries.record[entry]), state.hiding.entries.item[entry]
        if len(expected) < 3:
            expected.setdefault(record, state.data.vocabulary[code])
    assert removed(state, seed=seed) == set(expected.items())


@pytest.mark.parametrize(
    ("most", "looked_at"), [(1, 6), (2, 7), (3, 8), (8, 8 + 4 + 2 + 1 + 1 + 1), (99, 12 * 3 + 12 + 6 + 3)]
)
def test_the_number_of_tries_is_halved_each_time_that_no_swap_is_found(most, looked_at):
    """Every record that could give an item holds a and b, so it cannot receive a; there are 12 such places."""
    state = made([f"ab{x}" for x in "mnopqrstuvwx"], ["ab"], [6], 7)
    assert len(removed(state, planned=[(r, "a") for r in range(6)], most=most)) == 6
    counted = [exchange.SCANNED, exchange.SWAPPED, exchange.LEFT_OUT]
    assert state.hiding.counters[counted].tolist() == [looked_at, 0, 6]


# -- after the budget of counts is used up -------------------------------------------------------------------------------


@pytest.mark.parametrize("afi", ["forbid", "cost"])
def test_an_unknown_count_is_refused_or_taken_as_the_worst_case(afi, monkeypatch):
    """Without counts, a swap that may make a set frequent is not allowed, or costs as if it did."""
    monkeypatch.setattr(_hiding, "SCARCE", ENOUGH)
    seen = 0
    for seed in range(100, 130):
        state = State(seed, records=10, items=9, density=0.5)
        state.counters[tracking.BUDGET] = 0
        hiding, rng = state.hiding, np.random.default_rng(seed)
        offers = hiding.make_offers(afi, ENOUGH, rng)
        for record, row in enumerate(state.rows):
            for item in sorted(row & set().union(*state.named)):
                prices = prices_of(state, record, item, visited(offers.free) + visited(offers.others), afi)
                unknown = {place: price for place, (price, may_be) in prices.items() if may_be}
                if unknown.keys() != prices.keys() or not 0 < len(unknown) <= exchange.N_REMEMBERED:
                    continue
                found = state.search(record, item, offers)
                assert found == (-1 if afi == "forbid" else min(unknown, key=unknown.get))
                seen += len(unknown) > 1
    assert seen > 5


def visited(places):
    """Return the places in the order in which they are visited."""
    *places, step = places.tolist()
    return [places[step * turn % len(places)] for turn in range(1, len(places) + 1)]


def prices_of(state, record, item, places, afi):
    """Return for each swap that may be allowed its cost in the worst case, and the number of sets whose new support is unknown."""
    possible = {place: (donor, given) for place, donor, given in state.swaps(record, item)}
    rows, now, prices = state.rows, state.now, {}
    for place in places:
        if place not in possible:
            continue
        donor, given = possible[place]
        said = np.zeros(2, dtype=int)  # number of sets that become frequent, and that may become frequent
        for who, gets, gives in ((donor, item, given), (record, given, item)):
            rank = state.hiding.rank[gets]
            if rank >= 0:
                two = {"left_out": np.int32(gets), "also_left_out": np.int32(gives)}
                n_members = state.call(tracking.members_of, record=np.int32(who), **two)
                said += state.call(tracking.new_sets, item=rank, n_members=n_members, exact=np.int64(0))
        if said[0] == 0 or afi == "cost":
            around = oracle.can_stay(oracle.sets_around(rows[donor], given, now), state.named)
            prices[place] = sum(halved(state.levels)(now[x]) for x in around) + said.sum(), said[1]
    return prices
