"""Seeds and pseudonyms: nothing repeats, nothing can be guessed, and every name stands beside its own record."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.alignment import Alignment
from setveil.guarantees.base import MOST_WITNESSES, Verdict
from setveil.methods.base import Outcome
from setveil.release.checking import check_release, guarantee_of, open_release
from setveil.release.dossier import Private
from setveil.release.measuring import all_metrics, measure, metric_of
from setveil.release.publishing import arrange, judge
from setveil.release.seed import Seed

from random_data import as_sets, make, seeds

VALUES = st.one_of(st.integers(0, 300), st.integers(0, 2**130))


def drawn(seed):
    return seed.generator().integers(2**60, size=4).tolist()


@settings(max_examples=100)
@given(VALUES, VALUES)
def test_generators_and_pseudonyms_tell_seeds_apart(one, other):
    assert Seed.of(one).pseudonyms(5) == Seed.of(one).pseudonyms(5)
    assert drawn(Seed.of(one)) == drawn(Seed.of(one))
    if one != other:
        assert not set(Seed.of(one).pseudonyms(5).to_pylist()) & set(Seed.of(other).pseudonyms(5).to_pylist())
        assert drawn(Seed.of(one)) != drawn(Seed.of(other))


def test_pseudonyms_are_long_and_all_different():
    names = Seed.of(3).pseudonyms(5000).to_pylist()
    assert all(re.fullmatch("[0-9a-f]{20}", name) for name in names)
    assert len({name[:10] for name in names}) == len({name[10:] for name in names}) == 5000
    assert len(set(names) | {name[10:] + name[:10] for name in names}) == 10_000
    assert Seed.of(3).pseudonyms(0).to_pylist() == []


def test_a_record_keeps_its_pseudonym_when_others_follow():
    assert Seed.of(3).pseudonyms(9).to_pylist() == Seed.of(3).pseudonyms(40).to_pylist()[:9]


def test_a_seed_that_nobody_gave_is_drawn_of_128_bits():
    values = [Seed.of(None).value for _ in range(64)]
    assert len(set(values)) == 64
    assert 120 < max(values).bit_length() <= 128
    assert not any(Seed.of(None).given for _ in range(4))


def test_seeds_below_64_bits_are_weak_if_they_were_given():
    assert Seed.of(0).value == 0
    assert Seed.of(2**63 - 1).weak
    assert not Seed.of(2**63).weak
    assert not Seed(5, given=False).weak
    with pytest.raises(sv.BadParameter, match="the seed is -1; allowed is a whole number from 0 on"):
        Seed.of(-1)


@settings(max_examples=60)
@given(seeds, st.sampled_from(["pseudonym", "keep", "drop"]))
def test_rows_carry_the_name_of_the_record_they_came_from(seed, ids):
    """A method may return its rows in any order; the names, the alignment and the content must still be of one record."""
    data, _categories = make(seed)
    data = data.with_ids([f"person {r}" for r in range(data.records)])
    moved = np.random.default_rng(seed).permutation(data.records)
    published, alignment = arrange(data, Outcome(data.take(moved), Alignment(moved)), ids, Seed.of(seed))
    assert as_sets(published) == [as_sets(data)[r] for r in alignment.rows]
    assert sorted(alignment.rows) == list(range(data.records))
    assert (published.supports > 0).all()
    if ids == "drop":
        assert published.ids is None
        again, _alignment = arrange(data, Outcome(data, Alignment.identity(data.records)), ids, Seed.of(seed))
        assert published.to_lists() == again.to_lists()
        return
    names = Seed.of(seed).pseudonyms(data.records) if ids == "pseudonym" else data.ids
    assert published.ids.to_pylist() == alignment.published_ids.to_pylist() == names.take(alignment.rows).to_pylist()
    assert published.ids.to_pylist() == sorted(published.ids.to_pylist())
    assert alignment.original_ids.to_pylist() == [f"person {r}" for r in alignment.rows]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Save releases of one data set, with pseudonyms and with the ids kept."""
    folder = tmp_path_factory.mktemp("saved")
    data, categories = make(7, records=130, items=60, categories=6, hot=0.0)
    data = data.with_ids([f"person {r}" for r in range(data.records)])
    for ids in ("pseudonym", "keep"):
        method = sv.PartSwap(categories=categories, leftovers="cycle,helper,adopt")
        sv.publish(data, method, ids=ids, seed=4, allow_failures=data.records, metrics=[]).save(folder / ids)
    return SimpleNamespace(folder=folder, data=data)


@pytest.mark.parametrize(("ids", "kind"), [("pseudonym", "not-the-pseudonym"), ("keep", "not-the-id")])
@pytest.mark.parametrize("wrong", [[3, 8], "all"])
def test_an_alignment_with_other_names_does_not_make_rows_somebody_elses(saved, ids, kind, wrong):
    """The alignment agrees with the data file throughout, but not with the seed or the original: only these tell whose a row is."""
    opened, private = open_release(saved.folder / ids), Private.load(saved.folder / f"{ids}.private")
    true = check_release(opened, guarantee_of(opened, private), original=saved.data, private=private)
    assert not {"not-the-pseudonym", "not-the-id"} & true.violations.keys()
    rows = private.alignment.rows.copy()
    places = np.arange(len(rows)) if wrong == "all" else np.array(wrong)
    rows[places] = np.roll(rows[places], 1)
    other = Alignment(rows, private.alignment.published_ids, pa.array([f"person {r}" for r in rows]))
    private = replace(private, alignment=other)
    verdict = check_release(opened, guarantee_of(opened, private), original=saved.data, private=private)
    assert verdict.status == "violated"
    assert verdict.violations[kind] == len(places)
    witnesses = [w for w in verdict.witnesses if w.kind == kind]
    assert [w.row for w in witnesses] == places[:MOST_WITNESSES].tolist()
    assert [w.place for w in witnesses] == [f"released row {row + 1}" for row in places[:MOST_WITNESSES]]
    assert not verdict.acceptable(saved.data.records)


def test_a_release_that_holds_by_a_wrong_alignment_is_broken(saved):
    """Without the names of the seed, a guarantee that was told a fitting alignment would hold."""
    opened, private = open_release(saved.folder / "pseudonym"), Private.load(saved.folder / "pseudonym.private")
    private = replace(private, alignment=Alignment(np.roll(private.alignment.rows, 1)))
    content = SimpleNamespace(
        name="any", needs=(), refuse_other_form=lambda _: None, check=lambda *_, **__: Verdict("holds", "any", {})
    )
    verdict = check_release(opened, content, original=saved.data, private=private)
    assert verdict.status == "violated"
    assert verdict.violations == {"not-the-pseudonym": saved.data.records}


@pytest.mark.parametrize(("left", "allowed", "passes"), [(0, 0, True), (2, 2, True), (2, 1, False), (1, 0, False)])
def test_no_more_failures_pass_than_were_allowed(left, allowed, passes):
    verdict = Verdict("violated" if left else "holds", "any", {}, {"not-hidden": left} if left else {}, left)
    guarantee = SimpleNamespace(name="any", check=lambda *_, **__: verdict)
    method, terms = SimpleNamespace(guarantee=guarantee), SimpleNamespace(allow_failures=allowed)
    if passes:
        assert judge(None, None, None, method, terms, {}, "") is verdict
    else:
        with pytest.raises(sv.GuaranteeViolated, match=r"nothing was written\. Do this"):
            judge(None, None, None, method, terms, {}, "Do this")


def test_a_release_is_measured_in_every_variant_and_what_lacks_is_told(saved):
    _data, categories = make(7, records=130, items=60, categories=6, hot=0.0)
    metrics, lacking = all_metrics({"categories": categories})
    assert [m.form for m in metrics if m.name == "dissimilarity"] == ["per-item", "printed"]
    of_itemsets = dict.fromkeys(
        ("hiding-failure", "residual-itemsets", "border-exposure", "misses-cost", "artificial-itemsets"),
        "not computed, needs itemsets, min_support",
    )
    of_sensitive = dict.fromkeys(
        ("items-lost", "non-sensitive-rules", "reconstruction-kl"), "not computed, needs sensitive"
    )
    of_sensitive |= dict.fromkeys(("exact-basket-exposure", "saturated-rules"), "not computed, needs sensitive, rho")
    of_rules = dict.fromkeys(("relative-association-error", "alpha-confidence"), "not computed, needs rules")
    of_rules["tlost"] = "not computed, needs k"
    of_rules["tree-edit-distance"] = "not computed, takes long: name it with --metric tree-edit-distance"
    assert {m.name: m.reason for m in lacking} == of_itemsets | of_sensitive | of_rules
    assert "tree-edit-distance" in {m.name for m in all_metrics({}, sv.Neighbours)[0]}
    nothing_given = all_metrics({"categories": categories, "rules": None, "k": None})[1]
    assert {m.name: m.reason for m in nothing_given} == of_itemsets | of_sensitive | of_rules
    assert metric_of("tlost", {"k": None}).reason == "not computed, needs k"
    of_method = {"itemsets": [["a"]], "min_support": 2, "sensitive": ["a"], "rho": "0.5", "rules": [["a"]], "k": 2}
    metrics, lacking = all_metrics({"categories": categories, **of_method})
    assert [m.name for m in lacking] == ["tree-edit-distance"]
    assert {str(m.rho) for m in metrics if m.name in ("exact-basket-exposure", "saturated-rules")} == {"0.5"}
    metrics, lacking = all_metrics({})
    of_categories = dict.fromkeys(("still-on-top", "tendency-posterior"), "not computed, needs categories")
    assert {m.name: m.reason for m in lacking} == of_categories | of_itemsets | of_sensitive | of_rules
    assert not {m.name for m in metrics} & {m.name for m in lacking}
    assert metric_of("dissimilarity:form=printed", {}).form == "printed"
    release = sv.publish(
        saved.data, sv.PartSwap(categories=categories), seed=4, allow_failures=saved.data.records, metrics=[]
    )
    assert release.measurements == []
    named = measure(saved.data, release, ["dissimilarity:form=printed", "still-on-top"])
    assert [m.name for m in named] == ["dissimilarity", "still-on-top"]
    assert all(m.value is not None for m in named)
