"""What every format must say of files that are damaged or no files at all: one sentence, and never a traceback."""

import gzip

import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from setveil.data.formats import Layout
from setveil.errors import BadParameter, SetveilError

from contract.kinds import KINDS, TEXT_KINDS, every_kind, every_text_kind, example_of, main_kinds, written
from support.exhaustive import examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formats")


def complaint(kind, path, layout=None):
    """Read and return the sentence of the error, or None; any other exception is a failure."""
    try:
        kind.form.read(path, layout or kind.layout)
    except SetveilError as error:
        return str(error)
    return None


DAMAGE = {
    "empty": (lambda _whole: b"", "", "is empty"),
    "packed nothing": (lambda _whole: gzip.compress(b""), ".gz", "is empty"),
    "packed, cut": (
        lambda whole: gzip.compress(whole)[: len(gzip.compress(whole)) // 2],
        ".gz",
        "not a complete gzip file",
    ),
    "packed, end cut": (lambda whole: gzip.compress(whole)[:-3], ".gz", "is not a complete gzip file"),
    "packed, damaged": (
        lambda whole: gzip.compress(whole)[:20] + b"\xff" * 20 + gzip.compress(whole)[40:],
        ".gz",
        "is not a complete gzip file",
    ),
    "packed, rest": (lambda whole: gzip.compress(whole) + b"rest", ".gz", "is not a complete gzip file"),
    "not packed": (lambda whole: whole, ".gz", "is not a complete gzip file"),
    "zstd, cut": (lambda whole: pa.compress(whole, "zstd", asbytes=True)[:-9], ".zst", "is not a complete zstd file"),
    "zstd, rest": (
        lambda whole: pa.compress(whole, "zstd", asbytes=True) + b"rest",
        ".zst",
        "not a complete zstd file",
    ),
    "zstd, not packed": (lambda whole: whole, ".zst", "is not a complete zstd file"),
    "packed under a plain name": (gzip.compress, "", "is compressed with gzip"),
    "zstd under a plain name": (
        lambda whole: pa.compress(whole, "zstd", asbytes=True),
        "",
        "compressed with Zstandard",
    ),
    "UTF-16": (lambda whole: whole.decode().encode("utf-16"), "", "is UTF-16 text"),
    "NUL": (lambda whole: whole.replace(b"item-1", b"item\0", 1), "", "control"),
    "not UTF-8": (lambda whole: whole.replace(b"item-1", b"item\xff", 1), "", "not UTF-8"),
    "latin 1": (lambda whole: whole.replace(b"item-1", b"\xe9"), "", "not UTF-8"),
    "half a character": (lambda whole: whole.replace(b"item-1", b"item\xc3", 1), "", "not UTF-8"),
}


@every_text_kind
@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_refused_in_one_sentence(folder, kind, name):
    damage, packing, expected = DAMAGE[name]
    path = kind.path(folder, "damaged", packing)
    path.write_bytes(damage(kind.encode(example_of(kind))))
    said = complaint(kind, path)
    assert said is not None
    assert said.startswith(str(path))
    assert expected in said.replace("Invalid control character", "control")
    assert "\n" not in said


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.is_text], ids=str)
@pytest.mark.parametrize("part", [0, 1, 3, 8, 50, 99])
def test_cut_tables_are_refused_in_one_sentence(folder, kind, part):
    whole = kind.encode(example_of(kind))
    path = kind.path(folder, "cut")
    path.write_bytes(whole[: len(whole) * part // 100])
    said = complaint(kind, path)
    assert said is not None
    assert said.startswith(str(path))
    assert "is not a complete" in said or "is empty" in said
    assert "\n" not in said


@every_text_kind
def test_a_byte_order_mark_is_not_part_of_the_data(folder, kind):
    path = kind.path(folder, "marked")
    path.write_bytes(b"\xef\xbb\xbf" + kind.encode(example_of(kind)))
    assert kind.form.read(path, kind.layout) == example_of(kind)


@every_kind
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("absent", "there is no such file"),
        ("folder", "is a folder; expected a file"),
        ("absent/below", "there is no such file"),
        ("file/below", "cannot be read: Not a directory"),
        ("n" * 300, "cannot be read: File name too long"),
        ("nul\0", "is not a valid file name"),
    ],
)
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_what_is_no_file_is_refused(tmp_path, kind, name, expected, packing):
    if packing and not kind.is_text:
        expected = "Parquet and Arrow files are compressed inside; decompress it first"
    kind.path(tmp_path, "folder", packing).mkdir()
    (tmp_path / "file").touch()
    said = complaint(kind, kind.path(tmp_path, name, packing))
    assert said is not None
    assert said.endswith(expected)


@every_kind
@given(content=st.binary(max_size=80), packed=st.booleans())
@example(content=b"id,item\r1,a\r2,\r", packed=False)
@example(content=b'item,"id\nfoo"\n1,a\n', packed=False)
@example(content=b'id,item\n1,"' + b"a" * 200_000 + b"\n2", packed=False)
@example(content=b"id,item," + b"x" * 200_000 + b"\n1,a,b", packed=False)
def test_random_bytes_end_in_data_or_in_our_errors(folder, kind, content, packed):
    path = kind.path(folder, "random", ".gz" if packed and kind.is_text else "")
    path.write_bytes(content)
    said = complaint(kind, path)
    assert said is None or (said.startswith(str(path)) and len(said) < len(str(path)) + 500)


@main_kinds
@settings(max_examples=examples(200))
@given(st.data())
def test_changed_files_end_in_data_or_in_our_errors(folder, kind, draw):
    layout = Layout(separator=draw.draw(st.sampled_from([None, ",", "\t"])), ragged=kind.ragged)
    content = bytearray(kind.encode(example_of(kind, records=4), layout))
    odd = st.sampled_from([b"", b"\n", b"\r", b'"', b"\0", b"\xc3", b",", b"\t", b" ", b"\xef\xbb\xbf", b'""', b"a"])
    for _ in range(draw.draw(st.integers(1, 4))):
        place = draw.draw(st.integers(0, len(content)))
        content[place : place + draw.draw(st.integers(0, 3))] = draw.draw(odd)
    assume(content)
    path = kind.path(folder, "changed")
    path.write_bytes(content)
    said = complaint(kind, path, layout)
    assert said is None or (said.startswith(str(path)) and "\n" not in said)


@pytest.mark.parametrize("kind", [kind for kind in TEXT_KINDS if kind.form.name != "list"], ids=str)
@pytest.mark.parametrize("separator", ["", "ab", "é", "\n", "\r", "\0", "\x7f"])
def test_a_separator_that_cannot_be_one_is_refused(tmp_path, kind, separator):
    path, layout = kind.path(tmp_path, "data"), Layout(separator=separator, ragged=kind.ragged)
    written(kind, example_of(kind), path)
    expected = f"the separator is {separator!r}; allowed is one printable ASCII character or a tab, such as ','"
    assert complaint(kind, path, layout) == expected
    with pytest.raises(BadParameter, match="the separator is"):
        kind.form.write(example_of(kind), tmp_path / "other", layout)
    assert not (tmp_path / "other").exists()
