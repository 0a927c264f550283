import gzip

import pytest

import setveil as sv
from setveil.data.formats import Layout
from setveil.data.formats.basket import Basket
from setveil.data.reading.source import read
from setveil.data.records.transactions import from_lists
from setveil.errors import BadData, OutputRefused


@pytest.fixture
def written(tmp_path):
    """Give a function that writes a basket file."""

    def write(content, name="data.dat"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "separator", "expected"),
    [
        ("b a\nc\n", None, [["a", "b"], ["c"]]),
        ("b a\nc", None, [["a", "b"], ["c"]]),
        ("b a\nc\n", " ", [["a", "b"], ["c"]]),
        ("b a\r\nc\r\n", None, [["a", "b"], ["c"]]),
        ("b\ta\n \t c\v\f \n", None, [["a", "b"], ["c"]]),
        ("  b   a  \nc\n", None, [["a", "b"], ["c"]]),
        ("a,b c\n", None, [["a,b", "c"]]),
        ("b\xa0a\u2028d\x85 c\n", None, [["b\xa0a\u2028d", "c"]]),
        ("10 9 -1\n007\n", None, [["-1", "10", "9"], ["007"]]),
        ("10 9 -1\n7\n", None, [["-1", "9", "10"], ["7"]]),
        ("\n", None, [[]]),
        (" ", None, [[]]),
        ("a\n\nb\n", None, [["a"], [], ["b"]]),
        ("a\r\n\r\n \t\r\nb", None, [["a"], [], [], ["b"]]),
        ("\n\na\n\n", None, [[], [], ["a"], []]),
        ("b a,c d\ne\n", ",", [["b a", "c d"], ["e"]]),
        ("b a,c d\ne", ",", [["b a", "c d"], ["e"]]),
        (" b a , c\t\r\n e \r\n", ",", [["b a", "c"], ["e"]]),
        ("a,b\n\n \nc\n", ",", [["a", "b"], [], [], ["c"]]),
        ("b a\tc\n", "\t", [["b a", "c"]]),
        ("a|b,c\n", "|", [["a", "b,c"]]),
        ("1;2\n10;9\n", ";", [["1", "2"], ["9", "10"]]),
        ("\ufeffa b\n", None, [["a", "b"]]),
        ("\ufeffa,b\n", ",", [["a", "b"]]),
        ("é 😀\n", None, [["é", "😀"]]),
    ],
)
def test_lines_are_records(written, content, separator, expected):
    assert read(written(content), separator=separator).to_lists() == expected


def test_records_carry_no_ids_and_are_no_persons(written):
    data = read(written("a\nb\n"))
    assert (data.ids, data.unit) == (None, "record")
    assert read(written("a\nb\n"), unit="person").unit == "person"


def test_repeats_and_empty_records_are_noted(written, notes):
    path = written("a a b\n\nb b b\n")
    assert read(path).to_lists() == [["a", "b"], [], ["b"]]
    assert notes() == (
        "3 repeated items within a record counted once | 1 empty record kept (drop them with `empty='drop'`)"
    )
    assert read(path, empty="drop").to_lists() == [["a", "b"], ["b"]]
    assert notes().endswith("1 empty record dropped")


@pytest.mark.parametrize(
    ("content", "separator", "line", "sentence"),
    [
        (b"a b\nc\x00\n", None, 2, "holds the control byte 0x00; expected text in UTF-8"),
        (b"a b\n\nc\x1bd\n", None, 3, "holds the control byte 0x1b"),
        (b"\x7f", None, 1, "holds the control byte 0x7f"),
        (b"a b\nc \xe9t\xe9\n", None, 2, "holds the byte 0xe9, which is not UTF-8 text"),
        (b"a b\nc \xc3", ",", 2, "holds the byte 0xc3, which is not UTF-8 text"),
        (b"a b\n\xed\xa0\x80\n", None, 2, "holds the byte 0xed, which is not UTF-8 text"),
        (b"\xef\xbb\xbfa\n\xff\n", None, 2, "holds the byte 0xff"),
        (b"a,b\na,,b\n", ",", 2, "an item between two ',' is empty; expected a name"),
        (b"a,b\n\n,\n", ",", 3, "an item between two ',' is empty; expected a name"),
        (b"a,b,\n", ",", 1, "an item between two ',' is empty; expected a name"),
        (b"a,b\n ,a", ",", 2, "an item between two ',' is empty; expected a name"),
        (b"a||b\n", "|", 1, "an item between two '|' is empty; expected a name"),
    ],
)
def test_bad_lines_are_named(written, content, separator, line, sentence):
    path = written(content)
    with pytest.raises(BadData) as refused:
        read(path, separator=separator)
    assert str(refused.value).startswith(f"{path}, line {line}: {sentence}")
    assert (refused.value.file, refused.value.line) == (str(path), line)


@pytest.mark.parametrize(
    ("lists", "separator", "content"),
    [
        ([["b", "a"], [], ["10"]], None, b"a b\n\n10\n"),
        ([["b", "a"], [], ["10"]], ",", b"a,b\n\n10\n"),
        ([["b c", "a"]], ",", b"a,b c\n"),
        ([["b", "a"]], "\t", b"a\tb\n"),
        ([["10", "9"]], None, b"9 10\n"),
        ([[]], None, b"\n"),
        ([["\ufeffa"]], None, b"\xef\xbb\xbf\xef\xbb\xbfa\n"),
    ],
)
def test_records_are_lines(tmp_path, lists, separator, content):
    path = tmp_path / "out.dat"
    Basket().write(from_lists(lists), path, Layout(separator=separator))
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("label", "separator", "problem"),
    [
        ("a b", None, "holds a blank"),
        ("a\tb", None, "holds a blank"),
        ("a\r", None, "holds a blank"),
        ("a\r", ",", "holds a line break or another control character"),
        ("a\nb", None, "holds a line break or another control character"),
        ("a\nb", ",", "holds a line break or another control character"),
        ("a\x00b", ",", "holds a line break or another control character"),
        ("a\x7f", None, "holds a line break or another control character"),
        ("a,b", ",", "holds the separator ','"),
        ("", None, "is empty"),
        ("", ",", "is empty"),
    ],
)
def test_labels_that_a_line_cannot_hold_are_refused(tmp_path, label, separator, problem):
    with pytest.raises(OutputRefused) as refused:
        Basket().write(from_lists([["good"], [label]]), tmp_path / "out.dat", Layout(separator=separator))
    assert str(refused.value).startswith(f"the item {label!r} {problem}, which a basket file cannot hold; ")
    assert not (tmp_path / "out.dat").exists()


def test_data_without_records_is_refused(tmp_path):
    with pytest.raises(OutputRefused, match="a basket file cannot hold data without records"):
        Basket().write(from_lists([]), tmp_path / "out.dat", Layout())
    assert not (tmp_path / "out.dat").exists()


def test_a_large_file_reads_as_its_parts(written):
    lines = [" ".join(str((i * 7 + j * j) % 1_000) for j in range(i % 9)) for i in range(30_000)]
    expected = [sorted({int(item) for item in line.split()}) for line in lines]
    assert read(written("\n".join(lines))).to_lists() == [[str(item) for item in record] for record in expected]


# The figures of ../shared/data/README.md: records, items, occurrences, longest record.
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "records", "items", "occurrences", "longest"),
    [
        ("bms-webview-1", 59_602, 497, 149_639, 267),
        ("bms-webview-2", 77_512, 3_340, 358_278, 161),
        ("bms-pos-100k", 100_000, 1_350, 694_928, 164),
        ("retail", 88_162, 16_470, 908_576, 76),
        ("foodmart", 4_141, 1_559, 18_319, 14),
        ("t10i4d100k", 100_000, 870, 1_010_228, 29),
    ],
)
def test_real_data_reads_with_its_published_figures(real_data, name, records, items, occurrences, longest):
    data = real_data(name)
    assert (data.records, len(data.vocabulary), data.occurrences) == (records, items, occurrences)
    assert (data.lengths.max(), data.empty_records) == (longest, 0)
    assert [int(label) for label in data.vocabulary] == sorted(int(label) for label in data.vocabulary)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["foodmart", "bms-webview-1"])
def test_real_data_is_written_as_it_came(real_folder, real_data, tmp_path, name):
    path = tmp_path / "again.dat"
    Basket().write(real_data(name), path, Layout())
    assert path.read_bytes() == gzip.decompress((real_folder / f"{name}.dat.gz").read_bytes())


# -- SPMF's header -----------------------------------------------------------------------------------------------------

SPMF = "@CONVERTED_FROM_TEXT\n@ITEM=1=whole milk\n@ITEM=2=outlook=sunny\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (SPMF + "1 2\n2\n", [["outlook=sunny", "whole milk"], ["outlook=sunny"]]),
        (SPMF.replace("\n", "\r\n") + "1 2\r\n", [["outlook=sunny", "whole milk"]]),
        (SPMF + "1 3\n", [["3", "whole milk"]]),
        (SPMF + "\n1\n", [[], ["whole milk"]]),
        (SPMF + "1\n@ITEM=1=x\n", [["whole milk"], ["@ITEM=1=x"]]),
        ("@home 1\n", [["1", "@home"]]),
        ("@CONVERTED_FROM_ARFF\n1\n", [["1"]]),
    ],
)
def test_names_in_the_header_take_the_place_of_numbers(tmp_path, content, expected):
    path = tmp_path / "data.txt"
    path.write_bytes(content.encode())
    assert read(path).to_lists() == expected


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("@ITEM=1\n1\n", ", line 1: is not of the form @ITEM=NUMBER=NAME"),
        ("@ITEM=1=a\n@ITEM=1=b\n1\n", ", line 2: gives another name to an item that has one"),
        (
            "@ITEM=1=a\n@ITEM=2=a\n1 2\n",
            ": gives two items the name 'a'; use different names in the @ITEM lines",
        ),
        ("@ITEM=1=a\0\n1\n", ", line 1: the name of an item holds a control character"),
        ("@ITEM=1=a\n1 2\n3\0\n", ", line 3: holds the control byte 0x00; expected text in UTF-8"),
        (SPMF, ": has a header and no records; expected one record per line"),
    ],
)
def test_headers_that_are_wrong(tmp_path, content, sentence):
    path = tmp_path / "data.txt"
    path.write_bytes(content.encode())
    with pytest.raises(BadData) as refused:
        read(path)
    assert str(refused.value) == f"{path}{sentence}"


def test_quoted_items_are_kept_with_a_note_that_names_the_arguments(tmp_path, notes):
    """R's arules quotes the items of a basket file."""
    path = tmp_path / "arules.txt"
    path.write_text('"citrus fruit" "soup"\n"soup"\n', encoding="utf-8")
    assert sv.read(path).to_lists() == [['"citrus', '"soup"', 'fruit"'], ['"soup"']]
    assert "`format='wide'`, `ragged=True` and `separator=' '`" in notes()
    assert sv.read(path, format="wide", ragged=True, separator=" ").to_lists() == [["citrus fruit", "soup"], ["soup"]]


@pytest.mark.parametrize("separator", [",", ";", "|"])
@pytest.mark.parametrize(("name", "header"), [("data.txt", ""), ("data.csv", "items\n")])
def test_items_that_hold_another_separator_are_announced(tmp_path, notes, name, header, separator):
    path = tmp_path / name
    path.write_text(f'{header}"a{separator}b"\n"b{separator}c{separator}d"\nb\n', encoding="utf-8")
    assert sv.read(path).records == 3
    assert f"2 of 3 items hold {separator!r}; if it separates items, read them with `separator=" in notes()
    before = notes()
    assert sv.read(path, separator=separator).records == 3
    assert notes().count("of 3 items hold") == before.count("of 3 items hold") == 1
    path.write_text(f'{header}"a{separator}b" c d e f\n', encoding="utf-8")
    sv.read(path)
    assert notes().count("items hold") == 1


@pytest.mark.parametrize(
    ("content", "kind"),
    [("1 -1 2 3 -1 -2\n1 -1 -2\n", "sequences"), ("1 2:9:4 5\n", "transactions with utilities"), ("1 -1\n2\n", None)],
)
def test_other_files_of_spmf_are_noted(written, notes, content, kind):
    read(written(content))
    assert (f"looks like {kind} of SPMF" in notes()) if kind else not notes()
