"""The report in a real browser: every chart is drawn, nothing is fetched, nothing is cut off, and labels stay text."""

from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from jinja2 import ChoiceLoader, DictLoader

from setveil.report import page as page_module
from setveil.report.charts import Axis, Chart, Series, grouped_bars, lines_with_spread
from setveil.report.page import page_with_charts, render
from setveil.report.theme import SHARE

from report.dossiers import (
    HOSTILE,
    border_exposure,
    dossier_in,
    hostile_lists,
    named_itemset,
    with_itemsets,
    with_named,
    without_guarantee,
)

WIDTHS = (400, 1400)
DRAWN = "document.documentElement.dataset.charts === 'drawn'"

MARKS = """() => [...document.querySelectorAll('.chart')].map(place => {
  const svg = place.querySelector('svg');
  const box = svg ? svg.getBoundingClientRect() : {width: 0, height: 0};
  const marks = svg ? svg.querySelectorAll('.role-mark path, .role-mark rect, .role-mark text, .role-mark line').length : 0;
  return {key: place.id, drawn: place.dataset.drawn, width: box.width, height: box.height, marks};
})"""

CUT_OFF = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('.chart svg')) {
    const frame = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      if (box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1))
        found.push(text.textContent);
    }
  }
  for (const cell of document.querySelectorAll('h1, h2, p, li, dd, dt, figcaption, td, th'))
    if (cell.offsetParent && cell.scrollWidth > cell.clientWidth + 1) found.push(cell.textContent);
  return found;
}"""

SIDEWAYS = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"


@dataclass
class Heard:
    """What a browser did and said while it showed a page."""

    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@contextmanager
def shown(browser, path, *, width=1400, drawn=True):
    """Show a page from its file, and hear what the browser asks for and says."""
    heard = Heard()
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.on("request", lambda request: heard.requests.append(request.url))
    page.on("console", lambda message: heard.said.append(message.text))
    page.on("pageerror", lambda error: heard.said.append(str(error)))
    page.on("dialog", lambda dialog: (heard.said.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    if drawn:
        page.wait_for_function(DRAWN)
    yield page, heard
    page.close()


def written(folder, dossier):
    path = folder / "report.html"
    path.write_text(render(dossier), encoding="utf-8")
    return path


UNREADABLE = """() => {
  const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const isSeen = (colour) => (parts(colour)[3] ?? 1) > 0.99;
  const light = (colour) => parts(colour).slice(0, 3).map((c) => colour.startsWith('color(') ? c : c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const paper = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (isSeen(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = [];
  const judge = (element, colour, least) => {
    const [darker, lighter] = [light(colour), light(paper(element))].sort((a, b) => a - b);
    if ((lighter + 0.05) / (darker + 0.05) < least) found.push([element.tagName, element.className, element.textContent.slice(0, 40)]);
  };
  for (const element of document.querySelectorAll('main *, nav a')) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (isText && element.checkVisibility() && !element.closest('svg')) judge(element, getComputedStyle(element).color, 4.5);
  }
  for (const element of document.querySelectorAll('svg .role-axis-label text, svg .role-axis-title text, svg .role-legend text'))
    judge(element, getComputedStyle(element).fill, 4.5);
  for (const element of document.querySelectorAll('svg .mark-rect.role-mark path, svg .mark-symbol.role-mark path')) {
    const fill = getComputedStyle(element).fill;
    if (fill !== 'none' && isSeen(fill)) judge(element, fill, 2.9);
  }
  return found;
}"""
"""The texts and marks with too little contrast to what is behind them."""


@pytest.fixture(scope="module")
def of_scheme(started):
    """Give a browser for a light or a dark screen."""
    known = {}

    def browser(scheme):
        if scheme not in known:
            known[scheme] = started(color_scheme=scheme)
        return known[scheme]

    return browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200, 1600])
def test_a_report_can_be_read_at_every_width_on_light_and_dark_screens(of_scheme, private, width, scheme):
    path = private / "report.html"
    with shown(of_scheme(scheme), path, width=width) as (page, heard):
        box = page.locator("#box").bounding_box()
        assert box["y"] < 250
        assert page.locator("#box .verdict").bounding_box()["y"] < 400
        if width >= 1200:
            assert box["y"] + box["height"] < 900
            assert box["x"] + box["width"] > 0.95 * min(width, 1780)
        contents = page.locator("nav.contents")
        assert contents.is_visible() == (width >= 1200)
        assert contents.locator("a").count() == page.locator("h2").count()
        assert all(chart["drawn"] == "yes" and chart["marks"] >= 2 for chart in page.evaluate(MARKS))
        assert page.evaluate(SIDEWAYS) <= 0
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(UNREADABLE) == []
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]
        assert heard.requests == [path.as_uri()]
        assert heard.said == []


def test_contents_stay_in_view_and_mark_the_current_section(browser, private):
    with shown(browser, private / "report.html", width=1200) as (page, heard):
        assert page.locator("nav.contents a[aria-current]").all_text_contents() == ["Overview"]
        for title in ("Guarantee", "Metrics", "Method and settings", "Overview"):
            page.locator("nav.contents a", has_text=title).click()
            page.locator("nav.contents a[aria-current]", has_text=title).wait_for()
            assert page.locator("nav.contents").bounding_box()["y"] < 20
            assert page.locator("h2", has_text=title).bounding_box()["y"] < 900
        assert heard.said == []


def test_the_same_thing_has_the_same_colour_in_every_chart(browser, dossier, tmp_path):
    colours = """() => Object.entries(Object.groupBy([...document.querySelectorAll('.role-legend-entry')].flatMap((entry) => {
      const names = [...entry.querySelectorAll('.role-legend-label text')].map((text) => text.textContent);
      const marks = [...entry.querySelectorAll('.role-legend-symbol path')].map((path) => {
        const style = getComputedStyle(path);
        return style.fill === 'none' || style.fill === 'rgba(0, 0, 0, 0)' ? style.stroke : style.fill;
      });
      return names.map((name, at) => [name, marks[at]]);
    }), ([name]) => name)).map(([name, found]) => [name, [...new Set(found.map((one) => one[1]))]])"""
    with shown(browser, written(tmp_path, with_itemsets(dossier))) as (page, _heard):
        found = dict(page.evaluate(colours))
        assert {"original", "release", "kept", "lost", "new", "by chance"} <= found.keys()
        assert all(len(several) == 1 for several in found.values()), found
        of_meaning = [found[name][0] for name in ("original", "release", "lost", "new")]
        assert len(set(of_meaning)) == 4


def test_a_dark_report_is_printed_light(of_scheme, private):
    with shown(of_scheme("dark"), private / "report.html") as (page, _heard):
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not page.locator("nav.contents").is_visible()
        assert page.evaluate(UNREADABLE) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_every_chart_of_a_real_report_is_drawn_and_nothing_is_fetched_or_said(browser, private, width):
    path = private / "report.html"
    with shown(browser, path, width=width) as (page, heard):
        charts = {chart.pop("key"): chart for chart in page.evaluate(MARKS)}
        assert {"items", "ranks", "lengths", "status", "attack"} <= charts.keys()
        for key, chart in charts.items():
            assert chart["drawn"] == "yes", key
            assert chart["width"] > 0.6 * min(width, 600), key
            assert chart["height"] > 50, key
            assert chart["marks"] >= 2, key
        assert page.evaluate(SIDEWAYS) <= 0
        assert page.evaluate(CUT_OFF) == []
        assert heard.requests == [path.as_uri()]
        assert heard.said == []


def test_charts_follow_the_width_of_the_page(browser, private):
    with shown(browser, private / "report.html") as (page, heard):
        before = {chart["key"]: chart["width"] for chart in page.evaluate(MARKS)}
        page.set_viewport_size({"width": 400, "height": 800})
        page.wait_for_function("document.querySelector('#lengths svg').getBoundingClientRect().width < 400")
        page.wait_for_function(DRAWN)
        after = {chart["key"]: chart["width"] for chart in page.evaluate(MARKS)}
        assert all(after[key] < min(before[key], 400) for key in before)
        assert page.evaluate(SIDEWAYS) <= 0
        assert heard.said == []


def test_a_bar_tells_its_numbers_when_it_is_pointed_at(browser, private, dossier):
    with shown(browser, private / "report.html") as (page, _heard):
        page.locator("#lengths .role-mark path").nth(0).hover()
        told = page.locator("#vg-tooltip-element").inner_text()
        assert f"{dossier['pictures']['lengths']['bins'][0]['before']:,}" in told
        assert "original" in told


@pytest.mark.parametrize("width", WIDTHS)
def test_frequent_itemsets_are_drawn_with_the_reasons_of_those_that_are_not(browser, dossier, tmp_path, width):
    with shown(browser, written(tmp_path, with_itemsets(dossier)), width=width) as (page, heard):
        assert page.locator("#itemsets .mark-rect path").count() == 6
        numbers = page.locator("#itemsets .mark-text.role-mark text").all_text_contents()
        assert {"1,000", "2,600", "1,200"} <= set(numbers)
        assert "more than 5,000,000 itemsets" in page.inner_text("body")
        assert page.evaluate(CUT_OFF) == []
        assert heard.said == []


@pytest.mark.parametrize("width", WIDTHS)
def test_named_itemsets_are_drawn_and_told_on_narrow_pages_too(browser, dossier, tmp_path, width):
    rows = [
        named_itemset(
            label, f"item {n}", lost=n, lost_such_as=[[label]], cannot_be_kept=2, cannot_be_kept_such_as=[[label]]
        )
        for n, label in enumerate(HOSTILE)
    ]
    changed = with_named(dossier, [*rows, named_itemset("milk", before=50_000, target=0, after=0)])
    changed["metrics"].append(border_exposure(0.1818, 0.01226))
    path = written(tmp_path, changed)
    with shown(browser, path, width=width) as (page, heard):
        assert page.locator("#named .mark-symbol.role-mark path").count() == 3 * (len(HOSTILE) + 1)
        assert page.locator("#named .mark-rule.role-mark line").count() == 1
        assert page.locator("#border .mark-rect path").count() == 2
        assert page.title() == "setveil report: part-swap"
        assert page.get_by_role("row", name="item 3").last.is_visible()
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(SIDEWAYS) <= 0
        assert heard.requests == [path.as_uri()]
        assert heard.said == []


def test_without_javascript_the_numbers_are_there_to_read(started, private, dossier):
    without = started(java_script_enabled=False)
    with shown(without, private / "report.html", drawn=False) as (page, _heard):
        assert page.locator(".chart svg").count() == 0
        first = dossier["pictures"]["items"]["most_frequent"][0]
        row = page.get_by_role("row", name=first["item"])
        assert row.is_visible()
        assert f"{first['before']:,}" in row.inner_text()
        assert page.get_by_text("charts on this page need JavaScript").is_visible()
        assert page.locator("figure details:not([open])").count() == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_labels_stay_text(browser, tmp_path, width):
    folder = without_guarantee(tmp_path, hostile_lists(), source=HOSTILE[0])
    with shown(browser, folder / "report.html", width=width) as (page, heard):
        assert page.title() == "setveil report: nothing"
        assert heard.said == []
        assert heard.requests == [(folder / "report.html").as_uri()]
        labels = page.locator("#items .role-axis-label text")
        drawn = labels.all_text_contents()
        assert {"{{7*7}}", "${7*7}", "datum.item"} <= set(drawn)
        assert "49" not in drawn
        rows = page.locator("#items ~ details th[scope=row]").all_text_contents()
        assert {label for label in HOSTILE if len(label) < 100} <= set(rows)
        assert page.locator("body img, .chart + script").count() == 0
        page.locator("#items .mark-symbol.role-mark path").nth(3).hover(force=True)
        assert page.title() == "setveil report: nothing"
        assert page.evaluate(SIDEWAYS) <= 0
        assert heard.said == []


def test_even_html_that_slipped_through_would_not_run(browser, tmp_path, dossier):
    """The page's policy names its own scripts; others do not run, and nothing is loaded."""
    path = written(tmp_path, dossier)
    slipped = "<script>document.title = 'hit'</script><img src='https://example.invalid/x.png' onerror='document.title = `hit`'>"
    path.write_text(path.read_text(encoding="utf-8").replace("<header>", "<header>" + slipped, 1), encoding="utf-8")
    with shown(browser, path) as (page, heard):
        assert page.title() == "setveil report: part-swap"
        assert all("Content Security Policy" in said for said in heard.said)
        assert len(heard.said) >= 2
        assert {chart["drawn"] for chart in page.evaluate(MARKS)} == {"yes"}


@pytest.mark.parametrize(
    "lists", [[["a"], ["b", "c"], ["a", "d"]], [["a"]], [[], ["a"] * 1], [[str(i) for i in range(3000)], ["1"]]]
)
def test_tiny_and_lopsided_data_are_drawn_too(browser, tmp_path, lists):
    folder = without_guarantee(tmp_path, lists)
    assert dossier_in(folder)["pictures"]["lengths"]["bins"]
    with shown(browser, folder / "report.html", width=400) as (page, heard):
        assert all(chart["drawn"] == "yes" and chart["marks"] for chart in page.evaluate(MARKS))
        assert page.evaluate(SIDEWAYS) <= 0
        assert heard.said == []


def test_on_paper_charts_are_as_wide_as_the_paper(browser, private):
    with shown(browser, private / "report.html") as (page, _heard):
        page.emulate_media(media="print")
        page.add_style_tag(content="html { width: 700px }")
        frames = page.evaluate(
            "[...document.querySelectorAll('.chart svg')].map(svg => svg.getBoundingClientRect().right)"
        )
        assert frames
        assert max(frames) <= 700
        assert page.evaluate("[...document.querySelectorAll('.wrap')].every(w => w.scrollWidth <= 700)")


OTHER_PAGE = """{% extends "base.html.jinja" %}{% from "parts.html.jinja" import chart %}
{% block body %}<h1>Another page</h1>{% for drawn in all %}{{ chart(drawn) }}{% endfor %}{% endblock %}"""


@pytest.mark.parametrize("width", WIDTHS)
def test_another_page_embeds_charts_of_many_series_the_same_way(browser, tmp_path, monkeypatch, width):
    methods = Series("method", ("part-swap", "full-swap", "rand-swap", "part-supp", "split-person"))
    rows = [
        {"support": support, "method": method, "kept": 0.5, "least": 0.4, "most": 0.6}
        for method in methods.names
        for support in ("5%", "2%", "1%", "0.5%", "0.2%")
    ]
    sides = {"across": Axis("support", "least support", ""), "up": Axis("kept", "share kept", SHARE, limits=(0, 1))}
    specs = {
        "lines": lines_with_spread(rows, **sides, series=methods, spread=("least", "most")),
        "bars": grouped_bars(rows, **sides, series=methods),
    }
    charts = [Chart(key, key, "What is drawn.", spec, ("support",), [("5%",)]) for key, spec in specs.items()]
    plain = page_module.PackageLoader
    with_another = lambda *place: ChoiceLoader([DictLoader({"other": OTHER_PAGE}), plain(*place)])  # noqa: E731 - used once
    monkeypatch.setattr(page_module, "PackageLoader", with_another)
    path = tmp_path / "other.html"
    path.write_text(page_with_charts("other", charts, all=charts), encoding="utf-8")
    with shown(browser, path, width=width) as (page, heard):
        assert [chart["drawn"] for chart in page.evaluate(MARKS)] == ["yes", "yes"]
        assert page.locator("#bars .mark-rect path").count() == len(rows)
        assert page.locator("#lines .mark-symbol.role-mark path").count() == len(rows)
        assert {*methods.names} <= {*page.locator("#lines .role-legend text").all_text_contents()}
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(SIDEWAYS) <= 0
        assert heard.said == []
