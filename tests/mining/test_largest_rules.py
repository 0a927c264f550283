"""The largest rules of chosen items: what all other items of a record imply, counted as far as it matters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.mining import largest_rules
from setveil.mining.largest_rules import enough

from oracle.uncertainty import support
from support.exhaustive import examples
from support.random_data import crowd, seeds, with_sensitive

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # hashing, with the compiler off
    pytest.mark.plain_python,
]


def found_in(records, sensitive, rho):
    """Return for each item and content its weight, `most`, records with both, records without the item, and what is enough of these."""
    data = sv.from_lists([sorted(record) for record in records])
    labels = data.vocabulary
    mask = np.array([label in sensitive for label in labels], np.bool_)
    rules = {}
    for part in largest_rules.largest_rules(data, mask, rho):
        one = part.rules
        limit = enough(one.most, rho)
        for k, (code, row) in enumerate(zip(one.code.tolist(), one.row.tolist(), strict=True)):
            content = frozenset(part.contents[row])
            case = labels[code], content
            assert case not in rules
            rules[case] = [int(column[k]) for column in (one.weight, one.most, one.with_item, one.slack, limit)]
    return rules


def most_together(records, item, others):
    """Return how many records hold the item together with two of the others, at most; or with the only other one."""
    known = [{one, other} for one in others for other in others if one != other] or [others]
    return max(support(records, {item} | pair) for pair in known)


def assert_counted(records, sensitive, rho, *, by_pairs=True):
    rules = found_in(records, sensitive, rho)
    contents = {frozenset(record) for record in records if len(record) > 1}
    assert rules.keys() == {(item, content) for content in contents for item in content & sensitive}
    for (item, content), (weight, most, with_item, without_item, limit) in rules.items():
        others = content - {item}
        held = support(records, others) - support(records, content)
        assert weight == sum(record == content for record in records)
        assert most >= most_together(records, item, others)
        assert not by_pairs or most == most_together(records, item, others)
        assert without_item == min(held, limit)
        assert weight <= with_item <= support(records, content)
        assert with_item == support(records, content) or without_item == limit
        # With so many counterparts, no rule with a part of the content is too strong.
        num, den = rho.as_integer_ratio()
        assert num == 0 or most * den <= num * (most + limit)  # at 0, no number of counterparts is enough
        assert (most + 1) * den <= num * (most + limit) or num == 0


@settings(max_examples=examples(150))
@given(seeds, st.booleans())
def test_they_are_counted_where_it_matters(seed, crowded):
    assert_counted(*(crowd(seed, records=20 + seed % 40) if crowded else with_sensitive(seed)))


@settings(max_examples=examples(60))
@given(seeds, st.sampled_from([0, 3, 10**6]))
def test_with_small_parts_a_sample_and_blocks_they_are_the_same(seed, pairs):
    records, sensitive, rho = crowd(seed, records=20 + seed % 40)
    with pytest.MonkeyPatch.context() as patch, using_engine(LocalEngine(1 + seed % 12)):
        patch.setattr(largest_rules, "CODES_AT_ONCE", 1 + seed % 50)
        patch.setattr(largest_rules, "PAIRS_AT_ONCE", pairs)
        patch.setattr(largest_rules, "ITEMS_AT_ONCE", 1 + seed % 3)
        patch.setattr(largest_rules, "SAMPLED_ONE_IN", 1 + seed % 4)
        patch.setattr(largest_rules, "LEAST_SAMPLED", 1)
        assert_counted(records, sensitive, rho, by_pairs=pairs > 10)


def test_they_are_cached_unless_they_are_many(monkeypatch):
    data = sv.from_lists([["a", "e"], ["a", "e", "f"], ["a"], ["b", "f"]])
    mask = np.array([label in "ef" for label in data.vocabulary])
    half = sv.RhoUncertainty(sensitive=["e"], rho="1/2").rho.share
    [*_parts] = largest_rules.largest_rules(data, mask, half)
    monkeypatch.setattr(largest_rules, "_counted", None)
    assert [len(part.rules.code) for part in largest_rules.largest_rules(data, mask, half)] == [4]
    assert [*largest_rules.largest_rules(data, mask, half + half / 2)]  # less needs to be counted
    with pytest.raises(TypeError):
        [*largest_rules.largest_rules(data, mask, half / 2)]
    monkeypatch.undo()
    monkeypatch.setattr(largest_rules, "MOST_CACHED", 3)
    other = sv.from_lists(data.to_lists())
    [*_parts] = largest_rules.largest_rules(other, mask, half)
    assert not other.remembered
