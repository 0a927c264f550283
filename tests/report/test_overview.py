"""The box at the top of a report: verdict, risk, utility and recipe, for every kind of release."""

import copy

import pytest

import setveil as sv
from setveil.attacks.trials import Trial
from setveil.base.display import share
from setveil.report.facts import headline_of_dossier
from setveil.report.overview import overview
from setveil.report.page import render

from report.dossiers import dossier_in, older, without_guarantee
from report.test_page import section_of, words_of


def test_the_verdict_has_its_reach_and_a_bar_of_all_records(dossier):
    verdict, reach = overview(dossier)["verdict"], dossier["verdict"]["reach"]
    assert verdict.look == "holds"
    assert verdict.line == f"hidden-tendency holds for {reach['covered']:,} of {reach['total']:,} records"
    assert [look for look, _percent, _text in verdict.bar] == ["protected", "neutral"]
    assert sum(percent for _look, percent, _text in verdict.bar) == pytest.approx(100)


def test_allowed_failures_are_not_green(dossier):
    changed = copy.deepcopy(dossier)
    changed["verdict"] |= {"status": "violated", "violations": {"not-hidden": 34}, "failures": 34}
    changed["card"]["guarantee"]["failures"] = 34
    verdict = overview(changed)["verdict"]
    assert verdict.look == "violated"
    assert verdict.line == "hidden-tendency does not hold for 34 records, which was allowed"
    assert ("violated", 34) in {
        (look, int(text.split()[0])) for look, _percent, text in verdict.bar if look == "violated"
    }


def test_a_baseline_has_no_guarantee_and_everything_is_unprotected(tmp_path):
    box = overview(dossier_in(without_guarantee(tmp_path, [["a"], ["b", "c"], ["a", "d"]])))
    assert (box["verdict"].look, box["verdict"].line, box["verdict"].bar) == ("none", "No guarantee", ())
    assert box["not_protected"].startswith("Anything")


def test_risks_are_before_and_after_beside_their_base(dossier):
    rows = {row.text: row for row in overview(dossier)["risks"]}
    found = dossier["singled_out"]
    row = rows["records that 2 known items single out"]
    assert (row.before, row.after) == (share(found["before"]), share(found["after"]))
    assert rows["two known items find the right record"].base.endswith("by chance")
    assert rows["two known items find the right record"].before
    (own,) = headline_of_dossier(dossier).about("privacy")[:1]
    assert (rows[own.text].after, rows[own.text].base) == (own.shown, own.base)


def test_the_strongest_attack_is_there_with_its_base_and_no_risk_twice(dossier):
    weaker = sv.Finding("membership", {}, Trial(200, 1000), Trial.known(0.01), Trial(10, 1000))
    stronger = sv.Finding("guess-items", {"model": "best-counts"}, Trial(900, 1000), Trial.known(0.1), Trial(200, 1000))
    changed = dossier | {"attacks": sv.Findings([weaker, stronger]).to_dict()}
    rows = overview(changed)["risks"]
    assert rows[-1].text == "items guessed right"
    assert rows[-1].base == "10.0 % by chance, 20.0 % for people who are not in the release"
    texts = [row.text for row in overview(dossier)["risks"]]
    assert len(texts) == len(set(texts))


def test_three_figures_of_utility_are_those_of_the_headline(dossier):
    costs = overview(dossier)["costs"]
    assert [(text, base) for _shown, text, base in costs] == [
        (one.text, one.base) for one in headline_of_dossier(dossier).about("utility")[:3]
    ]


def test_without_metrics_the_line_about_the_cost_is_shown(dossier):
    costs = overview(dossier | {"metrics": []})["costs"]
    assert [text for _shown, text, _base in costs] == dossier["summary"]["cost"].split("; ")[:3]


def test_the_recipe_names_side_files_and_the_command_that_repeats_it_if_the_dossier_has_them(dossier):
    without = {key: value for key, value in dossier.items() if key not in ("side_files", "job")}
    assert "side files" not in dict(overview(without)["recipe"])
    sides = [
        {
            "parameter": "categories",
            "source": "categories.csv",
            "options": {},
            "found": "level 'department': 13 categories",
        },
        {"parameter": "hierarchy", "source": "tree.csv", "options": {}, "found": ""},
    ]
    later = without | {"side_files": sides, "job": {"data": "x.csv"}}
    named = "categories: level 'department': 13 categories; hierarchy: tree.csv"
    assert dict(overview(later)["recipe"])["side files"] == named
    assert "setveil run dossier.json" in words_of(section_of(render(later), "Overview"))
    assert "setveil run" not in words_of(section_of(render(without), "Overview"))


@pytest.mark.parametrize(
    ("change", "seed"),
    [
        ({"seed_given": True}, "given by you"),
        ({"seed_given": False}, "random"),
        ({"register": {"together": None}}, "from the register"),
    ],
)
def test_the_recipe_says_where_the_seed_is_from_and_not_what_it_is(dossier, change, seed):
    changed = dossier | change
    assert dict(overview(changed)["recipe"])["seed"] == f"{seed}; kept in dossier.json"
    assert dossier["seed"] not in render(changed)


def test_old_dossiers_have_a_box_too(dossier):
    old = {key: value for key, value in older(dossier).items() if key not in ("attacks", "attack_notes", "singled_out")}
    old["verdict"] = {key: value for key, value in dossier["verdict"].items() if key != "reach"}
    box = overview(old)
    assert box["verdict"].line == "hidden-tendency holds"
    assert box["costs"]
