"""Results at a prompt and in a notebook: tables that show no more than the text does, and keep data apart from HTML."""

import re
from functools import cache
from html.parser import HTMLParser

import pytest

import setveil as sv
from setveil.base.display import ShownTable, quantity, setting, share, to_html
from setveil.base.verdict import Reach
from setveil.catalog import METHODS
from setveil.metrics.base import Measurement
from setveil.metrics.measurements import Measurements

from contract.filling import filled
from contract.forms import made_from
from report.dossiers import HOSTILE

ELEMENTS = {"div", "p", "small", "table", "thead", "tbody", "tr", "th", "td"}


class Page(HTMLParser):
    """The elements, attributes and texts of a piece of HTML; every element must be closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.attributes, self.texts, self._open = [], set(), [], []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self._open.append(tag)
        self.elements.append(tag)
        self.attributes.update(name for name, _value in attrs)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)


LABELS = [label for label in HOSTILE if not re.search(r"[\x00-\x1f]", label)]
DATA = sv.from_lists([LABELS[: 2 + r % 5] for r in range(30)], ids=[f"<b>person {r}</b>" for r in range(30)])
CLUSTER = {"size": 4, "record_chunks": [[(LABELS[:2], 3)]], "term_chunk": LABELS[2:4]}


SETS = cache(lambda: sv.mine(DATA, 1))
THINGS = {
    "transactions": lambda: DATA,
    "release": lambda: sv.publish(DATA, sv.GlobalSuppression(sensitive=LABELS[4:6], rho="1/2"), metrics=[]),
    "verdict": lambda: sv.RhoUncertainty(sensitive=LABELS[1:3], rho="1/10").check(DATA),
    "profile": lambda: sv.profile(DATA, sensitive=LABELS[:2], itemsets=[LABELS[1:3]]),
    "itemsets": SETS,
    "rules": lambda: sv.association_rules(SETS(), "10%"),
    "itemsets of disassociated data": lambda: sv.mine_bounds(sv.Disassociated.from_clusters([CLUSTER]), 1),
    "measurements": lambda: Measurements(
        [Measurement("loss", None, "<b>", "lower", {"form": LABELS[0]}, {}, LABELS[3])]
    ),
}
"""One of each that a notebook shows as HTML, all of them with hostile labels."""


@cache
def made(name):
    return THINGS[name]()


@pytest.mark.parametrize("name", THINGS)
def test_html_is_tables_whose_texts_are_escaped(name):
    page = Page(made(name)._repr_html_())
    assert "table" in page.elements
    assert set(page.elements) <= ELEMENTS
    assert page.attributes <= {"style", "class"}


@pytest.mark.parametrize("name", THINGS)
def test_html_names_no_address_and_no_colour(name):
    html = made(name)._repr_html_()
    for style in re.findall(r'style="([^"]*)"', html):
        assert not re.search(r"url|http|(?<!-)color: (?!inherit)|background: (?!transparent)", style)


@pytest.mark.parametrize("name", THINGS)
def test_html_shows_no_label_and_no_id_that_the_text_does_not_show(name):
    thing = made(name)
    assert name != "verdict" or thing.witnesses
    seen = " ".join(Page(thing._repr_html_()).texts)
    text = repr(thing) + str(thing)
    for value in [*DATA.vocabulary, *DATA.ids.to_pylist()]:
        assert value not in seen or value in text or repr(value)[1:-1] in text
    assert "<b>person" not in seen


@pytest.mark.parametrize("name", ["transactions", "release"])
def test_records_stay_out_of_a_notebook(name):
    seen = " ".join(Page(made(name)._repr_html_()).texts)
    assert not any(label in seen for label in DATA.vocabulary)


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_a_release_of_every_method_shows_what_it_is(kind):
    records = [[f"label-{(r * step) % 11}" for step in (1, 2, 3)] for r in range(60)]
    data = sv.from_lists(records, ids=[f"person-{r}" for r in range(60)])
    release = sv.publish(
        made_from(kind, data),
        filled(kind, data),
        seed=2**100 + 7,
        allow_failures=60,
        no_guarantee=True,
        metrics=[],
    )
    seen = " ".join(Page(release._repr_html_()).texts)
    assert f"Release by {kind.name}" in seen
    assert release.sharing in seen
    assert ("none" if release.verdict is None else str(release.verdict)) in seen
    assert "person-" not in seen
    assert "label-" not in seen


def test_a_violated_verdict_shows_its_first_witnesses_and_how_many_follow():
    witnesses = tuple(sv.Witness("inferred-item", f"place {n}", f"detail {n}") for n in range(5))
    verdict = sv.Verdict(
        "violated", "rho-uncertainty", {"sensitive-items": 7}, {"inferred-item": 5}, 0, witnesses, "", Reach(0, 9)
    )
    seen = Page(verdict._repr_html_()).texts
    assert seen[:5] == ["rho-uncertainty: violated", "covers", "0 of 9 records", "sensitive items", "7"]
    assert [text for text in seen if text.startswith("place ")] == ["place 0", "place 1", "place 2"]
    assert "and 2 more in .witnesses" in seen
    assert seen[7:9] == ["inferred items", "5"]


def test_a_profile_shows_counts_uniqueness_and_the_most_frequent_items():
    data = sv.from_lists([["milk", "bread"], ["milk"], ["tea", "bread"], []], unit="person")
    seen = Page(sv.profile(data, known=2, itemsets=[["milk", "bread"]])._repr_html_()).texts
    for row in (
        ["records", "4"],
        ["a record is", "a person"],
        ["items per record", "0 to 2, median 1, mean 1.25"],
        ["itemsets", "1 of 1 named itemsets occur"],
        ["2", "2", "50.0 %"],
        ["bread", "2", "50.0 %"],
        ["milk, bread", "1", "25.0 %"],
    ):
        assert any(seen[at : at + len(row)] == row for at in range(len(seen))), row


# -- tables ------------------------------------------------------------------------------------------------------------


def test_numbers_stand_to_the_right_and_texts_to_the_left():
    table = ShownTable([["a", 1234, 0.5], ["bcd", None, 12.0]], ["name", "count", "share"], title="T", note="N")
    assert table.to_text().splitlines() == [
        "T",
        "name  count  share",
        "a     1,234    0.5",
        "bcd       –     12",
        "N",
    ]
    assert re.findall(r"text-align: (\w+)\">(?:a|1,234|0.5)<", table.to_html()) == ["left", "right", "right"]


def test_an_empty_cell_keeps_its_column():
    html = ShownTable([["a", "", "c"]], ["x", "y", "z"]).to_html()
    assert html.count("<td") == 3


def test_a_table_without_rows_is_its_title_and_note():
    table = ShownTable([], ["x", "y"], title="nothing", note="at all")
    assert table.to_text() == "nothing\nat all"
    assert Page(to_html(table)).elements == ["div", "p", "small"]


def test_long_labels_are_cut_and_characters_that_change_the_line_are_escaped():
    table = ShownTable([["x" * 1000, "a\nb\x1b[31m\u202ec"]], ["long", "hidden"])
    assert table.to_text().splitlines()[1].split() == ["x" * 119 + "…", r"a\nb\x1b[31m\u202ec"]
    assert Page(to_html(table)).texts[2:] == ["x" * 599 + "…", r"a\nb\x1b[31m\u202ec"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ((0, "record"), "0 records"),
        ((1, "record"), "1 record"),
        ((2000, "record"), "2,000 records"),
        ((1, "entry", "entries"), "1 entry"),
        ((2, "entry", "entries"), "2 entries"),
    ],
)
def test_a_quantity_has_the_right_noun(given, text):
    assert quantity(*given) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.162, "16.2 %"),
        (0, "0.0 %"),
        (0.00042, "0.042 %"),
        (4e-7, "0.00004 %"),
        (-0.5, "-50.0 %"),
        (-4e-7, "-0.00004 %"),
    ],
)
def test_a_share_has_no_exponent(value, text):
    assert share(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [("600,488", "600, 488"), ("600", "600"), ("1%", "1%"), (3000, "3,000"), ("a,b", "a,b")]
)
def test_several_numbers_are_not_shown_as_one(value, text):
    assert setting(value) == text
