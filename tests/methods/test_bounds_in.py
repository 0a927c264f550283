"""What a method says that its guarantee costs at least is never more than what it costs."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv

from support.exhaustive import examples
from support.random_data import make, seeds, with_sensitive


def numbers(sentence):
    return [int(text.replace(",", "")) for text in re.findall(r"\d[\d,]*", sentence)]


@given(seeds)
@settings(max_examples=examples(60), deadline=None)
def test_rare_items_are_in_no_record_chunk(seed):
    data, _ = make(seed)
    method = sv.Disassociation(k=3, m=2)
    sentence = method.bound_in(data)
    supports = [sum(label in record for record in data.to_lists()) for label in data.vocabulary]
    rare = {label for label, support in zip(data.vocabulary, supports, strict=True) if 0 < support < 3}
    if not rare:
        assert sentence == "no item is too rare: each is in at least 3 records"
        return
    assert numbers(sentence)[0] == len(rare)
    if data.records < 3 or data.empty_records:
        return
    released = method.apply(data, rng=np.random.default_rng(0)).published
    assert not rare & {label for part in released.subrecords.to_lists() for label in part}


@given(seeds, st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_no_more_sensitive_occurrences_are_kept_than_the_bound_allows(seed, include_empty):
    records, sensitive, rho = with_sensitive(seed)
    if not records or not sensitive or not rho:
        return
    data = sv.from_lists([sorted(record) for record in records])
    method = sv.Insert(sensitive=sorted(sensitive), rho=str(rho), include_empty=include_empty)
    found = numbers(method.bound_in(data))
    others = [record - sensitive for record in records]
    cannot = sum(
        len(record & sensitive)
        for record, known in zip(records, others, strict=True)
        if (known or include_empty) and rho * sum(known <= other for other in others) < 1
    )
    assert found[0] == cannot
    released = method.apply(data, rng=np.random.default_rng(0)).published
    kept = sum(len(sensitive & set(record)) for record in released.to_lists())
    assert kept <= sum(len(record & sensitive) for record in records) - cannot


@pytest.mark.parametrize("include_empty", [True, False])
@pytest.mark.parametrize("knows", ["subset", "whole"])
def test_the_bound_holds_for_every_attacker_also_on_tiny_data(include_empty, knows):
    data = sv.from_lists([["s"], ["a", "s"]])
    for rho in ("40%", "0%"):
        method = sv.Insert(sensitive=["s"], rho=rho, include_empty=include_empty, knows=knows)
        lost, of, *_rest = numbers(method.bound_in(data))
        kept = method.apply(data, rng=np.random.default_rng(0)).published.occurrences - 1
        assert kept <= of - lost
        assert lost == (2 if include_empty else 1)


@pytest.mark.parametrize("seed", range(8))
def test_hiding_itemsets_changes_no_fewer_records(seed):
    data = sv.from_lists([["a", "b", "c"]] * (10 + seed) + [["a", "c"]] * 8 + [["b"]] * 7)
    method = sv.ExactSwap(itemsets=[["a", "b"], ["a", "c"]], min_support=8)
    least = numbers(method.bound_in(data))[0]
    assert least == 10 + seed + 8 - 7
    outcome = method.bind(data, linked=False, rng=np.random.default_rng(seed))
    released = outcome.apply(data, rng=np.random.default_rng(seed)).published
    changed = sum(before != after for before, after in zip(data.to_lists(), released.to_lists(), strict=True))
    assert changed >= least


def test_nothing_to_hide():
    data = sv.from_lists([["a", "b"], ["a"]])
    assert "nothing to hide" in sv.ExactSwap(itemsets=[["a", "b"]], min_support=2).bound_in(data)
    assert sv.Insert(sensitive=["z"], rho="50%").bound_in(data) == "no record holds a sensitive item"
    assert sv.RandSwap().bound_in(data) == ""


@pytest.mark.parametrize("kind", [sv.PartSwap, sv.FullSwap])
@pytest.mark.parametrize("seed", range(6))
def test_no_more_records_are_hidden_by_swapping_than_the_bound_allows(kind, seed):
    data, categories = make(seed, records=40, items=12, categories=3)
    method = kind(categories=categories)
    sentence = method.bound_in(data)
    account = method.apply(data, rng=np.random.default_rng(seed)).account
    assert account["to-hide"] in numbers(sentence)
    if sentence.startswith("at least"):
        assert account["not-hidden"] >= numbers(sentence)[0]


@given(seeds)
@settings(max_examples=examples(100), deadline=None)
def test_what_cannot_be_swapped_is_adopted_suppressed_or_not_hidden(seed):
    data, categories = make(seed, items=12, categories=3)
    method = sv.PartSwap(categories=categories, ties="all", leftovers=("cycle", "helper", "adopt", "suppress"))
    sentence = method.bound_in(data)
    account = method.apply(data, rng=np.random.default_rng(seed)).account
    without_swap = account["not-hidden"] + account["hidden"]["adopt"] + account["hidden"]["suppress"]
    if sentence.startswith("at least"):
        assert without_swap >= numbers(sentence)[0]


def test_a_crowded_category_is_counted():
    data = sv.from_lists([["a1", "a2", "b1"]] * 9 + [["b1", "b2", "c1"]])
    categories = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c1": "c"}
    sentence = sv.PartSwap(categories=categories).bound_in(data)
    assert sentence == "at least 8 of 10 records to hide cannot be hidden by swapping"


@pytest.mark.parametrize(("p", "possible"), [(2, True), (3, False)])
def test_groups_are_possible_or_not(p, possible):
    data = sv.from_lists([["x", "s"]] * 2 + [["x"]] * 2)
    method = sv.Permutation(sensitive=["s"], p=p)
    assert method.bound_in(data).endswith("groups are possible" if possible else "groups are impossible")
    if possible:
        sv.publish(data, method, metrics="none", attacks="none")
    else:
        with pytest.raises(sv.GuaranteeViolated):
            sv.publish(data, method, metrics="none", attacks="none")
