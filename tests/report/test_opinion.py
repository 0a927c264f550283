"""The paragraphs under Opinion 05/2014: every sentence follows from the dossier, and nothing is claimed beyond it."""

import copy
import re

import pytest

import setveil as sv
from setveil.attacks.trials import Trial
from setveil.base.display import share
from setveil.catalog import GUARANTEES, METHODS
from setveil.release.dossier import attack_notes
from setveil.report.opinion import IDS, INTRODUCTION, MEANINGS, criteria
from setveil.report.page import render

from contract.filling import filled
from contract.forms import made_from
from report.dossiers import dossier_in, older, without_guarantee
from report.test_page import section_of, words_of
from support.random_data import make

FOUND = sv.Finding(
    "find-record", {"known": 2}, Trial(30, 100), Trial.known(0.01), details={"in-the-original": {"right": 0.75}}
)
WEAK = sv.Finding("find-record", {"known": 2}, Trial(10, 1000), Trial.known(0.01))
FEW = sv.Finding("guess-items", {"model": "best-counts"}, Trial(3, 4), Trial.known(0.5), Trial(2, 4))
MEMBER = sv.Finding("membership", {}, Trial(200, 1000), Trial.known(0.01), Trial(10, 1000))


def with_findings(dossier, *found):
    findings = sv.Findings(found)
    return copy.deepcopy(dossier) | {"attacks": findings.to_dict(), "attack_notes": attack_notes(findings)}


def paragraphs(dossier):
    return {one.name: one for one in criteria(dossier)}


def test_the_page_shows_the_introduction_and_the_three_paragraphs(dossier):
    said = "".join(words_of(section_of(render(dossier), "Assessment by Opinion 05/2014")).split())
    assert "".join(INTRODUCTION.split()) in said
    for one in criteria(dossier):
        assert "".join(one.text.replace("`", "").split()) in said


def test_each_paragraph_says_what_the_criterion_means(dossier):
    assert [one.name for one in criteria(dossier)] == ["singling out", "linkability", "inference"]
    assert all(one.text.startswith(MEANINGS[one.name]) for one in criteria(dossier))


def test_a_bound_is_stated_with_its_reach_only(dossier):
    found, reach = paragraphs(dossier), dossier["verdict"]["reach"]
    assert [one.bounded for one in found.values()] == [False, False, True]
    assert dossier["card"]["guarantee"]["inference"] in found["inference"].text
    assert f"holds for {reach['covered']:,} of {reach['total']:,} records" in found["inference"].text
    for name in ("singling out", "linkability"):
        assert "does not limit it" in found[name].text
        assert "holds for" not in found[name].text


def test_figures_are_beside_their_bases(dossier):
    text = paragraphs(with_findings(dossier, FOUND))["singling out"].text
    low, high = FOUND.main.interval
    assert (
        f"Two known items find the right record for 30.0 % (95 % interval {share(low)} to {share(high)}; 1.0 % by chance, "
        "75.0 % with the original)." in text
    )
    found = dossier["singled_out"]
    assert f"Of the released records, {share(found['after'])} hold up to 2 items" in text
    assert f"({share(found['before'])} in the original)" in text
    text = paragraphs(with_findings(dossier, MEMBER))["inference"].text
    assert "1.0 % by chance, 1.0 % for people who are not in the release" in text


def test_nothing_is_concluded_from_attacks_that_find_little(dossier):
    found = paragraphs(with_findings(dossier, WEAK, FEW))
    assert "the attack is too weak to find more than without the release" in found["singling out"].text
    assert "too few guesses to decide whether this is more than without the release" in found["inference"].text
    for one in found.values():
        assert not re.search(r"\b(safe|anonymous|impossible|cannot be)\b", one.text)


def test_an_attack_without_a_result_is_no_measurement(dossier):
    lacking = sv.Finding("find-record", {"known": 2}, reason="needs the recipe", was_run=False)
    changed = with_findings(dossier, lacking) | {"singled_out": None, "metrics": []}
    found = paragraphs(changed)
    assert "It was not measured, because no attack that looks for the record" in found["singling out"].text
    assert "It was not measured, because no metric or attack that guesses items" in found["inference"].text


def test_a_baseline_bounds_nothing_and_gives_no_advice_to_share_it(tmp_path):
    dossier = dossier_in(without_guarantee(tmp_path, [["a"], ["b", "c"], ["a", "d"]]))
    for one in criteria(dossier):
        assert not one.bounded
        assert "is a baseline: nothing in this release limits it" in one.text
        assert "guarantee" not in one.text
    assert "Do not share this release as protected data" in paragraphs(dossier)["singling out"].text


@pytest.mark.parametrize(("failures", "text"), [(1, "1 record is not protected"), (34, "34 records are not protected")])
def test_allowed_failures_are_stated_beside_the_bound(dossier, failures, text):
    changed = copy.deepcopy(dossier)
    changed["verdict"] |= {"status": "violated", "violations": {"not-hidden": failures}, "failures": failures}
    changed["card"]["guarantee"]["failures"] = failures
    assert f"{text}, which was allowed" in paragraphs(changed)["inference"].text
    assert "which was allowed" not in paragraphs(changed)["singling out"].text


@pytest.mark.parametrize("ids", IDS)
def test_ids_decide_what_is_said_about_linkability(dossier, ids):
    text = paragraphs(dossier | {"ids": ids})["linkability"].text
    assert IDS[ids] in text
    assert ("Publish with pseudonyms" in text) == (ids == "keep")


def test_the_register_decides_what_is_said_about_other_releases(dossier):
    first = dossier | {"register": {"together": None}}
    later = dossier | {"register": {"together": {"releases": [1, 2], "text": "km-anonymity holds"}}}
    assert "Other releases of these data were not checked" in paragraphs(dossier)["linkability"].text
    assert "The register holds no other release of these people" in paragraphs(first)["linkability"].text
    text = paragraphs(later)["linkability"].text
    assert "It was checked together with 2 earlier releases of these people: km-anonymity holds." in text
    assert "with one register" in paragraphs(dossier)["linkability"].text
    assert "with one register" not in text


def test_dossiers_of_version_1_have_paragraphs_too(dossier):
    old = {key: value for key, value in older(dossier).items() if key not in ("attacks", "attack_notes", "singled_out")}
    assert all(one.text.endswith(".") for one in criteria(old))


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_every_method_has_three_paragraphs_of_whole_sentences(kind, tmp_path):
    data = make(7, records=50, items=40, categories=4, hot=0.7)[0].without_empty()
    ids = "pseudonym" if kind.name == "full-swap" else "drop"
    given = {"no_guarantee": True, "allow_failures": 50, "ids": ids, "seed": 2**100}
    sv.publish(made_from(kind, data), filled(kind, data), out=tmp_path / "out", **given)
    dossier = dossier_in(tmp_path / "out.private")
    for one in criteria(dossier):
        assert one.text.endswith(".")
        assert not re.search(r"\.\.|  |None|\{|\}|: \.| ,", one.text), one.text
        stated = dossier["card"]["guarantee"]
        text = stated[{"singling out": "singling_out", "linkability": "linking", "inference": "inference"}[one.name]]
        about_people = stated["name"] is not None and GUARANTEES[stated["name"]].protects == "people"
        assert one.bounded == (about_people and text.startswith("bounded"))


def made_by(name, tmp_path):
    data = make(7, records=50, items=40, categories=4, hot=0.7)[0].without_empty()
    kind = METHODS[name]
    sv.publish(made_from(kind, data), filled(kind, data), out=tmp_path / "out", seed=2**100)
    return paragraphs(dossier_in(tmp_path / "out.private"))


def test_a_guarantee_about_itemsets_bounds_nothing_for_people(tmp_path):
    found = made_by("exact-swap", tmp_path)["inference"]
    assert not found.bounded
    assert (
        "Inference about people is not bounded. Inference is bounded for the itemsets that the owner named"
        in found.text
    )
    assert re.search(r"holds for \d+ of \d+ named itemset", found.text)


@pytest.mark.parametrize(
    ("name", "line"), [("insert", "finding a person"), ("reassociation", "k^m-anonymity of a file by itself")]
)
def test_what_is_not_covered_is_said_of_the_criterion_that_it_is_about(name, line, tmp_path):
    found = made_by(name, tmp_path)
    assert f"Not covered is {line}: " in found["singling out"].text
    assert line not in found["inference"].text
    assert "What remains, among others: " in found["inference"].text
