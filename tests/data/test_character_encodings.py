"""Text in other encodings than UTF-8 is read as if it were UTF-8, in blocks of any size."""

import gzip

import pytest

from setveil.data.files import packing
from setveil.data.files.character_encodings import encoding_named, fitting_encoding
from setveil.data.files.packing import opened_once, read_bytes
from setveil.data.formats import FORMATS, Layout
from setveil.errors import BadData, BadParameter

TEXT = "id,item\n1,Käse\n2,Brød €\n1,naïve\r\n"


@pytest.mark.parametrize("name", ["cp1252", "utf-16", "utf-16-le", "utf-32", "utf-8", "UTF_8", "iso8859-15", "cp1140"])
@pytest.mark.parametrize("block", [1, 2, 7, 1 << 22])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_text_is_read_in_its_encoding(tmp_path, monkeypatch, name, block, ending):
    monkeypatch.setattr(packing, "READ_BLOCK", block)
    path = tmp_path / f"data.csv{ending}"
    content = TEXT.encode(name)
    path.write_bytes(gzip.compress(content) if ending else content)
    assert read_bytes(path, encoding_named(name)) == TEXT.encode()
    with opened_once(path, encoding_named(name)):
        assert FORMATS["long"].read(path, Layout()).to_lists() == [["Käse", "naïve"], ["Brød €"]]


@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_mark_at_the_beginning_is_not_part_of_the_text(tmp_path, mark):
    path = tmp_path / "data.txt"
    path.write_bytes(("\ufeff" + TEXT).encode(mark))
    assert read_bytes(path, encoding_named(mark)) == TEXT.encode()


@pytest.mark.parametrize("name", ["base64", "rot13", "hex", "nope", "", "\0", "mbcs2"])
def test_what_is_no_text_encoding_is_refused(name):
    with pytest.raises(BadParameter, match=r"allowed is a text encoding that Python knows, such as 'cp1252'"):
        encoding_named(name)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [("cp1252", b"a\nb\x81\n", 2), ("utf-16", b"a\n", 1), ("ascii", b"a\n\xe9", 2), ("undefined", b"a", 1)],
)
def test_text_in_another_encoding_than_the_named_one_is_refused(tmp_path, name, content, line):
    path = tmp_path / "data.txt"
    path.write_bytes(content)
    found = encoding_named(name)
    with pytest.raises(BadData, match=f"line {line}: holds") as refused:
        FORMATS["basket"].read(path, Layout()) if found is None else read_bytes(path, found)
    assert "encoding=" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("byte", range(0x80, 0x100))
def test_the_suggested_encoding_has_the_byte(byte):
    assert len(bytes([byte]).decode(fitting_encoding(byte))) == 1


@pytest.mark.parametrize("name", ["utf-16", "utf-32"])
def test_a_file_with_a_mark_names_its_encoding(tmp_path, name):
    path = tmp_path / "data.txt"
    path.write_bytes(TEXT.encode(name))
    with pytest.raises(BadData, match=f"`encoding='{name}'`"):
        read_bytes(path)
