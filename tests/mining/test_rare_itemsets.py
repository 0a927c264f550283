"""Minimal rare itemsets: just those that the oracle finds by trying every set, and long records that no list of sets could hold."""

from itertools import chain
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.mining import rare_itemsets as module
from setveil.mining.rare_itemsets import rare_itemsets, rare_itemsets_in_chunks

from oracle import km_anonymity as oracle
from support.disassociated_cases import some_clusters
from support.exhaustive import examples
from support.random_data import seeds

plain_python = pytest.mark.plain_python
PLENTY = 10**9


def search(records, k, m, *, weights=None, budget=PLENTY, limit=10**6):
    """Return what is found, and the sets with their supports."""
    data = sv.from_lists([sorted(record) for record in records])
    weights = None if weights is None else np.array(weights, np.int64)
    found = rare_itemsets(data, k, m, weights=weights, budget=budget, limit=limit)
    sets = {}
    for codes, support in zip(found.sets, found.supports.tolist(), strict=True):
        assert codes.tolist() == sorted(set(codes.tolist()))
        sets[frozenset(data.vocabulary[code] for code in codes.tolist())] = support
    assert len(sets) == len(found.sets) == len(found.parts)
    return found, sets


def assert_as_the_oracle_says(records, k, m, weights=None):
    found, sets = search(records, k, m, weights=weights)
    expected = oracle.rare_itemsets(records, k, m, weights)
    assert sets == expected
    assert found.complete
    assert not found.undecided
    sizes = [len(one) for one in expected]
    assert found.by_size == {size: sizes.count(size) for size in sorted(set(sizes))}
    assert found.found == len(expected)
    each = weights or [1] * len(records)
    assert found.exposed == sum(w for r, w in zip(records, each, strict=True) if any(one <= set(r) for one in expected))
    assert [len(codes) for codes in found.sets] == sorted(sizes)


def small_table(seed):
    """Draw records with many equal ones, items that go together, items in all records; and k, m and weights or None."""
    rng = np.random.default_rng(seed)
    labels = [f"i{j}" for j in range(int(rng.integers(1, 10)))]
    density = rng.choice([0.2, 0.5, 0.8, 0.95], len(labels)) if rng.random() < 0.5 else rng.choice([0.3, 0.6, 0.9])
    pool, records = [], []
    for _ in range(int(rng.integers(0, 14))):
        if not pool or rng.random() < 0.7:
            pool.append({label for label, yes in zip(labels, rng.random(len(labels)) < density, strict=True) if yes})
        records.append(pool[rng.integers(len(pool))])
    copies = rng.integers(1, 4, len(labels)) if rng.random() < 0.4 else np.ones(len(labels), np.int64)
    twins = {label: [f"{label}{'abc'[c]}" for c in range(copies[j])] for j, label in enumerate(labels)}
    records = [{twin for label in record for twin in twins[label]} for record in records]
    records = [set(sorted(record)[:12]) for record in records]
    if rng.random() < 0.2:
        records = [{*record, "everywhere"} for record in records]
    weights = rng.integers(1, 4, len(records)).tolist() if rng.random() < 0.5 else None
    return records, int(rng.integers(1, 7)), int(rng.integers(1, 7)), weights


@plain_python
@settings(max_examples=examples(150))
@given(seeds)
def test_just_the_minimal_rare_sets_are_found(seed):
    assert_as_the_oracle_says(*small_table(seed))


@settings(max_examples=examples(500), deadline=None)
@given(seeds)
def test_just_the_minimal_rare_sets_are_found_in_many_tables(seed):
    assert_as_the_oracle_says(*small_table(seed))


def crowded(seed):
    """Draw records that hold most of few items, so that rare sets are large."""
    rng = np.random.default_rng(seed)
    labels = [f"i{j}" for j in range(int(rng.integers(5, 10)))]
    records = []
    for _ in range(int(rng.integers(4, 20))):
        without = set(rng.choice(labels, int(rng.integers(0, 3)), replace=False).tolist())
        records.append(set(labels) - without)
    return records, int(rng.integers(2, 7)), int(rng.integers(2, 8))


@plain_python
@settings(max_examples=examples(60))
@given(seeds)
def test_large_rare_sets_are_found_too(seed):
    assert_as_the_oracle_says(*crowded(seed))


@settings(max_examples=examples(250), deadline=None)
@given(seeds)
def test_large_rare_sets_are_found_too_in_many_tables(seed):
    assert_as_the_oracle_says(*crowded(seed))


def uneven(seed):
    """Draw many records, each lacking some of few items, some items often and some hardly ever: bounds and pivots are put to the test."""
    rng = np.random.default_rng(seed)
    labels = [f"i{j}" for j in range(int(rng.integers(5, 8)))]
    chance = rng.choice([0.5, 0.7, 0.85, 0.95], len(labels))
    records = [
        set(np.array(labels)[rng.random(len(labels)) < chance].tolist()) for _ in range(int(rng.integers(16, 32)))
    ]
    weights = rng.integers(1, 3, len(records)).tolist() if rng.random() < 0.5 else None
    return records, int(rng.choice([2, 3, 5, 8, 14, 17, 18, 19, 22])), int(rng.integers(3, 8)), weights


@plain_python
@settings(max_examples=examples(100), deadline=None)
@given(seeds)
def test_uneven_items_are_searched_whole(seed):
    assert_as_the_oracle_says(*uneven(seed))


@plain_python
@pytest.mark.parametrize("together", [15, 16, 17, 19, 20])
def test_more_records_than_a_pivot_has_may_still_be_too_few(together):
    """That many different records hold a, b and c; 20 others hold each two of them, and each other item."""
    others = [{f"d{j}" for j in range(5) if number >> j & 1} for number in range(together)]
    records = [{"a", "b", "c", *some} for some in others]
    records += [{"a", "b"}, {"a", "c"}, {"b", "c"}, *({f"d{j}"} for j in range(5))] * 20
    assert (frozenset("abc") in search(records, 20, 3)[1]) == (together < 20)
    assert_as_the_oracle_says(records, 20, 3)


def test_large_tables_have_large_rare_sets():
    """Else the test above would show little."""
    sizes = {len(one) for seed in range(60) for one in search(*crowded(seed))[1]}
    assert {1, 2, 3, 4, 5} <= sizes


@plain_python
@settings(max_examples=examples(60), deadline=None)
@given(seeds, st.integers(1, 4))
def test_an_item_of_one_part_is_another_one_than_that_of_another_part(seed, number):
    records, k, m, weights = small_table(seed)
    rng = np.random.default_rng(seed)
    parts = rng.integers(0, number, len(records))
    data = sv.from_lists([sorted(record) for record in records])
    each = None if weights is None else np.array(weights, np.int64)
    found = rare_itemsets(data, k, m, weights=each, parts=parts, budget=PLENTY, limit=10**6)
    seen = {
        (part, frozenset(data.vocabulary[code] for code in codes.tolist()), support)
        for part, codes, support in zip(found.parts.tolist(), found.sets, found.supports.tolist(), strict=True)
    }
    expected = set()
    for part in range(number):
        rows = np.flatnonzero(parts == part).tolist()
        some = [records[row] for row in rows]
        of_part = oracle.rare_itemsets(some, k, m, weights and [weights[row] for row in rows])
        expected |= {(part, one, support) for one, support in of_part.items()}
    assert seen == expected
    assert len(found.sets) == found.found == len(expected)


# -- long records -----------------------------------------------------------------------------------------------------------

LONG = pytest.mark.parametrize("length", [267, 1000, 5000])


def names(length):
    return [f"l{j:04}" for j in range(length)]


@LONG
@pytest.mark.parametrize("copies", [3, 4])
def test_k_copies_of_a_long_record_hide_each_other(length, copies):
    long = names(length)
    others = {
        "alone": [],
        "among others": [["a", "b"]] * 3 + [["a"]] * 2,
        "single items elsewhere": [[one] for one in long],
        "with a partner": [[one, "z"] for one in long for _ in range(3)],
        "with one item in every record": [[one, long[0]] for one in long[1:]],
        "pairs elsewhere": [[one, other] for one, other in zip(long, long[7:], strict=False)],
    }
    for name, more in others.items():
        for m in (4, length + 1):
            found, _sets = search([long] * copies + more, 3, m)
            assert found.complete, name
            assert not found.by_size, name


@LONG
def test_fewer_than_k_copies_of_a_long_record_are_counted_exactly(length):
    long = names(length)
    found, sets = search([long] * 2, 3, 4, limit=5)
    assert found.by_size == {1: length}
    assert len(sets) == 5
    found, sets = search([long] * 2 + [[one] for one in long], 3, 4, limit=5)  # each item thrice, no pair
    assert found.by_size == {2: comb(length, 2)}
    assert set(sets.values()) == {2}
    assert (found.complete, found.exposed) == (True, 2)


def one_without_each(groups):
    """Make a record of all groups of items, and for each group one of all others."""
    return [list(chain(*groups)), *(list(chain(*groups[:j], *groups[j + 1 :])) for j in range(len(groups)))]


@LONG
def test_items_that_go_together_are_counted_and_not_listed(length):
    """Four long groups of items: any three groups are in two records, all four in one."""
    long = names(length)
    groups = [long[j::4] for j in range(4)]
    found, sets = search(one_without_each(groups), 2, 4, limit=10)
    number = 1
    for group in groups:
        number *= len(group)
    assert found.by_size == {4: number}
    assert (found.complete, found.exposed, len(sets)) == (True, 1, 10)
    for chosen, support in sets.items():
        assert support == 1
        assert [len(chosen.intersection(group)) for group in groups] == [1, 1, 1, 1]


@plain_python
@pytest.mark.parametrize("k", [2, 3])
def test_copies_of_a_long_record_take_hardly_a_step(k):
    """Of 120 items there are millions of sets of four; the pivot leaves none to search, and each item is looked at."""
    long = names(120)
    records = [long] * k + [[one, "z"] for one in long for _ in range(k)]
    found, _sets = search(records, k, 4, budget=150_000)
    assert (found.complete, found.by_size) == (True, {})


def test_more_sets_than_a_word_can_count_are_at_least_so_many():
    groups = [[f"{name}{j:04}" for j in range(4000)] for name in "abcdef"]
    found, sets = search(one_without_each(groups), 2, 6, limit=3)
    assert not found.complete
    assert not found.undecided
    assert found.by_size == {6: 2**62}
    assert len(sets) == 3


# -- budgets, limits, edges -------------------------------------------------------------------------------------------------


def hard(rng):
    """Make records of which no set of three is rare, and that no bound tells: half of 40 items each."""
    return [np.array(names(40))[rng.random(40) < 0.6].tolist() for _ in range(120)]


def test_a_search_that_is_given_up_is_undecided_and_a_longer_one_decides():
    records = hard(np.random.default_rng(2))
    answers = [search(records, 5, 3, budget=budget)[0] for budget in (0, 1000, 50_000, PLENTY)]
    assert [answer.undecided for answer in answers] == [True, True, True, False]
    assert answers[-1].complete
    assert not any(answer.by_size for answer in answers)
    held = np.array([[name in record for name in names(40)] for record in records])
    together = np.einsum("ra,rb,rc->abc", held, held, held, dtype=np.int64)
    assert together.min() >= 5


@plain_python
def test_what_was_found_before_the_budget_ended_is_told():
    rng = np.random.default_rng(3)
    records = [np.array(names(30))[rng.random(30) < 0.4].tolist() for _ in range(25)]
    whole, sets = search(records, 3, 3)
    assert whole.by_size.keys() == {2, 3}
    numbers = []
    for budget in (0, 2000, 4000, 8000, 16_000, 10**6):
        found, some = search(records, 3, 3, budget=budget)
        assert some.items() <= sets.items()
        assert len(some) == found.found
        assert found.complete == (found.found == whole.found)
        assert found.exposed == sum(any(one <= set(record) for one in some) for record in records)
        numbers.append(found.found)
    assert numbers == sorted(numbers)
    assert numbers[1] < numbers[-1] == whole.found


def test_counting_ends_where_something_is_known(monkeypatch):
    rng = np.random.default_rng(3)
    records = [np.array(names(60))[rng.random(60) < 0.4].tolist() for _ in range(50)]
    monkeypatch.setattr(module, "STEPS_FOR_MORE", 30_000)
    found, _sets = search(records, 3, 4)
    assert not found.complete
    assert found.found > 0


def test_where_an_item_alone_is_rare_counting_ends_too(monkeypatch):
    """The verdict is known then: more than that many steps are not spent on larger sets."""
    records = hard(np.random.default_rng(2))
    monkeypatch.setattr(module, "STEPS_FOR_MORE", 1000)
    assert search(records, 5, 3)[0].complete
    found, sets = search([*records, ["alone"]], 5, 3)
    assert not found.complete
    assert sets == {frozenset({"alone"}): 1}


@plain_python
def test_a_search_that_is_called_off_ends_at_once(monkeypatch):
    from setveil.kernels.control import CONTROL_WIDTH, STOP  # noqa: PLC0415 - as the module itself hands it on

    def called_off(_label, work, **_more):
        control = np.zeros(CONTROL_WIDTH, np.int64)
        control[STOP] = 1
        return work(control)

    records = [["a", "b"], ["b", "c"], ["a", "c"]] * 5 + [["a", "b", "c"]]
    assert search(records, 2, 3)[1] == {frozenset("abc"): 1}
    monkeypatch.setattr(module, "run", called_off)
    assert search(records, 2, 3)[0].undecided


@plain_python
def test_no_more_are_listed_than_asked_for_and_always_the_same():
    rng = np.random.default_rng(3)
    records = [np.array(names(20))[rng.random(20) < 0.4].tolist() for _ in range(12)]
    whole, every = search(records, 3, 3)
    for limit in (0, 1, 7, 50, whole.found):
        found, sets = search(records, 3, 3, limit=limit)
        assert list(sets.items()) == list(every.items())[:limit]
        assert (found.found, found.exposed, found.complete) == (whole.found, whole.exposed, True)


@plain_python
@pytest.mark.parametrize(
    ("records", "k", "m", "expected"),
    [
        ([], 3, 3, {}),
        ([[], []], 3, 3, {}),
        ([["a"]], 1, 3, {}),
        ([["a"]], 2, 3, {frozenset("a"): 1}),
        ([["a"]], 10**40, 10**40, {frozenset("a"): 1}),
        ([["a", "b"]] * 4, 4, 10**40, {}),
        ([["a", "b"]] * 4, 5, 2, {frozenset("a"): 4, frozenset("b"): 4}),
        ([["a", "b"], ["a"], ["b"]], 2, 1, {}),
        ([["a", "b"], ["a"], ["b"]], 2, 2, {frozenset("ab"): 1}),
        ([["a", "b", "c"], ["a", "b"], ["a", "c"], ["b", "c"]], 2, 3, {frozenset("abc"): 1}),
        ([["a", "b", "e"], ["a", "e"], ["b", "e"]], 2, 3, {frozenset("ab"): 1}),
    ],
)
def test_edges(records, k, m, expected):
    assert search(records, k, m)[1] == expected
    assert oracle.rare_itemsets(records, k, m) == expected


@settings(max_examples=examples(100), deadline=None)
@given(seed=seeds, size=st.integers(1, 40), limit=st.sampled_from([0, 3, 10**6]), budget=st.integers(0, 4000))
def test_chunks_are_searched_in_pieces_as_all_together(seed, size, limit, budget):
    """Pieces take no more steps; so a search that ends in time for all together does so in pieces."""
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    data = sv.Disassociated.from_clusters(some_clusters(seed, clusters=int(rng.integers(1, 9)), most_records=9))
    budget = budget if rng.random() < 0.5 else PLENTY
    parts = data.chunk_of_subrecord
    whole = rare_itemsets(data.subrecords, k, m, weights=data.counts, parts=parts, budget=budget, limit=limit)
    with using_engine(LocalEngine(size)):
        found = rare_itemsets_in_chunks(data, k, m, budget=budget, limit=limit)
    assert found.complete or not whole.complete
    assert found.steps <= whole.steps or not whole.complete
    if whole.complete:
        assert (found.by_size, found.exposed) == (whole.by_size, whole.exposed)
        assert [one.tolist() for one in found.sets] == [one.tolist() for one in whole.sets]
        for name in ("supports", "parts", "rarest"):
            assert getattr(found, name).tolist() == getattr(whole, name).tolist()
    elif not found.complete:
        assert found.steps > budget or found.found
        assert found.by_size.get(1) == whole.by_size.get(1)
