"""Files of grouped data: written and read again the same, and what is wrong with one is said with file and line."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.formats import Layout
from setveil.data.forms.grouped import GroupedLines, write_grouped

TEXTS = st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc")), min_size=1, max_size=5)
RIGHT = '{"rows": [["a", "b"], []], "sensitive": {"s": 2}}'


@st.composite
def some_grouped(draw):
    labels = st.sampled_from(draw(st.lists(TEXTS | st.integers(-5, 200).map(str), min_size=1, max_size=6, unique=True)))
    lists = draw(st.lists(st.lists(st.sets(labels), min_size=1, max_size=3), min_size=1, max_size=4))
    counts = [draw(st.dictionaries(labels, st.integers(1, len(rows)), max_size=3)) for rows in lists]
    return sv.Grouped.from_groups(zip(lists, counts, strict=True))


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@given(data=some_grouped())
def test_what_is_written_reads_back(tmp_path_factory, packing, data):
    path = tmp_path_factory.mktemp("made") / f"data.jsonl{packing}"
    write_grouped(data, path)
    assert sv.read_grouped(path) == data
    first = path.read_bytes()
    GroupedLines().write(data, path, Layout())
    assert path.read_bytes() == first
    assert GroupedLines().read(path, Layout()) == data


def test_the_file_is_what_the_page_says(tmp_path):
    data = sv.Grouped.from_groups([([["milk", "bread"], []], {"wine": 2, "beer": 1}), ([["ü", '"']], {})])
    write_grouped(data, tmp_path / "data.jsonl")
    lines = (tmp_path / "data.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines == [
        '{"rows": [["bread", "milk"], []], "sensitive": {"beer": 1, "wine": 2}}',
        '{"rows": [["\\"", "ü"]], "sensitive": {}}',
    ]


def test_many_groups_are_written_in_several_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("setveil.data.forms.grouped._WRITTEN_GROUPS", 3)
    data = sv.Grouped.from_groups([([[f"a{g}"]] * (g % 3 + 1), {f"s{g % 4}": 1} if g % 2 else {}) for g in range(20)])
    write_grouped(data, tmp_path / "data.jsonl")
    assert sv.read_grouped(tmp_path / "data.jsonl") == data


def test_any_order_is_read_and_whole_numbers_become_text(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('\ufeff{"sensitive": {"10": 1, "9": 1}, "rows": [[7, "b", "a"]]}\n')
    assert sv.read_grouped(path).to_groups() == [([["7", "a", "b"]], {"9": 1, "10": 1})]
    assert type(sv.read_grouped(path).rows.vocabulary[0]) is str


WRONG = {
    "no JSON": ("{", "is not JSON"),
    "a blank line": ("", "is not JSON"),
    "a list": ("[]", "is a list; expected a group such as {"),
    "a number": ("7", "is a whole number; expected a group"),
    "a text": ('"rows"', "is a text; expected a group"),
    "no rows": ('{"sensitive": {}}', "has no field 'rows'"),
    "no sensitive items": ('{"rows": [[]]}', "has no field 'sensitive'"),
    "another field": ('{"rows": [[]], "sensitive": {}, "note": 1}', "has the field 'note'; a group has the fields"),
    "a field twice": ('{"rows": [[]], "rows": [[]], "sensitive": {}}', "names a field twice"),
    "rows that are none": ('{"rows": "ab", "sensitive": {}}', "the field 'rows' is a text; expected at least one list"),
    "an empty group": ('{"rows": [], "sensitive": {}}', "the field 'rows' is an empty list"),
    "a row that is none": ('{"rows": ["ab"], "sensitive": {}}', "a row is a text; expected a list of items"),
    "an item that is none": ('{"rows": [[1.5]], "sensitive": {}}', "an item is a number with a fraction"),
    "a list in a row": ('{"rows": [[[]]], "sensitive": {}}', "an item is a list"),
    "an empty item": ('{"rows": [[""]], "sensitive": {}}', "the item '' is empty"),
    "a control character": ('{"rows": [["a\\tb"]], "sensitive": {}}', "holds a control character"),
    "half a character": ('{"rows": [["\\ud800"]], "sensitive": {}}', "a lone surrogate"),
    "an item twice": ('{"rows": [["a", "b", "a"]], "sensitive": {}}', "a row holds the item 'a' twice"),
    "a list of sensitive items": ('{"rows": [[]], "sensitive": ["s"]}', "the field 'sensitive' is a list"),
    "a sensitive item twice": ('{"rows": [[], []], "sensitive": {"s": 1, "s": 1}}', "names a field twice"),
    "an empty sensitive item": ('{"rows": [[]], "sensitive": {"": 1}}', "the item '' is empty"),
    "a count that is a text": ('{"rows": [[]], "sensitive": {"s": "1"}}', "the count of 's' is a text"),
    "a count with a fraction": (
        '{"rows": [[]], "sensitive": {"s": 1.0}}',
        "the count of 's' is a number with a fraction",
    ),
    "a count that is true": ('{"rows": [[]], "sensitive": {"s": true}}', "the count of 's' is true or false"),
    "no count": ('{"rows": [[]], "sensitive": {"s": null}}', "the count of 's' is null"),
    "a count of 0": ('{"rows": [[]], "sensitive": {"s": 0}}', "the count of 's' is 0 in a group of 1 row; allowed is"),
    "a count below 0": ('{"rows": [[]], "sensitive": {"s": -1}}', "the count of 's' is -1 in a group of 1 row"),
    "more than rows": ('{"rows": [[], []], "sensitive": {"s": 3}}', "the count of 's' is 3 in a group of 2 rows"),
    "an endless count": (
        f'{{"rows": [[]], "sensitive": {{"s": {"9" * 6000}}}}}',
        "is 999999999999999999... in a group",
    ),
    "deep nesting": ("[" * 5000, "is nested too deeply"),
}


@pytest.mark.parametrize(("line", "says"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, line, says):
    path = tmp_path / "data.jsonl"
    path.write_text(f"{RIGHT}\n{line}\n{RIGHT}\n", encoding="utf-8")
    with pytest.raises(sv.BadData) as refused:
        sv.read_grouped(path)
    assert str(refused.value).startswith(f"{path}, line 2: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_other_files_are_told(tmp_path):
    empty, packed, latin = tmp_path / "empty.jsonl", tmp_path / "data.jsonl.gz", tmp_path / "latin.jsonl"
    empty.write_text("")
    packed.write_bytes(gzip.compress(RIGHT.encode())[:-9])
    latin.write_bytes(RIGHT.replace("a", "ä").encode("latin-1"))
    for path, says in (
        (empty, "is empty; expected one group per line"),
        (packed, "gzip"),
        (latin, "is not UTF-8 text"),
    ):
        with pytest.raises(sv.BadData, match=says):
            sv.read_grouped(path)
    with pytest.raises(sv.BadData, match="there is no such file"):
        sv.read_grouped(tmp_path / "nothing.jsonl")


def test_what_no_file_holds_is_refused(tmp_path):
    path = tmp_path / "data.jsonl"
    with pytest.raises(sv.OutputRefused, match="without groups"):
        write_grouped(sv.Grouped.from_groups([]), path)
    for groups in ([([["a\nb"]], {})], [([["a"]], {"": 1})]):
        with pytest.raises(sv.OutputRefused, match="an item cannot be written"):
            write_grouped(sv.Grouped.from_groups(groups), path)
    assert not path.exists()


def test_hostile_labels_stay_labels(tmp_path):
    label = '"}], "sensitive": {"x": 1}}\\'
    data = sv.Grouped.from_groups([([[label]], {label + "s": 1})])
    write_grouped(data, tmp_path / "data.jsonl")
    assert json.loads((tmp_path / "data.jsonl").read_text()) == {"rows": [[label]], "sensitive": {label + "s": 1}}
    assert sv.read_grouped(tmp_path / "data.jsonl") == data
