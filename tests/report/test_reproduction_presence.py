"""The page of the site-presence paper run again, in a real browser and as text."""

import copy
import json

import pytest

from setveil.report.reproduction_page import render_reproduction
from setveil.report.reproduction_presence_charts import COLOURS, NOTHING, presence_charts
from setveil.reproduce import experiments

from report.test_browser import WIDTHS, shown
from report.test_reproduction import charts_of, written
from reproduce.tiny import shrink_presence, write_tiny_adult

DATASETS = ["Adult", "Adult, B inside A"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Give what a small run in full found, as plain values."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_presence(patch)
        folder = write_tiny_adult(tmp_path_factory.mktemp("data"))
        return json.loads(json.dumps(experiments("site-presence")(folder).to_dict()))


def drawn(found):
    return presence_charts(found, DATASETS, prefix="paper-")


@pytest.mark.parametrize("width", WIDTHS)
def test_every_chart_is_drawn_nothing_is_cut_off_fetched_or_said(browser, found, tmp_path, width):
    charts = charts_of(browser, written(tmp_path, found), width)
    assert len(charts) == sum(len(group) for group in drawn(found).values())


def test_each_figure_has_its_charts(found):
    charts = drawn(found)
    assert {key: len(group) for key, group in charts.items()} == {
        "mondrian": 4, "mpalm": 2, "limits": 8, "beside": 4,
    }  # fmt: skip
    keys = [chart.key for group in charts.values() for chart in group]
    assert len(keys) == len(set(keys))
    assert [row[0] for row in charts["mondrian"][0].rows][-1] == "one group"
    assert charts["mpalm"][0].columns == ("method", "θ=5%", "θ=10%", "θ=20%", "θ=30%")


def fields(chart):
    """Return what a chart of limits shows, by its limits."""
    return {(row["least"], row["largest"]): row for row in chart.spec["data"]["values"]}


def test_limits_are_coloured_in_the_steps_of_the_paper(found):
    given = copy.deepcopy(found)
    stated = {"A: 0.1 to 0.9": 0.1999, "A: 0.2 to 0.9": 0.2001, "A: 0.3 to 0.9": 0.65, "A: 0.1 to 0.8": 4.0}
    for row in given["summary"]:
        if row["method"] == "protocol" and row["metric"] == "error-even" and row["support"] in stated:
            row["mean"] = row["low"] = row["high"] = stated[row["support"]]
    shown = fields(drawn(given)["limits"][0])
    assert {limits: shown[limits]["band"] for limits in (("0.1", "0.9"), ("0.2", "0.9"), ("0.3", "0.9"), ("0.1", "0.8"))} == {
        ("0.1", "0.9"): "0–20 %", ("0.2", "0.9"): "20–40 %", ("0.3", "0.9"): "60–80 %", ("0.1", "0.8"): "80 % and more",
    }  # fmt: skip
    assert (shown["0.3", "0.9"]["dark"], shown["0.2", "0.9"]["dark"]) == (True, False)


def test_limits_without_a_table_are_told_as_such_and_not_as_a_number(found):
    chart = drawn(found)["limits"][0]
    shown = fields(chart)
    assert {limits for limits, row in shown.items() if row["band"] == NOTHING} == {
        limits for limits in shown if not float(limits[0]) <= 1 / 3 <= float(limits[1])
    }
    table = {row[0]: dict(zip(chart.columns[1:], row[1:], strict=True)) for row in chart.rows}
    assert table["0.1"]["at most 0.3"] == NOTHING
    assert table["0.7"]["at most 0.6"] == ""
    assert table["0.1"]["at most 0.9"].endswith("%")


def test_domain_errors_are_shares_of_that_of_one_group(found):
    shown = fields(drawn(found)["limits"][2])
    mean = {(row["method"], row["support"]): row["mean"] for row in found["summary"] if row["metric"] == "error-domain"}
    share = mean["protocol", "A: 0.1 to 0.9"] / mean["one-group", "θ=10%"]
    assert shown["0.1", "0.9"]["label"] == f"{share:.1%}"


def test_each_claim_stands_somewhere_once(browser, found, tmp_path):
    with shown(browser, written(tmp_path, found)) as (page, _heard):
        assert page.locator("article").count() == len(found["verdicts"])
        for verdict in found["verdicts"]:
            article = page.locator(f"#claim-{verdict['claim']}")
            assert article.locator(".status").inner_text() == verdict["status"]


def test_every_line_has_a_colour_of_its_own(found):
    assert set(COLOURS) == set(found["methods"])
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_the_page_tells_people_and_whether_the_run_was_quick(found):
    page = render_reproduction(found)
    assert '<th scope="col">at neither</th>' in page
    assert "items a record" not in page
    assert "<code>setveil reproduce site-presence</code>" in page
    assert "with every one of the 2 pairs of keys" in page
    quick = copy.deepcopy(found)
    quick["about"] |= {"seeds": [0], "quick": True}
    page = render_reproduction(quick)
    assert "<code>setveil reproduce site-presence --quick</code>" in page
    assert "with the one pair of keys" in page
