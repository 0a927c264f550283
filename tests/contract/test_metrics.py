"""What every metric must pass; standing in the catalog is enough to be tested."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings

import setveil as sv
from setveil.catalog import METRICS
from setveil.data.records.alignment import Alignment
from setveil.metrics.headline import CANDIDATES, headline_of

from contract.filling import bad_values, can_be_filled, edge_cases, filled
from contract.forms import CASES, at_random, unchanged
from support.exhaustive import examples
from support.random_data import make, seeds
from support.taste_groups import people_of_tastes

EVERY = pytest.mark.parametrize("kind", METRICS.values(), ids=METRICS.keys())
DOCS = Path(__file__).parents[2] / "docs"


def variants(kind, data):
    return [filled(kind, data, **variant) for variant in kind.variants]


@EVERY
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_a_release_like_its_original_costs_nothing_and_order_does_not_matter(kind, seed):
    data, _categories = make(seed)
    assume(can_be_filled(kind, data))
    rows = np.roll(np.arange(data.records), -1)
    shuffled = data.take(rows)
    for metric in variants(kind, data):
        plain = metric(data, data, Alignment.identity(data.records))
        moved = metric(data, shuffled, Alignment(rows))
        assert plain.value == moved.value or math.isclose(plain.value, moved.value)
        if plain.value is not None and kind.about == "utility":
            # What counts something stands beside the original's number; all else is 0 or 1 where nothing was lost.
            like_the_original = {"lower": 0, "higher": 1, "like the original": plain.details.get("before")}
            assert plain.value == like_the_original[kind.better]


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda one: f"{one.metric}: {one.text}")
def test_a_headline_figure_finds_its_measurement_and_all_that_its_text_names(candidate):
    kind = METRICS[candidate.metric]
    assert candidate.about == kind.about
    named = re.sub(r"\\{.*?\\}", ".*", re.escape(candidate.text))
    found = None
    for seed in range(30):
        data, _categories = make(seed)
        if can_be_filled(kind, data):
            measured = [metric(data, data, Alignment.identity(data.records)) for metric in variants(kind, data)]
            found = next((one for one in headline_of(measured) if re.fullmatch(named, one.text)), None)
        if found is not None:
            break
    assert found is not None
    assert bool(found.base) >= bool(candidate.base)


@EVERY
@pytest.mark.parametrize("case", edge_cases())
def test_it_is_a_number_or_says_why_not(kind, case):
    data = edge_cases()[case]
    if not can_be_filled(kind, data):
        pytest.skip("there is no item to name")
    for metric in variants(kind, data):
        measured = metric(data, data, Alignment.identity(data.records))
        json.dumps(measured.to_dict())
        if measured.value is None:
            assert measured.reason
        else:
            assert math.isfinite(measured.value)
            assert not measured.reason


@EVERY
@pytest.mark.parametrize("form", CASES, ids=lambda form: form.form_title)
@settings(max_examples=examples(15), deadline=None)
@given(seed=seeds)
def test_of_every_form_it_is_a_number_or_says_why_not(kind, form, seed):
    data, _categories = make(seed)
    assume(can_be_filled(kind, data))
    published, alignment = at_random(data, form, seed)
    for metric in variants(kind, data):
        measured = metric(data, published, alignment)
        json.dumps(measured.to_dict())
        assert (measured.value is None) == bool(measured.reason)
        if not kind.applies_to(form):
            assert measured.reason == f"not computed, does not apply to {form.form_title}"
        elif measured.value is not None:
            assert math.isfinite(measured.value)


def with_a_figure(kind):
    """Return data for which a metric is a number: enough that 2 % are several records, and that rules hold, or that tastes differ."""
    data, _categories = make(4, records=400, items=8)
    metric = variants(kind, data)[0]
    defined = metric(data, data, Alignment.identity(data.records)).value is not None
    return data if defined else people_of_tastes(4, 400)


@EVERY
def test_a_release_that_changed_its_form_alone_costs_nothing(kind):
    data = with_a_figure(kind)
    if kind.about != "utility":
        pytest.skip("it is about privacy")
    found = [m for m in variants(kind, data) if m(data, data, Alignment.identity(data.records)).value is not None]
    assert found, "at some settings it is a number of these data"
    for form in kind.takes:
        for metric in found:
            released = unchanged(data, form, getattr(metric, "sensitive", ()))
            measured = metric(data, released, Alignment.identity(data.records))
            nothing_lost = {"lower": 0, "higher": 1, "like the original": measured.details.get("before")}
            assert measured.value == pytest.approx(nothing_lost[kind.better])


@EVERY
def test_it_says_what_it_needs(kind):
    data = with_a_figure(kind)
    metric = variants(kind, data)[0]
    if "alignment" in kind.needs:
        with pytest.raises(sv.Missing, match="alignment"):
            metric(data, data)
        with pytest.raises(sv.BadData, match="does not belong"):
            metric(data, data, Alignment.identity(data.records + 1))
    else:
        assert metric(data, data).value is not None


@pytest.fixture(scope="module")
def released():
    data, _categories = make(4, records=400, items=8)
    return data, sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics=[])


@EVERY
def test_it_is_public_and_can_be_given_as_it_is(kind, released):
    data, release = released
    assert getattr(sv, kind.__name__) is kind
    metric = filled(kind, data)
    assert sv.measure(data, release, [metric]) == [metric(data, release.data, release.alignment)]


def test_a_metric_and_its_name_give_the_same(released):
    data, release = released
    metrics = [sv.FiSimilarity(min_support="2%"), sv.Dissimilarity(form="printed")]
    texts = ["fi-similarity:min_support=2%", "dissimilarity:form=printed"]
    assert sv.measure(data, release, metrics) == sv.measure(data, release, texts)
    again = sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics=[*metrics, *texts])
    assert again.measurements[:2] == again.measurements[2:]
    for wrong in (sv.FiSimilarity, 17, None):
        with pytest.raises(sv.BadParameter, match=r"metrics: .* is neither a metric, such as FiSimilarity\(\), nor"):
            sv.measure(data, release, [wrong])


@EVERY
def test_bad_parameters_are_refused(kind):
    data, _categories = make(2)
    for parameter in kind.parameters():
        for value in bad_values(parameter):
            with pytest.raises(sv.BadParameter, match=parameter.name):
                filled(kind, data, **{parameter.name: value})


@EVERY
def test_it_is_documented(kind):
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert f"\n### `{kind.name}`\n" in page
    for parameter in kind.parameters():
        assert f"`{parameter.name}`" in page
    for text in (kind.formula, kind.blind_to, kind.unit, kind.summary()):
        assert text
