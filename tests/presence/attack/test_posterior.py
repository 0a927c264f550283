"""Exact posteriors, against trying every set of common users."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.presence.attack.posterior import FailedCut, OwnRules, choices, posteriors

from oracle import presence_posteriors as oracle
from support.exhaustive import examples

SHARES = [Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2)]


def test_the_example_of_the_specification():
    cut = FailedCut(users=(12,), lower=(2,), common=(2,))
    rules = OwnRules(k=1, least=Fraction(1, 10), most=Fraction(8, 10))
    [(lower, upper)] = posteriors(cut, rules)
    assert lower == Fraction(1, 46)
    assert upper == Fraction(2 * 45, 46 * 10)
    assert 2 * lower + 10 * upper == 2


@st.composite
def cuts(draw):
    kinds = draw(st.integers(1, 3))
    users = draw(st.lists(st.tuples(st.integers(0, kinds - 1), st.booleans()), min_size=1, max_size=9))
    sizes = [sum(kind == one for one, _lower in users) for kind in range(kinds)]
    common = [draw(st.integers(0, size)) for size in sizes]
    rules = {
        "k": draw(st.integers(1, 3)),
        "least": draw(st.sampled_from(SHARES)),
        "most": 1 - draw(st.sampled_from(SHARES)),
        "by_kind": draw(st.booleans()),
        "kinds": draw(st.integers(1, kinds)),
    }
    return users, common, rules, draw(st.sampled_from([Fraction(0), Fraction(1, 7), Fraction(1)]))


@settings(deadline=None, max_examples=examples(400))
@given(cuts())
def test_same_as_trying_every_set(case):
    users, common, rules, other_fails = case
    cut = FailedCut(
        tuple(sum(kind == one for one, _lower in users) for kind in range(len(common))),
        tuple(sum(kind == one and lower for one, lower in users) for kind in range(len(common))),
        tuple(common),
    )
    expected = oracle.posteriors(users, common, rules, other_fails)
    found = posteriors(cut, OwnRules(**rules), other_fails)
    if expected is None:
        assert found is None
        return
    assert [found[kind][0 if lower else 1] for kind, lower in users] == expected


def test_a_check_that_cannot_fail_tells_nothing():
    cut = FailedCut(users=(4,), lower=(2,), common=(4,))
    rules = OwnRules(k=1, least=Fraction(0), most=Fraction(1))
    assert posteriors(cut, rules) is None
    assert posteriors(cut, rules, Fraction(1, 2)) == [(1, 1)]


def test_a_failure_that_is_always_the_others_leaves_the_table_alone():
    cut = FailedCut(users=(10, 6), lower=(3, 2), common=(4, 3))
    rules = OwnRules(k=2, least=Fraction(1, 10), most=Fraction(9, 10))
    assert posteriors(cut, rules, Fraction(1)) == [(Fraction(4, 10),) * 2, (Fraction(3, 6),) * 2]


def test_large_groups_are_counted_exactly():
    cut = FailedCut(users=(6_000, 6_000), lower=(3_000, 1_000), common=(2_000, 4_000))
    rules = OwnRules(k=2, least=Fraction(1, 3), most=Fraction(9, 10))
    counted = choices(cut, rules)
    assert 0 < counted.passing < counted.all
    found = posteriors(cut, rules)
    for users, lower, common, (below, above) in zip(cut.users, cut.lower, cut.common, found, strict=True):
        assert lower * below + (users - lower) * above == common


@pytest.mark.parametrize("least_kinds", [1, 2])
def test_kinds_matter_only_if_asked_for(least_kinds):
    # One common user of each kind: with both kinds asked for in both parts the check always fails.
    cut = FailedCut(users=(2, 2), lower=(1, 1), common=(1, 1))
    rules = OwnRules(k=1, least=Fraction(0), most=Fraction(1), kinds=least_kinds)
    assert choices(cut, rules).passing == (2 if least_kinds == 1 else 0)
