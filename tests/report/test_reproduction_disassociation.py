"""The page of the disassociation paper run again, in a real browser and as text."""

import copy
import json

import pytest

from setveil.report.reproduction_disassociation_charts import COLOURS, disassociation_charts
from setveil.report.reproduction_page import render_reproduction
from setveil.reproduce import experiments

from report.test_browser import WIDTHS, shown
from report.test_reproduction import charts_of, written
from reproduce.tiny import shrink_disassociation, write_tiny


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Give what a small run in full found, as plain values."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_disassociation(patch)
        folder = write_tiny(tmp_path_factory.mktemp("data"), names=["bms-webview-1"])
        return json.loads(json.dumps(experiments("disassociation")(folder).to_dict()))


def drawn(found):
    return disassociation_charts(found, ["BMS1"], prefix="paper-")


@pytest.mark.parametrize("width", WIDTHS)
def test_every_chart_is_drawn_nothing_is_cut_off_fetched_or_said(browser, found, tmp_path, width):
    charts = charts_of(browser, written(tmp_path, found), width)
    assert len(charts) == sum(len(group) for group in drawn(found).values())


def test_each_table_and_figure_has_its_charts(found):
    charts = drawn(found)
    assert {key: len(group) for key, group in charts.items()} == {
        "associations": 4, "ted": 2, "pairs": 2, "triples": 2, "rules": 1, "beside": 5,
    }  # fmt: skip
    keys = [chart.key for group in charts.values() for chart in group]
    assert len(keys) == len(set(keys))
    ted = {row[0]: row[1:] for row in charts["ted"][0].rows}
    assert [*ted] == ["wheel (as printed)", "wheel", "wheel, safe"]
    assert ted["wheel (as printed)"][0] == "89,956"
    assert charts["ted"][0].columns[1:4] == ("k=m=2, δ=20", "k=m=2, δ=40", "k=m=2, δ=60")
    errors = {row[0]: row[1:] for row in charts["associations"][0].rows}
    assert (errors["HP (as printed)"], errors["UGAC (as printed)"]) == (("66.0", "–", "–"), ("34.0", "–", "–"))
    pairs = {row[0]: row[1:] for row in charts["pairs"][0].rows}
    assert pairs["original (as printed)"][:2] == ("1,204", "916")
    assert charts["pairs"][0].note.startswith("Their items: 1: ")
    assert " → " in charts["rules"][0].note


def test_each_claim_stands_somewhere_once(browser, found, tmp_path):
    with shown(browser, written(tmp_path, found)) as (page, _heard):
        assert page.locator("article").count() == len(found["verdicts"])
        for verdict in found["verdicts"]:
            article = page.locator(f"#claim-{verdict['claim']}")
            assert article.locator(".status").inner_text() == verdict["status"]


def test_every_line_has_a_colour_of_its_own(found):
    assert set(COLOURS) == set(found["methods"])
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_the_page_tells_whether_the_run_was_quick(found):
    page = render_reproduction(found)
    assert "<code>setveil reproduce disassociation</code>" in page
    assert "with every one of the 3 seeds" in page
    quick = copy.deepcopy(found)
    quick["about"] |= {"seeds": [0], "quick": True}
    page = render_reproduction(quick)
    assert "<code>setveil reproduce disassociation --quick</code>" in page
    assert "with the one seed" in page
