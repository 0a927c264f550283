"""SW, HEU and NV: results follow their definitions, and there is no guarantee."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.kernels.threads import using_threads
from setveil.methods.itemsets import _supporters, heu, swap_itemsets
from setveil.methods.itemsets._supporters import find_supporters
from setveil.methods.itemsets.heu import HEU
from setveil.methods.itemsets.naive import Naive
from setveil.methods.itemsets.swap_itemsets import SwapItemsets
from setveil.mining.frequent import mine
from setveil.parameters.targets import Targets

from oracle import itemset_baselines as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

BASELINES = [SwapItemsets, HEU, Naive]
READINGS = st.sampled_from(["one", "all"])

TABLE_1 = [
    [1, 2, 3, 8, 10], [2, 7, 8, 10], [5, 6, 7, 10, 12], [2, 3, 8, 9], [1, 3, 5, 9, 10], [4, 6, 7, 9, 10, 12], [1, 3, 5, 8, 11],
    [1, 6, 4, 7, 9], [5, 12], [1, 3],
]  # fmt: skip
"""The example of the paper, table I."""


def numbers(data):
    return [sorted(map(int, record)) for record in data.to_lists()]


def table_1():
    return sv.from_lists([[f"{i:02}" for i in record] for record in TABLE_1])


def apply(method, data, seed=0, threads=None):
    with using_threads(threads):
        return method.apply(data, rng=np.random.default_rng(seed))


def some_itemsets(data, seed, most=12):
    """Draw itemsets of 1 to 4 items: most from records, so that they occur, some nested, some of any items."""
    rng = np.random.default_rng(seed)
    records = [t for t in as_sets(data) if t]
    found = [{rng.choice(data.vocabulary)}] if rng.random() < 0.3 else []
    while len(found) < 1 + seed % most:
        pool = sorted(records[rng.integers(len(records))] if rng.random() < 0.8 else data.vocabulary)
        size = min(len(pool), int(rng.integers(1, 5)))
        found.append({str(i) for i in rng.choice(pool, size=size, replace=False)})
        if size > 1 and rng.random() < 0.3:
            found.append(set(sorted(found[-1])[1:]))
    named = sv.NamedItemsets([sorted(map(str, s)) for s in found])
    return named, [set(s) for s in named]


def drawn(seed):
    """Draw data with at least one item, and itemsets of it; return them as parameters and as sets."""
    data, _categories = make(seed)
    if not data.occurrences:
        data = sv.from_lists([["i000", "i001"], []])
    itemsets, named = some_itemsets(data, seed)
    return data, itemsets, as_sets(data), named


def turns(records, named, seed):
    """Return the order in which the method treats records."""
    return np.random.default_rng(seed).permutation([r for r, t in enumerate(records) if oracle.held_by(t, named)])


# -- named itemsets of records -----------------------------------------------------------------------------------------


@pytest.mark.plain_python
@settings(max_examples=examples(100))
@given(seeds)
def test_the_itemsets_that_a_record_holds_are_found(seed):
    data, itemsets, records, named = drawn(seed)
    supporters = find_supporters(data, itemsets)
    held = supporters.held
    found = [held.sets[a:b].tolist() for a, b in zip(held.starts[:-1], held.starts[1:], strict=True)]
    expected = {r: sorted(sets) for r, t in enumerate(records) if (sets := oracle.held_by(t, named))}
    assert dict(zip(supporters.numbers.tolist(), map(sorted, found), strict=True)) == expected
    assert as_sets(supporters.records) == [records[r] for r in expected]


# -- swap-itemsets -----------------------------------------------------------------------------------------------------


@pytest.mark.plain_python
@settings(max_examples=examples(300))
@given(seed=seeds, reading=READINGS)
def test_in_the_same_order_the_oracle_swaps_the_same_items(seed, reading):
    data, itemsets, records, named = drawn(seed)
    outcome = apply(SwapItemsets(itemsets=itemsets, min_support=2, reading=reading), data, seed)
    order = turns(records, named, seed)
    expected, pairs = oracle.swap_itemsets(records, named, list(order), reading)
    assert as_sets(outcome.published) == expected
    assert outcome.account == {
        "records-with-a-named-itemset": len(order),
        "pairs": pairs,
        "records-without-a-partner": len(order) - 2 * pairs,
        "items-exchanged": sum(len(t - s) for t, s in zip(records, expected, strict=True)),
    }
    assert outcome.alignment.rows.tolist() == list(range(data.records))


@settings(max_examples=examples(100))
@given(seed=seeds, reading=READINGS)
def test_a_swap_loses_no_item_and_changes_only_records_that_hold_a_named_itemset(seed, reading):
    data, itemsets, records, named = drawn(seed)
    released = apply(SwapItemsets(itemsets=itemsets, min_support=2, reading=reading), data, seed).published
    assert Counter(released.items.tolist()) == Counter(data.items.tolist())
    if reading == "one":
        assert released.lengths.tolist() == data.lengths.tolist()
    for t, s in zip(records, as_sets(released), strict=True):
        assert t == s or oracle.held_by(t, named)


@pytest.mark.parametrize("records", [3, 70, 400])
@pytest.mark.parametrize("reading", ["one", "all"])
def test_swaps_equal_the_oracle_with_many_itemsets_and_frequent_items(records, reading):
    """More itemsets and more items than a word has bits, and items that most records hold."""
    data, _categories = make(records, records=records, items=90, hot=1.5)
    rng = np.random.default_rng(records)
    full = [t for t in as_sets(data) if len(t) > 1]
    sets = [rng.choice(sorted(full[k % len(full)]), size=2, replace=False) for k in range(100)]
    itemsets = sv.NamedItemsets([list(map(str, s)) for s in sets])
    named = [set(s) for s in itemsets]
    outcome = apply(SwapItemsets(itemsets=itemsets, min_support=2, reading=reading), data, 1)
    order = turns(as_sets(data), named, 1)
    assert as_sets(outcome.published) == oracle.swap_itemsets(as_sets(data), named, list(order), reading)[0]


def test_the_papers_example_swapped_by_hand():
    """The records t1, t5, t7 and t10 hold {1, 3}; t3, t6 and t8 hold {6, 7}.

    Items 1 and 3 are both in five records, so the first, 1, is given. Item 6 is in three records and 7 in four, so 6 is given.
    But t8 holds item 1: its partner gives 3.
    """
    data = table_1()
    assert [data.supports[data.code_of[i]] for i in ("01", "03", "06", "07")] == [5, 5, 3, 4]
    method = SwapItemsets(itemsets=[["01", "03"], ["06", "07"]], min_support=3)
    outcome = apply(method, data, 4)
    before, after = map(set, TABLE_1), map(set, numbers(outcome.published))
    assert list(outcome.account.values()) == [7, 3, 1, 6]
    changes = {r + 1: (t - s, s - t) for r, (t, s) in enumerate(zip(before, after, strict=True)) if t != s}
    assert {r for r in changes if r in (3, 6, 8)} == {3, 6, 8}
    assert len(changes) == 6
    for r in (3, 6):
        assert changes[r] == ({6}, {1})
    assert changes[8] == ({6}, {3})
    assert sum(change == ({1}, {6}) for change in changes.values()) == 2
    assert sum(change == ({3}, {6}) for change in changes.values()) == 1


def test_the_partner_has_the_smallest_coefficient():
    """The record {1, 3} shares one of 6 items with the second record and none with the third; the second has no partner."""
    data = sv.from_lists([["1", "3"], ["1", "4", "6", "7", "9"], ["5", "6", "7"]])
    method = SwapItemsets(itemsets=[["1", "3"], ["6", "7"]], min_support=1)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(3)
        if order[0] == 0:
            assert apply(method, data, seed).published.to_lists()[1] == ["1", "4", "6", "7", "9"]


@pytest.mark.parametrize(("reading", "left"), [("one", 1), ("all", 0)])
def test_a_record_with_several_itemsets_loses_one_item_or_breaks_them_all(reading, left):
    data = sv.from_lists([["a", "b", "c", "d"], ["x", "y"], ["a", "b"], ["a", "b"]])
    method = SwapItemsets(itemsets=[["a", "b"], ["c", "d"], ["x", "y"]], min_support=1, reading=reading)
    for seed in range(20):
        record = set(apply(method, data, seed).published.to_lists()[0])
        if record != {"a", "b", "c", "d"}:  # it had a partner
            assert record & {"x", "y"}
            assert sum(s <= record for s in ({"a", "b"}, {"c", "d"})) == left


def test_one_item_that_is_in_several_itemsets_is_enough_for_all():
    data = sv.from_lists([["a", "b", "c"], ["x", "y"], ["b"], ["b"]])  # b is not the rarest
    method = SwapItemsets(itemsets=[["a", "b"], ["b", "c"], ["x", "y"]], min_support=1, reading="all")
    assert sorted(map(sorted, apply(method, data).published.to_lists())) == [["a", "c", "x"], ["b"], ["b"], ["b", "y"]]


@settings(max_examples=examples(100))
@given(seed=seeds, reading=READINGS)
def test_every_pair_has_an_item_to_swap(seed, reading):
    """A record that holds all items of the itemset cannot be the partner."""
    _data, _itemsets, records, named = drawn(seed)
    for a, b in oracle.pairs(records, named, list(turns(records, named, seed))):
        for t, partner in ((a, b), (b, a)):
            given = oracle.given_away(records, named, t, partner, reading)
            hit = [bool(given & named[s]) for s in oracle.held_by(records[t], named)]
            assert all(hit) if reading == "all" else any(hit)


def test_records_that_hold_the_same_itemset_are_no_partners():
    data = sv.from_lists([["a", "b"], ["a", "b", "c"]])
    outcome = apply(SwapItemsets(itemsets=[["a", "b"], ["a", "b", "c"]], min_support=1), data)
    assert outcome.published == data
    assert outcome.account["records-without-a-partner"] == 2
    data = sv.from_lists([["a"], ["b", "c"]])
    assert apply(SwapItemsets(itemsets=[["a"], ["b"]], min_support=1), data).published.to_lists() == [["b"], ["a", "c"]]


def test_the_next_rarest_item_is_given_if_the_partner_holds_the_rarest():
    data = sv.from_lists([["a", "b"], ["a", "x", "y"], ["b"], ["y"]])  # a and b are in two records, x in one
    method = SwapItemsets(itemsets=[["a", "b"], ["x", "y"]], min_support=1)
    assert apply(method, data).published.to_lists() == [["a", "x"], ["a", "b", "y"], ["b"], ["y"]]


# -- heu ---------------------------------------------------------------------------------------------------------------


@pytest.mark.plain_python
@settings(max_examples=examples(200))
@given(seed=seeds, target=st.sampled_from(["border", "0", "random"]), share=st.sampled_from([0.05, 0.2, 0.5]))
def test_the_oracle_suppresses_the_same_items(seed, target, share):
    data, itemsets, records, named = drawn(seed)
    method = HEU(itemsets=itemsets, min_support=share, target=target)
    method = method.bind(data, linked=False, rng=np.random.default_rng(seed))
    targets = method.target.of(len(named), method.frequent_from(data)).tolist()
    outcome = apply(method, data)
    released = as_sets(outcome.published)
    assert released == oracle.heu(records, named, targets)
    assert all(oracle.support(released, s) <= most for s, most in zip(named, targets, strict=True))
    assert_account_of_suppression(outcome, records, released)


def assert_account_of_suppression(outcome, records, released):
    assert outcome.account == {
        "records-with-fewer-items": sum(s < t for t, s in zip(records, released, strict=True)),
        "records-made-empty": sum(bool(t) and not s for t, s in zip(records, released, strict=True)),
        "items-left-out": sum(len(t - s) for t, s in zip(records, released, strict=True)),
    }
    assert outcome.alignment.rows.tolist() == list(range(len(records)))


def test_the_papers_example_suppressed_by_hand():
    """{1, 3} is in t1, t5, t7, t10 and {1, 3, 5} in t5 and t7; the minimum support is 3 records.

    t5 and t7 hold both itemsets, but {1, 3, 5} is not above its target of 2. So t10 comes first, the shortest, and then t1, which is as
    long as t5 and t7 and precedes them. Items 1 and 3 are in five records each: 1 is suppressed.
    """
    outcome = apply(HEU(itemsets=[["01", "03"], ["01", "03", "05"]], min_support=3), table_1())
    expected = [sorted(t) for t in TABLE_1]
    expected[9] = [3]
    expected[0] = [2, 3, 8, 10]
    assert numbers(outcome.published) == expected
    # With targets of 1 both itemsets are open, and t5 holds two: it comes first.
    outcome = apply(HEU(itemsets=[["01", "03"], ["01", "03", "05"]], min_support=3, target="1"), table_1())
    expected = [sorted(t) for t in TABLE_1]
    expected[4] = [3, 5, 9, 10]  # now {1, 3, 5} is at its target
    expected[9] = [3]
    expected[0] = [2, 3, 8, 10]
    assert numbers(outcome.published) == expected


def test_the_item_in_most_open_itemsets_is_suppressed_even_if_it_is_not_the_rarest():
    data = sv.from_lists([["a", "b", "c"], ["b"], ["c"]])
    released = apply(HEU(itemsets=[["a", "b"], ["b", "c"]], min_support=1), data).published
    assert released.to_lists() == [["a", "c"], ["b"], ["c"]]


def test_random_targets_are_drawn_when_bound_and_not_later():
    data = sv.from_lists([["a", "b"]] * 40)
    method = HEU(itemsets=[["a", "b"], ["a"], ["b"]], min_support=20, target="random")
    bound = [method.bind(data, linked=False, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert bound[0] == bound[1] != bound[2]
    assert bound[0].target != Targets("random")
    assert all(10 <= most < 20 for most in bound[0].target.of(3, 20))
    with pytest.raises(sv.BadParameter, match="must be drawn before"):
        apply(method, data)
    with pytest.raises(sv.BadParameter, match="the target 20 is not below 20"):
        HEU(itemsets=[["a"]], min_support=20, target=20).bind(data, linked=False, rng=np.random.default_rng(1))


# -- naive -------------------------------------------------------------------------------------------------------------


@pytest.mark.plain_python
@settings(max_examples=examples(200))
@given(seeds)
def test_all_items_of_held_itemsets_are_suppressed(seed):
    data, itemsets, records, named = drawn(seed)
    outcome = apply(Naive(itemsets=itemsets, min_support=2), data)
    released = as_sets(outcome.published)
    assert released == oracle.naive(records, named)
    assert all(oracle.support(released, s) == 0 for s in named)
    assert_account_of_suppression(outcome, records, released)


def test_the_papers_example_without_the_itemset():
    released = apply(Naive(itemsets=[["01", "03"]], min_support=3), table_1()).published
    expected = [sorted(set(t) - {1, 3}) if {1, 3} <= set(t) else sorted(t) for t in TABLE_1]
    assert numbers(released) == expected
    assert expected[9] == []


# -- all three ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BASELINES)
def test_a_baseline_is_published_only_with_no_guarantee(kind):
    data, itemsets, _records, _named = drawn(2)
    method = kind(itemsets=itemsets, min_support=2)
    assert method.guarantee is None
    with pytest.raises(sv.BadParameter, match=rf"^{kind.name} guarantees nothing here; set `no_guarantee=True`"):
        sv.publish(data, method)


@pytest.mark.parametrize("kind", BASELINES)
@pytest.mark.parametrize(
    ("lists", "itemsets"),
    [
        ([["a", "b"]], [["a", "b"]]),
        ([[], ["a", "b"], []], [["a"], ["a", "b"]]),
        ([["a"], ["a"], ["a"]], [["a"]]),
        ([["a", "b"]] * 5, [["a", "b"], ["a"], ["b"]]),
        ([["a", f"i{r}", f"i{r + 1}"] for r in range(9)], [["a"], ["a", "i3"], ["i1", "i2"], ["i5", "i7"]]),
        ([["a"], ["b"]], [["a", "b"]]),
    ],
)
def test_small_edge_cases(kind, lists, itemsets):
    data = sv.from_lists(lists)
    method = kind(itemsets=itemsets, min_support=1)
    records, named = as_sets(data), [set(s) for s in method.itemsets]
    released = as_sets(apply(method, data, 5).published)
    expected = {
        SwapItemsets: lambda: oracle.swap_itemsets(records, named, list(turns(records, named, 5).astype(int)), "one")[
            0
        ],
        HEU: lambda: oracle.heu(records, named, [0] * len(named)),
        Naive: lambda: oracle.naive(records, named),
    }
    assert released == expected[kind]()


@pytest.mark.parametrize("kind", BASELINES)
def test_the_same_seed_gives_the_same_result_on_any_number_of_threads(kind):
    data, _categories = make(8, records=300, items=30, hot=0.7)
    itemsets, _named = some_itemsets(data, 11)
    method = kind(itemsets=itemsets, min_support=2)
    made = [apply(method, data, seed, threads).published for seed, threads in ((5, 1), (5, 2), (5, 3), (6, 2))]
    assert made[0] == made[1] == made[2]
    assert (made[0] != made[3]) == (kind is SwapItemsets)


@pytest.mark.parametrize(
    ("kind", "module", "step"),
    [
        (SwapItemsets, _supporters, "finding the named itemsets"),
        (SwapItemsets, swap_itemsets, "finding partners"),
        (SwapItemsets, swap_itemsets, "choosing items"),
        (HEU, heu, "suppressing items"),
    ],
)
def test_loops_can_be_stopped(kind, module, step, halt):
    data, itemsets, _records, _named = drawn(5)
    method = kind(itemsets=itemsets, min_support=1)
    assert apply(method, data, seed=1).published != data
    halt(module, step)
    assert apply(method, data, seed=1).published == data


@pytest.mark.realdata
def test_the_papers_setting_on_real_data(real_data):
    """FoodMart, 42 random itemsets of length 4 with a support of at least 0.03 %; the mean of five draws."""
    data = real_data("foodmart")
    frequent = mine(data, "0.03%")
    assert len(frequent) == 4_247
    of_four = frequent.take(np.flatnonzero(frequent.lengths == 4))
    methods = {"one": SwapItemsets, "all": SwapItemsets, "heu": HEU, "nv": Naive}
    failures = dict.fromkeys(methods, 0.0)
    for seed in range(5):
        chosen = np.random.default_rng(seed).choice(len(of_four), size=42, replace=False)
        itemsets = sv.NamedItemsets(of_four.take(np.sort(chosen)).to_lists())
        for name, kind in methods.items():
            more = {"reading": name} if kind is SwapItemsets else {}
            method = kind(itemsets=itemsets, min_support="0.03%", **more)
            released = apply(method, data, seed).published
            records = as_sets(released)
            failures[name] += sum(oracle.support(records, set(s)) >= 2 for s in itemsets) / 42 / 5
            if kind is SwapItemsets:
                assert np.array_equal(released.supports, data.supports)
    assert 0.10 < failures["one"] < 0.40
    assert failures["all"] < 0.05
    assert failures["heu"] == failures["nv"] == 0
