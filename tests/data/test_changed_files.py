"""A file that is changed while it is read is refused, whatever its change looks like to the reader."""

import gzip
import os

import pytest

import setveil as sv
from setveil.data.files.assembly import LongAssembly

ROWS = [b"id,item\n", *(b"p%05d,milk\n" % n for n in range(200_000))]


def write(path, mode, content):
    with path.open(mode) as file:
        file.write(content)


CHANGES = {
    "it grows": lambda path: write(path, "ab", b"q,tea\n"),
    "it shrinks": lambda path: os.truncate(path, 1_000_000),
    "it shrinks within a row": lambda path: os.truncate(path, 1_000_004),
    "it is written anew": lambda path: path.write_bytes(path.read_bytes()[::-1]),
    "a part is written anew": lambda path: write(path, "r+b", b"id,item\nq,tea"),
}


@pytest.fixture
def change(monkeypatch):
    """Give a function that lets a file change after the first batch of rows."""

    def later(path, how):
        add = LongAssembly.add

        def changing(self, *columns):
            add(self, *columns)
            if not done:
                done.append(how(path))

        done = []
        monkeypatch.setattr(LongAssembly, "add", changing)
        return done

    return later


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_changes_is_refused(tmp_path, change, name, ending):
    path = tmp_path / f"x{ending}"
    content = b"".join(ROWS)
    path.write_bytes(gzip.compress(content, 0) if ending.endswith(".gz") else content)
    os.utime(path, ns=(1, 1))  # a change within the same tick of the clock would look as none
    changed = change(path, CHANGES[name])
    with pytest.raises(sv.BadData) as refused:
        sv.read(path)
    assert changed
    assert (
        str(refused.value)
        == f"{path}: was changed while it was read; wait until no program writes to it, or read a copy"
    )


@pytest.mark.parametrize("how", [lambda path: path.unlink(), lambda path: (path.parent / "new").replace(path)])
def test_a_file_that_is_removed_or_replaced_is_read_as_it_was(tmp_path, change, how):
    path = tmp_path / "x.csv"
    path.write_bytes(b"".join(ROWS))
    (tmp_path / "new").write_bytes(b"id,item\nq,tea\n")
    changed = change(path, how)
    assert sv.read(path).records == 200_000
    assert changed


def test_other_errors_remain(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"id,item\np,a,b\n")
    with pytest.raises(sv.BadData, match="has 3 fields where the header has 2"):
        sv.read(path)
