import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.files.json_paths import JsonPath

from support.exhaustive import examples

ICD = "http://hl7.org/fhir/sid/icd-10-cm"
SNOMED = "http://snomed.info/sct"


def condition(patient, *codes, **more):
    """Return a FHIR resource with codes of ICD-10-CM and one of SNOMED CT."""
    coding = [{"system": ICD, "code": code} for code in codes] + [{"system": SNOMED, "code": "73211009"}]
    return {
        "resourceType": "Condition",
        "subject": {"reference": f"Patient/{patient}"},
        "code": {"coding": coding},
    } | more


@pytest.fixture
def written(tmp_path):
    def write(*lines, name="conditions.ndjson"):
        path = tmp_path / name
        text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.mark.parametrize("item", ["code.coding.code", "code.coding[].code", "code[].coding[].code"])
@pytest.mark.parametrize("name", ["conditions.ndjson", "conditions.jsonl", "conditions.ndjson.gz"])
def test_resources_of_a_person_are_one_record(written, item, name):
    path = written(condition("a", "I10", "E11.9"), condition("b", "I10"), condition("a", "N18.30"), name=name)
    data = sv.read(path, id="subject.reference", item=item)
    assert data.ids.to_pylist() == ["Patient/a", "Patient/b"]
    assert data.to_lists() == [["73211009", "E11.9", "I10", "N18.30"], ["73211009", "I10"]]


def test_a_value_beside_chooses_objects_of_a_list(written):
    path = written(condition("a", "I10", "E11.9"), condition("b", "J18.9"))
    data = sv.read(path, id="subject.reference", item=f"code.coding[system={ICD}].code")
    assert data.to_lists() == [["E11.9", "I10"], ["J18.9"]]


def test_whole_numbers_are_texts_and_flat_objects_need_no_dots(written):
    path = written({"who": 7, "what": 3}, {"who": 7, "what": "tea"}, {"who": 8, "what": [3, 4]})
    data = sv.read(path, id="who", item="what")
    assert dict(zip(data.ids.to_pylist(), data.to_lists(), strict=True)) == {"7": ["3", "tea"], "8": ["3", "4"]}


def test_a_field_with_the_name_of_the_whole_path_comes_first(written):
    path = written({"id": "a", "a.b": "flat", "a": {"b": "nested"}})
    assert sv.read(path, item="a.b").to_lists() == [["flat"]]


def test_without_item_a_file_still_has_lists(written):
    path = written({"id": "a", "items": ["milk", "tea"]})
    assert sv.read(path).to_lists() == [["milk", "tea"]]


def test_the_command_line_reads_them_too(written, tmp_path):
    from support.program import call  # noqa: PLC0415 - only here

    path = written(condition("a", "I10"), condition("b", "E11.9"))
    out = tmp_path / "rows.dat"
    done = call("convert", path, out, "--id", "subject.reference", "--item", f"code.coding[system={ICD}].code")
    assert done.code == 0, done.err
    assert out.read_text() == "I10\nE11.9\n"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "is not JSON"),
        ("[1, 2]", "is a list; expected an object"),
        ("true", "is true or false; expected an object"),
        ('"text"', "is a text; expected an object"),
        ("7", "is a whole number; expected an object"),
        ({"resourceType": "Patient", "id": "a"}, "the column 'subject.reference' has a missing value"),
        (condition("a") | {"code": {"text": "unclear"}}, "the column 'code.coding.code' has a missing value"),
        (condition("a") | {"code": None}, "the column 'code.coding.code' has a missing value"),
        (condition("a") | {"code": "I10"}, "the field 'code' is a text; expected an object with the field 'coding'"),
        (condition("a") | {"code": {"coding": [7]}}, "the field 'coding' is a whole number; expected an object with"),
        (condition("a", 1.5), "an item is a number with a fraction; expected text or a whole number"),
        (condition("a", {"x": 1}), "an item is an object; expected text or a whole number"),
        (condition("a", "I10\n"), "the column 'code.coding.code' is empty or holds a control character"),
        (condition("a", "\ud800"), "an item holds a lone surrogate"),
        (condition("a") | {"subject": [{"reference": "a"}, {"reference": "b"}]}, "has 2 values at 'subject.reference'"),
        (condition("a") | {"subject": {"reference": ""}}, "the column 'subject.reference' is empty"),
    ],
)
def test_bad_lines_are_named_with_their_number(written, line, sentence):
    path = written(*[condition(f"p{i}", "I10", "E11.9") for i in range(5)], line, condition("q", "I10"))
    with pytest.raises(sv.BadData) as caught:
        sv.read(path, id="subject.reference", item="code.coding.code")
    assert str(caught.value).startswith(f"{path}, line 6: ")
    assert sentence in str(caught.value)


def test_lines_without_an_item_can_be_dropped(written):
    path = written(
        condition("a", "I10"), condition("a") | {"code": None}, condition("b") | {"code": {"text": "unclear"}}
    )
    with pytest.raises(sv.BadData, match=r"line 2: the column 'code\.coding\.code' has a missing value"):
        sv.read(path, id="subject.reference", item="code.coding.code")
    data = sv.read(path, id="subject.reference", item="code.coding.code", missing="drop")
    assert data.ids.to_pylist() == ["Patient/a", "Patient/b"]
    assert data.to_lists() == [["73211009", "I10"], []]


def test_lists_may_be_nested_deeply(written):
    path = written(
        '{"id": 1, "item": ' + "[" * 900 + '"x"' + "]" * 900 + "}", '{"id": 2, "item": [["a", ["b"]], [], "c"]}'
    )
    assert sv.read(path, item="item").to_lists() == [["x"], ["a", "b", "c"]]


def test_a_bad_value_far_down_is_named_with_its_line(written):
    path = written(*[condition(f"p{i}", "I10", "E11.9") for i in range(70_000)], condition("q", ""))
    with pytest.raises(sv.BadData, match=r"line 70001: the column 'code\.coding\.code' is empty"):
        sv.read(path, id="subject.reference", item="code.coding.code")


def test_the_format_is_not_written_as_json_lines(tmp_path):
    with pytest.raises(sv.OutputRefused, match="the format 'long' is only read from JSON Lines"):
        sv.write(sv.read("sample:supermarket?records=5"), tmp_path / "rows.jsonl", format="long")
    assert not list(tmp_path.iterdir())


def test_an_empty_file_is_refused(written):
    with pytest.raises(sv.BadData, match="is empty; expected one JSON object per line"):
        sv.read(written(), id="subject.reference", item="code.coding.code")


@pytest.mark.parametrize("path", [".a", "a.", "a..b", "a[", "a]", "a[x].b", "a[=x].b", "a[x=].b", "a[x=y]z", "[]"])
def test_bad_paths_are_refused(written, path):
    with pytest.raises(
        sv.BadParameter, match=r"the path '.*' cannot be read at character \d+; expected names of fields"
    ):
        sv.read(written(condition("a", "I10")), id="subject.reference", item=path)


NESTED = st.recursive(
    st.none() | st.sampled_from(["x", "y", 1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=8,
)


def plainly(value, names):
    """Return the values at a path by recursion; None if something on the way is not an object."""
    if value is None:
        return []
    if isinstance(value, list):
        parts = [plainly(one, names) for one in value]
        return None if None in parts else [one for part in parts for one in part]
    if not names:
        return [value]
    if not isinstance(value, dict):
        return None
    return plainly(value.get(names[0]), names[1:])


@given(
    st.dictionaries(st.sampled_from("ab"), NESTED, max_size=2), st.lists(st.sampled_from("ab"), min_size=1, max_size=3)
)
@settings(max_examples=examples(300))
def test_values_are_those_of_a_plain_recursion(value, names):
    expected = plainly(value, names)
    path = JsonPath(".".join(names))
    if expected is None:
        with pytest.raises(ValueError, match="expected an object with the field"):
            path.values(value)
    else:
        assert path.values(value) == expected
