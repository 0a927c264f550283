"""The page of the ρ-uncertainty paper run again, in a real browser and as text."""

import copy
import json

import pytest

from setveil.report.reproduction_page import render_reproduction
from setveil.report.reproduction_uncertainty_charts import COLOURS, uncertainty_charts
from setveil.reproduce import experiments

from report.test_browser import WIDTHS, shown
from report.test_reproduction import charts_of, written
from reproduce.tiny import shrink_uncertainty, write_tiny


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Give what a small run in full found, as plain values."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_uncertainty(patch)
        folder = write_tiny(tmp_path_factory.mktemp("data"))
        return json.loads(json.dumps(experiments("rho-uncertainty")(folder).to_dict()))


@pytest.mark.parametrize("width", WIDTHS)
def test_every_chart_is_drawn_nothing_is_cut_off_fetched_or_said(browser, found, tmp_path, width):
    charts = charts_of(browser, written(tmp_path, found), width)
    assert len(charts) == sum(len(list_) for size in ("paper", "full") for list_ in drawn(found, size).values())


def drawn(found, size):
    names = [entry["name"] for entry in found["datasets"] if entry["size"] == size]
    return uncertainty_charts(found, names, prefix=f"{size}-")


def test_each_figure_has_its_charts(found):
    charts = drawn(found, "paper")
    assert {key: len(group) for key, group in charts.items()} == {
        "rho": 3, "loss": 2, "divergence": 2, "rules": 4, "table": 1, "scale": 1, "t-max": 2, "buffer": 0, "permutation": 2, "beside": 3,
    }  # fmt: skip
    keys = [chart.key for size in ("paper", "full") for group in drawn(found, size).values() for chart in group]
    assert len(keys) == len(set(keys))
    table = {row[0]: row[1:] for row in charts["loss"][1].rows}
    assert {"all sensitive deleted", "estimated bound", "Insert", "Mine, unsplit"} <= set(table)
    assert table["Mine"] != table["estimated bound"]
    assert "Mine (as printed)" in {row[0] for row in charts["table"][0].rows}


def test_each_claim_stands_somewhere_once(browser, found, tmp_path):
    with shown(browser, written(tmp_path, found)) as (page, _heard):
        assert page.locator("article").count() == len(found["verdicts"])
        for verdict in found["verdicts"]:
            article = page.locator(f"#claim-{verdict['claim']}")
            assert article.locator(".status").inner_text() == verdict["status"]
        section = page.locator("section", has=page.locator("h2", has_text="Figure 8"))
        assert "There is nothing to draw" in section.inner_text()


def test_every_line_has_a_colour_of_its_own(found):
    assert set(COLOURS) == set(found["methods"]) - {"original"}
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_where_there_is_no_figure_the_reason_is_told(found):
    few = copy.deepcopy(found)
    for row in few["summary"]:
        if (row["dataset"], row["method"], row["metric"]) == ("WV", "mine", "cut-rule-similarity"):
            row |= {"mean": None, "low": None, "high": None, "note": "too many to list (3,000,000)"}
    chart = drawn(few, "paper")["rules"][0]
    assert "Mine on WV: too many to list (3,000,000)" in chart.note
    assert render_reproduction(few)


def test_the_page_of_a_quick_run_says_nothing_of_other_data(found):
    quick = copy.deepcopy(found)
    quick["datasets"] = quick["datasets"][:1]
    quick["about"]["seeds"] = [0]
    page = render_reproduction(quick)
    assert "On a part of POS and a stand-in for Syn" not in page
    assert "with the one draw of sensitive items" in page
    assert "rho-uncertainty --quick" in page
