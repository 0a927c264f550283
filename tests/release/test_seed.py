"""Seeds and pseudonyms: nothing repeats, nothing can be guessed, and every name stands beside its own record."""

import hashlib
import json
import re
import struct
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES, Verdict
from setveil.data.forms.base import Naming
from setveil.data.records.alignment import Alignment
from setveil.release import checking
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.measuring import all_metrics, measure, metric_of
from setveil.release.opening import open_release
from setveil.release.release import judge
from setveil.release.seed import Randomness, Seed

from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

VALUES = st.one_of(st.integers(0, 300), st.integers(0, 2**130))


PARTS = {"seed": 2**90, "checksum": "of the data", "recipe": "a recipe", "block": 0}
OTHERS = {"seed": 2**90 + 1, "checksum": "of other data", "recipe": "another recipe", "block": 1}


RECIPE = {"ids": "drop", "method": "naive", "parameters": {}}


def randomness(seed=2**90, checksum="of the data", recipe="a recipe", block=0):
    return Randomness(Seed(seed, given=True), checksum, recipe, block)


def everything(made):
    """Return all that a run draws, each cut into parts that do not repeat by chance."""
    names = made.pseudonyms(5).to_pylist()
    return {*names, *made.generator().integers(2**60, size=4).tolist(), made.run, made.salt}


@settings(max_examples=examples(100))
@given(VALUES, VALUES)
def test_nothing_drawn_from_one_seed_is_drawn_from_another(one, other):
    assert everything(randomness(one)) == everything(randomness(one))
    if one != other:
        assert not everything(randomness(one)) & everything(randomness(other))


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_shared_if_any_part_of_the_derivation_differs(part):
    assert not everything(randomness()) & everything(randomness(**{part: OTHERS[part]}))


def test_parts_that_read_the_same_in_a_row_are_told_apart():
    """Each part stands after its length: a digit that moves from one part to the next changes everything."""
    same_in_a_row = [("1", "2r", 0), ("12", "r", 0), ("1", "2", 0), ("12", "", 0), ("", "12", 0)]
    drawn = [everything(randomness(2**90, *parts)) for parts in same_in_a_row]
    assert len(set.union(*drawn)) == sum(map(len, drawn))


def test_each_purpose_has_its_own_stream():
    made = randomness()
    names, run = made.pseudonyms(4), made.run
    assert len({made.stream(domain, 16) for domain in ("method", "pseudonyms", "run", "private salt", "")}) == 5
    assert run not in "".join(names.to_pylist())
    assert made.salt.hex() not in "".join(names.to_pylist())


def test_scheme_2_is_what_the_decision_record_describes():
    """Another implementation, from docs/decisions/0024: what a seed gives must not change unless the scheme version does."""

    def shake(size, *fields):
        framed = b"".join(struct.pack(">Q", len(field)) + field for field in fields)
        return hashlib.shake_256(framed).digest(size)

    made = Randomness(Seed(2**90, given=True), "ab" * 32, '{"ids":"drop"}', 3)
    key = (
        shake(64, b"setveil randomness", b"2", str(2**90).encode(), b"ab" * 32, b'{"ids":"drop"}', b"3").hex().encode()
    )
    assert made.run == shake(16, b"setveil stream", key, b"run").hex()
    assert made.salt == shake(32, b"setveil stream", key, b"private salt")
    assert "".join(made.pseudonyms(7).to_pylist()) == shake(70, b"setveil stream", key, b"pseudonyms").hex()
    entropy = int.from_bytes(shake(32, b"setveil stream", key, b"method"), "big")
    twin = np.random.Generator(np.random.PCG64(entropy))
    assert made.generator().integers(2**60, size=9).tolist() == twin.integers(2**60, size=9).tolist()
    assert made.run == "15ea463cc73f4fb28d65d8c2ef2aacf1"


@pytest.mark.parametrize(
    "broken",
    [
        {"randomness": None},
        {"randomness": []},
        {"randomness": {}},
        {"randomness": {"scheme": 2}},
        {"randomness": {"scheme": 2, "block": 0, "recipe": {"ids": "drop", "method": "naive"}}},
        {"randomness": {"scheme": 2, "block": "0", "recipe": {"ids": "drop", "method": "naive", "parameters": {}}}},
        {"randomness": {"scheme": 2, "block": 0, "recipe": RECIPE | {"block_records": "9"}}},
        {"randomness": {"scheme": 2, "block": 0, "recipe": RECIPE | {"block_records": 0}}},
        {"run": None},
        {"private_salt": 7},
        {"dossier_version": "3"},
    ],
    ids=str,
)
def test_a_dossier_that_does_not_say_how_it_was_drawn_is_refused(saved, broken, tmp_path):
    private = Private.load(saved.folder / "pseudonym.private")
    (tmp_path / "dossier.json").write_text(json.dumps(private.dossier | broken))
    with pytest.raises(sv.BadData, match="is not a dossier of a release"):
        Private.load(tmp_path)


def test_pseudonyms_of_a_scheme_that_is_not_known_are_not_guessed(saved):
    opened, private = open_release(saved.folder / "pseudonym"), Private.load(saved.folder / "pseudonym.private")
    noted = {**private.dossier["randomness"], "scheme": 3}
    private = replace(private, dossier=private.dossier | {"randomness": noted})
    with pytest.raises(
        sv.BadData, match=r"does not know; known are the schemes 1 and 2\. Check the release with the version"
    ):
        check_release(opened, guarantee_of(opened, private), original=saved.data, private=private)


def test_a_release_in_blocks_has_a_stream_of_pseudonyms_per_block():
    """As docs/decisions/0024 describes it: each block has a key of its own, and its pseudonyms are those of no other block."""
    made = replace(randomness(), block_records=4)
    of_blocks = [replace(randomness(), block=block).pseudonyms(4).to_pylist() for block in (1, 2, 3)]
    assert made.pseudonyms(10).to_pylist() == [*chain(*of_blocks)][:10]
    assert made.pseudonyms(3).to_pylist() == of_blocks[0][:3]
    assert len(set(made.pseudonyms(12).to_pylist()) | set(randomness().pseudonyms(12).to_pylist())) == 24
    assert (made.run, made.salt) == (randomness().run, randomness().salt)


def test_pseudonyms_are_long_and_all_different():
    names = randomness().pseudonyms(5000).to_pylist()
    assert all(re.fullmatch("[0-9a-f]{20}", name) for name in names)
    assert len({name[:10] for name in names}) == len({name[10:] for name in names}) == 5000
    assert len(set(names) | {name[10:] + name[:10] for name in names}) == 10_000
    assert randomness().pseudonyms(0).to_pylist() == []


def test_a_record_keeps_its_pseudonym_when_others_follow():
    assert randomness().pseudonyms(9).to_pylist() == randomness().pseudonyms(40).to_pylist()[:9]


def test_a_seed_that_nobody_gave_is_drawn_of_128_bits():
    values = [Seed.of(None).value for _ in range(64)]
    assert len(set(values)) == 64
    assert 120 < max(values).bit_length() <= 128
    assert not any(Seed.of(None).given for _ in range(4))


def test_seeds_below_64_bits_are_weak_if_they_were_given():
    assert Seed.of(0, experiment=True).value == 0
    assert Seed.of(2**63 - 1, experiment=True).weak
    assert not Seed.of(2**63).weak
    assert not Seed(5, given=False).weak
    for experiment in (True, False):
        with pytest.raises(sv.BadParameter, match="the seed is -1; allowed is a whole number of at least 0"):
            Seed.of(-1, experiment=experiment)


@pytest.mark.parametrize("seed", [0, 20261116, 2**63 - 1])
def test_a_seed_that_can_be_guessed_needs_an_experiment_and_the_card_says_so(seed, tmp_path):
    data, method = sv.from_lists([["a", "b"], ["a", "b"]]), sv.RandSwap(mode="plain")
    needed = rf"the seed has {seed.bit_length()} bits .*allowed is a seed of at least 64 bits\. Give no seed .* `experiment=True`"
    with pytest.raises(sv.BadParameter, match=needed):
        sv.publish(data, method, seed=seed, no_guarantee=True)
    release = sv.publish(data, method, seed=seed, no_guarantee=True, experiment=True)
    assert release.save(tmp_path / "out").experiment
    assert Private.load(tmp_path / "out.private").dossier["experiment"]
    release = sv.publish(data, method, seed=seed + 2**63, no_guarantee=True, experiment=True)
    assert not release.save(tmp_path / "strong").experiment
    assert not Private.load(tmp_path / "strong.private").dossier["experiment"]


def test_two_data_sets_with_one_strong_seed_share_no_pseudonym():
    """The first half of a list and the whole list: before, record i had the same name in both."""
    data = sv.from_lists([[f"item {r % 7}", f"item {r % 11}"] for r in range(5000)])
    one, other = (
        sv.publish(some, sv.RandSwap(mode="plain"), ids="pseudonym", seed=2**100, no_guarantee=True, metrics=[])
        for some in (data, data.take(np.arange(2500)))
    )
    assert not set(one.rows.ids.to_pylist()) & set(other.rows.ids.to_pylist())


def test_two_recipes_with_one_strong_seed_share_no_pseudonym():
    data, categories = make(7, records=130, items=60, categories=6, hot=0.0)
    methods = [
        sv.RandSwap(mode="plain"),
        sv.RandSwap(mode="matched", categories=categories),
        sv.SplitPerson(categories=categories),
        sv.SplitPerson(categories=sv.Categories.at_random(data.vocabulary, 5, seed=1)),
    ]
    names = [
        sv.publish(data, method, ids="pseudonym", seed=2**100, no_guarantee=True, metrics=[]).rows.ids.to_pylist()
        for method in methods
    ]
    assert len(set().union(*names)) == sum(map(len, names))


@settings(max_examples=examples(60))
@given(seeds, st.sampled_from(["pseudonym", "keep", "drop"]))
def test_rows_carry_the_name_of_the_record_they_came_from(seed, ids):
    """A method may return its rows in any order; the names, the alignment and the content must still be of one record."""
    data, _categories = make(seed)
    data = data.with_ids([f"person {r}" for r in range(data.records)])
    moved = np.random.default_rng(seed).permutation(data.records)
    naming = Naming(ids, data, randomness(seed).pseudonyms)
    published, alignment = data.take(moved).arrange(moved, naming)
    assert as_sets(published) == [as_sets(data)[r] for r in alignment.rows]
    assert sorted(alignment.rows) == list(range(data.records))
    assert (published.supports > 0).all()
    if ids == "drop":
        assert published.ids is None
        again, _alignment = data.arrange(np.arange(data.records), naming)
        assert published.to_lists() == again.to_lists()
        return
    names = randomness(seed).pseudonyms(data.records) if ids == "pseudonym" else data.ids
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
        sv.publish(data, method, ids=ids, seed=2**90 + 4, allow_failures=data.records, metrics=[]).save(folder / ids)
    return SimpleNamespace(folder=folder, data=data)


@pytest.mark.parametrize(("ids", "kind"), [("pseudonym", "not-the-pseudonym"), ("keep", "not-the-id")])
@pytest.mark.parametrize("wrong", [[3, 8], "all"])
@pytest.mark.parametrize("rows_at_once", [7, 1 << 18])
def test_an_alignment_with_other_names_does_not_make_rows_somebody_elses(
    saved, ids, kind, wrong, rows_at_once, monkeypatch
):
    """The alignment agrees with the data file throughout, but not with the seed or the original: only these tell whose a row is."""
    monkeypatch.setattr(checking, "BATCH_ROWS", rows_at_once)
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

    class Content(SimpleNamespace):
        model_fields: ClassVar = {}

    content = Content(
        name="any",
        needs=(),
        rests_on_draw=False,
        refuse_other_form=lambda _: None,
        check=lambda *_, **__: Verdict("holds", "any", {}),
    )
    verdict = check_release(opened, content, original=saved.data, private=private)
    assert verdict.status == "violated"
    assert verdict.violations == {"not-the-pseudonym": saved.data.records}


@pytest.mark.parametrize(("left", "allowed", "passes"), [(0, 0, True), (2, 2, True), (2, 1, False), (1, 0, False)])
def test_no_more_failures_pass_than_were_allowed(left, allowed, passes):
    verdict = Verdict("violated" if left else "holds", "any", {}, {"not-hidden": left} if left else {}, left)
    guarantee = SimpleNamespace(name="any", check=lambda *_, **__: verdict)
    method = SimpleNamespace(name="any", guarantee=guarantee, truthful="yes")
    data, terms = sv.from_lists([["a"], ["b"]]), SimpleNamespace(allow_failures=allowed)
    given_ = (data, data, Alignment.identity(2), method, terms, {})
    if passes:
        assert judge(*given_, "") is verdict
    else:
        with pytest.raises(sv.GuaranteeViolated, match=r"nothing was written\. Do this"):
            judge(*given_, "Do this")


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
    names = ("ease", "item-knn", "pair-probabilities", "item-prediction")
    of_people = dict.fromkeys(names, "not computed, needs heldout: people who are not in the original")
    of_rules["tree-edit-distance"] = "not computed, takes long: name the metric to compute it"
    assert {m.name: m.reason for m in lacking} == of_itemsets | of_sensitive | of_rules | of_people
    assert "tree-edit-distance" in {m.name for m in all_metrics({}, sv.Reassociated)[0]}
    nothing_given = all_metrics({"categories": categories, "rules": None, "k": None})[1]
    assert {m.name: m.reason for m in nothing_given} == of_itemsets | of_sensitive | of_rules | of_people
    assert metric_of("tlost", {"k": None}).reason == "not computed, needs k"
    of_method = {"itemsets": [["a"]], "min_support": 2, "sensitive": ["a"], "rho": "0.5", "rules": [["a"]], "k": 2}
    metrics, lacking = all_metrics({"categories": categories, **of_method}, heldout=True)
    assert [m.name for m in lacking] == ["tree-edit-distance"]
    assert {str(m.rho) for m in metrics if m.name in ("exact-basket-exposure", "saturated-rules")} == {"0.5"}
    metrics, lacking = all_metrics({})
    of_categories = dict.fromkeys(("still-on-top", "tendency-posterior"), "not computed, needs categories")
    assert {m.name: m.reason for m in lacking} == of_categories | of_itemsets | of_sensitive | of_rules | of_people
    assert not {m.name for m in metrics} & {m.name for m in lacking}
    assert metric_of("dissimilarity:form=printed", {}).form == "printed"
    release = sv.publish(
        saved.data, sv.PartSwap(categories=categories), seed=2**90 + 4, allow_failures=saved.data.records, metrics=[]
    )
    assert release.measurements == []
    named = measure(saved.data, release, ["dissimilarity:form=printed", "still-on-top"])
    assert [m.name for m in named] == ["dissimilarity", "still-on-top"]
    assert all(m.value is not None for m in named)


def test_an_experiment_is_not_to_be_shared():
    data, categories = make(8, records=60, items=40, categories=8, hot=0.1)
    data = data.with_ids([f"p{number}" for number in range(60)])
    method = sv.PartSwap(categories=categories)
    kwargs = {"metrics": [], "allow_failures": 60}
    assert sv.publish(data, method, seed=2**90, **kwargs).sharing == "may be shared"
    assert "do not share" in sv.publish(data, method, seed=5, experiment=True, **kwargs).sharing


@pytest.mark.parametrize("given", ["disassociation", sv.Disassociation, None])
def test_what_is_not_a_method_is_refused_first(given):
    with pytest.raises(sv.BadParameter, match=r"`method=` is .*; allowed is a method with its parameters"):
        sv.publish([["a"]], given)
