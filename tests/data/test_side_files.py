import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.base.translation import as_options
from setveil.data.records.labels import label_order
from setveil.data.records.transactions import from_lists
from setveil.data.samples import sample_sensitive
from setveil.errors import BadData, BadParameter, SetveilError, UnknownName
from setveil.parameters.categories import read_categories
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.parameters.named_itemsets import read_itemsets
from setveil.parameters.sensitive_items import read_sensitive

DATA = from_lists([["milk", "bread", "beer"], ["milk", "diapers"], ["10", "9"]])
PAGE = Path(__file__).parents[2] / "docs" / "side-files.md"
DEEP = "[" * 100_000


FILE_NAME = "side.txt"


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    """Give a function that writes bytes to a file of that ending."""
    folder = tmp_path_factory.mktemp("fuzz")

    def write(content, ending):
        path = folder / f"fuzz{ending}"
        path.write_bytes(content)
        return path

    return write


def refusal(path, read, **options):
    with pytest.raises(BadData) as refused:
        read(path, **options)
    said = str(refused.value)
    assert "\n" not in said
    assert refused.value.file == str(path)
    return refused.value.line, said.partition(": ")[2]


# -- sensitive items ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["side.txt", "side.txt.gz"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("milk\nbeer\n", ("beer", "milk")),
        ("milk\nbeer", ("beer", "milk")),
        ("\ufeffmilk\r\nbeer\r\n", ("beer", "milk")),
        ("\n  milk \t\n\n \nbeer\n\n", ("beer", "milk")),
        ("semi skimmed milk, 1 l\n", ("semi skimmed milk, 1 l",)),
        ("10\n9\n", ("9", "10")),
        ("10\n9\n007\n", ("007", "10", "9")),
        ("a\u2028b\x85c\x85\n", ("a\u2028b\x85c",)),
    ],
)
def test_sensitive_items_are_read(written, name, content, expected):
    assert read_sensitive(written(content, name)) == expected


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        ("", None, "is empty; expected one sensitive item per line"),
        ("\n \r\n", None, "is empty; expected one sensitive item per line"),
        (b"milk\nbe\x00er\n", 2, "holds the control byte 0x00; expected text in UTF-8"),
        (b"milk\n\n\xe9\n", 3, "holds the byte 0xe9, which is not UTF-8 text"),
        ("milk\nroot\tbeer\n", 2, r"the item 'root\tbeer' holds a control character"),
        (
            "bier\nzzz\nbier\n",
            None,
            "sensitive: 0 of 2 named items occur in the data; at least one must. Not in the data: 'bier' (close to 'beer'), 'zzz'. ",
        ),
        (
            "x" * 100_000,
            None,
            f"sensitive: 0 of 1 named items occur in the data; at least one must. Not in the data: '{'x' * 56}....",
        ),
    ],
)
def test_bad_files_of_sensitive_items(written, content, line, sentence):
    found_line, said = refusal(written(content), read_sensitive, data=DATA)
    assert found_line == line
    assert said.startswith(sentence)


def test_a_close_label_is_found_among_many(written):
    many = from_lists([[f"item {i}" for i in range(120_000)] + ["milk"]])
    _, said = refusal(written("mlik\n"), read_sensitive, data=many)
    assert "'mlik' (close to 'milk')" in said


def test_repeated_sensitive_items_are_noted(written, notes):
    assert read_sensitive(written("milk\nbeer\n milk\nmilk\n"), DATA) == ("beer", "milk")
    assert notes() == "2 repeated sensitive items counted once"


def test_sensitive_items_of_the_sample():
    source = "sample:supermarket"
    everything = sample_sensitive(source)
    assert read_sensitive(source) == tuple(everything)
    data = sv.read(f"{source}?records=50")
    assert 0 < len(set(everything) & set(data.vocabulary)) < len(everything)
    assert read_sensitive(source, data) == tuple(everything), "those that a small sample lacks too, as in a file"
    with pytest.raises(BadData, match=rf"sensitive: 0 of {len(everything)} named items occur"):
        read_sensitive(source, DATA)
    with pytest.raises(UnknownName, match=source):
        read_sensitive("sample:supermarkt")


# -- itemsets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "content", "separator", "expected"),
    [
        ("a.txt", "milk beer\nbread\n", None, (("beer", "milk"), ("bread",))),
        ("a.txt", "milk beer\nbread", " ", (("beer", "milk"), ("bread",))),
        ("a.dat", "\ufeff milk\tbeer \r\nbread\r\n\r\n \n", None, (("beer", "milk"), ("bread",))),
        ("a.txt", "10 9\n007\n", None, (("10", "9"), ("007",))),
        ("a.txt", "10 9 -1\n7\n", None, (("-1", "9", "10"), ("7",))),
        ("a.txt", "rye bread, milk\nbeer\n\n", ",", (("milk", "rye bread"), ("beer",))),
        ("a.txt", '["milk"] x\n', None, (('["milk"]', "x"),)),
        ("a.jsonl", '["milk", "rye bread"]\n["beer"]\n', None, (("milk", "rye bread"), ("beer",))),
        ("a.ndjson", '\ufeff["milk", "beer"]\r\n\r\n', ",", (("beer", "milk"),)),
        ("a.JSONL", '[10, 9, "8"]', None, (("8", "9", "10"),)),
        ("a.jsonl", "[-0, 7]", None, (("0", "7"),)),
        ("a.jsonl", f"[{'9' * 5000}]", None, (("9" * 5000,),)),
        ("a.jsonl", '["a\\u00e9", "\\ud83d\\ude00"]', None, (("aé", "\U0001f600"),)),
        ("a.jsonl", '[" a "]', None, (("a",),)),
        ("a.jsonl", '{"items": ["milk", 7], "support": 3}\n["beer"]', None, (("7", "milk"), ("beer",))),
    ],
)
def test_itemsets_are_read(written, packed, name, content, separator, expected):
    assert read_itemsets(written(content, name + packed), separator=separator) == expected


@pytest.mark.parametrize(
    ("name", "content", "line", "sentence"),
    [
        ("a.txt", "", None, "is empty; expected one itemset per line"),
        ("a.txt", "\n \n", None, "is empty; expected one itemset per line"),
        ("a.jsonl", "\n", None, "is empty; expected one itemset per line"),
        ("a.txt", "milk\n\n \nbeer\n", 2, "is blank; expected an itemset of at least one item"),
        ("a.txt", "\nmilk\n", 1, "is blank; expected an itemset of at least one item"),
        ("a.jsonl", '["milk"]\n\n["beer"]\n', 2, "is blank; expected an itemset of at least one item"),
        ("a.txt", b"milk\nbe\x1ber\n", 2, "holds the control byte 0x1b; expected text in UTF-8"),
        ("a.txt", b"milk\n\xff\n", 2, "holds the byte 0xff, which is not UTF-8 text"),
        ("a.jsonl", b'["milk"]\n["\x00"]\n', 2, "holds the control byte 0x00; expected text in UTF-8"),
        ("a.jsonl", b'["milk"]\n["\xe9"]\n', 2, "holds the byte 0xe9, which is not UTF-8 text"),
        ("a.jsonl", '["milk"]\n[]\n', 2, "is an empty list; expected a list of items such as ["),
        ("a.jsonl", '["milk"]\n["beer"\n', 2, "is not JSON (Expecting ',' delimiter at character 8); expected"),
        ("a.jsonl", "milk beer\n", 1, "is not JSON (Expecting value at character 1); expected a list of items"),
        ("a.jsonl", '["milk"] ["beer"]\n', 1, "is not JSON (Extra data at character 10); expected"),
        ("a.jsonl", '"milk"\n', 1, "is a single item; expected a list of items"),
        ("a.jsonl", '{"item": ["milk"]}\n', 1, "has no field 'items'; expected a list of items such as"),
        ("a.jsonl", '{"items": "milk"}\n', 1, "is a single item; expected a list of items"),
        ("a.jsonl", "null\n", 1, "is null; expected a list of items"),
        ("a.jsonl", "[1.0]\n", 1, "an item is a number with a fraction; expected"),
        ("a.jsonl", "[1e3]\n", 1, "an item is a number with a fraction; expected"),
        ("a.jsonl", "[NaN]\n", 1, "holds NaN, which is not JSON; expected"),
        ("a.jsonl", '["milk", null]\n', 1, "an item is null; expected"),
        ("a.jsonl", "[true]\n", 1, "an item is true or false; expected"),
        ("a.jsonl", '[["milk"]]\n', 1, "an item is a list; expected"),
        ("a.jsonl", '[{"a": 1}]\n', 1, "an item is an object; expected"),
        ("a.jsonl", '[""]\n', 1, "the item '' is empty; expected"),
        ("a.jsonl", '["a\\nb"]\n', 1, r"the item 'a\nb' holds a control character; expected"),
        ("a.jsonl", '["\\u0000"]\n', 1, r"the item '\x00' holds a control character; expected"),
        ("a.jsonl", '["\\ud800"]\n', 1, "an item holds a lone surrogate, which is not valid Unicode text; expected"),
        ("a.jsonl", DEEP, 1, "is nested too deeply; expected"),
        ("a.jsonl", '{"a":' * 100_000, 1, "is nested too deeply; expected"),
        (
            "a.txt",
            "milk bred\nbeer ham\n",
            None,
            "itemsets: 0 of 2 named itemsets occur in the data; at least one must. Not in the data: 'bred' (close to 'bread'), 'ham'",
        ),
        ("a.csv", "id,item\n1,milk\n,beer\n", 3, "the id is empty; expected the id of an itemset"),
        ("a.jsonl", '["milk", 11]\n', None, "itemsets: 0 of 1 named itemsets occur in the data; at least one must"),
    ],
)
def test_bad_itemsets(written, name, content, line, sentence):
    found_line, said = refusal(written(content, name), read_itemsets, data=DATA)
    assert found_line == line
    assert said.startswith(sentence)


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        ("a,b\na,,b\n", 2, "an item between two ',' is empty; expected a name"),
        ("a,\n", 1, "an item between two ',' is empty; expected a name"),
        ("a\n,\n", 2, "an item between two ',' is empty; expected a name"),
        ("a\n\nb\n", 2, "is blank; expected an itemset of at least one item"),
        ("a b,c\td\n", 1, r"the item 'c\td' holds a control character"),
    ],
)
def test_bad_itemsets_with_a_separator(written, content, line, sentence):
    assert refusal(written(content), read_itemsets, separator=",") == (line, sentence)


def test_separators_are_those_of_baskets(written):
    with pytest.raises(BadParameter, match="the separator is 'ab'"):
        read_itemsets(written("a"), separator="ab")


def test_repeats_are_told_and_kept_once(written, notes):
    path = written("milk beer milk\nbread\nbeer milk\nbread bread bread\n")
    assert read_itemsets(path, DATA) == (("beer", "milk"), ("bread",))
    assert notes() == "3 repeated items within an itemset counted once | 2 repeated itemsets counted once"


@given(st.text('ab1 \t\r\v\f\n,é\x85\u2028"', max_size=40), st.sampled_from([None, ",", "\t", "a"]))
def test_lines_are_split_as_those_of_a_basket_file(fuzzed, content, separator):
    path = fuzzed(content.encode(), ".txt")
    try:
        records = sv.read(path, separator=separator).to_lists()
    except BadData:
        records = None
    try:
        itemsets = read_itemsets(path, separator=separator)
    except BadData as refused:
        itemsets = None
        blank = "blank" in str(refused)
    while records and not records[-1]:
        records.pop()
    if itemsets is None:
        assert not records or (blank and [] in records)
    else:
        assert list(itemsets) == list(dict.fromkeys(tuple(record) for record in records))


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5).map(str.strip).filter(bool)


@given(st.lists(st.lists(WORDS | st.integers(-20, 20), min_size=1, max_size=5), min_size=1, max_size=8))
def test_json_lines_hold_any_itemset(fuzzed, lists):
    path = fuzzed("\n".join(json.dumps(items) for items in lists).encode(), ".jsonl")
    expected = dict.fromkeys(frozenset(map(str, items)) for items in lists)
    found = read_itemsets(path)
    assert [frozenset(itemset) for itemset in found] == list(expected)
    labels = sorted(set().union(*expected))
    rank = {labels[at]: place for place, at in enumerate(label_order(labels))}
    for itemset in found:
        assert list(itemset) == sorted(set(itemset), key=rank.__getitem__)


@given(
    st.binary(max_size=60) | st.text('[]{},:"\\u0d8 1.-enull\n\r\t\x00é', max_size=60).map(str.encode),
    st.sampled_from([".txt", ".jsonl", ".txt.gz", ".jsonl.zst"]),
)
def test_nothing_but_our_errors_comes_out(fuzzed, content, ending):
    path = fuzzed(content, ending)
    for read in (read_sensitive, read_itemsets):
        for data in (None, DATA):
            said = None
            try:
                read(path, data)
            except SetveilError as error:
                said = str(error)
            assert said is None or said.startswith(str(path))


@pytest.mark.parametrize(
    "read", [sv.read_sensitive, sv.read_itemsets, sv.read_categories, sv.read_hierarchy, sv.read_names]
)
def test_a_database_is_refused_without_its_password(read):
    with pytest.raises(
        BadData, match="postgresql://alice@localhost/shop: is a database, and a side file is a file"
    ) as refused:
        read("postgresql://alice:hush@localhost/shop")
    assert "hush" not in str(refused.value.to_dict())


@pytest.mark.parametrize("read", [read_sensitive, read_itemsets])
def test_what_is_no_readable_file_is_refused(tmp_path, read):
    (tmp_path / "plain.txt.gz").write_text("milk\n", encoding="utf-8")
    for name, sentence in {
        "absent.txt": "there is no such file",
        ".": "is a folder; expected a file",
        "plain.txt.gz": "is not a complete gzip file",
    }.items():
        with pytest.raises(BadData, match=sentence):
            read(tmp_path / name)


# -- the page ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Write the files that the page shows, and give the page."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    for name, content in re.findall(r"^`([\w.-]+)`:\n\n```\n(.*?)```", text, re.MULTILINE | re.DOTALL):
        Path(name).write_text(content, encoding="utf-8")
    return text


def test_the_files_on_the_page_are_what_it_says(page):
    assert dict(read_categories("categories.csv")) == {"1001": "dairy", "1002": "dairy", "2001": "pets"}
    by_level = read_hierarchy("taxonomy.csv", paths=True)
    by_parent = read_hierarchy("parents.csv")
    assert by_level == by_parent
    assert by_parent.ancestors("2001") == ("Pets/Meat", "Pets", "*")
    assert (
        by_parent.level(1)
        == read_categories("taxonomy.csv", level="department")
        == read_categories("parents.csv", level=1)
    )
    assert read_sensitive("sensitive.txt") == ("pregnancy test", "sleeping pills")
    assert read_itemsets("itemsets.txt") == (("beer", "diapers"), ("cheese",))
    assert read_itemsets("itemsets.jsonl") == (("beer", "diapers"), ("sleeping pills",))
    with pytest.raises(BadData) as refused:
        read_hierarchy("taxonomy.csv")
    assert as_options(str(refused.value)) in page
    Path("sensitive.txt").write_text("sleeping pills\npregnancy tests\n", encoding="utf-8")
    found = sv.SensitiveItems(read_sensitive("sensitive.txt")).found_in(
        from_lists([["sleeping pills", "pregnancy test"]]), "sensitive"
    )
    assert f"{found}; not there: {found.missing_items(20)}" in page


def test_the_python_on_the_page_runs(page):
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, {})  # noqa: S102 - our own page
