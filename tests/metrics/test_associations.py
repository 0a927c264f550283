"""The metrics of utility rules, against their formulas: releases of plain records and of clusters."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.catalog import METRICS
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.metrics import associations as module
from setveil.metrics.associations import couples_in, records_with_any

from contract.forms import at_random, seen_by_oracles
from oracle import associations as oracle
from support.disassociated_cases import taken_apart
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

forms = st.sampled_from([sv.Transactions, sv.Disassociated])
readings = st.sampled_from(["inside", "expected"])


def drawn(seed, form):
    """Return an original, rules, a release, and how the oracle sees it; some rules are held by no record."""
    data, _categories = make(seed, records=int(seed % 40) + 1, items=int(seed % 9) + 2)
    rules = list(
        sv.NamedItemsets([*sv.NamedItemsets.example_for(data), ("i000", "no such item"), ("i000", "i001", "i002")])
    )
    published, alignment = at_random(data, sv.Transactions, seed)
    if form is sv.Disassociated:
        published = taken_apart(published, np.random.default_rng(seed))
    return data, rules, published, seen_by_oracles(published, alignment)


@settings(max_examples=examples(120), deadline=None)
@given(seed=seeds, form=forms, reading=readings, over=st.sampled_from(["pairs", "rules"]))
def test_relative_association_error_is_its_formula(seed, form, reading, over):
    data, rules, published, seen = drawn(seed, form)
    with using_engine(LocalEngine(1 + seed % 29)):
        found = METRICS["relative-association-error"](rules=rules, reading=reading, over=over)(data, published)
    errors = [float(error) for error in oracle.association_errors(as_sets(data), seen, rules, over, reading)]
    if not errors:
        assert found.value is None
        assert "no record" in found.reason
        return
    assert found.value == pytest.approx(sum(errors), rel=1e-9, abs=1e-12)
    assert all(0 <= error <= 2 for error in errors)
    assert found.details["associations"] == len(errors)
    assert found.details["mean"] == pytest.approx(sum(errors) / len(errors), rel=1e-9, abs=1e-12)
    assert found.details["lost"] == errors.count(2.0)
    assert found.details["share-lost"] == errors.count(2.0) / len(errors)


@settings(max_examples=examples(80), deadline=None)
@given(seed=seeds, form=forms, reading=readings)
def test_alpha_confidence_is_its_formula(seed, form, reading):
    data, rules, published, seen = drawn(seed, form)
    found = METRICS["alpha-confidence"](rules=rules, reading=reading)(data, published)
    alphas = sorted(float(alpha) for alpha in oracle.alphas(as_sets(data), seen, rules, reading))
    if not alphas:
        assert found.reason == "no record of the original holds any of the rules"
        return
    assert found.value == pytest.approx(sum(alphas) / len(alphas))
    assert found.details["min"] == pytest.approx(alphas[0])
    rows = found.details["by-rule"]
    assert [row[3] for row in rows] == pytest.approx(alphas)
    for items, before, after, alpha in rows:
        assert before == sum(set(items) <= record for record in as_sets(data))
        assert alpha == pytest.approx(after / before)
    json.dumps(found.to_dict())


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, form=forms, k=st.integers(1, 5))
def test_tlost_is_its_formula(seed, form, k):
    data, _rules, published, seen = drawn(seed, form)
    found = METRICS["tlost"](k=k)(data, published)
    asked, lost = oracle.lost_items(as_sets(data), seen, k)
    if not asked:
        assert found.reason == f"no item is in at least {k} records of the original"
        return
    assert found.value == len(lost) / len(asked)
    terms = {item for c in seen for item in c["term_chunk"]} if form is sv.Disassociated else set()
    assert found.details == {
        "lost": len(lost),
        "in-term-chunks": len(lost & terms),
        "gone": len(lost - terms),
        "items": len(asked),
    }


def test_the_worked_example_of_the_docs():
    data = sv.from_lists([["a", "b", "c"], ["a", "b"], ["a", "c"], ["d"]])
    cluster = {"size": 4, "record_chunks": [[(["a"], 1), (["a", "b"], 2)]], "term_chunk": ["c", "d"]}
    released = sv.Disassociated.from_clusters([cluster])
    rules = [["a", "b"], ["a", "c"]]
    errors = {
        (over, reading): METRICS["relative-association-error"](rules=rules, over=over, reading=reading)(data, released)
        for over in ("pairs", "rules")
        for reading in ("inside", "expected")
    }
    # Couples: ab 2, ac 2, bc 1. Inside: 2, 0, 0. Expected: 2, 3 * 1/4, 2 * 1/4.
    assert errors["pairs", "inside"].value == 0 + 2 + 2
    assert errors["rules", "inside"].value == 0 + 2
    assert errors["pairs", "expected"].value == pytest.approx(0 + 1.25 / 1.375 + 0.5 / 0.75)
    assert errors["rules", "expected"].value == pytest.approx(1.25 / 1.375)
    alpha = METRICS["alpha-confidence"](rules=rules, reading="expected")(data, released)
    assert alpha.value == pytest.approx((1 + 0.375) / 2)
    assert alpha.details["by-rule"] == [[["a", "c"], 2, 0.75, 0.375], [["a", "b"], 2, 2.0, 1.0]]
    assert METRICS["tlost"](k=2)(data, released).value == 1 / 3


def test_clusters_that_overlap_have_no_figure_but_a_reason():
    data = sv.from_lists([["a", "b"], ["a"]])
    twice = {"size": 2, "record_chunks": [[(["a"], 2)], [(["a", "b"], 1)]], "term_chunk": []}
    released = sv.Disassociated.from_clusters([twice])
    for name in ("relative-association-error", "alpha-confidence"):
        found = METRICS[name](rules=[["a", "b"]])(data, released)
        assert found.value is None
        assert "cluster 1 has an item in two of its chunks" in found.reason


def test_rules_reach_no_public_parameter():
    for name in ("relative-association-error", "alpha-confidence"):
        assert "rules" not in METRICS[name](rules=[["a", "b"]]).public_parameters()


def test_too_many_couples_have_no_figure(monkeypatch):
    data = sv.from_lists([[f"i{j}" for j in range(30)]])
    metric = METRICS["relative-association-error"](rules=[["i1"]])
    monkeypatch.setattr(module, "MOST_COUPLES", 435)
    assert metric(data, data).details["associations"] == 435
    monkeypatch.setattr(module, "MOST_COUPLES", 434)
    assert (
        metric(data, data).reason
        == "the records with a rule hold more than 434 pairs of items; use fewer rules, or over=rules"
    )


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_couples_and_records_with_a_rule(seed):
    data, _categories = make(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COUPLES_AT_ONCE", 1 + seed % 9)
        offsets, codes = couples_in(data)
    assert np.diff(offsets).tolist() == [2] * (len(codes) // 2)
    found = {frozenset((data.vocabulary[a], data.vocabulary[b])) for a, b in codes.reshape(-1, 2)}
    assert found == {frozenset(couple) for couple in oracle.associations(as_sets(data), [()], "pairs")}
    assert len(found) == len(codes) // 2
    rules = [*sv.NamedItemsets.example_for(data), ("nowhere",)]
    held = [r for r, record in enumerate(as_sets(data)) if any(set(rule) <= record for rule in rules)]
    assert records_with_any(data, rules).tolist() == held
