"""A file is opened once, whatever has to be learned from it before it is read."""

import pytest

import setveil as sv
from setveil.data.files import packing
from setveil.data.files.packing import open_file, opened_once, reading

from contract.kinds import every_packing, example_of


@pytest.fixture
def opened(monkeypatch):
    """Give the list of the files that were opened."""
    names = []
    plain = packing.pa.OSFile

    def counted(path, *rest):
        names.append(path)
        return plain(path, *rest)

    monkeypatch.setattr(packing.pa, "OSFile", counted)
    return names


@every_packing
def test_a_file_is_opened_once(kind, packing, tmp_path, opened):
    data = example_of(kind)
    path = kind.path(tmp_path, "data", packing)
    kind.form.write(data, path, kind.layout)
    assert kind.form.read(path, kind.layout) == data
    assert len(opened) <= 2 - (kind.form.name in ("long", "wide", "basket"))
    opened.clear()
    named = None if kind.form.holds_any_items else kind.form.name  # nothing shows that cells are attributes
    assert sv.read(path, format=named, ragged=kind.ragged) == data
    assert len(opened) == 1


def test_each_reading_starts_at_the_beginning(tmp_path, opened):
    for name in ("a.txt", "a.txt.gz"):
        path = tmp_path / name
        with packing.writing(path) as file:
            file.write(b"one two")
        opened.clear()
        with opened_once(path):
            for _ in range(3):
                with reading(path) as (stream, _advance):
                    assert stream.read(3) == b"one"
        assert len(opened) == 1
        with reading(path) as (stream, _advance):
            assert stream.read(100) == b"one two"
        assert len(opened) == 2


def test_readers_of_a_file_do_not_disturb_each_other(tmp_path, opened):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one two")
    with opened_once(path), reading(path) as (first, _advance):
        assert first.read(4) == b"one "
        with reading(path) as (second, _advance):
            assert second.read(100) == b"one two"
        assert first.read(100) == b"two"
    assert len(opened) == 1


def test_a_reader_that_failed_does_not_disturb_the_next(tmp_path):
    """Arrow reads ahead for a moment after it has refused a long row; the file is read again at once."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,item\np1,"' + b"a" * (6 << 20) + b"\n")
    refusals = set()
    for _ in range(40):
        with pytest.raises(sv.BadData) as refusal:
            sv.read(path)
        refusals.add(str(refusal.value))
    assert refusals == {f"{path}, line 2: the column 'item' is empty or holds a control character"}


def test_another_file_is_not_taken_for_the_open_one(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(name)
    with opened_once(tmp_path / "a"), open_file(tmp_path / "b") as file:
        assert file.raw.read() == b"b"
