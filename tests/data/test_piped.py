"""Data from standard input and from pipes, and data to standard output."""

import gzip
import io
import os
import sys
import tempfile
import threading

import pytest

import setveil as sv
from setveil.data.files import piped
from setveil.data.forms.disassociated.files import write_disassociated

from support.program import call

DATA = sv.from_lists([["7", "9"], ["7"], ["10", "7"]])
NAMED = sv.from_lists([["milk", "rye bread"], ["milk"]], ids=["p", "q"])


@pytest.fixture
def standard_input(monkeypatch):
    """Give a function that sends bytes to standard input."""

    def send(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return send


def content_of(data, tmp_path, ending, **options):
    path = tmp_path / f"content{ending}"
    sv.write(data, path, **options)
    return path.read_bytes()


WAYS = {
    "long": (".csv", {}, "long"),
    "long, packed": (".csv.gz", {}, "long"),
    "long TSV, packed": (".tsv.zst", {}, "long"),
    "list": (".jsonl", {}, "list"),
    "list, packed": (".jsonl.zst", {}, "list"),
    "Parquet": (".parquet", {}, "list"),
    "Arrow": (".arrow", {}, "list"),
    "0/1": (".csv", {"format": "matrix"}, "matrix"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", ["-", "/dev/stdin"])
def test_the_content_of_standard_input_shows_its_format(tmp_path, standard_input, way, place):
    ending, options, named = WAYS[way]
    standard_input(content_of(NAMED, tmp_path, ending, **options))
    data = sv.read(place)
    assert data == NAMED
    assert data.source.place == "standard input"
    assert data.source.options["format"] == named


def test_lines_of_numbers_are_a_basket_file(standard_input):
    standard_input(b"7 9\n7\n10 7\n")
    assert sv.read("-") == DATA
    standard_input(b"@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n1\n")
    assert sv.read("-").to_lists() == [["milk"]]


def test_the_format_of_standard_input_is_named(standard_input):
    standard_input(b"milk tea\n")
    with pytest.raises(
        sv.BadData, match=r"^standard input: the content does not show its format; name it with `format=`"
    ):
        sv.read("-")
    standard_input(b"milk tea\n")
    assert sv.read("-", format="basket").to_lists() == [["milk", "tea"]]
    standard_input("id;item\n1;Käse\n".encode("utf-16"))
    assert sv.read("-", format="long", encoding="utf-16").to_lists() == [["Käse"]]


def test_disassociated_data_are_found_in_a_pipe(tmp_path, standard_input):
    release = sv.publish([["a", "b"], ["a", "b"], ["a", "c"], ["a", "c"]], sv.Disassociation(k=2, m=1))
    path = tmp_path / "clusters.jsonl"
    write_disassociated(release.data, path)
    standard_input(path.read_bytes())
    assert sv.risk("-").to_dict() == sv.risk(path).to_dict()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (gzip.compress(b"id,item\n1,a\n" * 999, mtime=0)[:40], "is not a complete gzip file"),
        (b"PAR1", "is not a complete Parquet file"),
        (b"\xff\xfei\0d\0", "`encoding='utf-16'`"),
        (b"id,item\n1,\xe9\n", "`encoding='cp1252'`"),
        (b"id,item\n1\n", "line 2: has 1 field where the header has 2"),
    ],
)
def test_bad_content_is_refused_with_the_name_of_standard_input(standard_input, content, problem):
    standard_input(content)
    with pytest.raises(sv.BadData) as refused:
        sv.read("-")
    assert str(refused.value).startswith("standard input")
    assert problem in str(refused.value)


def test_standard_input_that_is_closed_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(sv.BadData, match="standard input: is not open"):
        sv.read("-")


def test_a_pipe_of_the_shell_is_data():
    ear, mouth = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(mouth, gzip.compress(b"id,item\np,a\n")), os.close(mouth)))
    writer.start()
    try:
        assert sv.read(f"/dev/fd/{ear}").to_lists() == [["a"]]
    finally:
        writer.join()
        os.close(ear)


def test_no_file_remains_and_none_has_a_name(tmp_path, standard_input, monkeypatch):
    seen = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(piped, "_ending_of", lambda *_: seen.append(list(tmp_path.iterdir())) or ".csv")
    standard_input(b"id,item\np,a\n")
    assert sv.read("-").records == 1
    assert seen == [[]]
    assert list(tmp_path.iterdir()) == []


def test_a_full_temporary_folder_is_reported(standard_input, monkeypatch):
    class Full(io.BytesIO):
        def __init__(self, **_place):
            super().__init__()

        def write(self, _content):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", Full)
    standard_input(b"id,item\np,a\n")
    with pytest.raises(
        sv.BadData, match=r"No space left on device; free some space, or choose a folder on another disk"
    ):
        sv.read("-")


@pytest.fixture
def standard_output(monkeypatch):
    """Give a function that writes data to standard output and returns what was written."""

    def write(data, **options):
        written = io.BytesIO()
        with monkeypatch.context() as patch:
            wrapper = io.TextIOWrapper(written, write_through=True)
            patch.setattr(sys, "stdout", wrapper)
            try:
                sv.write(data, "-", **options)
            finally:
                wrapper.detach()
                assert not (sys.exc_info()[0] and written.getvalue()), "written although it is refused"
        return written.getvalue()

    return write


@pytest.mark.parametrize("name", ["long", "long.tsv", "list", "list.parquet", "wide", "matrix", "matrix.arrow"])
def test_data_go_to_standard_output_as_to_a_file(tmp_path, standard_output, name):
    plain = sv.from_lists([["milk", "bread"], ["milk"]], ids=["p", "q"])
    form, _, ending = name.partition(".")
    ending = ending or {"list": "jsonl"}.get(form, "csv")
    assert standard_output(plain, format=name) == content_of(plain, tmp_path, f".{ending}", format=form)


def test_nothing_is_written_to_standard_output_if_the_format_cannot_hold_the_data(standard_output):
    with pytest.raises(sv.OutputRefused, match="holds a blank"):
        standard_output(NAMED, format="basket")
    with pytest.raises(sv.Missing, match="name the format of standard output with `format=`"):
        standard_output(NAMED)
    with pytest.raises(sv.BadParameter, match=r"the extension is '\.xlsx'; allowed for the format 'long' is \.csv"):
        standard_output(NAMED, format="long.xlsx")


def test_the_command_line_reads_and_writes_standard_streams(tmp_path, standard_input, monkeypatch):
    monkeypatch.chdir(tmp_path)
    standard_input(b"id;item\np;a\nq;a\n")
    ran = call("profile", "-", "--json")
    assert ran.code == 0
    assert '"records": 2' in ran.out
    standard_input(b"id;item\np;a\nq;a\n")
    assert call("convert", "-", "x.csv").code == 0
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == "id,item\np,a\nq,a\n"
    refused = call("convert", "x.csv", "-", "--to", "long", "--json")
    assert refused.code == 2
    assert "--json and the data would both go to standard output" in refused.err
