"""What every guarantee must pass; standing in the catalog is enough to be tested."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.catalog import GUARANTEES
from setveil.data.alignment import Alignment

from contract.filling import ORACLES, bad_values, filled, oracle_breaches
from random_data import make, seeds

EVERY = pytest.mark.parametrize("kind", GUARANTEES.values(), ids=GUARANTEES.keys())
DOCS = Path(__file__).parents[2] / "docs"


def disturbed(data, rng):
    """Return a release-like copy: some records exchange, lose or gain items, and rows are shuffled."""
    lists = [set(t) for t in data.to_lists()]
    for _ in range(int(rng.integers(0, 12))):
        a, b = rng.integers(0, len(lists), 2)
        lists[a], lists[b] = (lists[b], lists[a]) if rng.random() < 0.3 else (lists[a], lists[b])
        if lists[a] and rng.random() < 0.7:
            moved = sorted(lists[a])[int(rng.integers(len(lists[a])))]
            lists[a].discard(moved)
            if rng.random() < 0.7:
                lists[b].add(moved)
    rows = rng.permutation(len(lists))
    return sv.from_lists([lists[r] for r in rows]), Alignment(rows)


@EVERY
@settings(max_examples=150, deadline=None)
@given(seed=seeds)
def test_it_agrees_with_the_oracle(kind, seed):
    rng = np.random.default_rng(seed)
    data, categories = make(seed)
    published, alignment = disturbed(data, rng)
    chosen = {"categories": categories} if "categories" in kind.model_fields else {}
    guarantee = filled(kind, data, **chosen)
    verdict = guarantee.check(published, original=data, alignment=alignment)
    expected = oracle_breaches(guarantee, data, published, alignment)
    assert bool(verdict) == (not expected)
    counts = {}
    for breach, _where in expected:
        counts[breach] = counts.get(breach, 0) + 1
    assert verdict.breaches == counts
    seen = {(w.kind, int(alignment.rows[w.row]) if w.row is not None else w.items) for w in verdict.witnesses}
    assert seen == expected


@EVERY
def test_it_says_what_it_needs(kind):
    data, _categories = make(3, records=10)
    guarantee = filled(kind, data)
    for needed in kind.needs:
        given_ = {"original": data, "alignment": Alignment.identity(data.records)}
        del given_[needed]
        with pytest.raises(sv.Missing, match=needed):
            guarantee.check(data, **given_)
    if not kind.needs:
        alone, beside = guarantee.check(data), guarantee.check(data, original=data, alignment=Alignment.identity(10))
        assert alone == beside


@EVERY
def test_bad_parameters_are_refused_in_one_sentence(kind):
    data, _categories = make(3)
    for parameter in kind.parameters():
        for value in bad_values(parameter):
            with pytest.raises(sv.BadParameter) as refused:
                filled(kind, data, **{parameter.name: value})
            sentence = str(refused.value)
            assert sentence.startswith(kind.name)
            assert parameter.name in sentence
            assert "\n" not in sentence
            assert "Annotated" not in sentence


@EVERY
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_it_is_a_recipe(kind, seed):
    """A check by another person, from the private folder, is the same check."""
    data, _categories = make(seed)
    guarantee = filled(kind, data)
    assert kind(**json.loads(guarantee.model_dump_json())) == guarantee
    assert kind(**guarantee.model_dump(mode="json")) == guarantee


@EVERY
def test_it_has_an_oracle_and_is_documented(kind):
    assert kind.name in ORACLES
    page = (DOCS / "guarantees.md").read_text(encoding="utf-8")
    assert f"`{kind.name}`" in page
    for parameter in kind.parameters():
        assert f"`{parameter.name}`" in page
    data, _categories = make(3)
    statement = filled(kind, data).statement
    assert statement.endswith(".")
    assert kind.coverage.not_covered
