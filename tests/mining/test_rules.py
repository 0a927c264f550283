"""Association rules: equal to the definition, with confidence and lift compared as fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.mining import rules as module
from setveil.mining.frequent import mine
from setveil.mining.itemsets import Itemsets
from setveil.mining.rules import association_rules
from setveil.parameters.shares import MinConfidence

from oracle import mining as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

CONFIDENCES = ["0", "0.2", "50%", "0.6", "75 %", "80%", "0.999", "1"]


def small(seed):
    return make(seed, items=9)[0]


def as_dict(found):
    columns = (found.supports.tolist(), found.confidence.tolist(), found.lift.tolist())
    return {
        (frozenset(antecedent), consequent): figures
        for (antecedent, consequent), *figures in zip(found, *columns, strict=True)
    }


@settings(max_examples=examples(100), deadline=None)
@given(seeds)
def test_rules_equal_the_definition(seed):
    data = small(seed)
    confidence = CONFIDENCES[seed % len(CONFIDENCES)]
    count = 1 + seed % 4
    max_length = (None, 2, 3)[seed % 3]
    found = association_rules(mine(data, count, max_length=max_length), confidence)
    expected = oracle.rules(as_sets(data), count, MinConfidence(confidence).share, max_length)
    told = as_dict(found)
    assert len(found) == len(told) == len(expected)
    for rule, figures in expected.items():
        assert told[rule] == pytest.approx([float(figure) for figure in figures])


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_a_least_lift_is_a_fraction_too(seed):
    data = small(seed)
    sets = mine(data, 2)
    every = oracle.rules(as_sets(data), 2, 0)
    for limit in {Fraction(1), Fraction(6, 5), *[lift for _support, _confidence, lift in list(every.values())[:3]]}:
        # A lift such as 10/7 has no end as a decimal number; as a text it can be given as it is.
        found = association_rules(sets, 0, min_lift=str(limit))
        assert set(as_dict(found)) == {rule for rule, figures in every.items() if figures[2] >= limit}


def test_exactly_the_confidence_asked_for_is_enough():
    # 3 of 10 as floats: 0.3 * 10 is 3.0000000000000004 somewhere on the way.
    data = sv.from_lists([["a", "b"]] * 3 + [["a"]] * 7)
    assert len(association_rules(mine(data, 1), 0.3)) == 2
    assert len(association_rules(mine(data, 1), "30.000000000000000000001%")) == 1


@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(7, 10), Fraction(0), Fraction(1)])
def test_the_least_part_is_the_same_by_large_numbers(share, monkeypatch):
    by_arrays = module._least_parts(50, share)
    monkeypatch.setattr(module, "_SAFE", 0)
    assert np.array_equal(by_arrays, module._least_parts(50, share))
    found = association_rules(mine(small(3), 2), share.numerator and "50%", min_lift=1.5)
    monkeypatch.undo()
    assert as_dict(found) == as_dict(association_rules(mine(small(3), 2), share.numerator and "50%", min_lift=1.5))


@pytest.mark.parametrize("kind", ["closed", "maximal", "from two items on"])
def test_itemsets_that_lack_their_parts_are_refused(kind):
    data = sv.from_lists([["a", "b", "c"]] * 3 + [["a", "b"], ["d"]])
    sets = mine(data, 1, min_length=2) if kind.startswith("from") else mine(data, 1, kind=kind)
    with pytest.raises(sv.BadParameter, match="rules need all frequent itemsets, but a subset"):
        association_rules(sets, 0.5)


def test_the_order_is_for_people_and_the_table_tells_all():
    data = sv.from_lists([["a", "b"]] * 4 + [["c", "d"]] * 2 + [["a"], ["d", "e"]])
    found = association_rules(mine(data, 1), 0.5).ordered()
    assert list(found) == [(("b",), "a"), (("c",), "d"), (("e",), "d"), (("a",), "b"), (("d",), "c")]
    table = found.to_table().to_pylist()
    assert table[0] == {"antecedent": ["b"], "consequent": "a", "support": 4, "confidence": 1.0, "lift": 1.6}
    assert [row["support"] for row in table] == [4, 2, 1, 4, 2]
    assert found.antecedent_supports.tolist() == [4, 2, 1, 5, 3]
    assert found.consequent_supports.tolist() == [5, 3, 3, 4, 2]
    assert repr(found) == "Rules(5 rules, in 8 records)"


@settings(max_examples=examples(20), deadline=None)
@given(seeds)
def test_the_order_does_not_depend_on_that_of_the_itemsets(seed):
    sets = mine(small(seed), 2)
    turned = sets.take(np.arange(len(sets))[::-1])
    one, other = (association_rules(given_sets, 0.3).ordered() for given_sets in (sets, turned))
    assert list(one) == list(other)
    assert np.array_equal(one.confidence, other.confidence)


def test_no_itemsets_give_no_rules():
    none = Itemsets(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64), (), 0)
    found = association_rules(none, 0.5, min_lift=2)
    assert len(found) == 0
    assert found.ordered().to_table().num_rows == 0


@pytest.mark.parametrize(
    "value", ["80", 1.01, "101%", "-1", "half", "", "%", ".", "1e-3", None, True, [0.5], float("nan")]
)
def test_what_is_no_confidence_is_refused(value):
    with pytest.raises(sv.BadParameter, match="confidence"):
        MinConfidence(value)


def test_confidences_are_the_numbers_that_people_wrote():
    assert MinConfidence("80%") == MinConfidence(0.8) == MinConfidence(" .80 ") == MinConfidence(MinConfidence("80 %"))
    assert hash(MinConfidence("80%")) == hash(MinConfidence(0.8))
    assert MinConfidence(0.1).share == Fraction(1, 10)
    assert (MinConfidence(1).share, MinConfidence(0).share) == (1, 0)
    assert (str(MinConfidence(0.8)), repr(MinConfidence("5%"))) == ("0.8", "MinConfidence('5%')")


@pytest.mark.parametrize("value", ["high", "", -1, "-0.5", "1/0", True, float("nan")])
def test_what_is_no_lift_is_refused(value):
    with pytest.raises(sv.BadParameter, match="lift"):
        association_rules(mine(small(1), 2), 0.5, min_lift=value)


@pytest.mark.realdata
def test_one_thread_or_three_on_real_data(real_data):
    sets = mine(real_data("bms-webview-2"), "0.1%")
    one, three = association_rules(sets, "60%", threads=1), association_rules(sets, "60%", threads=3)
    assert len(one) > 10_000
    for column in ("antecedents", "wholes", "consequents"):
        assert np.array_equal(getattr(one, column), getattr(three, column))
