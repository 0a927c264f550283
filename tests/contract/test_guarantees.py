"""What every guarantee must pass; standing in the catalog is enough to be tested."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES
from setveil.catalog import GUARANTEES
from setveil.data.records.alignment import Alignment

from contract.filling import ORACLES, bad_values, filled, oracle_violations
from contract.forms import CASES, at_random, forms_of, made_from, place_of, unchanged
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

EVERY = pytest.mark.parametrize("kind", GUARANTEES.values(), ids=GUARANTEES.keys())
EVERY_FORM = pytest.mark.parametrize(("kind", "form"), forms_of(GUARANTEES)[0], ids=forms_of(GUARANTEES)[1])
DOCS = Path(__file__).parents[2] / "docs"


def names_nothing(guarantee, data):
    """Tell whether a list of names was given of which nothing occurs in the data: then nothing is promised."""
    given_ = (getattr(guarantee, name) for name in type(guarantee).model_fields)
    occurring = set().union(*as_sets(data))
    lists = [value.entries for value in given_ if isinstance(value, sv.SensitiveItems | sv.NamedItemsets)]
    return any(not any(set(entry) <= occurring for entry in entries) for entries in lists)


@EVERY_FORM
@settings(max_examples=examples(150), deadline=None)
@given(seed=seeds)
def test_it_agrees_with_the_oracle(kind, form, seed):
    data, categories = make(seed)
    published, alignment = at_random(data, form, seed)
    chosen = {"categories": categories} if "categories" in kind.model_fields else {}
    guarantee = filled(kind, data, **chosen)
    verdict = guarantee.check(published, original=made_from(kind, data), alignment=alignment)
    expected = oracle_violations(guarantee, data, published, alignment)
    assert bool(verdict) == (not expected and not names_nothing(guarantee, data))
    counts = {}
    for violation, _where in expected:
        counts[violation] = counts.get(violation, 0) + 1
    assert verdict.violations == counts
    seen = {(w.kind, place_of(w, alignment)) for w in verdict.witnesses}
    assert seen <= expected
    assert len(verdict.witnesses) == len(seen)
    for violation, number in counts.items():
        assert sum(w.kind == violation for w in verdict.witnesses) == min(number, MOST_WITNESSES)


@EVERY_FORM
def test_releases_at_random_keep_and_break_it(kind, form):
    """Else agreeing with the oracle would show little."""
    held = set()
    for seed in range(60):
        data, categories = make(seed)
        published, alignment = at_random(data, form, seed)
        chosen = {"categories": categories} if "categories" in kind.model_fields else {}
        original = made_from(kind, data)
        held.add(bool(filled(kind, data, **chosen).check(published, original=original, alignment=alignment)))
    assert held == {True, False}


@EVERY
def test_other_forms_are_refused_in_one_sentence(kind):
    data, _categories = make(3, records=10)
    guarantee = filled(kind, data)
    for form in CASES.keys() - set(kind.takes):
        with pytest.raises(sv.BadParameter, match=f"^{kind.name} applies to .* only, but this is {form.form_title}; "):
            guarantee.check(unchanged(data, form), original=data, alignment=Alignment.identity(data.records))


@EVERY_FORM
def test_it_says_what_it_needs(kind, form):
    data, _categories = make(3, records=10)
    guarantee, released = filled(kind, data), unchanged(data, form)
    for needed in kind.needs:
        given_ = {"original": made_from(kind, data), "alignment": Alignment.identity(data.records)}
        del given_[needed]
        with pytest.raises(sv.Missing, match=needed):
            guarantee.check(released, **given_)
    if not kind.needs:
        beside = guarantee.check(released, original=data, alignment=Alignment.identity(10))
        assert guarantee.check(released) == beside


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
@settings(max_examples=examples(25), deadline=None)
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
