"""The page without a browser: its order, its words in each case, its weight, and that data on it stay data."""

import copy
import json
import re
import subprocess
import sys
from html import unescape

import pytest

from setveil.base.display import figure, share
from setveil.release.dossier import Private
from setveil.report import scripts as scripts_module
from setveil.report.item_names import with_item_names
from setveil.report.page import brief, page_with_charts, render
from setveil.report.release_charts import release_charts
from setveil.report.scripts import scripts, security_policy

from report.dossiers import HOSTILE, fi_similarity, hostile_lists, older, with_itemsets, without_guarantee

SECTIONS = [
    "Overview",
    "Assessment by Opinion 05/2014",
    "Guarantee",
    "Examples: records before and after",
    "What can still be found out",
    "Item frequencies, before and after",
    "Frequent itemsets kept, lost and new",
    "Record lengths, before and after",
    "Counts of the check and of the data",
    "Metrics",
    "Method and settings",
]


def without_scripts(page):
    """Return a page without the text of its scripts."""
    return re.sub(r"<script\b.*?</script>", "<script></script>", page, flags=re.DOTALL)


def embedded(page):
    """Return what the charts' script reads."""
    return json.loads(re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)[1])


def titles_of(page):
    """Return the titles of the sections of a page."""
    return re.findall(r'<h2 id="[a-z0-9-]+">(.*?)</h2>', without_scripts(page))


def section_of(page, title):
    """Return a section of a page, without its heading."""
    return re.search(rf'<h2 id="[a-z0-9-]+">{re.escape(title)}</h2>(.*?)</section>', page, re.DOTALL)[1]


def words_of(page):
    """Return what a page says, without its tags and without the list of its contents."""
    text = re.sub(r"<style>.*?</style>|<nav .*?</nav>|<[^>]+>", " ", without_scripts(page), flags=re.DOTALL)
    return " ".join(unescape(text).split())


def broken(dossier, failures=34):
    changed = copy.deepcopy(dossier)
    changed["verdict"] |= {"status": "violated", "violations": {"not-hidden": failures}, "failures": failures}
    changed["card"]["guarantee"]["failures"] = failures
    changed["allow_failures"] = 40
    return changed


def test_sections_stand_in_their_order(dossier):
    assert titles_of(render(dossier)) == SECTIONS


def test_the_page_of_the_private_folder_is_the_one_that_the_dossier_gives(private, dossier):
    assert (private / "report.html").read_text(encoding="utf-8") == render(dossier)


def test_every_chart_stands_once_with_a_text_and_its_numbers(dossier):
    changed = with_itemsets(dossier)
    page, drawn = render(changed), release_charts(changed)
    assert [*drawn] == [
        "items",
        "ranks",
        "itemsets",
        "lengths",
        "status",
        "attack",
        "tried_find_record",
        "tried_absent_category",
    ]
    assert embedded(page)["specs"].keys() == drawn.keys()
    for key, chart in drawn.items():
        assert page.count(f'id="{key}" role="img" aria-label="') == 1
        assert len(chart.text) > 20
        assert chart.rows
        assert all(len(row) == len(chart.columns) for row in chart.rows)
    assert page.count("<details open>") == len(drawn)


def test_nothing_is_loaded_from_elsewhere(dossier):
    page = without_scripts(render(dossier))
    assert not re.findall(r"https?:|//[a-z]|@import|url\(|src=|<link|<iframe|<img|<object|<embed", page)
    assert "default-src 'none'" in unescape(page)
    assert "unsafe-eval" not in page
    assert "http" not in json.dumps(embedded(render(dossier)))


def test_the_libraries_are_there_once_and_the_page_stays_below_a_megabyte_and_a_half(dossier):
    page = render(with_itemsets(dossier))
    assert page.count("window.vegaEmbed=") == 1
    assert len(page.encode()) < 1_500_000
    assert len(without_scripts(page).encode()) < 100_000


def test_a_guarantee_that_holds_is_said_to_and_what_it_does_not_cover_too(dossier):
    said = words_of(render(dossier))
    guarantee = dossier["card"]["guarantee"]
    for words in ("hidden-tendency holds", guarantee["statement"], guarantee["attacker"], *guarantee["not_covered"]):
        assert words in said
    assert "does not hold" not in said
    assert f"{guarantee['published_unchanged']:,} records are published unchanged" in said


def test_allowed_failures_are_told_and_drawn(dossier):
    changed = broken(dossier)
    said = words_of(render(changed))
    assert "hidden-tendency does not hold for 34 records, which was allowed" in said
    assert "up to 40 were allowed" in said
    assert ("not hidden (violated)", 34) in release_charts(changed)["status"].rows


def test_arguments_in_the_advice_are_shown_as_code(dossier):
    page = render(dossier | {"advice": "Use finer <categories> (`level=`), or accept them with `allow_failures=4`."})
    assert "finer &lt;categories&gt; (<code>level=</code>), or accept them with <code>allow_failures=4</code>." in page


def test_no_guarantee(tmp_path):
    page = (without_guarantee(tmp_path, [["a"], ["b", "c"], ["a", "d"]]) / "report.html").read_text(encoding="utf-8")
    for words in (
        "No guarantee",
        "This method is a baseline: it guarantees nothing",
        "Not covered: everything",
        "no record was checked",
    ):
        assert words in words_of(page)
    assert set(re.findall(r'class="status (\w+)"', page)) == {"none"}


def test_the_attack_stands_beside_its_base_rate(dossier):
    found = next(m for m in dossier["metrics"] if m["name"] == "tendency-posterior")
    said = words_of(render(dossier))
    assert f"correctly for {share(found['value'])} of the records" in said
    assert f"is correct for {share(found['details']['base-rate'])}" in said
    assert f"{found['value'] / found['details']['base-rate']:.1f} times as often" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": None, "reason": "fewer than two records have a tendency"}, "no result: fewer than two records have"),
        (
            {"value": 0.25, "details": {"base-rate": 0.25, "records": 4}},
            "these guessers learn nothing from the release",
        ),
        ({"value": 0.25, "details": {"base-rate": 0.0, "records": 4}}, "is correct for 0.0 % ."),
    ],
)
def test_attacks_that_find_nothing(dossier, change, words):
    changed = copy.deepcopy(dossier)
    for metric in changed["metrics"]:
        if metric["name"] == "tendency-posterior":
            metric.update(change)
    assert words in words_of(render(changed))


def test_utility_is_apart_from_privacy(dossier):
    said = words_of(render(dossier))
    utility = said.index("Utility: what the release costs")
    privacy = said.index("Privacy: what can still be inferred")
    assert (
        utility < said.index("Record loss record-loss") < privacy < said.index("Tendency posterior tendency-posterior")
    )
    assert "Other metrics" not in said


def test_frequent_itemsets_at_several_supports(dossier):
    changed = with_itemsets(dossier)
    chart = release_charts(changed)["itemsets"]
    assert chart.rows == [
        ("1% (40 records)", 1020, 1005, 1000, 20, 5, "97.6 %"),
        ("0.5% (40 records)", 3800, 3500, 2600, 1200, 900, "55.3 %"),
    ]
    smaller = fi_similarity("1%", 1, 1, 1)
    smaller["details"]["count-after"] = 30
    assert release_charts(dossier | {"metrics": [smaller]})["itemsets"].rows[0][0] == "1% (40 → 30 records)"
    assert "Minimum support 0.1%: more than 5,000,000 itemsets" in words_of(render(changed))


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([fi_similarity("50%", 0, 0, 0, value=1.0)], "No itemset is frequent at these thresholds"),
        ([fi_similarity("1%", 0, 0, 0, value=None, details={}, reason="too many itemsets")], "1%: too many itemsets"),
        (
            [fi_similarity("1%", 0, 0, 0, value=None, details={}, parameters={}, reason="cannot be mined")],
            "Frequent itemsets: cannot be mined.",
        ),
    ],
)
def test_frequent_itemsets_that_were_not_compared(dossier, entries, words):
    changed = dossier | {"metrics": [m for m in dossier["metrics"] if m["name"] != "fi-similarity"] + entries}
    page = render(changed)
    assert words in words_of(page)
    assert "itemsets" not in embedded(page)["specs"]


def test_a_dossier_of_the_first_version_still_gives_a_page(dossier):
    page = render(older(dossier))
    assert titles_of(page) == [title for title in SECTIONS if not title.startswith("Examples")]
    assert words_of(page).count("an older version of setveil made this release") == 2
    assert {"status", "attack"} <= embedded(page)["specs"].keys()
    assert not {"items", "ranks", "lengths"} & embedded(page)["specs"].keys()
    assert "record-loss" in page


def test_a_private_folder_of_the_first_version_is_still_read(private, dossier, tmp_path):
    (tmp_path / "dossier.json").write_text(json.dumps(older(dossier)), encoding="utf-8")
    (tmp_path / "alignment.parquet").write_bytes((private / "alignment.parquet").read_bytes())
    assert Private.load(tmp_path).dossier["dossier_version"] == 1


def test_labels_are_text_wherever_they_stand(tmp_path):
    folder = without_guarantee(tmp_path, hostile_lists(), source=HOSTILE[0])
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<script\b", without_scripts(page))) == 3
    assert page.count("</script>") == 3
    for label in HOSTILE[:1] + HOSTILE[3:7]:
        assert label not in without_scripts(page)
    drawn = {row["item"] for row in embedded(page)["specs"]["items"]["data"]["values"]}
    short = {label for label in HOSTILE if len(label) < 100}
    assert short <= drawn
    assert len(drawn) == len(HOSTILE)
    assert short <= {unescape(cell) for cell in re.findall(r'<th scope="row">(.*?)</th>', page)}


def test_hostile_words_elsewhere_in_a_dossier_are_text_too(dossier):
    changed = copy.deepcopy(dossier)
    evil = HOSTILE[0]
    changed["input"]["source"] = changed["advice"] = changed["ids"] = changed["method"]["parameters"]["order"] = evil
    changed["account"][evil] = {evil: 1}
    changed["verdict"]["counts"][evil] = 7
    changed["metrics"].append(fi_similarity(evil, 1, 2, 3, unit=evil, reason=evil))
    page = render(changed)
    assert evil not in page
    assert "{{7*7}}" in words_of(render(changed | {"advice": "{{7*7}}"}))


def test_nothing_of_the_pictures_reaches_the_public_folder(private):
    public = b"".join(path.read_bytes() for path in private.with_suffix("").glob("*.json"))
    assert not re.findall(rb"pictures|most_frequent|metric_notes", public)


def test_a_page_without_charts_has_no_script():
    page = page_with_charts("base.html.jinja", [])
    assert "<script" not in page
    assert "script-src 'none'" in unescape(page)


def test_the_program_loads_nothing_that_draws_before_a_report_is_made():
    code = (
        "import sys, setveil, setveil.release.publishing, setveil.release.dossier;"
        "from setveil.cli.main import run; run(['--help']);"
        "print([m for m in ('altair', 'vl_convert', 'jinja2') if m in sys.modules], file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr.strip() == "[]"


# -- scripts ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def joined(tmp_path, monkeypatch):
    """Join the libraries for the first time, in words of our own; tell how often that was done."""
    times = []
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(scripts_module, "_joined", lambda: times.append(1) or "let libraries;")
    return times


def test_libraries_are_joined_once_and_kept(joined, tmp_path):
    assert [scripts_module.libraries() for _ in range(3)] == ["let libraries;"] * 3
    assert len(joined) == 1
    assert len([*(tmp_path / "cache").iterdir()]) == 1


def test_what_was_kept_is_not_taken_when_it_changed(joined, tmp_path):
    scripts_module.libraries()
    (kept,) = (tmp_path / "cache").iterdir()
    for spoilt in (b"", b"alert(1)", b"\xff"):
        kept.write_bytes(spoilt)
        assert scripts_module.libraries() == "let libraries;"
    assert len(joined) == 4


def test_libraries_of_other_versions_are_dropped(joined, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "charts-0.1-aaaa.js").write_text("old")
    (tmp_path / "cache" / "kernels-abc").mkdir()
    scripts_module.libraries()
    assert len(joined) == 1
    names = {path.name for path in (tmp_path / "cache").iterdir()}
    assert "kernels-abc" in names
    assert "charts-0.1-aaaa.js" not in names
    assert len(names) == 2


def test_a_cache_that_cannot_be_written_is_done_without(joined, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert scripts_module.libraries() == "let libraries;"
    assert joined


def test_libraries_are_joined_here_where_another_process_cannot(monkeypatch):
    monkeypatch.setattr(scripts_module, "JOINING", "import sys; sys.exit(3)")
    assert "window.vegaEmbed=" in scripts_module._joined()


def test_libraries_are_kept_beside_compiled_loops(tmp_path, monkeypatch):
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(tmp_path))
    text = scripts_module.libraries()
    assert [path.read_text(encoding="utf-8") for path in tmp_path.glob("charts-*.js")] == [text]


def test_compiled_templates_are_kept_and_a_damaged_one_is_compiled_again(tmp_path, monkeypatch, dossier):
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(tmp_path))
    page = render(dossier)
    kept = [*(tmp_path / "templates").iterdir()]
    assert kept
    for spoilt in (b"", b"damaged"):
        for file in kept:
            file.write_bytes(file.read_bytes()[:30] + spoilt)
        assert render(dossier) == page
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(kept[0] / "not a folder"))
    assert render(dossier) == page


def test_scripts_cannot_end_their_place_on_the_page():
    assert scripts_module._inside_html("'</script><!--'\r\n") == "'<\\/script><\\!--'\n"
    assert not re.findall(r"</script|<!--", "".join(scripts()))
    assert security_policy(scripts()).count("sha256-") == len(scripts())


# -- words --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (True, "yes"),
        (12345, "12,345"),
        (0.123456, "0.1235"),
        (1234567.8, "1,234,568"),
        (8.0, "8"),
        (1007.0, "1,007"),
        ("a", "a"),
    ],
)
def test_figures(value, text):
    assert figure(value) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0.0 %"), (0.159, "15.9 %"), (0.0004, "0.04 %"), (1, "100.0 %")])
def test_shares(value, text):
    assert share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1, "b": [2, 3]}, "a: 1, b: 2, 3"),
        ({str(i): i for i in range(2000)}, "2,000 entries"),
        ([], "none"),
        ({}, "none"),
        (["cycle", "helper"], "cycle, helper"),
        (False, "no"),
        ("text", "text"),
    ],
)
def test_parameters_in_brief(value, text):
    assert brief(value) == text


def test_a_name_is_shown_beside_an_item_that_is_called_like_a_mark():
    shown = {"items": [{"item": "kept", "how": "kept"}]}
    named = with_item_names({"item_names": {"kept": "Gloves"}, "examples": [shown]})
    (one,) = named["examples"][0]["items"]
    assert one["how"] == "kept"
    assert "Gloves" in one["item"]


def test_names_are_shown_beside_items_that_do_not_occur():
    found = {"parameter": "sensitive", "missing": [{"name": "E11.8", "close": "E11.9"}, {"name": "I10", "close": None}]}
    dossier = {"item_names": {"E11.9": "type 2 diabetes", "I10": "high blood pressure"}, "names": [found]}
    (named,) = with_item_names(dossier)["names"]
    assert named["parameter"] == "sensitive"
    assert named["missing"] == [
        {"name": "E11.8", "close": "E11.9 (type 2 diabetes)"},
        {"name": "I10 (high blood pressure)", "close": None},
    ]
