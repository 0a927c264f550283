"""What every guarantee and metric of joined tables must pass; standing in the catalog is enough to be tested."""

import inspect
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.catalog import GUARANTEES, METRICS
from setveil.presence.catalog import GUARANTEES as JOINED_GUARANTEES
from setveil.presence.catalog import METRICS as JOINED_METRICS

from contract.filling import bad_values
from support.exhaustive import examples
from support.joined_cases import drawn
from support.program import call

GUARANTEE = pytest.mark.parametrize("kind", JOINED_GUARANTEES.values(), ids=JOINED_GUARANTEES.keys())
METRIC = pytest.mark.parametrize("kind", JOINED_METRICS.values(), ids=JOINED_METRICS.keys())
EVERY = pytest.mark.parametrize(
    "kind", [*JOINED_GUARANTEES.values(), *JOINED_METRICS.values()], ids=[*JOINED_GUARANTEES, *JOINED_METRICS]
)
DOCS = Path(__file__).parents[2] / "docs"
seeds = st.integers(min_value=0, max_value=2**32)
FILLED = {"max_a": "9/10", "min_a": "1/10", "max_b": "0.95", "min_b": "5%"}


def filled(kind, **chosen):
    return kind(**{name: value for name, value in FILLED.items() if name in kind.model_fields} | chosen)


def test_names_are_of_one_thing_each():
    assert not GUARANTEES.keys() & JOINED_GUARANTEES.keys()
    assert not METRICS.keys() & JOINED_METRICS.keys()


@GUARANTEE
@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_a_verdict_can_be_printed_and_stored(kind, seed):
    case = drawn(seed)
    verdict = filled(kind).check(case.table, original=case.originals, alignment=case.groups)
    assert bool(verdict) == (verdict.status == "holds") == (not verdict.violations)
    assert str(verdict).startswith(f"{kind.name}: {verdict.status}")
    assert json.loads(json.dumps(verdict.to_dict()))["guarantee"] == kind.name
    assert all(isinstance(number, int) and number > 0 for number in verdict.violations.values())
    assert {witness.kind for witness in verdict.witnesses} == set(verdict.violations)
    for witness in verdict.witnesses:
        assert not set(re.findall(r"\w+", f"{witness.place} {witness.detail}")) & set(case.ids)
    assert verdict == filled(kind).check(case.table, original=case.originals, alignment=case.groups)


@GUARANTEE
def test_random_tables_keep_and_break_it(kind):
    cases = [drawn(seed) for seed in range(80)]
    held = {bool(filled(kind).check(one.table, original=one.originals, alignment=one.groups)) for one in cases}
    assert held == {True, False}


@GUARANTEE
@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_it_goes_by_the_table_and_not_by_the_order_of_its_groups(kind, seed):
    case = drawn(seed)
    table = case.table
    order = np.random.default_rng(seed).permutation(table.groups)
    mixed = sv.JoinedTable(table.schema, table.lows[order], table.highs[order], table.counts[order])
    given_ = {"original": case.originals, "alignment": case.groups}
    assert filled(kind).check(mixed, **given_) == filled(kind).check(table, **given_)


@GUARANTEE
def test_it_says_what_it_needs_and_refuses_other_forms(kind):
    case = drawn(3)
    everything = {"original": case.originals, "alignment": case.groups}
    for needed in kind.needs:
        with pytest.raises(sv.Missing, match=needed):
            filled(kind).check(case.table, **{name: value for name, value in everything.items() if name != needed})
    if not kind.needs:
        assert filled(kind).check(case.table) == filled(kind).check(case.table, **everything)
    with pytest.raises(
        sv.BadParameter, match=f"^{kind.name} applies to a joined table only, but this is plain records; "
    ):
        filled(kind).check(sv.from_lists([["milk"]]))


@GUARANTEE
def test_a_guarantee_is_documented(kind):
    page = (DOCS / "guarantees.md").read_text(encoding="utf-8")
    section = page.partition(f"## `{kind.name}`")[2].partition("\n## ")[0]
    assert section
    for parameter in kind.parameters():
        assert f"`{parameter.name}`" in section
    source = Path(inspect.getsourcefile(kind))
    kinds = re.findall(r'^[A-Z_]+ = "([a-z-]+)"$', source.read_text(encoding="utf-8"), re.MULTILINE)
    assert kinds
    for violation in kinds:
        assert f"`{violation}`" in section
    assert filled(kind).statement.endswith(".")
    assert kind.coverage.not_covered
    references = (DOCS.parent / "src" / "setveil" / "references.bib").read_text(encoding="utf-8")
    assert re.search(rf"^@\w+{{{kind.paper},$", references, re.MULTILINE)


@METRIC
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_a_metric_is_a_number_or_says_why_not(kind, seed):
    case = drawn(seed)
    for variant in kind.variants:
        measured = filled(kind, **variant)(case.originals, case.table)
        json.dumps(measured.to_dict())
        assert (measured.value is None) == bool(measured.reason)
        assert measured.value is None or math.isfinite(measured.value)
        assert measured.parameters == filled(kind, **variant).public_parameters()


@METRIC
def test_a_metric_is_documented(kind):
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert f"\n### `{kind.name}`\n" in page
    for parameter in kind.parameters():
        assert f"`{parameter.name}`" in page
    assert kind.formula
    assert kind.blind_to


@EVERY
def test_bad_parameters_are_refused_in_one_sentence(kind):
    for parameter in kind.parameters():
        for value in bad_values(parameter):
            with pytest.raises(sv.BadParameter) as refused:
                filled(kind, **{parameter.name: value})
            sentence = str(refused.value)
            assert sentence.startswith(kind.name)
            assert parameter.name in sentence
            assert "\n" not in sentence
            assert "Annotated" not in sentence


@EVERY
def test_it_is_a_recipe(kind):
    one = filled(kind)
    assert kind(**json.loads(one.model_dump_json())) == one
    assert kind.__name__ in sv.__all__


@pytest.mark.parametrize(("what", "table"), [("guarantees", JOINED_GUARANTEES), ("metrics", JOINED_METRICS)])
def test_it_is_listed_under_a_heading_of_its_own_and_shown(what, table):
    listed = call(what)
    assert listed.code == 0
    before, heading, after = listed.out.partition("For joined tables of two providers:")
    assert heading
    told = {one["name"] for one in call(what, "--json").json}
    for name, kind in table.items():
        assert f" {name} " in after
        assert f" {name} " not in before
        assert name in told
        assert call(what, name).out.startswith(f"{name}: {kind.summary()}")
