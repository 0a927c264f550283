"""ExactSwap on edge cases: little data, dense data, nothing to do, too many sets to track; and on real data."""

from collections import Counter
from fractions import Fraction
from itertools import product

import fim
import numpy as np
import pytest

import setveil as sv
from setveil.methods.itemsets import _hiding, _tracking
from setveil.methods.itemsets.exact_swap import ExactSwap
from setveil.mining.frequent import mine

from oracle import exact_swap as oracle
from oracle import hidden_itemsets as oracle_of_guarantee
from support.hiding_cases import State, apply, assert_hidden, assert_state_is_a_recount, drawn, hidden
from support.random_data import as_sets

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off
WAYS = list(product(["forbid", "cost", "off"], ["swap", "suppress"], ["border", "0", "random"]))


def bound(data, itemsets, seed=1, **settings):
    return ExactSwap(itemsets=itemsets, **settings).bind(data, linked=False, rng=np.random.default_rng(seed))


@pytest.mark.plain_python
@pytest.mark.parametrize(
    ("lists", "itemsets", "least"),
    [
        ([["a", "b", "c"]] * 6, [["a", "b"]], 2),
        ([["a", "b"]], [["a", "b"]], 1),
        ([["a"]], [["a"]], 1),
        ([[], ["a", "b"], []], [["a", "b"], ["a"]], "50%"),
        ([["a", "b"]] * 4 + [["x"], ["y"], ["z"], ["x", "y"]], [["a", "b"]], 3),
        ([["a", f"i{r}", f"i{r + 1}"] for r in range(9)], [["a"], ["a", "i3"], ["i1", "i2"]], 1),
        ([["a", f"i{r % 3}"] for r in range(9)], [["a", "i0"], ["a", "i1"]], 2),
        ([["a"], ["b"], ["c"]] * 4, [["a"], ["b"], ["c"]], "40%"),
        ([["a", "b", "c", "d"]] * 3 + [["e"]] * 5, [["a", "b", "c", "d"], ["b", "c"], ["d"]], 2),
    ],
)
def test_small_edge_cases(lists, itemsets, least):
    data = sv.from_lists(lists)
    for afi, repair, target in WAYS:
        method = bound(data, itemsets, min_support=least, afi=afi, repair=repair, target=target)
        state, outcome = hidden(method, data)
        named = [frozenset(s) for s in method.itemsets]
        assert_hidden(method, named, outcome.published)
        assert_state_is_a_recount(state)
        assert not oracle_of_guarantee.violations(as_sets(outcome.published), named, method.frequent_from(data))
        assert data.occurrences - outcome.published.occurrences == outcome.account["items-left-out"]


def test_an_item_that_every_record_holds_is_suppressed():
    data = sv.from_lists([["a", "b", f"i{r}"] for r in range(6)])
    outcome = apply(bound(data, [["a", "b"]], min_support=3, target=2), data)
    assert (outcome.account["items-exchanged"], outcome.account["items-left-out"]) == (0, 4)


def test_an_item_that_other_records_can_take_is_swapped():
    """Items without a rank are given in return, and no item is lost."""
    data = sv.from_lists([["a", "b"]] * 4 + [[f"i{r}", f"j{r}"] for r in range(6)])
    outcome = apply(bound(data, [["a", "b"]], min_support=3, target=0, afi="forbid"), data)
    assert (outcome.account["items-exchanged"], outcome.account["items-left-out"]) == (4, 0)
    assert Counter(outcome.published.items.tolist()) == Counter(data.items.tolist())
    assert outcome.published.lengths.tolist() == data.lengths.tolist()


@pytest.mark.parametrize("target", ["random", "border"])
def test_itemsets_that_are_not_frequent_stay_unchanged(notes, target):
    data = sv.from_lists([["a", "b"], ["a", "b", "c"], ["c"], ["d"], []])
    method = bound(data, [["a", "b"], ["c", "d"]], min_support=3, target=target)
    outcome = apply(method, data)
    assert outcome.published == data
    assert "2 of 2 named itemsets are not frequent in the original: the minimum support is 3 records" in notes()
    assert method.guarantee.targets == (2, 2)
    steps = ("items-exchanged", "items-left-out", "lost-that-could-have-been-kept")
    assert [outcome.account[name] for name in steps] == [0, 0, 0]


def test_records_that_become_empty_do_not_make_a_named_itemset_frequent():
    """A share is of the records that are not empty, and the release has fewer of them."""
    data = sv.from_lists([["a"]] * 40 + [["b", "c"]] * 8 + [["d", "e", f"i{r}"] for r in range(12)])
    for seed, target in enumerate(["border", "random", "border"]):
        method = bound(data, [["a"], ["b", "c"]], seed, min_support="10%", target=target)
        assert method.frequent_from(data) == 2
        released = apply(method, data, seed).published
        assert released.empty_records >= 38
        assert_hidden(method, [frozenset("a"), frozenset("bc")], released)
        named = [set(s) for s in method.itemsets]
        assert not oracle_of_guarantee.violations(as_sets(released), named, Fraction(1, 10))


@pytest.mark.plain_python
@pytest.mark.parametrize("longest", [0, 1, 2, 3])
def test_if_only_short_sets_are_tracked_itemsets_are_hidden_and_no_other_becomes_frequent(longest, monkeypatch, notes):
    limited = swapped = 0
    for seed in range(60):
        case = drawn(seed, afi="forbid", repair="swap")
        method = case.bound()
        levels, before = method.thresholds(case.data), oracle.all_supports(case.records)
        known = {x for x, held in before.items() if held >= min(levels)}
        limit = sum(len(x) <= longest for x in known)
        if limit == len(known):
            continue
        monkeypatch.setattr(_tracking, "TRACKED_LIMIT", limit)
        state, outcome = hidden(method, case.data, seed)
        assert_hidden(method, case.named, outcome.published)
        assert_state_is_a_recount(state)
        assert not oracle.new_frequent(before, oracle.all_supports(as_sets(outcome.published)), levels)
        assert outcome.account.get("looked-after-up-to-items") == (longest or None)
        limited += 1
        swapped += outcome.account["items-exchanged"]
    assert limited > 10
    assert swapped > 0
    assert longest == 0 or "too many to protect all of them" in notes()


def test_with_few_stored_sets_the_result_does_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(_hiding, "AROUND", 100)
    for seed in range(30, 75):
        case = drawn(seed)
        method = case.bound()
        one, two, three = (apply(method, case.data, seed, threads) for threads in (1, 2, 3))
        assert one.published == two.published == three.published
        assert_hidden(method, case.named, one.published)


@pytest.mark.plain_python
@pytest.mark.parametrize("seed", range(20))
def test_planned_entries_go_first_at_any_cost(seed):
    state = State(seed, records=12, items=8, density=0.5)
    hiding = state.hiding
    hiding.weigh(swaps=False)
    if len(hiding.entries.keys):
        planned = np.array([np.argmax(hiding.entries.keys)])
        (record,), (item,) = hiding.entries.record[planned], hiding.entries.item[planned]
        hiding.hide(afi="cost", most=1, rng=np.random.default_rng(seed), planned=planned)
        assert item not in state.rows[record]


def dense():
    rng = np.random.default_rng(1)
    rows = [rng.choice(100, size=30, replace=False) for _ in range(400)]
    itemsets = [rng.choice(rows[k], size=2 + k % 2, replace=False) for k in range(80)]
    data = sv.from_lists([[f"i{j:02}" for j in row] for row in rows])
    return data, [[f"i{j:02}" for j in s] for s in itemsets]


@pytest.mark.parametrize("afi", ["forbid", "cost"])
def test_dense_data_with_few_items_to_give_in_return(afi):
    data, itemsets = dense()
    method = bound(data, itemsets, min_support="5%", afi=afi, target="0")
    state, outcome = hidden(method, data)
    assert_hidden(method, [frozenset(s) for s in method.itemsets], outcome.published)
    suppressed = outcome.account["items-left-out"]
    assert data.occurrences - outcome.published.occurrences == suppressed
    assert suppressed > 0 or afi == "cost"
    assert_tracked_is_a_recount(state)
    new = {s for s, _ in mine(outcome.published, "5%")} - {s for s, _ in mine(data, "5%")}
    assert not new or afi == "cost"


def test_the_loop_can_be_stopped(halt):
    data, itemsets = dense()
    method = bound(data, itemsets, min_support="5%", target="0")
    halt(_hiding, "hiding the named itemsets")
    outcome = method.apply(data, rng=np.random.default_rng(1))
    steps = outcome.account["items-exchanged"] + outcome.account["items-left-out"]
    assert 0 < steps < 1024
    assert not method.guarantee.check(outcome.published)


# -- real data -----------------------------------------------------------------------------------------------------------


def assert_tracked_is_a_recount(state):
    """Compare every tracked support with a count of the result; the records of an item are the bits of a number."""
    result, sets = state.result(), state.tracked.itemsets
    holders = [0] * len(result.vocabulary)
    for record, (first, last) in enumerate(zip(result.offsets[:-1], result.offsets[1:], strict=True)):
        for code in result.items[first:last]:
            holders[code] |= 1 << record
    for one, held in enumerate(state.tracked.supports):
        both = -1
        for code in sets.items[sets.offsets[one] : sets.offsets[one + 1]]:
            both &= holders[code]
        assert both.bit_count() == held


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "share", "lengths", "how_many"),
    [("foodmart", "0.03%", [4], 42), ("bms-webview-1", "0.1%", [2, 3, 4], 20)],
)
@pytest.mark.parametrize("target", ["random", "0"])
def test_real_data(real_data, name, share, lengths, how_many, target):
    data = real_data(name)
    frequent = mine(data, share)
    fitting = np.flatnonzero(np.isin(frequent.lengths, lengths))
    chosen = np.random.default_rng(3).choice(fitting, size=how_many, replace=False)
    itemsets = frequent.take(np.sort(chosen)).to_lists()
    method = bound(data, itemsets, min_support=share, afi="forbid", target=target)
    state, outcome = hidden(method, data, threads=2)
    released = outcome.published
    assert_hidden(method, [frozenset(s) for s in itemsets], released)
    assert outcome.account["items-left-out"] == 0
    assert np.array_equal(released.supports, data.supports)
    assert np.array_equal(released.lengths, data.lengths)
    assert_tracked_is_a_recount(state)
    codes = [one.tolist() for one in np.split(released.items, released.offsets[1:-1])]
    found = fim.fpgrowth([*codes, []], target="s", supp=-method.frequent_from(data), report="a")
    was = [frozenset(one.tolist()) for one in np.split(frequent.items, frequent.offsets[1:-1])]
    assert {frozenset(items) for items, _ in found} <= set(was)
    assert len(was) - len(found) == sum(state.tracked.supports < method.frequent_from(data))
