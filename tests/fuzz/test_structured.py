"""Files with a structure that random bytes do not hit: CSV with quotes and line breaks, JSON documents; what is in them is known."""

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from setveil.data.formats import FORMATS, Layout
from setveil.errors import BadData

from support.exhaustive import examples

fields = st.one_of(
    st.sampled_from(["a", "b", "7", "x y", " a ", 'say "no"', "a,b", "é", "\u2028", "'", '"', "\ufeff", "NULL"]),
    st.sampled_from(["", "a\nb", "a\r\nb", "\r", "\0", "\x7f", "\t"]),
    st.text(min_size=1, max_size=5),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("structured")


BLANKS = "".join(char for char in map(chr, range(32, 0x3001)) if char.isspace())


def is_usable(text):
    return text != "" and not re.search(r"[\x00-\x1f\x7f]", text)


def written(field, *, quoted):
    needed = quoted or any(sign in field for sign in ',"\r\n') or field == ""
    return '"' + field.replace('"', '""') + '"' if needed else field


@st.composite
def csv_files(draw):
    """Draw a CSV file: its text, its rows, and the line on which each starts."""
    columns = draw(st.permutations(["id", "item", "note"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    rows = draw(st.lists(st.fixed_dictionaries(dict.fromkeys(columns, fields)), max_size=6))
    text, lines = [], []
    line = 1
    for row in [dict(zip(columns, columns, strict=True)), *rows]:
        lines.append(line)
        cells = [written(row[name], quoted=draw(st.booleans())) for name in columns]
        blanks = draw(st.integers(0, 2)) if text else 0  # blank lines are no rows
        text.append(",".join(cells) + end * (1 + blanks))
        line += len(re.findall(r"\r\n|\r|\n", text[-1]))
    content = "".join(text)
    if draw(st.booleans()):
        content = content.removesuffix(end)
    return draw(st.sampled_from(["", "\ufeff"])) + content, rows, lines[1:]


@settings(max_examples=examples(400))
@given(file=csv_files())
def test_csv_with_quotes_is_what_it_says_or_refused_with_a_wrong_line(folder, file):
    text, rows, lines = file
    path = folder / "data.csv"
    path.write_bytes(text.encode())
    wrong = [
        line
        for row, line in zip(rows, lines, strict=True)
        if not (is_usable(row["id"]) and is_usable(row["item"].strip(BLANKS)))
    ]
    if wrong:
        with pytest.raises(BadData) as refused:
            FORMATS["long"].read(path, Layout())
        assert refused.value.line in wrong
        return
    data = FORMATS["long"].read(path, Layout())
    expected = {}
    for row in rows:
        expected.setdefault(row["id"], set()).add(row["item"].strip(BLANKS))
    assert dict(zip(data.ids.to_pylist(), map(set, data.to_lists()), strict=True)) == expected
    assert data.ids.to_pylist() == list(expected)


json_items = st.one_of(
    fields,
    st.integers(),
    st.sampled_from([None, True, 1.5, [], {}, ["a"], {"a": 1}, "\ud800", 10**30]),
)
plain_items = st.one_of(st.sampled_from(["a", "b", "é", '"', "\\", "\u2028"]), st.integers())
item_lists = st.one_of(st.lists(plain_items, max_size=4), st.lists(json_items, max_size=4))
json_records = st.one_of(
    item_lists,
    st.fixed_dictionaries({"items": item_lists}, optional={"note": json_items}),
    st.sampled_from([None, True, 3, "a", {}, {"items": "a"}, {"items": {"a": []}}, {"item": ["a"]}]),
)


def items_of(record):
    """Return the items of a record as texts, or None where it is no record."""
    items = record.get("items") if isinstance(record, dict) else record
    if not isinstance(items, list):
        return None
    texts = [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in items]
    texts = [text.strip(BLANKS) if isinstance(text, str) else text for text in texts]
    return texts if all(isinstance(text, str) and is_usable(text) and text != "\ud800" for text in texts) else None


@settings(max_examples=examples(400))
@example(records=[{"items": [], "note": "\ud800"}], ascii_only=False, indent=False)
@example(records=[{"items": [], "note": "\ud800"}], ascii_only=True, indent=False)
@given(records=st.lists(json_records, min_size=1, max_size=5), ascii_only=st.booleans(), indent=st.booleans())
def test_json_documents_are_what_they_say_or_refused_with_a_wrong_line(folder, records, ascii_only, indent):
    path = folder / "data.jsonl"
    separators = (" , ", " : ") if indent else (",", ":")
    lines = [json.dumps(record, ensure_ascii=ascii_only, separators=separators) for record in records]
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))  # half a character, escaped or in bytes
    # Half a character in a field that is not read does no harm where it is escaped; in bytes it makes the line no text.
    no_text = [not ascii_only and "\ud800" in line for line in lines]
    expected = [None if bad else items_of(record) for bad, record in zip(no_text, records, strict=True)]
    if None in expected:
        with pytest.raises(BadData) as refused:
            FORMATS["list"].read(path, Layout())
        assert refused.value.line in [number for number, items in enumerate(expected, start=1) if items is None]
        return
    data = FORMATS["list"].read(path, Layout())
    assert [set(items) for items in data.to_lists()] == [set(items) for items in expected]
