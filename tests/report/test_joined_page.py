"""The report pages of a trial and of a provider's run: numbers, texts, and that they need no other file."""

import re
from fractions import Fraction
from html import unescape

import pytest

from setveil.presence.openings import KINDS
from setveil.presence.report.charts import MOST_POINTS, REST, run_charts, share_chart, size_chart, trial_charts
from setveil.presence.report.page import COUNTS, OPENINGS, render_joined, render_run
from setveil.presence.secure.backends import EXPERIMENTAL

from report.dossiers import HOSTILE
from report.joined_dossiers import of_run, of_trial, query_error
from report.test_browser import CUT_OFF, MARKS, SIDEWAYS, WIDTHS, shown
from report.test_charts import drawn_rows
from report.test_page import embedded, titles_of, without_scripts, words_of

SECTIONS = [
    "The joined table",
    "Guarantees and the results of their checks",
    "Groups: shares of common users, and sizes",
    "What the run revealed",
    "Communication and computation",
    "Utility of the table",
    "Method and versions",
]
LEVELS = ("megabytes", "messages", "seconds")


def measured():
    dossier = of_trial()
    dossier["measurements"] = [query_error(5.25)]
    return dossier


@pytest.mark.parametrize("render", [lambda: render_joined(measured()), lambda: render_run(of_run("b"))])
def test_nothing_is_loaded_from_elsewhere(render):
    page = without_scripts(render())
    assert not re.findall(r"https?:|//[a-z]|@import|url\(|src=|<link|<iframe|<img|<object|<embed", page)
    assert "default-src 'none'" in unescape(page)


def test_sections_are_in_order():
    assert titles_of(render_joined(measured())) == SECTIONS
    own = [title for place, title in enumerate(SECTIONS) if place not in {2, 5}]
    assert titles_of(render_run(of_run("a"))) == own


def test_every_chart_occurs_once_with_a_text_and_its_numbers():
    dossier = measured()
    page, drawn = render_joined(dossier), trial_charts(dossier)
    assert [*drawn] == ["shares", "sizes", "openings", *LEVELS, "queries"]
    assert embedded(page)["specs"].keys() == drawn.keys()
    for key, chart in drawn.items():
        assert page.count(f'id="{key}" role="img" aria-label="') == 1
        assert len(chart.text) > 20
        assert chart.rows
        assert all(len(row) == len(chart.columns) for row in chart.rows)
    record = of_run("a")
    assert embedded(render_run(record))["specs"].keys() == run_charts(record).keys() == {"openings", *LEVELS}


def test_a_trial_says_what_was_made_and_that_it_holds():
    dossier = of_trial()
    said, users, table = words_of(render_joined(dossier)), dossier["users"], dossier["table"]
    assert f"{table['records']:,} records in {table['groups']:,} groups" in said
    for name, number in (("users of A", users["a"]), ("users of B", users["b"]), ("users of both", users["both"])):
        assert f"{name} {number:,}" in said
    assert dossier["policy_sha256"] in said
    assert SECTIONS[1] in said
    for guarantee in dossier["card"]["guarantees"]:
        assert f"{guarantee['name']} holds" in said
        assert guarantee["statement"] in said
        assert all(line in said for line in guarantee["not_covered"])
    assert "Checked in a trial, with both tables." in said
    assert "docs/presence/what-leaks.md" in said


def test_a_guarantee_that_is_violated_or_was_not_checked_is_shown_as_such():
    dossier = of_trial()
    dossier["verdicts"] = [
        {**dossier["verdicts"][0], "status": "violated", "violations": {"too-few-records": 7}},
    ]
    said = words_of(render_joined(dossier))
    assert "k-anonymity is violated" in said
    assert "too few records: 7" in said
    assert "site-presence is undecided" in said
    assert "holds" not in re.sub(SECTIONS[1], "", said)


@pytest.mark.parametrize("backend", ["two-party", "clear"])
def test_only_the_two_party_computation_is_called_experimental(backend):
    pages = render_joined(of_trial(600, backend)), render_run(of_run("b", 600, backend))
    assert [EXPERIMENTAL in words_of(page) for page in pages] == [backend == "two-party"] * 2
    assert ["The providers learn nothing about" in words_of(page) for page in pages] == [backend == "two-party"] * 2
    assert ["Nothing was hidden between the parties" in words_of(page) for page in pages] == [backend == "clear"] * 2


def test_shares_are_those_of_all_groups_in_order_between_the_limits():
    dossier = of_trial()
    chart = trial_charts(dossier)["shares"]
    rows = drawn_rows(chart.spec)
    groups = dossier["table"]["groups"]
    assert groups <= MOST_POINTS
    for role, name in (("a", "of A's users"), ("b", "of B's users")):
        shares_drawn = [row["share"] for row in rows if row.get("provider") == name]
        expected = sorted(float(Fraction(*pair)) for pair in dossier["shares"][role])
        assert shares_drawn == expected
        assert all(0.1 <= share <= 0.9 for share in expected)
    limits = {(row["share"], row["name"]) for row in rows if "side" in row}
    assert limits == {(0.9, "at most 0.9 (A and B)"), (0.1, "at least 0.1 (A and B)")}
    assert "each sensitive value" in chart.note


def test_different_limits_are_different_lines():
    method = {"max_a": "2/3", "min_a": "0", "max_b": "100%", "min_b": "0%", "scope": "qi"}
    chart = share_chart({"a": [[1, 2], [0, 0]], "b": [[1, 4], [1, 1]]}, method)
    lines = {row["name"]: row["share"] for row in drawn_rows(chart.spec) if "side" in row}
    assert lines == {"at most 2/3 (A)": 2 / 3, "at most 100% (B)": 1.0, "at least 0 (A and B)": 0.0}
    assert chart.rows == [(1, "1 of 2 (50.0 %)", "1 of 4 (25.0 %)"), (2, None, "1 of 1 (100.0 %)")]
    assert "each sensitive value" not in chart.note
    assert share_chart({"a": [[0, 0]], "b": [[0, 1]]}, method) is None


def test_of_many_groups_some_are_drawn_the_smallest_and_the_largest_share_among_them():
    shares = [[number, 10_000] for number in range(1, 5_001)]
    method = {"max_a": "0.9", "min_a": "0", "max_b": "0.9", "min_b": "0", "scope": "qi"}
    chart = share_chart({"a": shares[::-1], "b": shares}, method)
    assert len(chart.rows) == MOST_POINTS
    assert chart.rows[0][0] == 1
    assert chart.rows[-1][:2] == (5_000, "5,000 of 10,000 (50.0 %)")
    assert "The chart shows 100 of 5,000 groups" in chart.note


def test_groups_are_binned_by_doubling_from_k():
    assert size_chart([2, 3, 3, 4, 9, 16], 2).rows == [("2 to 3", 3), ("4 to 7", 1), ("8 to 15", 1), ("16 to 31", 1)]
    assert size_chart([1, 5], 3).rows == [("1", 1), ("2 to 3", 0), ("4 to 7", 1)]
    assert size_chart([], 2) is None
    dossier = of_trial()
    assert sum(number for _size, number in trial_charts(dossier)["sizes"].rows) == dossier["table"]["groups"]


@pytest.mark.parametrize("backend", ["two-party", "clear"])
def test_levels_and_the_rest_add_up_to_what_the_run_cost(backend):
    dossier = of_trial(600, backend)
    charts, cost = trial_charts(dossier), dossier["costs"]["a"]
    line = cost["traffic"]["b"]
    whole = {
        "megabytes": (line["bytes_sent"] + line["bytes_received"]) / 1e6,
        "messages": line["messages_sent"] + line["messages_received"],
        "seconds": cost["seconds"],
    }
    for key, total in whole.items():
        names = [row[0] for row in charts[key].rows]
        assert names == [*(str(level + 1) for level in range(len(cost["levels"]))), REST, "total"]
        numbers = [row[3] for row in charts[key].rows]
        assert sum(numbers[:-1]) == pytest.approx(numbers[-1]) == pytest.approx(total)
        assert [row[1:3] for row in charts[key].rows[:-2]] == [(one["groups"], one["ids"]) for one in cost["levels"]]
        bars = [row for row in drawn_rows(charts[key].spec) if row["level"] != REST]
        assert len(bars) == len(cost["levels"]) * (2 if key == "seconds" else 1)
    said = words_of(render_joined(dossier))
    assert f"in {whole['messages']:,} messages, over {len(cost['levels'])} levels" in said
    for role in ("provider A", "provider B", "the collector"):
        assert f"{role}, total" in said


def test_every_kind_of_opening_is_listed_with_its_number_and_meaning():
    assert {*OPENINGS, "counts"} == {*KINDS}
    dossier = of_trial()
    opened, said = dossier["openings"], words_of(render_joined(dossier))
    assert opened["root"] == 1
    assert opened["counts"] == opened["pass"] - opened["ids"] == len(dossier["shares"]["a"])
    for kind, what in {**OPENINGS, "counts": COUNTS["b"]}.items():
        assert f"{kind} {opened[kind]:,} {what}" in said
    assert [number for _what, number in trial_charts(dossier)["openings"].rows] == [opened[kind] for kind in KINDS]
    to_collector = of_run("b", counts_to="c")
    assert f"counts {to_collector['openings']['counts']:,} {COUNTS['c']}" in words_of(render_run(to_collector))
    assert to_collector["openings"]["counts"] == opened["counts"]


@pytest.mark.parametrize("role", ["a", "b"])
def test_the_page_of_a_provider_reveals_nothing_about_the_other_table(role):
    record, dossier = of_run(role), of_trial()
    said = words_of(render_run(record))
    assert f"Run of dummy-users: report of provider {role.upper()}" in said
    assert f"users of provider {role.upper()} {record['users']:,}" in said
    other = "b" if role == "a" else "a"
    # Whole words: the same digits may occur within a measured time or a checksum.
    numbers = {word.strip(".,;:()") for word in said.split()}
    assert f"{dossier['users'][role]:,}" in numbers
    assert f"{dossier['users'][other]:,}" not in numbers
    assert f"provider {other.upper()}, total" not in said
    assert record["release_sha256"] in said
    assert record["policy_sha256"] in said
    assert f"checked by provider {role.upper()} alone" in said
    assert said.count("holds") >= 2


def test_query_error_is_compared_with_that_of_one_group():
    dossier = measured()
    assert "relative error is 5.25 . With a table of one group" in words_of(render_joined(dossier))
    assert trial_charts(dossier)["queries"].rows == [("this table", 5.25), ("one group", 15.5)]
    dossier["measurements"] = [query_error(5.25), query_error(9.5, parameters={"selectivity": "1%"})]
    assert [row[0] for row in trial_charts(dossier)["queries"].rows][::2] == [
        "this table, selectivity 10%",
        "this table, selectivity 1%",
    ]


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([], "Nothing was measured."),
        ([query_error(None, details={}, reason="no common user meets any query")], "no common user meets any query"),
        ([query_error(0.5, details={}, parameters={})], "relative error is 0.5 ."),
        ([query_error(0.5, name="another")], "another"),
    ],
)
def test_what_was_not_measured_is_omitted(entries, words):
    dossier = of_trial()
    dossier["measurements"] = entries
    assert "queries" not in trial_charts(dossier)
    assert words in words_of(render_joined(dossier))


def test_texts_from_files_stay_text():
    dossier = measured()
    plain = without_scripts(render_joined(dossier))
    dossier["card"]["secure_computation"] = HOSTILE[0]
    dossier["measurements"][0]["reason"] = HOSTILE[3]
    page = without_scripts(render_joined(dossier))
    assert page.count("<script") == plain.count("<script")
    assert "<img" not in page


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("which", ["trial", "run", "one group"])
def test_all_is_drawn_and_nothing_is_cut_off_or_fetched(browser, tmp_path, which, width):
    if which == "run":
        text, keys = render_run(of_run("b")), {"openings", *LEVELS}
    else:
        dossier = measured() if which == "trial" else of_trial(600, k=60)
        assert which == "trial" or dossier["table"]["groups"] == 1
        text, keys = render_joined(dossier), {*trial_charts(dossier)}
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    with shown(browser, path, width=width) as (page, heard):
        charts = {chart["key"]: chart for chart in page.evaluate(MARKS)}
        assert charts.keys() == keys
        assert all(chart["drawn"] == "yes" and chart["marks"] for chart in charts.values())
        assert page.evaluate(CUT_OFF) == []
        assert page.evaluate(SIDEWAYS) <= 0
        assert heard.requests == [path.as_uri()]
        assert heard.said == []
