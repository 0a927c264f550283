"""Metrics of what a release still tells of sensitive items: equal to their definitions, and on hand examples."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.metrics.inference import ExactBasketExposure, SaturatedRules

from oracle import suppression_metrics as oracle
from support.exhaustive import examples
from support.random_data import as_sets, seeds
from support.suppression_cases import case

RHOS = ["0", "1/5", "30%", "0.5", "2/3", "0.7", "99%", "1"]


def fraction(text):
    return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)


@settings(max_examples=examples(250), deadline=None)
@given(seeds)
def test_pairs_that_whole_parts_betray_equal_the_definition(seed):
    data, published, sensitive = case(seed)
    text, include_empty = RHOS[seed % len(RHOS)], bool(seed % 3)
    measured = ExactBasketExposure(sensitive=sensitive, rho=text, include_empty=include_empty)(data, published)
    json.dumps(measured.to_dict())
    after = as_sets(published)
    found = oracle.exposed_pairs(after, sensitive, fraction(text), include_empty)
    assert measured.value == len(found)
    details = dict(measured.details)
    occurrences = sum(map(len, found.values()))
    total = sum(len(t & sensitive) for t in after)
    share = details.pop("share-of-occurrences", None)
    assert share is None if not total else math.isclose(share, occurrences / total)
    assert details == {
        "records": len(set().union(*found.values())),
        "occurrences": occurrences,
        "with-empty-part": sum(not part for part, _item in found),
        "before": len(oracle.exposed_pairs(as_sets(data), sensitive, fraction(text), include_empty)),
    }
    assert measured.parameters == {"rho": text, "include_empty": include_empty}


@settings(max_examples=examples(250), deadline=None)
@given(seeds)
def test_rules_at_their_limit_equal_the_definition(seed):
    data, published, sensitive = case(seed)
    text, include_empty = RHOS[seed % (len(RHOS) - 1)], bool(seed % 3)
    measured = SaturatedRules(sensitive=sensitive, rho=text, include_empty=include_empty)(data, published)
    json.dumps(measured.to_dict())
    rho, counted = fraction(text), []
    for rows in (as_sets(data), as_sets(published)):
        rules = oracle.rests(rows, sensitive, include_empty)
        at_limit, above = (sum(held + more > rho * of for held, of in rules) for more in (1, 0))
        counted.append((sum(len(t & sensitive) for t in rows), at_limit, above))
    (total_before, at_limit_before, _above), (total, at_limit, above) = counted
    if not total:
        assert measured.reason == "no released record holds a sensitive item"
        return
    assert math.isclose(measured.value, at_limit / total)
    details = dict(measured.details)
    before = details.pop("before", None)
    assert before is None if not total_before else math.isclose(before, at_limit_before / total_before)
    assert details == {"at-limit": at_limit, "above": above, "occurrences": total}


def test_a_whole_part_can_betray_what_its_parts_do_not():
    data = sv.from_lists([["a", "s"], ["a", "b"], ["a", "b"], ["s"], ["b"]])
    guarantee = sv.RhoUncertainty(sensitive=["s"], rho="0.5")
    assert guarantee.check(data).status == "holds"  # a → s is true of one of three
    exposed = ExactBasketExposure(sensitive=["s"], rho="0.5")(data, data)
    # Of the records with just a, and of those with nothing, the only one holds s.
    assert exposed.value == 2
    assert exposed.details == {
        "records": 2, "occurrences": 2, "share-of-occurrences": 1, "with-empty-part": 1, "before": 2,
    }  # fmt: skip
    without = ExactBasketExposure(sensitive=["s"], rho="0.5", include_empty=False)(data, data)
    assert (without.value, without.details["records"]) == (1, 1)
    assert ExactBasketExposure(sensitive=["s"], rho="1")(data, data).value == 0


def test_a_confidence_of_exactly_rho_is_not_above_but_at_the_limit():
    data = sv.from_lists([["a", "s"]] * 7 + [["a"]] * 3 + [["b"]] * 10)
    assert ExactBasketExposure(sensitive=["s"], rho="0.7")(data, data).value == 0
    at_limit = SaturatedRules(sensitive=["s"], rho="0.7")(data, data)
    assert (at_limit.value, at_limit.details) == (1, {"at-limit": 7, "above": 0, "occurrences": 7, "before": 1})
    assert SaturatedRules(sensitive=["s"], rho="0.69")(data, data).details["above"] == 7
    assert SaturatedRules(sensitive=["s"], rho="0.8")(data, data).value == 0  # an eighth one would stand at the limit
    assert SaturatedRules(sensitive=["s"], rho="0.799")(data, data).value == 1


def test_a_sensitive_item_alone_has_the_empty_rule_or_none():
    data = sv.from_lists([["s"]] * 3 + [["a"]] * 3)
    assert SaturatedRules(sensitive=["s"], rho="1/2")(data, data).value == 1
    assert SaturatedRules(sensitive=["s"], rho="1/2", include_empty=False)(data, data).details == {
        "at-limit": 0, "above": 0, "occurrences": 3, "before": 0,
    }  # fmt: skip


def test_where_no_rule_can_stand_at_its_limit():
    data = sv.from_lists([["a", "s"]] * 3)
    assert SaturatedRules(sensitive=["s"], rho="1")(data, data).reason.startswith("a ρ of 1 allows everything")
    assert SaturatedRules(sensitive=["x"], rho="0.5")(data, data).reason == "no released record holds a sensitive item"
    assert ExactBasketExposure(sensitive=["x"], rho="0.5")(data, data).details == {
        "records": 0, "occurrences": 0, "with-empty-part": 0, "before": 0,
    }  # fmt: skip


@pytest.mark.parametrize("kind", [ExactBasketExposure, SaturatedRules])
def test_sensitive_items_are_not_told(kind):
    stands = {p.name: (p.public, p.required) for p in kind.parameters()}
    assert stands == {"sensitive": (False, True), "rho": (True, True), "include_empty": (True, False)}
    assert "sensitive" not in kind(sensitive=["s"], rho="0.5").public_parameters()
