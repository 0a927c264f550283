"""The page of a comparison in a real browser: every chart is drawn, nothing is cut off, and the table can be sorted."""

import altair as alt
import pytest

from setveil.comparison.charts import frontier, itemset_chart, parameter_charts
from setveil.comparison.page import comparison_page

from comparison.made import comparison
from report.dossiers import HOSTILE
from report.test_browser import CUT_OFF, MARKS, SIDEWAYS, UNREADABLE, of_scheme, shown

__all__ = ["of_scheme"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = tmp_path_factory.mktemp("comparison") / "compare.html"
    page.write_text(comparison_page(comparison()), encoding="utf-8")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200, 1600])
def test_a_comparison_can_be_read_at_every_width_on_light_and_dark_screens(of_scheme, path, width, scheme):
    with shown(of_scheme(scheme), path, width=width) as (page, heard):
        charts = {chart["key"]: chart for chart in page.evaluate(MARKS)}
        assert {"kept_and_gained", "itemsets", "parameter_0_task", "parameter_0_excess"} <= charts.keys()
        assert all(chart["drawn"] == "yes" and chart["marks"] >= 2 for chart in charts.values())
        assert page.evaluate(SIDEWAYS) <= 0
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(UNREADABLE) == []
        assert page.locator("nav.contents").is_visible() == (width >= 1200)
        assert heard.requests == [path.as_uri()]
        assert heard.said == []


def test_the_charts_follow_the_schema_of_vega_lite():
    found = comparison()
    charts = [frontier(found), *parameter_charts(found), itemset_chart(found)]
    assert len(charts) == 6
    for chart in charts:
        alt.Chart.from_dict(chart.spec)


def test_the_frontier_shows_points_crosses_rings_and_the_line(browser, path):
    with shown(browser, path) as (page, _heard):
        shapes = page.evaluate("""() => [...document.querySelectorAll('#kept_and_gained .mark-symbol.role-mark path')]
          .map((mark) => [mark.getAttribute('fill'), (mark.getAttribute('d').match(/M/g) ?? []).length])""")
        filled = [fill for fill, _parts in shapes if fill not in ("none", "transparent", None)]
        crosses = [parts for _fill, parts in shapes if parts == 2]
        assert (len(filled), len(crosses), len(shapes)) == (5, 1, 7)
        line = page.locator("#kept_and_gained .mark-line.role-mark path").first.get_attribute("d")
        assert line.count("L") == 3  # four set-ups that no other one beats
        page.locator("#kept_and_gained .mark-symbol.role-mark path").first.hover()
        page.locator("#vg-tooltip-element", has_text="strongest attack").wait_for()


def test_the_table_is_sorted_and_shows_only_what_differs(browser, path):
    with shown(browser, path) as (page, heard):
        table = page.locator("#set-ups")
        headings = table.locator("thead th")

        def column(title):
            place = [text.strip() for text in headings.all_text_contents()].index(title)
            return [row.locator("td").nth(place).text_content() for row in table.locator("tbody tr").all()]

        assert [one.is_visible() for one in headings.filter(has_text="rho").all()] == [True]
        hidden = [
            text for text in ("sensitive", "m", "itemsets") if not headings.get_by_text(text, exact=True).is_visible()
        ]
        assert hidden == ["sensitive", "m", "itemsets"]
        page.get_by_label("Only what differs").uncheck()
        assert headings.get_by_text("sensitive", exact=True).is_visible()
        headings.get_by_role("button", name="task", exact=True).click()
        values = [float(text.split(" ")[0]) for text in column("task") if text]
        assert values == sorted(values)
        assert column("task")[-2:] == ["", ""]
        headings.get_by_role("button", name="task", exact=True).click()
        assert [float(text.split(" ")[0]) for text in column("task") if text] == values[::-1]
        assert column("task")[-2:] == ["", ""]
        assert headings.filter(has_text="task").first.get_attribute("aria-sort") == "descending"
        headings.get_by_role("button", name="method", exact=True).click()
        assert column("method") == sorted(column("method"))
        assert heard.said == []


def test_refusals_and_what_was_not_tried_are_listed(path):
    text = path.read_text(encoding="utf-8")
    assert "can be hidden; choose <code>k=2</code>" in text
    assert "<dt>not tried</dt><dd>exact-swap secret items.txt 2%</dd>" in text
    assert "<dt>sample only</dt><dd>1 set-up" in text
    assert "Optimistic" not in text


def test_without_javascript_the_numbers_are_there(started, path):
    with shown(started(java_script_enabled=False), path, drawn=False) as (page, _heard):
        assert page.locator("#no-charts").is_visible()
        assert page.get_by_role("table", name="What each set-up keeps").is_visible()
        assert page.locator("#set-ups tbody tr").count() == 9


def test_hostile_texts_stay_text(browser, tmp_path):
    path = tmp_path / "compare.html"
    path.write_text(comparison_page(comparison(source=HOSTILE[0], value=" ".join(HOSTILE))), encoding="utf-8")
    with shown(browser, path) as (page, heard):
        assert page.title() == "setveil: comparison of 9 set-ups"
        assert all(chart["drawn"] == "yes" for chart in page.evaluate(MARKS))
        assert page.evaluate(SIDEWAYS) <= 0
        assert (heard.requests, heard.said) == ([path.as_uri()], [])
