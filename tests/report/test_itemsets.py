"""The part of the report about named itemsets: what became of each, and whether their supports give them away."""

import re
from html import unescape

import pytest

import setveil as sv
from setveil.base.display import cut, figure
from setveil.report.itemset_charts import MOST_DRAWN, MOST_ROWS
from setveil.report.page import brief, plain, render
from setveil.report.release_charts import release_charts

from report.dossiers import HOSTILE, border_exposure, dossier_in, named_itemset, with_named
from report.test_page import SECTIONS, embedded, section_of, titles_of, without_scripts, words_of

NAMES = "Named items that occur in the original"
TITLE = "Named itemsets: results"
TABLE = re.compile(r'<table class="wide" aria-label="The result for each named itemset">(.*?)</table>', re.DOTALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Give the private folder of a release in which named itemsets were hidden."""
    data = sv.read("sample:supermarket?records=2000")
    pairs = [items for items in sv.mine(data, "2%").to_lists() if len(items) == 2][:4]
    rare = [data.vocabulary[0], data.vocabulary[1]]
    method = sv.ExactSwap(itemsets=[*pairs, rare], min_support="2%", plan="ilp", plan_seconds=5)
    folder = tmp_path_factory.mktemp("hidden") / "out"
    sv.publish(data, method, ids="drop", seed=2**90, metrics="full").save(folder)
    return folder.with_name("out.private")


def lines(page):
    """Return what each row of the table says."""
    (table,) = TABLE.findall(without_scripts(page))
    return [words_of(row) for row in re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", table, re.DOTALL)]


def told(dossier, *rows, **account):
    return lines(render(with_named(dossier, [*rows], **account)))


def test_a_real_release_tells_of_each_itemset(made):
    dossier, page = dossier_in(made), (made / "report.html").read_text(encoding="utf-8")
    assert page == render(dossier)
    assert titles_of(page) == [*SECTIONS[:4], NAMES, TITLE, *SECTIONS[4:]]
    rows = dossier["account"]["itemsets"]
    assert len(lines(page)) == len(rows) == 5
    for row in rows:
        (said,) = [line for line in lines(page) if line.startswith("{ " + " , ".join(row["items"]) + " }")]
        assert f" {row['before']} {row['target']} {row['after']} " in said
    said = words_of(page)
    assert f"An itemset is frequent if at least {dossier['account']['frequent-from']} records hold it" in said
    assert "mining the release at this threshold or a lower one finds it" in said
    proven = dossier["account"]["plan"]["proven"]
    assert f"It is {'' if proven else 'not '}proven that no other plan loses fewer" in said
    assert f"plan: proven {figure(proven)}" in said
    assert "hidden-itemsets holds" in said
    assert {"named", "border", "status"} <= embedded(page)["specs"].keys()


def test_other_methods_have_no_such_section(dossier):
    page = render(dossier)
    assert TITLE not in page
    assert not {"named", "border"} & release_charts(dossier).keys()
    assert "itemset was" not in words_of(page)
    assert "at the border" not in words_of(section_of(page, "What can still be found out"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"by_exchange": 1234}, "1,234 swapped"),
        ({"by_leaving_out": 7}, "7 suppressed"),
        ({"by_exchange": 80, "by_leaving_out": 10}, "80 swapped, 10 suppressed"),
        ({"before": 60}, "was not frequent"),
        ({}, "with another itemset"),
    ],
)
def test_how_an_itemset_was_hidden(dossier, row, said):
    other = named_itemset("c", before=3, after=3, by_leaving_out=99)
    first = told(dossier, named_itemset("a", "b", **row), other)[0]
    assert re.search(rf" 60 {said} none$", first)


def test_what_it_cost(dossier):
    cheap = named_itemset("a", "b")
    one = named_itemset("c", "d", lost=1, lost_such_as=[["c", "x"]])
    many = named_itemset("e", lost=1200, lost_such_as=[["f", "g"], ["h"]])
    forced = named_itemset("i", "j", cannot_be_kept=1, cannot_be_kept_such_as=[["i", "j", "k"]])
    several = named_itemset("l", "m", cannot_be_kept=2000, cannot_be_kept_such_as=[["l", "m", "n"], ["l", "m", "o"]])
    said = [re.split(r"another itemset ", line)[1] for line in told(dossier, cheap, one, many, forced, several)]
    assert said == [
        "1,200 frequent itemsets lost, such as { f , g }",
        "1 frequent itemset lost: { c , x }",
        "no avoidable loss unavoidable: hiding { l , m } also hides { l , m , n }, one of 2,000 such itemsets",
        "no avoidable loss unavoidable: hiding { i , j } also hides { i , j , k }",
        "none",
    ]


def test_many_itemsets_are_cut_where_the_dossier_goes_on(dossier):
    rows = [named_itemset(f"a{n}", f"b{n}", lost=n, lost_such_as=[["x", "y"]], by_exchange=2) for n in range(500)]
    changed = with_named(dossier, rows)
    page = render(changed)
    assert len(lines(page)) == MOST_ROWS
    assert "and 300 more: see dossier.json" in words_of(page)
    assert lines(page)[0].startswith("{ a499 , b499 }")
    assert "The support of 500 of 500 named itemsets was above its target" in words_of(page)
    assert "1,000 items were swapped" in words_of(page)
    chart = release_charts(changed)["named"]
    assert len(chart.rows) == MOST_DRAWN
    assert chart.title == f"The {MOST_DRAWN} most costly named itemsets"
    assert len(without_scripts(page).encode()) < 400_000


def test_nothing_to_hide(dossier):
    page = render(
        with_named(dossier, [named_itemset("a", "b", before=5, after=5), named_itemset("c", before=0, after=0)])
    )
    assert "The support of no named itemset (2 in total) was above its target" in words_of(page)
    assert all("was not frequent none" in line for line in lines(page))
    assert "named" in embedded(page)["specs"]


def test_a_single_itemset_is_told_and_not_drawn(dossier):
    changed = with_named(dossier, [named_itemset("a", "b", by_exchange=90)])
    assert "named" not in release_charts(changed)
    assert "The support of 1 of 1 named itemsets was above its target" in words_of(render(changed))


def test_the_itemsets_are_not_listed_again_in_what_the_method_says(dossier):
    plan = {"parts": 5, "parts-proven": 3, "loses": 12, "loses-at-least": 8, "parts-without-a-plan": 1, "proven": False}
    page = render(with_named(dossier, [named_itemset("a", "b")] * 2, plan=plan))
    (said,) = re.findall(r"Report of the method itself \(not checked\)(.*?)</details>", page, re.DOTALL)
    assert re.findall(r'<th scope="row">(.*?)</th>', said) == [
        "frequent from",
        *(f"plan: {key.replace('-', ' ')}" for key in plan),
    ]
    assert "plan: proven no" in words_of(said)
    assert "not proven that no other plan loses fewer frequent itemsets: 3 of 5 parts" in words_of(page)
    assert "for 1 part no plan was found in time" in words_of(page)


def test_the_check_counts_itemsets(dossier):
    changed = with_named(dossier, [named_itemset("a", after=0), named_itemset("b")])
    chart = release_charts(changed)["status"]
    assert (chart.title, chart.columns) == ("Itemsets by status", ("status", "itemsets"))
    assert chart.rows == [("itemsets to hide", 2), ("held by no record", 1)]
    assert "number of itemsets" in str(chart.spec)
    changed["verdict"] |= {"status": "violated", "violations": {"above-target": 2, "still-frequent": 1}}
    assert "hidden-itemsets does not hold for 3 itemsets" in words_of(render(changed))
    assert "no itemset was checked" in words_of(render(changed | {"verdict": None}))
    assert release_charts(dossier)["status"].title == "Records by status"


def test_the_chart_has_the_threshold_as_a_line_and_a_scale_on_which_it_is_seen(dossier):
    rows = [named_itemset("a", "b", before=900), named_itemset("c", target=0, after=0)]
    near = release_charts(with_named(dossier, rows))["named"]
    assert near.columns == ("itemset", "before", "target", "after")
    assert near.rows == [("{a, b}", 900, 60, 60), ("{c}", 150, 0, 0)]
    assert "an itemset in at least 100 records is frequent" in near.note
    assert "symlog" not in str(near.spec)
    far = release_charts(with_named(dossier, [*rows, named_itemset("d", before=20_000)]))["named"]
    assert "symlog" in str(far.spec)
    assert "logarithmic" in far.note
    untold = release_charts(with_named(dossier, rows, frequent_from=50))["named"]
    assert "dashed" not in untold.note


def test_itemsets_that_look_alike_have_places_of_their_own(dossier):
    alike = [("a, b",), ("a", "b"), ("x" * 300, "y"), ("x" * 300, "z"), ("x" * 300, "w")]
    rows = [named_itemset(*items) for items in alike]
    chart = release_charts(with_named(dossier, rows))["named"]
    assert len({name for name, *_ in chart.rows}) == len(rows)


def test_labels_are_text(dossier):
    rows = [
        named_itemset(
            label, "b", lost=2, lost_such_as=[[label]], cannot_be_kept=2, cannot_be_kept_such_as=[[label, "b", "c"]]
        )
        for label in HOSTILE
    ]
    page = render(with_named(dossier, rows))
    for label in HOSTILE[:1] + HOSTILE[3:7]:
        assert label not in without_scripts(page)
    assert page.count("</script>") == 3
    said = [unescape(label) for label in re.findall(r"<bdi>(.*?)</bdi>", page)]
    assert {label for label in HOSTILE if len(label) < 100} <= set(said)
    assert max(map(len, said)) == 120
    long = told(dossier, named_itemset(*map(str, range(1000))))[0]
    assert ", … (1,000 items)}" in long


# -- the attack ---------------------------------------------------------------------------------------------------------------


def attacked(dossier, *entries, tendency=None):
    """Return what the page says of guesses that metrics measured, with these entries beside or instead of the attack on tendencies."""
    kept = [m for m in dossier["metrics"] if m["name"] != "tendency-posterior" or tendency == "kept"]
    lacking = next(m for m in dossier["metrics"] if m["name"] == "tendency-posterior")
    if isinstance(tendency, dict):
        kept.append(lacking | tendency)
    page = render(dossier | {"metrics": [*kept, *entries]})
    section = section_of(page, "What can still be found out")
    return words_of(section.partition("<h3>Guesses that metrics measured</h3>")[2])


NEEDS = {"value": None, "details": {}, "reason": "not computed, needs categories"}


@pytest.mark.parametrize(
    ("value", "base", "ends"),
    [
        (0.0867, 0.0051, "gives 0.0051 : with the border, the attacker is correct 17.0 times as often."),
        (15.0, 0.5, "gives 0.5 : with the border, the attacker is correct 30.0 times as often."),
        (0.000002, 0.00001, "gives 0.00001 : with the border, the attacker is correct 0.2 times as often."),
        (0.0, 0.25, "gives 0.25 : this attacker learns nothing from the border."),
    ],
)
def test_the_attack_on_named_itemsets_stands_beside_its_base_rate(dossier, value, base, ends):
    said = attacked(dossier, border_exposure(value, base), tendency=NEEDS)
    assert f"for each of the 20 named itemsets that were frequent, {plain(value)} of them are guessed correctly" in said
    assert ends in said
    assert "187 itemsets of the border have this support, and 15 of them are named" in said
    assert "has no result" not in said


def test_attacks_that_were_not_measured(dossier):
    lacking = border_exposure(0.1, 1.0) | NEEDS | {"reason": "not computed, needs itemsets, min_support"}
    in_vain = lacking | {"reason": "none of the named itemsets is frequent in the original"}
    for entries, tendency in (((), None), ([lacking], None), ([lacking], NEEDS)):
        assert attacked(dossier, *entries, tendency=tendency) == ""
    only = attacked(dossier, in_vain, tendency=NEEDS)
    assert only == "The attack on named itemsets has no result: none of the named itemsets is frequent in the original."
    both = attacked(dossier, border_exposure(0.1, 0.1), tendency="kept")
    assert "guesses the hidden category correctly" in both
    assert "of them are guessed correctly on average" in both


# -- words --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.123456, "0.1235"), (0.0000012, "0.0000012"), (15.0, "15"), (12345.6, "12,350")]
)
def test_numbers_without_an_exponent(value, text):
    assert plain(value) == text


def test_long_texts_and_itemsets_in_brief():
    assert cut("a" * 121) == "a" * 119 + "…"
    assert brief([["a", "b"], ["c"]]) == "{a, b}, {c}"
    assert brief(",".join(["59"] * 500)).endswith("…")
