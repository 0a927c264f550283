"""The page of a paper run again, in a real browser and as text."""

import copy
import json

import pytest

from setveil.report.reproduction_charts import reproduction_charts
from setveil.report.reproduction_itemset_charts import COLOURS, itemset_charts
from setveil.report.reproduction_page import render_reproduction
from setveil.reproduce import experiments
from setveil.reproduce.tendency_swapping import reproduce

from report.test_browser import CUT_OFF, MARKS, SIDEWAYS, WIDTHS, shown
from reproduce.tiny import shrink, shrink_itemsets, write_tiny, write_tiny_foodmart


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Give what a small run in full found, as plain values."""
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        return json.loads(json.dumps(reproduce(write_tiny(tmp_path_factory.mktemp("data"))).to_dict()))


def written(folder, found):
    """Write the page of a paper run again, and return its file."""
    path = folder / "report.html"
    path.write_text(render_reproduction(found), encoding="utf-8")
    return path


def charts_of(browser, path, width):
    """Show a page with charts; all are drawn, nothing is cut off, fetched or said. Return what each has, by its key."""
    with shown(browser, path, width=width) as (page, heard):
        charts = {chart.pop("key"): chart for chart in page.evaluate(MARKS)}
        for key, chart in charts.items():
            assert chart["drawn"] == "yes", key
            assert chart["width"] > 0.6 * min(width, 600), key
        page.evaluate("document.querySelectorAll('article details').forEach(d => d.open = true)")
        assert page.evaluate(SIDEWAYS) <= 0
        assert page.evaluate(CUT_OFF) == []
        assert heard.requests == [path.as_uri()]
        assert heard.said == []
    return charts


@pytest.mark.parametrize("width", WIDTHS)
def test_every_chart_is_drawn_nothing_is_cut_off_fetched_or_said(browser, found, tmp_path, width):
    charts = charts_of(browser, written(tmp_path, found), width)
    assert len(charts) == (3 + 3 + 4) + (4 + 4 + 4)
    assert [key for key, chart in charts.items() if chart["marks"] < 6] == []


def test_each_claim_stands_beside_its_figure_with_its_verdict(browser, found, tmp_path):
    with shown(browser, written(tmp_path, found)) as (page, _heard):
        assert page.locator("article").count() == len(found["verdicts"])
        for verdict in found["verdicts"]:
            article = page.locator(f"#claim-{verdict['claim']}")
            assert article.locator(".status").inner_text() == verdict["status"]
            assert verdict["statement"] in article.inner_text()
            assert page.locator(f"a[href='#claim-{verdict['claim']}']").count() == 1
        section = page.locator("section", has=page.locator("h2", has_text="Figure 5"))
        assert section.locator("#claim-split-person-zero").count() == 1
        assert section.locator("#paper-dissimilarity svg").count() == 1


def test_a_method_has_one_colour_in_all_charts(found):
    charts = reproduction_charts(found["summary"], found["methods"], ["BMS1", "BMS2"], prefix="")
    colours = {}
    for chart in (chart for group in charts.values() for chart in group):
        for scale in _colour_scales(chart.spec):
            for name, colour in zip(scale["domain"], scale["range"], strict=True):
                assert colours.setdefault(name, colour) == colour
    assert len(colours) == len(set(colours.values())) == len(found["methods"])


def _colour_scales(spec):
    for layer in spec.get("layer", [spec]):
        if "color" in layer.get("encoding", {}):
            yield layer["encoding"]["color"]["scale"]


def test_without_full_data_the_page_says_nothing_of_them(found):
    quick = copy.deepcopy(found)
    quick["datasets"] = [entry for entry in quick["datasets"] if entry["size"] == "paper"]
    page = render_reproduction(quick)
    assert "In full, which the paper could not do" not in page
    assert "tendency-swapping --quick" in page


def test_numbers_that_are_missing_are_told_and_drawn_around(found):
    few = copy.deepcopy(found)
    for row in few["summary"]:
        if (row["dataset"], row["method"]) == ("BMS1", "part-swap") and row["support"] == "2%":
            row |= {"mean": None, "low": None, "high": None, "note": "too many to list (3,000,000)"}
    chart = reproduction_charts(few["summary"], few["methods"], ["BMS1"], prefix="")["itemsets"][0]
    assert chart.note == "PartSwap (ours), 2%: too many to list (3,000,000)"
    assert {row[0]: row[1] for row in chart.rows}["PartSwap (ours)"] == "–"
    assert render_reproduction(few)


def test_hostile_texts_stay_text(found):
    hostile = copy.deepcopy(found)
    hostile["verdicts"][0]["statement"] = "<script>alert(1)</script>"
    assert "<script>alert(1)" not in render_reproduction(hostile)


# -- the itemset paper ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def itemsets(tmp_path_factory):
    """Give what a small run of the itemset paper found, as plain values."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_itemsets(patch)
        folder = write_tiny_foodmart(write_tiny(tmp_path_factory.mktemp("data")))
        return json.loads(json.dumps(experiments("itemset-swapping")(folder).to_dict()))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_of_the_itemset_paper_is_drawn_and_nothing_is_cut_off(browser, itemsets, tmp_path, width):
    charts = charts_of(browser, written(tmp_path, itemsets), width)
    assert len(charts) == (1 + 3 + 2 + 1 + 5) + (1 + 3 + 1 + 1 + 5)


def test_each_claim_of_the_itemset_paper_stands_somewhere_once(browser, itemsets, tmp_path):
    with shown(browser, written(tmp_path, itemsets)) as (page, _heard):
        assert page.locator("article").count() == len(itemsets["verdicts"])
        for verdict in itemsets["verdicts"]:
            article = page.locator(f"#claim-{verdict['claim']}")
            assert article.locator(".status").inner_text() == verdict["status"]
        section = page.locator("section", has=page.locator("h2", has_text="Figures 6 and 7"))
        assert section.locator("#claim-dissimilarity-order").count() == 1
        assert section.locator("#paper-item-frequencies svg").count() == 1
        assert "366.436" in section.inner_text()


def test_lines_of_the_itemset_paper_have_a_colour_each_and_tables_have_all(itemsets):
    charts = itemset_charts(itemsets, ["FoodMart"], prefix="", histogram=True)
    colours = {}
    for chart in (chart for group in charts.values() for chart in group):
        for scale in _colour_scales(chart.spec):
            for name, colour in zip(scale["domain"], scale["range"], strict=True):
                assert colours.setdefault(name, colour) == colour
    assert set(colours) == {itemsets["methods"][key] for key in COLOURS}
    assert len(set(COLOURS.values())) == len(COLOURS)
    table = {row[0]: row[1:] for row in charts["artificial"][0].rows}
    assert table["NV (as printed)"] == ("0.947", "0.902", "0.902", "0.411")
    assert len(table) == len(COLOURS)


def test_the_page_of_a_quick_run_says_nothing_of_other_data(itemsets):
    quick = copy.deepcopy(itemsets)
    quick["datasets"] = [entry for entry in quick["datasets"] if entry["size"] == "paper"]
    quick["about"]["seeds"] = [0]
    page = render_reproduction(quick)
    assert "On other data, which the paper does not have" not in page
    assert "with the one draw of named itemsets" in page
    assert "itemset-swapping --quick" in page
