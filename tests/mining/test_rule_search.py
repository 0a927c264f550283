"""The strongest rules for given items: as strong as the oracle finds by trying every set, and nothing missed of any size."""

from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.kernels.threads import using_threads
from setveil.mining import largest_rules, rule_search
from setveil.mining.rule_search import strongest_rules

from oracle import strongest_rules as oracle
from oracle.uncertainty import support
from support.exhaustive import examples
from support.large_data import low_limits
from support.random_data import SHARES, seeds, to_be_searched, with_sensitive

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off
plain_python = pytest.mark.plain_python
PLENTY = 10**9


def search(records, sensitive, rho, *, include_empty=False, budget=PLENTY, threads=1):
    """Return what is found, and for each unsafe item its strongest rule: known items, records with and without it, excess."""
    data = sv.from_lists([sorted(record) for record in records])
    with using_threads(threads):
        return rules_of(data, sensitive, rho, include_empty=include_empty, budget=budget)


def rules_of(data, sensitive, rho, *, include_empty=False, budget=PLENTY):
    mask = np.array([label in sensitive for label in data.vocabulary], np.bool_)
    found = strongest_rules(data, mask, rho, include_empty=include_empty, budget=budget)
    rules = {}
    for place, code in enumerate(found.items.tolist()):
        known = frozenset(data.vocabulary[i] for i in found.sets[place].tolist())
        assert len(known) == len(found.sets[place])
        rules[data.vocabulary[code]] = (
            known,
            int(found.with_item[place]),
            int(found.without_item[place]),
            int(found.excess[place]),
        )
    return found, rules


def expected(records, sensitive, rho, include_empty):
    """The highest excess of every item that can be inferred."""
    highest = {item: oracle.strongest_excess(records, item, rho, include_empty) for item in sensitive}
    return {item: most for item, most in highest.items() if most is not None and most > 0}


def assert_true(rules, records, rho):
    """Recount every rule by the definition."""
    for item, (known, both, others, excess) in rules.items():
        assert item not in known
        assert both == support(records, known | {item})
        assert both + others == support(records, known)
        assert excess == oracle.excess(records, known, item, rho) > 0


def assert_as_the_oracle_says(records, sensitive, rho, include_empty, threads=1):
    found, rules = search(records, sensitive, rho, include_empty=include_empty, threads=threads)
    assert {item: rule[-1] for item, rule in rules.items()} == expected(records, sensitive, rho, include_empty)
    assert_true(rules, records, rho)
    assert include_empty or all(rule[0] for rule in rules.values())
    assert found.undecided == 0
    assert found.exposed == oracle.betrayed_by_their_record(records, sensitive, rho)


# -- any table ------------------------------------------------------------------------------------------------------------


@plain_python
@settings(max_examples=examples(150))
@given(seeds, st.booleans())
def test_the_strongest_rule_of_every_item_is_found(seed, include_empty):
    assert_as_the_oracle_says(*with_sensitive(seed), include_empty)


@settings(max_examples=examples(1000))
@given(seeds, st.booleans())
def test_the_strongest_rule_of_every_item_is_found_in_many_tables(seed, include_empty):
    assert_as_the_oracle_says(*with_sensitive(seed, most_records=20), include_empty)


@plain_python
@settings(max_examples=examples(100))
@given(seeds)
def test_the_strongest_rule_is_found_where_it_must_be_searched(seed):
    records, sensitive, rho = to_be_searched(seed)
    assert oracle.betrayed_by_their_record(records, sensitive, rho) == 0
    highest = oracle.confidences(records, sensitive, include_empty=False)[-1]
    for share in (rho, highest, highest - Fraction(1, 10**6)):
        assert_as_the_oracle_says(records, sensitive, share, include_empty=False)


@plain_python
@settings(max_examples=examples(100))
@given(seeds, st.booleans())
def test_at_the_highest_confidence_that_there_is_nothing_is_unsafe_and_just_below_something_is(seed, include_empty):
    records, sensitive, _rho = with_sensitive(seed)
    there = oracle.confidences(records, sensitive, include_empty)
    if not there:
        return
    found, rules = search(records, sensitive, there[-1], include_empty=include_empty)
    assert (rules, found.undecided, found.exposed) == ({}, 0, 0)
    if there[-1] > 0:
        assert search(records, sensitive, there[-1] - Fraction(1, 10**6), include_empty=include_empty)[1]
    middle = there[len(there) // 2]
    assert_as_the_oracle_says(records, sensitive, middle, include_empty)


@contextmanager
def small_parts(seed):
    """Take few items, pairs and sets at a time, and draw samples also from few records."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (rule_search, largest_rules):
            patch.setattr(module, "ITEMS_AT_ONCE", 1 + seed % 2)
        patch.setattr(largest_rules, "CODES_AT_ONCE", 1 + seed % 7)
        patch.setattr(largest_rules, "PAIRS_AT_ONCE", (seed % 4) * (seed % 11))
        patch.setattr(largest_rules, "SAMPLED_ONE_IN", 2)
        patch.setattr(largest_rules, "LEAST_SAMPLED", 1)
        patch.setattr(rule_search, "NOTED_AT_FIRST", 1 + seed % 3)
        patch.setattr(rule_search, "NOTED_LATER", 1 + seed % 2)
        yield


@plain_python
@settings(max_examples=examples(100))
@given(seeds, st.booleans(), st.booleans())
def test_parts_of_any_size_on_one_or_two_threads_tell_the_same(seed, searched, include_empty):
    records, sensitive, rho = to_be_searched(seed) if searched else with_sensitive(seed)
    chosen = {"include_empty": include_empty}
    one = search(records, sensitive, rho, **chosen)[1]
    with small_parts(seed):
        assert_as_the_oracle_says(records, sensitive, rho, **chosen, threads=2)
        few = search(records, sensitive, rho, threads=2, **chosen)[1]
    assert few.keys() == one.keys()
    with using_engine(LocalEngine(1 + seed % 9)), low_limits():
        assert search(records, sensitive, rho, threads=2, **chosen)[1] == one


@settings(max_examples=examples(300))
@given(seeds, st.booleans())
def test_small_parts_of_many_tables_tell_the_same(seed, searched):
    records, sensitive, rho = to_be_searched(seed) if searched else with_sensitive(seed, most_records=40)
    with small_parts(seed):
        assert_as_the_oracle_says(records, sensitive, rho, include_empty=False)


@plain_python
@settings(max_examples=examples(60))
@given(seeds, st.permutations(SHARES))
def test_counts_that_are_cached_for_one_confidence_serve_others(seed, shares):
    records, sensitive, _rho = with_sensitive(seed)
    data = sv.from_lists([sorted(record) for record in records])
    for rho in shares[:4]:
        assert rules_of(data, sensitive, rho)[1] == rules_of(sv.from_lists(data.to_lists()), sensitive, rho)[1]


# -- a budget -------------------------------------------------------------------------------------------------------------


@plain_python
@settings(max_examples=examples(150))
@given(seeds, st.booleans(), st.sampled_from([0, 1, 5, 20, 60, 200]), st.booleans())
def test_with_few_steps_what_is_found_is_true_and_what_is_missed_is_undecided(seed, include_empty, budget, searched):
    records, sensitive, rho = to_be_searched(seed) if searched else with_sensitive(seed)
    found, rules = search(records, sensitive, rho, include_empty=include_empty, budget=budget)
    assert_true(rules, records, rho)
    unsafe = expected(records, sensitive, rho, include_empty)
    assert set(rules) <= set(unsafe)
    pairs = [(record, item) for record in records for item in record & sensitive if len(record) > 1]
    assert set(rules) >= {item for record, item in pairs if oracle.excess(records, record - {item}, item, rho) > 0}
    assert len(unsafe) - len(rules) <= found.undecided <= len(sensitive) - len(rules)


@plain_python
def test_more_steps_find_more():
    records, known, rho = only_the_middle(5, holders=4, counterparts=2)
    answers = [search(records, {"e"}, rho, budget=budget) for budget in range(0, 400, 20)]
    states = ["found" if rules else "undecided" for _found, rules in answers]
    assert [found.undecided for found, _rules in answers] == [state == "undecided" for state in states]
    assert states == sorted(states, reverse=True)
    assert set(states) == {"found", "undecided"}
    assert answers[-1][1]["e"][0] == known


@plain_python
def test_a_search_that_was_given_up_leaves_nothing_behind_for_the_next():
    records, known, rho = only_the_middle(3, holders=3, counterparts=2)
    budget = next(steps for steps in range(1000) if search(records, {"e"}, rho, budget=steps)[1])
    many = [f"w{k}" for k in range(budget)]
    records += [frozenset({"b", "q1", one}) for one in many] + [frozenset({"q1", *many})] + [frozenset({"q1"})] * budget
    found, rules = search(records, {"b", "e"}, rho, budget=budget)
    assert found.undecided == 1
    assert {item: rule[0] for item, rule in rules.items()} == {"e": known}


@plain_python
def test_where_the_largest_rules_prove_it_no_step_is_needed():
    records = [{"e", "a", "b"}, {"a", "b"}, {"a", "b"}, {"a"}, {"b", "e"}, {"b"}]
    found, rules = search(records, {"e"}, Fraction(1, 2), budget=0)
    assert not rules
    assert found.undecided == 0


@plain_python
def test_rules_of_whole_records_are_told_without_any_step():
    records = [{"a", "b", "e"}, *[{"a"}, {"b"}] * 3, {"c", "e"}, *[{"c"}] * 3, {"d", "e"}, *[{"d"}] * 3]
    found, rules = search(records, {"e"}, Fraction(1, 2), budget=0)
    assert rules == {"e": (frozenset({"a", "b"}), 1, 0, 1)}
    assert found.undecided == 0


# -- rules of a middle size -------------------------------------------------------------------------------------------------


def only_the_middle(size, *, holders, counterparts, other="z", filling=0):
    """Make records in which all rules for e are safe but one, whose known items are neither few nor all of any record.

    Each holder has e, q and an item of its own; the counterparts have q and all of these items; and for every item of q there are
    records with all the others, and as many other items as are asked for. Another record with e has nothing in common with these.
    """
    q = [f"q{k}" for k in range(size)]
    own = [f"u{k}" for k in range(holders)]
    rho = Fraction(holders - 1, holders + counterparts - 1)
    records = [frozenset({"e", *q, mine}) for mine in own] + [frozenset(q + own)] * counterparts
    room = 0
    while Fraction(holders, holders + counterparts + room) > rho:
        room += 1
    for without in q:
        records += [frozenset(q) - {without} | {f"f{k:03}" for k in range(filling)}] * room
    records += [frozenset({"e", other})] + [frozenset({other})] * 9
    return records, frozenset(q), rho


@plain_python
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 9])
@pytest.mark.parametrize(("holders", "counterparts"), [(3, 1), (3, 2), (5, 3)])
@pytest.mark.parametrize("other", ["a", "z"])
def test_one_unsafe_rule_between_safe_ones_is_found(size, holders, counterparts, other):
    records, known, rho = only_the_middle(size, holders=holders, counterparts=counterparts, other=other)
    assert oracle.unsafe_rules(records, "e", rho, include_empty=False) == {known}
    found, rules = search(records, {"e"}, rho)
    assert rules["e"][:3] == (known, holders, counterparts)
    assert found.exposed == 0


@plain_python
@pytest.mark.parametrize("size", [2, 3, 4])
def test_records_that_look_as_if_they_held_all_known_items_do_not_count(size):
    records, known, rho = only_the_middle(size, holders=3, counterparts=2, filling=400)
    assert search(records, {"e"}, rho)[1]["e"][:3] == (known, 3, 2)


@plain_python
@pytest.mark.parametrize("size", [2, 4, 6])
def test_the_one_unsafe_rule_is_found_beside_other_sensitive_items(size):
    records, known, rho = only_the_middle(size, holders=4, counterparts=2)
    sensitive = {"e", "q0", "u1"}
    assert_as_the_oracle_says(records, sensitive, rho, include_empty=False)
    assert search(records, sensitive, rho)[1]["e"][0] == known


@plain_python
@pytest.mark.parametrize("size", [3, 4, 5])
def test_of_several_rules_of_a_middle_size_the_strongest_is_told(size):
    records, known, rho = only_the_middle(size, holders=3, counterparts=2)
    renamed = [frozenset(item if item == "e" else f"x{item}" for item in record) for record in records]
    stronger = [*records, *renamed, frozenset({"e", "only here", *known})]
    assert_as_the_oracle_says(stronger, {"e"}, rho, include_empty=False)
    assert search(stronger, {"e"}, rho)[1]["e"][:3] == (known, 4, 2)


# -- long and deep --------------------------------------------------------------------------------------------------------


@plain_python
def test_sets_within_sets_are_followed_all_the_way_down():
    depth, top = 80, 75
    names = [f"{k:03}" for k in range(depth)]
    records = [frozenset(names[:k]) for k in range(1, depth + 1) for _ in range(3 if k < top else 0)]
    records += [frozenset({name}) for name in names for _ in range(20)]
    records += [frozenset(["e", f"only {k}", *names[:k]]) for k in range(1, depth + 1)]
    # Of the sets of the first k items the one from which on there are no counterparts is best; single items have more.
    _found, rules = search(records, {"e"}, Fraction(1, 2))
    known, both, others, excess = rules["e"]
    assert known == set(names[:top])
    assert (both, others, excess) == (depth - top + 1, 0, depth - top + 1)
    assert_true(rules, records, Fraction(1, 2))


@pytest.mark.parametrize("unsafe", [False, pytest.param(True, marks=plain_python)])
def test_more_candidates_and_larger_sets_than_there_is_room_at_first(unsafe):
    groups = [[f"{name}{k:04}" for k in range(380)] for name in "abc"]
    contents = [one + other for one, other in combinations(groups, 2)]
    records = [frozenset([*content, "e"]) for content in contents] + [frozenset(content) for content in contents]
    if unsafe:  # three more with e hold the first group, two more counterparts; and others each single item
        records += [frozenset([*groups[0], f"x{k}", "e"]) for k in range(3)]
        records += [frozenset([*groups[0], "x0", "x1", "x2"])]
        records += [frozenset({item}) for item in groups[0] for _ in range(2)]
    found, rules = search(records, {"e"}, Fraction(1, 2))
    assert found.undecided == 0
    if unsafe:
        assert rules["e"] == (frozenset(groups[0]), 5, 3, 2)
        assert_true(rules, records, Fraction(1, 2))
    else:
        assert not rules


@plain_python
def test_there_may_be_nothing():
    for records in ([], [frozenset()], [frozenset("a")], [frozenset("e")]):
        assert search(records, {"e"}, Fraction(1, 2))[1] == {}
    assert search([frozenset("e")], {"e"}, Fraction(1, 2), include_empty=True)[1] == {"e": (frozenset(), 1, 0, 1)}
    assert search([frozenset("e"), frozenset()], {"e"}, Fraction(1, 2), include_empty=True)[1] == {}
