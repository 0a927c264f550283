"""The part of the report about sensitive items: how they could be inferred from the original, and what was suppressed."""

import copy
import re

import pytest

import setveil as sv
from setveil.report.page import render
from setveil.report.release_charts import release_charts
from setveil.report.sensitive_charts import MOST_DRAWN, MOST_RULES, sensitive_items

from report.dossiers import HOSTILE, dossier_in
from report.test_page import SECTIONS, embedded, titles_of, without_scripts, words_of

NAMES = "Named items that occur in the original"
TITLE = "Sensitive items: inference and suppression"
RULES = re.compile(r'aria-label="The strongest rule for each sensitive item, in the original">(.*?)</table>', re.DOTALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Give the private folder of a release that keeps sensitive items from being inferred."""
    data = sv.read("sample:supermarket?records=2000")
    method = sv.Insert(sensitive=sv.read_sensitive("sample:supermarket", data), rho="0.4")
    folder = tmp_path_factory.mktemp("inferred") / "out"
    sv.publish(data, method, seed=2**90, metrics="full").save(folder)
    return folder.with_name("out.private")


@pytest.fixture
def dossier(made):
    return copy.deepcopy(dossier_in(made))


def items_lost(dossier):
    return next(m for m in dossier["metrics"] if m["name"] == "items-lost")


def test_a_real_release_tells_the_rules_before_the_proof_after_and_what_is_gone(made, dossier):
    page = (made / "report.html").read_text(encoding="utf-8")
    assert page == render(dossier)
    assert titles_of(page) == [*SECTIONS[:4], NAMES, TITLE, *SECTIONS[4:]]
    said, before, verdict = words_of(page), dossier["before"], dossier["verdict"]
    assert before["status"] == "violated"
    betrayed, there = before["violations"]["inferred-item"], before["counts"]["sensitive-items"]
    assert f"In the original, {betrayed} of {there} sensitive items could be inferred" in said
    assert "it is proven for all sets of known items, of any size, that none can be inferred" in said
    assert f"{verdict['counts']['sensitive-occurrences']:,} sensitive occurrences" in said
    details = items_lost(dossier)["details"]
    assert details["sensitive-lost"] == dossier["account"]["sensitive-occurrences-left-out"] > 0
    assert f"sensitive {details['sensitive']:,} {details['sensitive-lost']:,} other" in said
    assert "sensitive" in embedded(page)["specs"]


def test_the_strongest_rules_stand_first_and_can_be_counted_in_the_original(dossier):
    data = sv.read("sample:supermarket?records=2000")
    (table,) = RULES.findall(without_scripts(render(dossier)))
    rows = [words_of(row) for row in re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", table, re.DOTALL)]
    assert len(rows) == min(dossier["before"]["violations"]["inferred-item"], MOST_RULES)
    excess = []
    for row in rows:
        found = re.match(r"(\S+) \{(.*)(?:\}|…) +([\d,]+) of the ([\d,]+) records", row)
        assert found, row
        item, known, both, whole = found.groups()
        both, whole = (int(number.replace(",", "")) for number in (both, whole))
        if "…" not in known:
            labels = [label for label in known.split(", ") if label]
            assert sv.supports(data, [labels, [*labels, item]]).tolist() == [whole, both]
        excess.append(10 * both - 4 * whole)
    assert excess == sorted(excess, reverse=True)
    assert min(excess) > 0


def test_an_original_that_betrays_nothing_is_said_so(dossier):
    dossier["before"] |= {"status": "holds", "violations": {}, "witnesses": []}
    page = render(dossier)
    assert "In the original, no sensitive item could be inferred" in words_of(page)
    assert not RULES.findall(page)


def test_the_chart_draws_those_that_lost_most_and_none_that_lost_nothing(dossier):
    rows = [[f"item {k}", 1000 - k, k] for k in range(MOST_DRAWN + 5)]
    items_lost(dossier)["details"]["by-item"] = rows
    chart = release_charts(dossier)["sensitive"]
    assert [row[0] for row in chart.rows] == [f"item {k}" for k in range(MOST_DRAWN)]
    assert "logarithmic" in chart.note
    items_lost(dossier)["details"]["by-item"] = [["a", 5, 5]]
    assert "sensitive" not in release_charts(dossier)


def test_labels_are_text_and_equal_beginnings_stay_apart(dossier):
    items_lost(dossier)["details"]["by-item"] = [[label, 9, 1] for label in HOSTILE]
    dossier["before"]["witnesses"] = [
        {
            "kind": "inferred-item",
            "place": f"{{{label}}} → x",
            "detail": "1 of the 1 released records",
            "row": None,
            "items": ["x"],
        }
        for label in HOSTILE
    ]
    page = without_scripts(render(dossier))
    assert "<img src=x" not in page
    assert "<svg onload" not in page
    names = [row[0] for row in release_charts(dossier)["sensitive"].rows]
    assert len(set(names)) == len(HOSTILE)


def test_other_releases_have_no_such_part(dossier):
    dossier["before"] = None
    dossier["metrics"] = [m for m in dossier["metrics"] if m["name"] != "items-lost"]
    assert sensitive_items(dossier) is None
    assert TITLE not in render(dossier)
