"""Forms from declarations: what a form shows is what a job gets."""

from importlib.resources import files

import pytest

from setveil.catalog import METHODS
from setveil.comparison.candidates import SideFiles
from setveil.report.theme import DARK, LIGHT
from setveil.studio.database import Upload
from setveil.studio.forms import Places, fields_of, side_file, table_of
from setveil.studio.pages import values_in
from setveil.studio.refusals import BadRequest
from setveil.studio.releases_shown import rendered
from setveil.studio.sources import FileEntry, samples

PLACES = Places(
    samples(),
    [FileEntry("f" * 16, "data", "items.csv", 10, 0.0)],
    [Upload("u" * 16, "owner", "mine.csv", "x", 10, 0.0)],
)


def sent(fields):
    """Return what a browser sends for a form with these values."""
    found = {}
    for one in fields:
        if one.look == "flag":
            found |= {one.name: ["yes"]} if one.value else {}
        elif one.look == "several":
            found |= {one.name: list(one.value)} if one.value else {}
        elif one.look == "file":
            found |= {f"{one.name}.from": [str(one.value)], f"{one.name}.typed": [one.typed]}
            found |= sent(one.more)
        else:
            found[one.name] = [str(one.value)]
    return found


@pytest.mark.parametrize("name", METHODS)
def test_a_form_that_is_not_touched_gives_the_settings_that_it_was_filled_with(name):
    kind = METHODS[name]
    numbers = {"k": 5, "m": 2, "p": 3, "rho": "50%", "min_support": "1%"}
    given = {one.name: numbers[one.name] for one in kind.parameters() if one.name in numbers}
    lists = {
        "categories": {"file": "f" * 16},
        "sensitive": ["beer", "tea"],
        "itemsets": [["a", "b"], ["c, d", "e"]],
        "hierarchy": {"a": "b", "c": "b"},
    }
    given |= {one.name: lists[one.name] for one in kind.parameters() if one.name in lists}
    assert table_of(kind, sent(fields_of(kind, given, PLACES))) == given


def test_changed_settings_are_named_and_defaults_are_not():
    kind = METHODS["disassociation"]
    filled = sent(fields_of(kind, {"k": 3, "m": 2}, PLACES))
    assert table_of(kind, filled) == {"k": 3, "m": 2}
    del filled["safe"]
    assert table_of(kind, filled | {"delta": ["70"], "beta": ["0.5"]}) == {
        "k": 3,
        "m": 2,
        "delta": 70,
        "beta": 0.5,
        "safe": False,
    }
    assert table_of(kind, filled | {"k": ["many"]})["k"] == "many"


def test_options_of_a_side_file_are_beside_it():
    kind = METHODS["part-swap"]
    given = {"categories": {"upload": "u" * 16}, "level": "department", "leftovers": ["cycle"]}
    assert table_of(kind, sent(fields_of(kind, given, PLACES))) == given


def test_a_side_file_is_a_file_by_its_id_a_sample_or_what_is_typed():
    assert side_file("sensitive", ".txt", {"sensitive.from": ["file:0123"]}) == {"file": "0123"}
    assert side_file("sensitive", ".txt", {"sensitive.from": ["sample:hospital"]}) == {"sample": "sample:hospital"}
    assert side_file("sensitive", ".txt", {"sensitive.typed": [" beer \n\ntea"]}) == ["beer", "tea"]
    assert (
        side_file("categories", ".csv", {"categories.from": ["typed"], "categories.typed": ["prefix:3"]}) == "prefix:3"
    )
    assert side_file("categories", ".csv", {"categories.typed": ['"a, b",c']}) == {"a, b": "c"}
    assert side_file("itemsets", ".jsonl", {"itemsets.typed": ["a, b\nc"]}) == [["a", "b"], ["c"]]
    assert side_file("sensitive", ".txt", {}) is None
    for path in ("/etc/passwd", "../x", "http://x"):
        with pytest.raises(BadRequest):
            side_file("sensitive", ".txt", {"sensitive.from": [path]})
    with pytest.raises(BadRequest):
        side_file("categories", ".csv", {"categories.typed": ["a,b,c"]})


def test_files_of_samples_are_offered_where_they_fit():
    fields = {one.name: one for one in fields_of(SideFiles, {}, PLACES)}
    offered = {
        name: [choice.value for place in one.places for choice in place.choices]
        for name, one in fields.items()
        if one.look == "file"
    }
    assert "sample:hospital" in offered["sensitive"]
    assert "sample:hospital" not in offered["itemsets"]
    assert all(f"file:{'f' * 16}" in one and f"upload:{'u' * 16}" in one for one in offered.values())


def test_typed_values_are_numbers_texts_or_flags():
    assert values_in("k = 3, 5;m=2; rho = 50%; safe = false; beta=0.5") == {
        "k": [3, 5],
        "m": 2,
        "rho": "50%",
        "safe": False,
        "beta": 0.5,
    }
    assert values_in("") == {}
    with pytest.raises(BadRequest):
        values_in("three")


def test_a_card_is_escaped():
    html = str(
        rendered("# <b>\n\n- `<i>`\n- **<u>**\n\n```\n<script>\n\nx\n```\n\n| a | b |\n|---|--:|\n| `x\\|y` | <s> |\n")
    )
    for tag in ("<b>&lt;", "&lt;i&gt;", "&lt;u&gt;", "&lt;script&gt;", "<code>x|y</code>", "&lt;s&gt;"):
        assert tag in html or tag == "<b>&lt;"
    assert "<script" not in html
    assert "<i>" not in html


def test_pages_take_their_colours_from_the_theme():
    text = files("setveil.studio").joinpath("static", "studio.css").read_text("utf-8")
    used = {name for name in {*LIGHT} if f"var(--{name}" in text}
    assert {"paper", "raised", "ink", "soft", "line", "original"} <= used
    assert {*DARK} == {*LIGHT}
